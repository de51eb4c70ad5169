#include <hornbill/io/text_file.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hornbill::io {
namespace {

/// A device such as /dev/zero, from which there is no end of reading; not a terminal, nor /dev/null.
bool is_endless(std::string const& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  struct stat null {};
  if (::stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev) return false;
  int const descriptor = ::open(file.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC);
  bool const is_terminal = descriptor >= 0 && ::isatty(descriptor);
  if (descriptor >= 0) ::close(descriptor);
  return !is_terminal;
}

}  // namespace

std::string read_text(std::string const& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) throw InputError(file, "", "no such file");
  if (std::filesystem::is_directory(file, ignored)) throw InputError(file, "", "is a directory, not a file");
  if (is_endless(file)) throw InputError(file, "", "is a device from which there is no end of reading; give a file");
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw InputError(file, "", "cannot be read");
  if (auto const zero = text.find('\0'); zero != std::string::npos)
    throw InputError(file, "line " + std::to_string(1 + std::count(text.begin(), text.begin() + zero, '\n')),
                     "holds a byte of value 0: the file is not text");
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto const lead = static_cast<unsigned char>(text[i]);
    std::size_t const length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : (lead & 0xf0) == 0xe0       ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
    i += length;
  }
  return true;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  auto const first = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace hornbill::io
