// Comparators whose failure messages name the first differing index.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <reference/reference.hpp>

namespace hornbill::test {

/// P(v = 1) as Hornbill's marginals() gives it.
inline std::vector<double> p_true(std::vector<reference::Distribution> const& distributions) {
  std::vector<double> result;
  for (auto const& d : distributions) result.push_back(d.size() > 1 ? static_cast<double>(d[1]) : 0.0);
  return result;
}

inline double largest_difference(std::vector<double> const& a, std::vector<double> const& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    largest = std::isnan(a[i]) || std::isnan(b[i]) ? std::numeric_limits<double>::infinity()
                                                   : std::max(largest, std::abs(a[i] - b[i]));
  return a.size() == b.size() ? largest : std::numeric_limits<double>::infinity();
}

inline void check_close(std::vector<double> const& actual, std::vector<double> const& expected, double tolerance,
                        std::string const& what) {
  REQUIRE_MESSAGE(actual.size() == expected.size(), what);
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (actual[i] == expected[i] || std::abs(actual[i] - expected[i]) <= tolerance) continue;  // the first: infinities
    FAIL_CHECK(fmt::format("{}: entry {} is {:.17g}, expected {:.17g} (tolerance {:.3g})", what, i, actual[i],
                           expected[i], tolerance));
    return;
  }
  CHECK(true);
}

/// Equal to the last bit (and both signs of zero alike).
inline void check_identical(std::vector<double> const& actual, std::vector<double> const& expected,
                            std::string const& what) {
  check_close(actual, expected, 0, what);
}

/// Error of a message or marginal that follows from rounding: a few roundings for each of `terms` values that enter it.
template <class Value>
double rounding_tolerance(double terms) {
  return 8 * terms * static_cast<double>(std::numeric_limits<Value>::epsilon());
}

}  // namespace hornbill::test
