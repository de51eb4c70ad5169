/// \file
/// Files of trainings that go on later (inputs/FORMAT.md, "Checkpoints").
#pragma once

#include <cstdint>
#include <string>

#include <hornbill/circuit/training_state.hpp>
#include <hornbill/io/circuit_file.hpp>

namespace hornbill::io {

/// A training, as far as it is.
struct Checkpoint {
  StoredCircuit stored;  ///< with the parameters as they are now
  circuit::TrainingOptions options;
  circuit::TrainingState state;   ///< its parameters are those of `stored`, and empty
  std::string precision;          ///< "fp32", "tf32", "bf16" or "fp64"
  std::uint64_t fingerprint = 0;  ///< of the samples, their weights and the first parameters
};

/// Reads a checkpoint.   \throws InputError naming the file and the dataset or attribute; CapacityError
Checkpoint read_checkpoint(std::string const& file);
/// Writes one to `.h5`, all of it or nothing. It is also a file of the circuit.   \throws InputError
void write_checkpoint(Checkpoint const& checkpoint, std::string const& file);

}  // namespace hornbill::io
