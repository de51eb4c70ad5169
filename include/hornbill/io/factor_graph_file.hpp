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

/// Whether a file has an ending of this format: `.h5` or `.hdf5`.
bool is_hdf5(std::string const& file);

/// Reads and validates a model. A file without checksums, of an earlier version or not of Hornbill, is read by a child
/// process (fork()): its damage might be the end of this one.
/// \throws InputError naming the file, the dataset and the first bad entry
/// \throws CapacityError before any large read
Model read_hdf5(std::string const& file);

/// Writes a model, beside `file` first and then renamed. Arrays have checksums; those of 1,024 entries or more are
/// compressed.   \throws InputError if it cannot be written
void write_hdf5(Model const& model, std::string const& file);

}  // namespace hornbill::io
