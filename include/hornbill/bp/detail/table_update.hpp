// Updates out of a table, beside Horn factors the other kind of factor. Work is that of walking its entries once.
#pragma once

#include <type_traits>

#include <hornbill/bp/detail/fields.hpp>
#include <hornbill/bp/detail/horn_message.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp::detail {

/// What is in a cell of a table's workspace: of plain numbers the mantissa alone.
template <class Number, class Value>
KOKKOS_INLINE_FUNCTION Number number_in(Extended<Value> const& cell) {
  if constexpr (std::is_same_v<Number, Value>)
    return cell.m;
  else
    return cell;
}
template <class Number, class Value>
KOKKOS_INLINE_FUNCTION void put_number(Extended<Value>& cell, Number number) {
  if constexpr (std::is_same_v<Number, Value>)
    cell.m = number;
  else
    store(cell, number);
}

/// A table as a tree: its levels are the variables of several states, in order, its leaves the entries. The total of a
/// state of a variable, over all entries with that state, of the entry times the weights of all other variables'
/// states, is
///
///     total_l(s) = sum over the nodes of level l of  above(node) * below(node, s)
///
/// where `above` is the product of the weights on the way to the node, and `below` the sum under its branch s of
/// entries times weights. One walk over the entries forms all totals, for two multiplications an entry and three an
/// inner node. Nothing is divided: weights may be 0.
template <class Number, class F>
class TableWalk {
  using Value = typename F::Value;
  static constexpr int max_levels = 20;
  static_assert(max_table_entries == Offset{1} << max_levels, "each level at least doubles the entries");

 public:
  KOKKOS_FUNCTION TableWalk(F const& fields, Index first_edge, Index last_edge) : f_(fields) {
    auto const& offsets = f_.graph.tables.weight_offsets;
    for (Index e = first_edge; e < last_edge; ++e) {
      for (Index s = offsets(e); s < offsets(e + 1); ++s) put_number(f_.table_sums(s), Number{});
      if (offsets(e + 1) - offsets(e) == 1) continue;
      rows_[levels_] = offsets(e);
      states_[levels_] = offsets(e + 1) - offsets(e);
      state_[levels_++] = 0;
    }
    above_[0] = number_from<Number>(Value(1));
    descend(0);
  }
  /// Over the entries from `at` on. Writes the totals; returns that of all entries.
  KOKKOS_FUNCTION Number walk(Index at) {
    if (levels_ == 0) return entry(at);
    for (;; at += states_[levels_ - 1]) {
      Number below = sum_leaves(at);
      int l = levels_ - 2;
      for (; l >= 0; --l) {
        below = finish_branch(l, below);
        if (++state_[l] < states_[l]) break;
        state_[l] = 0;
      }
      if (l < 0) return below;
      descend(l);
    }
  }
  /// Of those that are not 0.
  KOKKOS_FUNCTION Value min_entry() const { return least_; }

 private:
  KOKKOS_FUNCTION Number weight(int l, Index s) const { return number_in<Number>(f_.weights(rows_[l] + s)); }
  KOKKOS_FUNCTION void add_to_total(int l, Index s, Number term) const {
    auto& total = f_.table_sums(rows_[l] + s);
    put_number(total, number_in<Number>(total) + term);
  }
  KOKKOS_FUNCTION Number entry(Index at) {
    Value const value = f_.graph.tables.values(at);
    if (value > 0 && value < least_) least_ = value;
    return number_from<Number>(value);
  }
  /// Comes to the leaves from level l, where a branch is begun, and so on each level below, where it is the first.
  KOKKOS_FUNCTION void descend(int l) {
    for (; l + 1 < levels_; ++l) {
      if (state_[l] == 0) sums_[l] = Number{};
      above_[l + 1] = above_[l] * weight(l, state_[l]);
    }
  }
  KOKKOS_FUNCTION Number sum_leaves(Index at) {
    int const l = levels_ - 1;
    Number below{};
    for (Index s = 0; s < states_[l]; ++s) {
      Number const leaf = entry(at + s);
      below = below + weight(l, s) * leaf;
      add_to_total(l, s, above_[l] * leaf);
    }
    return below;
  }
  /// Returns the sum under the branches of level l's node so far.
  KOKKOS_FUNCTION Number finish_branch(int l, Number below) {
    add_to_total(l, state_[l], above_[l] * below);
    return sums_[l] = sums_[l] + weight(l, state_[l]) * below;
  }

