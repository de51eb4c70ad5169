// How decimal costs become whole ones. Internal to src/io.
#pragma once

#include <span>
#include <vector>

#include <hornbill/tables/table_network.hpp>

#include "decimal.hpp"

namespace hornbill::io {

/// Units of the last decimal that any cost has, if sums of all stay within what is kept exactly; otherwise of the last
/// for which they do. What is to be maximised is negated.
class CostUnits {
 public:
  using Cost = tables::Cost;

  /// \param functions  the costs of each; what is infinite is forbidden
  /// \throws InputError, without a place, where even whole costs add up to too much
  CostUnits(bool is_maximised, Decimal const& bound, std::vector<std::span<Decimal const>> const& functions);

  int decimals() const { return decimals_; }
  /// The decimals that costs have; more than decimals() where these are rounded.
  int wanted() const { return wanted_; }
  bool is_rounded() const { return is_rounded_ || decimals_ < wanted_; }
  /// A function's cost; infinite_cost for one that forbids whatever is added to it.
  Cost of(Decimal const& cost, std::size_t function) const;
  /// Of one that is finite.
  Cost bound() const;

 private:
  long double value(Decimal const& cost) const { return is_maximised_ ? -cost.value() : cost.value(); }
  bool is_beyond(Decimal const& cost, std::size_t function) const;
  Cost in_units(Decimal const& cost) const;

  bool is_maximised_;
  Decimal bound_;
  std::vector<long double> least_;  // of each function
  long double lower_ = 0;           // of all sums
  int wanted_ = 0, decimals_ = 0;
  bool is_rounded_ = false;
};

}  // namespace hornbill::io
