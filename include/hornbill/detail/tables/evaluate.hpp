// Values of tables while reductions are still being planned.
#pragma once

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <hornbill/detail/copy.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {

/// Reductions of tables whose values are known, apart from those that are planned. Cells of what is read may be scaled as a whole.
template <class Semiring, class ExecutionSpace>
class Evaluation;

/// What the tables of reductions hold, in the host's memory.
template <class Semiring, class ExecutionSpace>
class HostedValues {
 public:
  using Value = typename Semiring::Value;

  HostedValues(ExecutionSpace const& exec, std::vector<std::vector<Value>> given) : exec_(exec), cells_(std::move(given)) {}

  std::vector<Value> const& cells(Index table) const { return cells_[table]; }
  ExecutionSpace const& exec() const { return exec_; }

  /// Runs what was planned since the last call.
  void bring_up_to_date(HostReductions const& host) {
    Evaluation<Semiring, ExecutionSpace> evaluation(host, *this);
    std::vector<Index> made;
    for (auto r = static_cast<Index>(std::ssize(cells_)) - host.num_given(); r < std::ssize(host.reductions()); ++r) made.push_back(evaluation.repeat(r));
    if (made.empty()) return;
    evaluation.run();
    for (Index t : made) cells_.push_back(evaluation.cells(t));
  }

 private:
  ExecutionSpace exec_;
  std::vector<std::vector<Value>> cells_;  // by table
};

template <class Semiring, class ExecutionSpace>
class Evaluation {
 public:
  using Value = typename Semiring::Value;

  Evaluation(HostReductions const& host, HostedValues<Semiring, ExecutionSpace> const& values) : host_(host), values_(values) {}

  /// A table over `scope`, the variable being eliminated.   \param inputs  known tables   \return its number here
  Index add(std::vector<Index> const& inputs, std::vector<Index> scope, Index variable) { return append({inputs, {variable}, 0, -1}, std::move(scope)); }
  /// A reduction as it was planned, its inputs known or repeated before.
  Index repeat(Index reduction) {
    auto const& planned = host_.reductions()[reduction];
    Index const made = append(planned, host_.tables()[planned.output].scope);
    made_[planned.output] = made;
    return made;
  }
  Offset num_cells() const { return num_cells_; }

  void run() {
    HostReductions local(host_.cardinality());
    std::map<Index, Index> known;  // numbers here of what is read
    std::vector<std::vector<Value>> given;
    for (auto const& [reduction, scope] : planned_)
      for (Index t : reduction.inputs)
        if (!made_.contains(t) && !known.contains(t)) {
          known[t] = local.add_table(host_.tables()[t].scope);
          given.push_back(values_.cells(t));
        }
    std::vector<Index> outputs;
    for (auto& [reduction, scope] : planned_) {
      std::vector<Index> inputs;
      for (Index t : reduction.inputs) inputs.push_back(made_.contains(t) ? outputs[static_cast<std::size_t>(made_[t])] : known[t]);
      outputs.push_back(reduction.shifts >= 0 ? local.add_shift(std::move(inputs), scope, reduction.shifts) : local.add_undivided(std::move(inputs), scope, reduction.eliminated));
    }
    auto const& exec = values_.exec();
    auto const on_device = make_values<Value>(exec, local);
    set_given<Value>(exec, local, on_device, given);
    auto const reductions = make_reductions(exec, local);
    reduce<Semiring>(exec, reductions, make_schedule(exec, local, reductions), on_device);
    std::vector<double> exponents(local.tables().size());
    if constexpr (Semiring::scales) exponents = exponents_of(local, hornbill::detail::to_vector(exec, on_device.largest));
    for (Index t : outputs) {
      auto const& place = local.tables()[t];
      cells_.push_back(hornbill::detail::to_vector(exec, Kokkos::subview(on_device.cells, std::pair(place.offset, place.offset + place.cells))));
      exponents_.push_back(exponents[t]);
    }
  }

  std::vector<Value> const& cells(Index made) const { return cells_[made]; }
  /// Of the power of two that the cells are to be multiplied by, as those of what was read are.
  double exponent(Index made) const { return exponents_[made]; }

  /// Calls visit(cell, cell in a, cell in b) for all cells of a table that has the variables of a and b.
  template <class Visit>
  void for_each_cell(Index table, Index a, Index b, Visit const& visit) const {
    auto const& scope = planned_[table].second;
    auto const strides_a = strides(planned_[a].second, scope), strides_b = strides(planned_[b].second, scope);
    std::vector<Index> state(scope.size());
    std::size_t in_a = 0, in_b = 0;
    for (std::size_t cell = 0; cell < cells_[table].size(); ++cell) {
      visit(cell, in_a, in_b);
      for (std::size_t i = scope.size(); i-- > 0;) {
        in_a += strides_a[i];
        in_b += strides_b[i];
        auto const states = host_.cardinality()[scope[i]];
        if (++state[i] < states) break;
        in_a -= strides_a[i] * static_cast<std::size_t>(states);
        in_b -= strides_b[i] * static_cast<std::size_t>(states);
        state[i] = 0;
      }
    }
  }

 private:
  Index append(HostReduction reduction, std::vector<Index> scope) {
    num_cells_ += static_cast<Offset>(host_.states_of(scope));
    planned_.emplace_back(std::move(reduction), std::move(scope));
    return static_cast<Index>(planned_.size() - 1);
  }
  /// Of a table's variables, by those of another that has them all.
  std::vector<std::size_t> strides(std::vector<Index> const& scope, std::vector<Index> const& all) const {
    std::vector<std::size_t> result(all.size());
    std::size_t stride = 1;
    for (std::size_t i = scope.size(); i-- > 0; stride *= static_cast<std::size_t>(host_.cardinality()[scope[i]]))
      result[static_cast<std::size_t>(std::find(all.begin(), all.end(), scope[i]) - all.begin())] = stride;
    return result;
  }

  HostReductions const& host_;
  HostedValues<Semiring, ExecutionSpace> const& values_;
  std::vector<std::pair<HostReduction, std::vector<Index>>> planned_;  // and the variables of what it makes
  std::map<Index, Index> made_;                                        // numbers here of planned tables that are repeated
  std::vector<std::vector<Value>> cells_;
  std::vector<double> exponents_;
  Offset num_cells_ = 0;
};

}  // namespace hornbill::tables::detail