  F const& f_;
  Value least_ = 1;
  int levels_ = 0;
  Index rows_[max_levels], states_[max_levels], state_[max_levels];
  Number above_[max_levels], sums_[max_levels];
};

/// The messages of one table. One thread works on it, so its rows of the workspace are its own.
template <class F>
class TableUpdate {
  using Value = typename F::Value;

 public:
  KOKKOS_FUNCTION TableUpdate(F const& fields, Index a)
      : f_(fields), factor_(a), first_(fields.graph.factor_offsets(a)), last_(fields.graph.factor_offsets(a + 1)) {}

  /// Sums the table over all variables but one, for each, into table_sums. False if numbers of that kind do not
  /// suffice.
  template <class Number>
  KOKKOS_FUNCTION bool sum_out() const {
    constexpr bool plain = std::is_same_v<Number, Value>;
    Value least = 1;  // product of weights
    for (Index e = first_; e < last_; ++e)
      if (!read_weights<Number>(e, least) && plain) return false;
    TableWalk<Number, F> walk(f_, first_, last_);
    Number const total = walk.walk(f_.graph.tables.offsets(factor_));
    for (Index e = first_; e < last_; ++e)
      if (num_states(e) == 1) put_number(f_.table_sums(row(e)), total);
    return !plain || are_exact(least * walk.min_entry() >= Kokkos::Experimental::norm_min_v<Value>);
  }
  template <Write write, class Number>
  KOKKOS_FUNCTION void put_message(Index e) const {
    Index const v = f_.graph.factor_variables(e);
    Number largest{};
    for (Index s = 0; s < num_states(e); ++s)
      if (largest < sum<Number>(e, s)) largest = sum<Number>(e, s);
    bool const impossible = !(Number{} < largest);
    if (impossible) f_.report_contradiction(v);  // what the others leave possible, the table does not
    if (f_.is_binary(v)) {
      bool const surely_true = !(Number{} < sum<Number>(e, 0));
      Value const l = impossible    ? Value(0)
                      : surely_true ? Kokkos::Experimental::infinity_v<Value>
                                    : number_log(sum<Number>(e, 1) / sum<Number>(e, 0));
      return detail::put_message<write>(f_, e, v, f_.messages(e), l);
    }
    for (Index s = 0; s < num_states(e); ++s)
      detail::put_message<write>(f_, entry(e, s), slot(v, s), f_.messages(entry(e, s)),
                                 impossible ? Value(0) : number_log(sum<Number>(e, s) / largest));
  }

