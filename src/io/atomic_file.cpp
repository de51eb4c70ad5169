#include <hornbill/io/atomic_file.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::io {
namespace fs = std::filesystem;
namespace {

// Data must be on disk before the name is, or a power cut could leave an empty file under the final name.
void flush_to_disk(std::string const& file) {
  int const descriptor = ::open(file.c_str(), O_RDONLY);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

fs::path folder_of(fs::path const& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// What a name leads to, which need not be there yet: a link stays a link.
fs::path target_of(fs::path file) {
  // an absolute one replaces the folder
  for (int links = 0; links < 40 && fs::is_symlink(file); ++links) file = folder_of(file) / fs::read_symlink(file);
  return file;
}

/// A device, a pipe: nothing is to be put in its place.
bool is_special(fs::path const& target) {
  std::error_code ignored;
  return fs::exists(target, ignored) && !fs::is_regular_file(target, ignored) && !fs::is_directory(target, ignored);
}

}  // namespace

void require_writable(std::string const& file) {
  if (is_special(file)) {
    if (::access(file.c_str(), W_OK) != 0)
      throw InputError(file, "", fmt::format("cannot be written: {}", std::strerror(errno)));
    return;
  }
  fs::path const target = target_of(file), folder = folder_of(target);
  if (!fs::is_directory(folder))
    throw InputError(file, "", fmt::format("the folder {} does not exist", folder.string()));
  if (fs::is_directory(target)) throw InputError(file, "", "is a folder; the name of a file is needed");
  if (::access(folder.c_str(), W_OK) != 0)
    throw InputError(file, "", fmt::format("the folder cannot be written: {}", std::strerror(errno)));
}

void write_atomically(std::string const& file, std::function<void(std::string const&)> const& write) {
  require_writable(file);
  if (is_special(file)) return write(file);
  fs::path const target = target_of(file), folder = folder_of(target);
  std::string const temporary =
      (folder / fmt::format(".{}.{}.tmp{}", target.stem().string(), ::getpid(), target.extension().string())).string();
  try {
    write(temporary);
    flush_to_disk(temporary);
    fs::rename(temporary, target);
  } catch (...) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw;
  }
}

void write_text_atomically(std::string const& file, std::string_view text) {
  write_atomically(file, [&](std::string const& temporary) {
    std::ofstream out(temporary, std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) throw InputError(file, "", "cannot be written: is the disk full?");
  });
}

}  // namespace hornbill::io
