#include <hornbill/io/text_file.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace hornbill::io {

std::string read_text(std::string const& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) throw InputError(file, "", "no such file");
  if (std::filesystem::is_directory(file, ignored)) throw InputError(file, "", "is a directory, not a file");
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in) throw InputError(file, "", "cannot be read");
  if (text.starts_with(byte_order_mark)) text.erase(0, byte_order_mark.size());
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  auto const first = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

}  // namespace hornbill::io