 private:
  /// Probabilities of the states of an edge's variable by all but this factor, the largest 1; `least` is multiplied by
  /// the least that is not 0. False if plain numbers do not suffice.
  template <class Number>
  KOKKOS_FUNCTION bool read_weights(Index e, Value& least) const {
    constexpr Value infinity = Kokkos::Experimental::infinity_v<Value>;
    Index const v = f_.graph.factor_variables(e);
    if (f_.is_binary(v)) {
      Value const l = f_.variable_to_factor(e);
      Index const likelier = l > 0;
      put_number(f_.weights(row(e) + likelier), number_from<Number>(Value(1)));
      return read_weight<Number>(row(e) + 1 - likelier, -Kokkos::abs(l), least);
    }
    Value highest = -infinity;
    for (Index s = 0; s < num_states(e); ++s)
      highest = Kokkos::fmax(highest, f_.weights(row(e) + s).m = log_odds_of(e, v, s));
    bool suffices = true;
    Value min_of_states = 1;
    for (Index s = 0; s < num_states(e); ++s) {
      Value const l = f_.weights(row(e) + s).m, below = highest == -infinity ? highest
                                                        : l == highest       ? Value(0)
                                                                             : l - highest;
      Value min_so_far = 1;
      suffices = read_weight<Number>(row(e) + s, below, min_so_far) && suffices;
      min_of_states = Kokkos::fmin(min_of_states, min_so_far);
    }
    least *= min_of_states;
    return suffices;
  }
  template <class Number>
  KOKKOS_FUNCTION bool read_weight(Index cell, Value log_weight, Value& least) const {
    auto const weight = number_exp<Number>(log_weight);
    put_number(f_.weights(cell), weight);
    if constexpr (std::is_same_v<Number, Value>)
      if (weight > 0) least *= weight;
    return is_ordinary(log_weight) || Kokkos::isinf(log_weight);
  }
  /// Whether totals in plain numbers have the bits that they have with unlimited range, and so do logarithms of their
  /// ratios: which kind of number is used depends on all weights, and a message must not depend on that of its own
  /// variable. \param zeros  totals that are 0 are
  KOKKOS_FUNCTION bool are_exact(bool zeros) const {
    constexpr Value enough = 1 / ExtendedRange<Value>::plain;  // terms too small for Value are far beyond its rounding
    for (Index s = row(first_); s < row(last_); ++s)
      if (Value const total = f_.table_sums(s).m; !(total >= enough || (total == 0 && zeros))) return false;
    return true;
  }

  static KOKKOS_FUNCTION Value number_log(Value x) { return Kokkos::log(x); }
  static KOKKOS_FUNCTION Value number_log(Extended<Value> x) { return x.log(); }
  template <class Number>
  KOKKOS_FUNCTION Number sum(Index e, Index s) const {
    return number_in<Number>(f_.table_sums(row(e) + s));
  }
  KOKKOS_FUNCTION Index row(Index e) const { return f_.graph.tables.weight_offsets(e); }
  KOKKOS_FUNCTION Index num_states(Index e) const { return row(e + 1) - row(e); }
  KOKKOS_FUNCTION Index slot(Index v, Index s) const {
    return f_.num_variables() + f_.graph.tables.state_offsets(v) + s;
  }
  KOKKOS_FUNCTION Index entry(Index e, Index s) const {
    return f_.num_edges() + f_.graph.tables.message_offsets(e) + s;
  }
  KOKKOS_FUNCTION Value log_odds_of(Index e, Index v, Index s) const {
    return log_odds_without(f_.sums(slot(v, s)), f_.messages(entry(e, s)));
  }

  F const& f_;
  Index factor_, first_, last_;  // edges
};

/// How fields go to a function that is not inlined: one of several sets, which is small and made for each task, by
/// value, for what has an address lies in local memory.
template <class F>
using Passed = std::conditional_t<(sizeof(F) <= 64), F, F const&>;

/// Messages of a table along the edges [first, last) of a list. A function of its own, and so is what plain numbers do
/// not suffice for: see lane_update.hpp.
template <Write write, class Number, class F>
[[gnu::noinline]] KOKKOS_FUNCTION bool update_table_in(Passed<F> f, Index factor,
                                                       Kokkos::View<Index const*, typename F::MemorySpace> const& edges,
                                                       Index first, Index last) {
  TableUpdate<F> const update(f, factor);
  if (!update.template sum_out<Number>()) return false;
  for (Index i = first; i < last; ++i) update.template put_message<write, Number>(edges(i));
  return true;
}
template <Write write, class F>
KOKKOS_FUNCTION void update_table(F const& f, Index factor,
                                  Kokkos::View<Index const*, typename F::MemorySpace> const& edges, Index first,
                                  Index last) {
  using Value = typename F::Value;
  if (!update_table_in<write, Value, F>(f, factor, edges, first, last))
    update_table_in<write, Extended<Value>, F>(f, factor, edges, first, last);
}

}  // namespace hornbill::bp::detail
