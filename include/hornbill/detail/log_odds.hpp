// Probabilities from log-odds, and sums of what is kept as logarithms.
#pragma once

#include <algorithm>
#include <cmath>

namespace hornbill::detail {

/// The probability that log-odds give.
inline double probability(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

/// log(probability(log_odds)) without overflow.
inline double log_probability(double log_odds) {
  return std::min(log_odds, 0.0) - std::log1p(std::exp(-std::abs(log_odds)));
}

/// log(exp(a) + exp(b)), of which -inf is 0.
inline double log_sum(double a, double b) {
  double const larger = std::max(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

/// log(1 - exp(a)) of a <= 0.
inline double log_complement(double a) { return std::log(-std::expm1(a)); }

}  // namespace hornbill::detail
