// Updates out of a table, beside Horn factors the other kind of factor. Work is the table's size times its arity for each message.
#pragma once

#include <hornbill/detail/bp/fields.hpp>

namespace hornbill::detail {

/// One table as a kernel sees it. One thread works on it, so its rows of the workspace are its own.
template <class F>
struct TableUpdate {
  using Value = typename F::Value;
  using E = Extended<Value>;
  F const& f;
  Index first, last;  // edges

  KOKKOS_FUNCTION TableUpdate(F const& fields, Index factor)
      : f(fields), first(fields.graph.factor_offsets(factor)), last(fields.graph.factor_offsets(factor + 1)) {}

  /// Unnormalised probabilities of each state of each variable, by all but this factor.
  KOKKOS_FUNCTION void read_weights() const {
    auto const& tables = f.graph.tables;
    for (Index e = first; e < last; ++e) {
      Index const v = f.graph.factor_variables(e), w = tables.weight_offsets(e);
      if (f.is_binary(v)) {
        Value const l = f.variable_to_factor(e);
        store(f.weights(w), l > 0 ? E::exp(-l) : E::from(1));
        store(f.weights(w + 1), l > 0 ? E::from(1) : E::exp(l));
      } else {
        for (Index s = 0; s < tables.cardinality(v); ++s)
          store(f.weights(w + s), E::exp(log_odds_without(f.sums(slot(v, s)), f.messages(entry(e, s)))));
      }
    }
  }

  /// Sums the table over all variables but that of `edge`, into that edge's row of table_sums.
  KOKKOS_FUNCTION void sum_out(Index factor, Index edge) const {
    auto const& tables = f.graph.tables;
    Index const row = tables.weight_offsets(edge);
    for (Index s = row; s < tables.weight_offsets(edge + 1); ++s) store(f.table_sums(s), E::zero());
    for (Index t = tables.offsets(factor); t < tables.offsets(factor + 1); ++t) {
      E product = E::from(tables.values(t));
      Index rest = t - tables.offsets(factor), state = 0;
      for (Index e = last - 1; e >= first && !product.is_zero(); --e) {  // last variable fastest
        Index const w = tables.weight_offsets(e), states = tables.weight_offsets(e + 1) - w, s = rest % states;
        rest /= states;
        if (e == edge) state = s;
        else product = product * f.weights(w + s);
      }
      store(f.table_sums(row + state), f.table_sums(row + state) + product);
    }
  }

  template <Write write>
  KOKKOS_FUNCTION void write_message(Index edge) const {
    auto const& tables = f.graph.tables;
    Index const v = f.graph.factor_variables(edge), row = tables.weight_offsets(edge), end = tables.weight_offsets(edge + 1);
    E largest = E::zero();
    for (Index s = row; s < end; ++s)
      if (largest < f.table_sums(s)) largest = f.table_sums(s);
    if (largest.is_zero()) f.report_contradiction(v);  // what the others leave possible, the table does not
    if (f.is_binary(v)) {
      E const m0 = f.table_sums(row), m1 = f.table_sums(row + 1);
      Value l = 0;
      if (!largest.is_zero()) l = m0.is_zero() ? Kokkos::Experimental::infinity_v<Value> : (m1 / m0).log();
      put_message<write>(f, edge, v, f.messages(edge), l);
    } else {
      for (Index s = row; s < end; ++s)
        put_message<write>(f, entry(edge, s - row), slot(v, s - row), f.messages(entry(edge, s - row)),
                           largest.is_zero() ? Value(0) : (f.table_sums(s) / largest).log());
    }
  }

 private:
  KOKKOS_FUNCTION Index slot(Index v, Index s) const { return f.num_variables() + f.graph.tables.state_offsets(v) + s; }
  KOKKOS_FUNCTION Index entry(Index e, Index s) const { return f.num_edges() + f.graph.tables.message_offsets(e) + s; }
};

template <Write write, class F>
KOKKOS_FUNCTION void update_table(F const& f, Index factor, Kokkos::View<Index const*, typename F::MemorySpace> const& edges,
                                  Index first, Index last) {
  TableUpdate<F> const update(f, factor);
  update.read_weights();
  for (Index i = first; i < last; ++i) {
    update.sum_out(factor, edges(i));
    update.template write_message<write>(edges(i));
  }
}

}  // namespace hornbill::detail
