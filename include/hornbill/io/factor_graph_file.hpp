/// \file
/// Hornbill's own file format: one model in one HDF5 file.
///
/// Root attribute `hornbill_format` = 1. Datasets and types are those of inputs/FORMAT.md, "Models".
/// Unknown datasets are ignored when reading and lost when writing.
#pragma once

#include <string>

#include <hornbill/graph/model.hpp>

namespace hornbill::io {

/// The version of the format that this Hornbill writes, and the newest that it reads.
inline constexpr int file_format_version = 2;

/// Reads and validates a model.
/// \throws InputError naming the file, the dataset and the first bad entry
/// \throws CapacityError before any large read
Model read_hdf5(std::string const& file);

/// Writes a model, beside `file` first and then renamed. Arrays of 1,024 entries or more are chunked and compressed.
void write_hdf5(Model const& model, std::string const& file);

}  // namespace hornbill::io
