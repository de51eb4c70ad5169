// Numbers in texts, and whether a machine's number can hold them. Internal.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::io {

template <class Number>
struct Parsed {
  enum class State { good, no_number, too_large, too_small } state = State::good;
  Number value{};  ///< of what is too small 0, or the nearest that there is
};

/// A text that is all one number.
template <class Number>
Parsed<Number> parse_number(std::string_view text) {
  using State = typename Parsed<Number>::State;
  Parsed<Number> result;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.value);
  if (error == std::errc{} && end == text.data() + text.size()) return result;
  if (error != std::errc::result_out_of_range || end != text.data() + text.size()) return {State::no_number, {}};
  if constexpr (std::is_floating_point_v<Number>) {
    result.value = std::strtod(std::string(text).c_str(), nullptr);
    result.state = std::isinf(result.value) ? State::too_large : State::too_small;
  } else {
    result.state = State::too_large;
  }
  return result;
}

/// What is wrong with a number, e.g. "'x' is not a probability".   \param what  it should be
template <class Number>
std::string complaint(std::string_view text, std::string_view what, Parsed<Number> const& parsed) {
  using State = typename Parsed<Number>::State;
  switch (parsed.state) {
    case State::too_large: return fmt::format("'{}' is too large for {}", text, what);
    case State::too_small: return fmt::format("'{}' is too small for {}; write 0 if that is meant", text, what);
    default: return fmt::format("'{}' is not {}", text, what);
  }
}

/// A number.   \throws InputError, without a place
template <class Number>
Number require_number(std::string_view text, std::string_view what) {
  auto const parsed = parse_number<Number>(text);
  if (parsed.state != Parsed<Number>::State::good) throw InputError(complaint(text, what, parsed));
  return parsed.value;
}

/// Tells of numbers that round to 0, the first few each.
class Roundings {
 public:
  void add(std::string_view text, int line) {
    if (count_++ < max_told) told_.push_back(fmt::format("line {}: {}", line, text));
  }
  /// Adds what there is to a reader's warnings, where somebody wants these.
  void tell(std::string const& file, std::vector<std::string>* warnings) const {
    if (count_ == 0 || !warnings) return;
    warnings->push_back(fmt::format("{}: {} too small for a number and {} rounded: {}{}", file,
                                    count_ == 1 ? "an entry is" : fmt::format("{} entries are", count_),
                                    count_ == 1 ? "was" : "were", fmt::join(told_, ", "),
                                    count_ > max_told ? ", ..." : ""));
  }

 private:
  static constexpr std::size_t max_told = 3;
  std::size_t count_ = 0;
  std::vector<std::string> told_;
};

}  // namespace hornbill::io
