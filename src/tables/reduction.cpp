#include <hornbill/tables/reduction.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::tables {
namespace {

constexpr double much = 8192;  // states to reduce to a row, from which on sharing it is worth a second reduction
constexpr Offset enough_rows = 256;

bool contains(std::span<Index const> list, Index variable) {
  return std::find(list.begin(), list.end(), variable) != list.end();
}

}  // namespace

double HostReductions::states_of(std::span<Index const> variables) const {
  double states = 1;
  for (Index v : variables) states *= cardinality_[v];
  return states;
}

Offset HostReductions::cells_of(std::span<Index const> scope) const {
  double const cells = states_of(scope);
  if (cells > static_cast<double>(max_table_cells))
    throw CapacityError(
        fmt::format("a table over {} variables, the first of them {}, has {:.4g} cells; at most {} are possible",
                    scope.size(), scope.front(), cells, max_table_cells));
  return static_cast<Offset>(cells);
}

Index HostReductions::append(std::vector<Index> scope, int level) {
  Offset const cells = cells_of(scope);
  tables_.push_back({std::move(scope), num_cells_, cells, level});
  num_cells_ += cells;
  return static_cast<Index>(tables_.size() - 1);
}

Index HostReductions::add_table(std::vector<Index> scope) {
  if (!reductions_.empty()) throw ShapeError("reductions before the last given table", 0, reductions_.size());
  ++num_given_;
  return append(std::move(scope), 0);
}

Index HostReductions::add_undivided(std::vector<Index> inputs, std::vector<Index> scope,
                                    std::vector<Index> eliminated) {
  int level = 0;
  for (Index t : inputs) {
    level = std::max(level, tables_[t].level);
    for (Index v : tables_[t].scope)
      if (!contains(scope, v) && !contains(eliminated, v))
        throw InputError(fmt::format("table {} has the variable {}, which is neither kept nor eliminated", t, v));
  }
  Index const output = append(std::move(scope), level + 1);
  num_levels_ = std::max(num_levels_, level + 1);
  reductions_.push_back({std::move(inputs), std::move(eliminated), output});
  return output;
}

Index HostReductions::add_reduction(std::vector<Index> inputs, std::vector<Index> scope,
                                    std::vector<Index> eliminated) {
  Offset rows = cells_of(scope);
  if (rows < enough_rows && states_of(eliminated) > much && eliminated.size() > 1) {
    auto kept = scope;  // with the fastest of what is eliminated, so that neighbouring rows read neighbouring values
    std::vector<Index> later;
    while (rows < enough_rows && eliminated.size() > 1) {
      later.insert(later.begin(), eliminated.back());
      rows *= cardinality_[eliminated.back()];
      eliminated.pop_back();
    }
    kept.insert(kept.end(), later.begin(), later.end());
    inputs = {add_undivided(std::move(inputs), std::move(kept), std::move(eliminated))};
    eliminated = std::move(later);
  }
  return add_undivided(std::move(inputs), std::move(scope), std::move(eliminated));
}

std::vector<Index> HostReductions::add_shifts(std::vector<Index> const& inputs) {
  std::vector<Index> shifts;
  if (inputs.empty()) return shifts;
  auto const scope = tables_[inputs.front()].scope;
  for (Index i = 0; i < std::ssize(inputs); ++i) shifts.push_back(add_shift(inputs, scope, i));
  return shifts;
}

Index HostReductions::add_shift(std::vector<Index> inputs, std::vector<Index> const& scope, Index which) {
  for (Index t : inputs)
    if (tables_[t].scope != scope)
      throw ShapeError("variables of a table that is shifted", scope.size(), tables_[t].scope.size());
  Index const shift = add_undivided(std::move(inputs), scope, {});
  reductions_.back().shifts = which;
  return shift;
}

Offset HostReductions::stride(Index table, Index variable) const {
  Offset stride = 1;
  auto const& scope = tables_[table].scope;
  for (std::size_t i = scope.size(); i-- > 0; stride *= cardinality_[scope[i]])
    if (scope[i] == variable) return stride;
  return 0;
}

}  // namespace hornbill::tables
