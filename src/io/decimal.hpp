// Decimal numbers, exactly. Internal to src/io.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace hornbill::io {

/// digits * 10^-decimals.
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;

  /// "-12.50", "+3", ".5"; nothing for other texts, exponents among them, and for more than 18 digits.
  static std::optional<Decimal> parse(std::string_view text) {
    bool const is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    auto const point = text.find('.');
    std::string digits(text.substr(0, point));
    Decimal result;
    if (point != std::string_view::npos) {
      digits += text.substr(point + 1);
      result.decimals = static_cast<int>(text.size() - point - 1);
    }
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.digits);
    if (error != std::errc{} || result.decimals > 18) return std::nullopt;
    if (is_negative) result.digits = -result.digits;
    return result;
  }

  /// In units of 10^-decimals, of at least as many decimals; nothing where that is too large.
  std::optional<std::int64_t> scaled(int to_decimals) const {
    std::int64_t value = digits;
    for (int i = decimals; i < to_decimals; ++i) {
      if (value > std::numeric_limits<std::int64_t>::max() / 10 ||
          value < std::numeric_limits<std::int64_t>::min() / 10)
        return std::nullopt;
      value *= 10;
    }
    return value;
  }
};

}  // namespace hornbill::io
