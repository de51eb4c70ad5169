/// \file
/// Files that appear whole or not at all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hornbill::io {

/// The number of the standard stream, 1 for output or 2 for errors, that a name leads to, such as `/dev/stdout`; -1 if
/// it is neither.
int standard_stream(std::string const& file);

/// Writes all bytes to what is open under a number, however many it takes at a time.
/// \return false, with errno, where it takes no more
bool write_all(int descriptor, std::string_view bytes);

/// Checks that a file can be made under this name: its folder exists and can be written, and so can a file that is
/// there; or that it is a device or pipe that can be.
/// \throws InputError
void require_writable(std::string const& file);

/// Writes bytes beside `file`, sees to it that they are on the disk, and gives them its name. A file that was there
/// keeps its permissions, and where anything fails, its contents. Links are followed; devices, pipes and the standard
/// streams are written themselves.
/// \throws InputError with the system's reason
void write_atomically(std::string const& file, std::string_view bytes);

/// A file, and what is to be in it.
struct FileContents {
  std::string file, bytes;
};
/// The same of files that belong together: none gets its name before all of them are on the disk.
/// \throws InputError with the system's reason
void write_together(std::vector<FileContents> const& files);

}  // namespace hornbill::io
