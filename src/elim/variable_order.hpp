// Variables in the order of elimination, in which all tables list them.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include <hornbill/elim/detail/scopes.hpp>
#include <hornbill/error.hpp>
#include <hornbill/types.hpp>

namespace hornbill::elim {

class VariableOrder {
 public:
  VariableOrder() = default;
  /// \param variables  all, the first to be eliminated first   \throws ShapeError unless there are so many
  VariableOrder(std::vector<Index> const& variables, std::size_t num_variables) : place_(num_variables) {
    if (variables.size() != num_variables)
      throw ShapeError("variables of the elimination order", num_variables, variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) place_[variables[i]] = static_cast<Index>(i);
  }

  /// One more variable, behind all others.
  void append() { place_.push_back(static_cast<Index>(place_.size())); }

  Index place_of(Index variable) const { return place_[variable]; }
  std::span<Index const> places() const { return place_; }
  bool operator()(Index v, Index w) const { return place_[v] < place_[w]; }

  std::vector<Index> sorted(std::span<Index const> variables) const {
    std::vector<Index> result(variables.begin(), variables.end());
    std::sort(result.begin(), result.end(), std::cref(*this));
    return result;
  }
  /// Of two lists in order, all that is in either.
  std::vector<Index> united(std::vector<Index> const& a, std::vector<Index> const& b) const {
    return detail::united(a, b, place_);
  }
  bool contains(std::vector<Index> const& list, Index variable) const {
    return std::binary_search(list.begin(), list.end(), variable, std::cref(*this));
  }

 private:
  std::vector<Index> place_;
};

}  // namespace hornbill::elim
