// Blank-separated tokens of a text file, with their lines for error messages. Internal to src/io.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>
#include <hornbill/types.hpp>

#include "memory.hpp"
#include "number.hpp"

namespace hornbill::io {

/// The largest variable id that a text file may use: what the machine's memory can hold a graph of, at 64 bytes a
/// variable.
inline std::int64_t largest_variable_id() {
  return std::min<std::int64_t>(std::numeric_limits<Index>::max() - 1,
                                static_cast<std::int64_t>(host_memory_bytes() / 64));
}

/// Reads tokens one by one; `#` at the start of a token comments out the rest of its line.
class TokenReader {
 public:
  explicit TokenReader(std::string const& file) : file_(file), text_(read_text(file)) {}

  std::optional<std::string_view> next() {
    for (;;) {
      while (at_ < text_.size() && is_blank(text_[at_])) line_ += text_[at_++] == '\n';
      if (at_ == text_.size()) return std::nullopt;
      if (text_[at_] != '#') break;
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
    std::size_t const begin = at_;
    while (at_ < text_.size() && !is_blank(text_[at_])) ++at_;
    return std::string_view(text_).substr(begin, at_ - begin);
  }

  std::string_view require(std::string_view what) {
    auto token = next();
    if (!token) fail(fmt::format("the file ends where {} is needed: it is truncated", what));
    return *token;
  }

  template <class Number>
  Number parse(std::string_view token, std::string_view what) const {
    auto const parsed = parse_number<Number>(token);
    if (parsed.state != Parsed<Number>::State::good) fail(complaint(token, what, parsed));
    return parsed.value;
  }
  /// The same of a number that may round to 0, which warnings then say.
  double parse_rounded(std::string_view token, std::string_view what) {
    auto const parsed = parse_number<double>(token);
    if (parsed.state == Parsed<double>::State::too_small)
      roundings_.add(token, line_);
    else if (parsed.state != Parsed<double>::State::good)
      fail(complaint(token, what, parsed));
    return parsed.value;
  }
  template <class Number>
  Number require_number(std::string_view what) {
    return parse<Number>(require(what), what);
  }
  /// A whole number from `low` to `high`.
  std::int64_t require_count(std::string_view what, std::int64_t low, std::int64_t high) {
    auto const value = require_number<std::int64_t>(what);
    if (value < low || value > high) fail(fmt::format("{} is {}; {} to {} are possible", what, value, low, high));
    return value;
  }

  /// Adds what there is to tell to a reader's warnings, where somebody wants these.
  void tell(std::vector<std::string>* warnings) const { roundings_.tell(file_, warnings); }
  /// Of the token that was read last; behind the last one the end of the file.
  int line() const { return line_; }
  [[noreturn]] void fail(std::string const& message) const { fail_at(line_, message); }
  [[noreturn]] void fail_at(int line, std::string const& message) const {
    throw InputError(file_, fmt::format("line {}", line), message);
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  std::string file_, text_;
  std::size_t at_ = 0;
  int line_ = 1;
  Roundings roundings_;
};

}  // namespace hornbill::io
