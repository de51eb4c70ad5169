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
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);  // a byte-order mark, which no editor shows
  return text;
}

}  // namespace hornbill::io
