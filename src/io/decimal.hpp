// Decimal numbers, exactly or nearly. Internal to src/io.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hornbill::io {

/// digits * 10^-decimals, or an infinity.
struct Decimal {
  static constexpr int max_digits = 18;

  std::int64_t digits = 0;
  int decimals = 0;          ///< below 0 where there are zeros before the point that are not among the digits
  bool is_infinite = false;  ///< then the sign is that of digits
  bool is_rounded = false;   ///< to max_digits

  /// "-12.50", "+3", ".5", "2.5e-05", "inf"; nothing for other texts. Of more than max_digits digits it keeps so many.
  static std::optional<Decimal> parse(std::string_view text);

  /// As a real number.
  long double value() const;
  /// In units of 10^-to_decimals, of which halves are rounded away from 0; nothing where that is too large.
  std::optional<std::int64_t> scaled(int to_decimals) const;
};

}  // namespace hornbill::io
