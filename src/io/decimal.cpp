#include "decimal.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace hornbill::io {
namespace {

constexpr int max_exponent = 1'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes an exponent off the end of a text; nothing where there is something else behind an e.
std::optional<int> take_exponent(std::string_view& text) {
  auto const e = text.find_first_of("eE");
  if (e == std::string_view::npos) return 0;
  auto digits = text.substr(e + 1);
  text = text.substr(0, e);
  bool const is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return {};
  int exponent = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc{} || exponent > max_exponent) exponent = max_exponent;
  return is_negative ? -exponent : exponent;
}

bool is_infinity(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower == "inf" || lower == "infinity";
}

/// Of the digits those that are kept, the last of them rounded.
std::int64_t leading(std::string const& digits, std::size_t count) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value * 10 + (digits[i] - '0');
  return value + (count < digits.size() && digits[count] >= '5');
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view text) {
  bool const is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  Decimal result;
  if (is_infinity(text)) {
    result.is_infinite = true;
    result.digits = is_negative ? -1 : 1;
    return result;
  }
  auto const exponent = take_exponent(text);
  if (!exponent) return {};
  auto const point = text.find('.');
  std::string digits(text.substr(0, point));
  if (point != std::string_view::npos) {
    digits += text.substr(point + 1);
    result.decimals = static_cast<int>(text.size() - point - 1);
  }
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), is_digit)) return {};
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  auto const kept = std::min<std::size_t>(digits.size(), max_digits);
  result.is_rounded = digits.find_first_not_of('0', kept) != std::string::npos;
  result.digits = leading(digits, kept);
  result.decimals -= static_cast<int>(digits.size() - kept) + *exponent;
  if (result.digits == 0) result.decimals = std::clamp(result.decimals, 0, max_digits);
  if (is_negative) result.digits = -result.digits;
  return result;
}

long double Decimal::value() const {
  if (is_infinite) return static_cast<long double>(digits) * std::numeric_limits<long double>::infinity();
  return static_cast<long double>(digits) * std::pow(10.0L, static_cast<long double>(-decimals));
}

std::optional<std::int64_t> Decimal::scaled(int to_decimals) const {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  if (is_infinite) return {};
  std::int64_t value = digits;
  for (int i = decimals; i < to_decimals && value != 0; ++i) {
    if (std::abs(value) > largest / 10) return {};
    value *= 10;
  }
  std::int64_t rest = 0;  // the digit that was cut off last decides
  for (int i = decimals; i > to_decimals && (value != 0 || rest != 0); --i) {
    rest = value % 10;
    value /= 10;
  }
  return value + (rest >= 5) - (rest <= -5);
}

}  // namespace hornbill::io
