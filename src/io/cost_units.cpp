#include "cost_units.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::io {
namespace {

// Sums are of costs and of what is taken out of them, so that half of what may be finite is left to either.
constexpr long double room = static_cast<long double>(tables::infinite_cost) / 8;

bool fits(long double sum, int decimals) { return sum * std::pow(10.0L, static_cast<long double>(decimals)) <= room; }

}  // namespace

CostUnits::CostUnits(bool is_maximised, Decimal const& bound, std::vector<std::span<Decimal const>> const& functions)
    : is_maximised_(is_maximised), bound_(bound), wanted_(std::max(0, bound.decimals)), is_rounded_(bound.is_rounded) {
  for (auto const& costs : functions) {
    long double least = costs.empty() ? 0 : value(costs.front());
    for (auto const& cost : costs) least = std::min(least, value(cost));
    least_.push_back(std::isinf(least) ? 0 : least);  // all are forbidden
    lower_ += least_.back();
  }
  long double most = bound.is_infinite ? 0 : std::abs(bound.value());
  for (std::size_t f = 0; f < functions.size(); ++f) {
    long double largest = least_[f];
    for (auto const& cost : functions[f]) {
      if (is_beyond(cost, f)) continue;
      largest = std::max(largest, value(cost));
      wanted_ = std::max(wanted_, cost.decimals);
      is_rounded_ = is_rounded_ || cost.is_rounded;
    }
    most += largest - least_[f] + std::abs(least_[f]);
  }
  decimals_ = std::min(wanted_, 2 * Decimal::max_digits);
  while (decimals_ > 0 && !fits(most, decimals_)) --decimals_;
  if (!fits(most, decimals_))
    throw InputError(
        fmt::format("costs are too large: with the bound they add up to {:.3g}, and sums of {:.3g} are "
                    "possible",
                    static_cast<double>(most), static_cast<double>(room)));
}

CostUnits::Cost CostUnits::of(Decimal const& cost, std::size_t function) const {
  return is_beyond(cost, function) ? tables::infinite_cost : in_units(cost);
}

CostUnits::Cost CostUnits::bound() const { return in_units(bound_); }

/// Far enough that rounding does not matter.
bool CostUnits::is_beyond(Decimal const& cost, std::size_t function) const {
  if (cost.is_infinite) return true;
  long double const left = bound_.is_infinite ? 0 : value(bound_) - lower_;
  return left > 0 && value(cost) - least_[function] > 2 * left;
}

CostUnits::Cost CostUnits::in_units(Decimal const& cost) const {
  auto const units = cost.scaled(decimals_);
  if (!units) throw InputError("a cost is too large");
  return is_maximised_ ? -*units : *units;
}

}  // namespace hornbill::io
