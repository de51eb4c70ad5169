// Arrays of a circuit in a file that may hold more. Internal to src/io.
#pragma once

#include <hornbill/io/circuit_file.hpp>

#include "hdf5.hpp"

namespace hornbill::io {

/// Reads the group /circuit of Hornbill's layout.   \throws InputError naming the dataset or the node
StoredCircuit read_circuit_group(hdf5::Reader const& in);
/// Writes it.
void write_circuit_group(hdf5::Writer& out, StoredCircuit const& stored);

}  // namespace hornbill::io
