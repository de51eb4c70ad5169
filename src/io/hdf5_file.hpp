// What Hornbill's own files have in common, whatever they hold. Internal to src/io.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "hdf5.hpp"

namespace hornbill::io::hdf5 {

/// Writes the version of the format, or checks that it is one that this Hornbill reads.   \throws InputError
void write_format(Writer& out);
void require_format(Reader const& in);

/// The bytes of a sound file, which `rewrite` makes of one whose damage the library may not survive: in a process of
/// its own, which may die.
/// \throws InputError, CapacityError
std::string image_by_child(std::string const& file, std::function<std::string(Reader const&)> const& rewrite);

/// Reads a file: one without checksums by a process of its own, which passes on what it found.
/// \param read_from  reads from a Reader   \param image_of  the bytes of a file that holds the same
template <class ReadFrom, class ImageOf>
auto read_file(std::string const& file, ReadFrom const& read_from, ImageOf const& image_of) {
  if (has_checksums(file)) return read_from(Reader(file));
  auto const image = image_by_child(file, [&](Reader const& in) { return image_of(read_from(in), file); });
  return read_from(Reader(file, image));
}

}  // namespace hornbill::io::hdf5
