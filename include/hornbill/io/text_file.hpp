/// \file
/// Text files whole, and line by line.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <hornbill/error.hpp>

namespace hornbill::io {

/// With which a text may begin, and which no editor shows.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The whole text of a file, which may be a pipe, without a byte-order mark.
/// \throws InputError if it is missing or cannot be read
std::string read_text(std::string const& file);

/// Whether all bytes are UTF-8; overlong forms and surrogates are not.
bool is_utf8(std::string_view text);

/// A text without the blanks around it: space, tab, and what ends lines or pages.
std::string_view trimmed(std::string_view text);

/// Calls a function with each line of a text, without its end, and the line's number from 1. InputErrors that it
/// throws, without a place, get it.
/// \param file  that the text was read from
template <class Function>
void for_each_line(std::string const& file, std::string_view text, Function const& function) {
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    auto const end = std::min(text.find('\n', at), text.size());
    ++number;
    try {
      function(text.substr(at, end - at), number);
    } catch (InputError const& e) {
      throw InputError(file, "line " + std::to_string(number), e.what());
    }
    at = end + 1;
  }
}

}  // namespace hornbill::io
