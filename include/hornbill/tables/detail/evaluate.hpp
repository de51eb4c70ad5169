// Values of tables while reductions are still being planned.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include <hornbill/detail/copy.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {

/// Reductions of tables whose values are known, apart from those that are planned. Cells of what is read may be scaled
/// as a whole.
template <class Semiring, class ExecutionSpace>
class Evaluation;

/// What the tables of reductions hold, in the host's memory.
template <class Semiring, class ExecutionSpace>
class HostedValues {
 public:
  using Value = typename Semiring::Value;

  HostedValues(ExecutionSpace const& exec, std::vector<std::vector<Value>> given)
      : exec_(exec), cells_(std::move(given)) {}

  std::vector<Value> const& cells(Index table) const { return cells_[table]; }
  ExecutionSpace const& exec() const { return exec_; }

  /// Runs what was planned since the last call.
  void bring_up_to_date(HostReductions const& host) {
    Evaluation<Semiring, ExecutionSpace> evaluation(host, *this);
    std::vector<Index> made;
    for (auto r = static_cast<Index>(std::ssize(cells_)) - host.num_given(); r < std::ssize(host.reductions()); ++r)
      made.push_back(evaluation.repeat(r));
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

  Evaluation(HostReductions const& host, HostedValues<Semiring, ExecutionSpace> const& values)
      : host_(host), values_(values), local_(host.cardinality()) {}

  /// A table over `scope`, the variable being eliminated.   \param inputs  known tables   \return its number here
  Index add(std::vector<Index> const& inputs, std::vector<Index> scope, Index variable) {
    return append({inputs, {variable}, 0, -1}, std::move(scope));
  }
  /// A reduction as it was planned, its inputs known or repeated before.
  Index repeat(Index reduction) {
    auto const& planned = host_.reductions()[reduction];
    Index const made = append(planned, host_.tables()[planned.output].scope);
    made_[planned.output] = made;
    return made;
  }
  Offset num_cells() const { return num_cells_; }

  /// Once, after all have been added.
  void run() {
    auto const given = add_known();
    add_planned();
    auto const& exec = values_.exec();
    auto const on_device = make_values<Value>(exec, local_);
    set_given<Value>(exec, local_, on_device, given);
    auto const reductions = make_reductions(exec, local_);
    reduce<Semiring>(exec, reductions, make_schedule(exec, local_, reductions), on_device);
    if constexpr (Semiring::scales)
      exponents_ = exponents_of(local_, hornbill::detail::to_vector(exec, on_device.largest));
    for (Index t : tables_) cells_.push_back(cells_of(exec, local_, on_device, t));
  }

  std::vector<Value> const& cells(Index made) const { return cells_[made]; }
  /// Of the power of two that the cells are to be multiplied by, as those of what was read are.
  double exponent(Index made) const { return Semiring::scales ? exponents_[tables_[made]] : 0; }

  /// Calls visit(cell, cell in a, cell in b) for all cells of a table that has the variables of a and b.
  template <class Visit>
  void for_each_cell(Index table, Index a, Index b, Visit const& visit) const {
    auto const& scope = local_.tables()[tables_[table]].scope;
    std::vector<Offset> strides_a, strides_b;
    for (Index v : scope) {
      strides_a.push_back(local_.stride(tables_[a], v));
      strides_b.push_back(local_.stride(tables_[b], v));
    }
    std::vector<Index> state(scope.size());
    Offset in_a = 0, in_b = 0;
    for (Offset cell = 0; cell < std::ssize(cells_[table]); ++cell) {
      visit(cell, in_a, in_b);
      for (std::size_t i = scope.size(); i-- > 0;) {
        in_a += strides_a[i];
        in_b += strides_b[i];
        Index const states = host_.cardinality()[scope[i]];
        if (++state[i] < states) break;
        in_a -= strides_a[i] * states;
        in_b -= strides_b[i] * states;
        state[i] = 0;
      }
    }
  }

 private:
  struct Planned {
    HostReduction reduction;  // inputs as in the reductions that are planned
    std::vector<Index> scope;
  };

  Index append(HostReduction reduction, std::vector<Index> scope) {
    num_cells_ += static_cast<Offset>(host_.states_of(scope));
    planned_.push_back({std::move(reduction), std::move(scope)});
    return static_cast<Index>(planned_.size() - 1);
  }

  /// Adds what is read.   \return its values
  std::vector<std::vector<Value>> add_known() {
    std::vector<std::vector<Value>> given;
    for (auto const& [reduction, scope] : planned_)
      for (Index t : reduction.inputs)
        if (!made_.contains(t) && !known_.contains(t)) {
          known_[t] = local_.add_table(host_.tables()[t].scope);
          given.push_back(values_.cells(t));
        }
    return given;
  }
  void add_planned() {
    for (auto& [reduction, scope] : planned_) {
      std::vector<Index> inputs;
      for (Index t : reduction.inputs) inputs.push_back(made_.contains(t) ? tables_[made_[t]] : known_[t]);
      tables_.push_back(reduction.shifts >= 0
                            ? local_.add_shift(std::move(inputs), scope, reduction.shifts)
                            : local_.add_undivided(std::move(inputs), std::move(scope), reduction.eliminated));
    }
  }

  HostReductions const& host_;
  HostedValues<Semiring, ExecutionSpace> const& values_;
  HostReductions local_;
  std::vector<Planned> planned_;
  // of planned tables: numbers here of those that are repeated, and in local_ of those that are read
  std::map<Index, Index> made_, known_;
  std::vector<Index> tables_;  // in local_, by number here
  std::vector<std::vector<Value>> cells_;
  std::vector<double> exponents_;  // of local_'s tables
  Offset num_cells_ = 0;
};

}  // namespace hornbill::tables::detail
