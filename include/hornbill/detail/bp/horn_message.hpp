// Messages of a Horn factor from the odds of its members: nothing cancels, no range is left.
//
// All is written for a conjunction; a disjunction is the conjunction of its negated body with negated head:
// OR(p1, p2) is AND(1 - p2, 1 - p1) of the complements, so its log-odds change sign on the way in and out.
//
// With u_i = P(x_i = 0) / P(x_i = 1), the odds against body member i, the odds against the whole body are
//     U = prod_i (1 + u_i) - 1 = (1 - Q) / Q,
// built up by U <- U + u + U u, all terms non-negative. U_j, without member j, is composed of prefixes and suffixes; to
// divide j out of U would be cheaper and, with care, as accurate, but its rounding would depend on u_j, and an update must
// not depend on what it does not read. Then
//     to the head:  m(1)/m(0) = (p1 + U p2) / ((1 - p1) + U (1 - p2))
//     to body j:    m(1)/m(0) = (r + U_j) / (1 + U_j),  r = (p1 h + 1 - p1) / (p2 h + 1 - p2),  h = odds of the head
// which are design.md section 2 divided by Q and c2.
#pragma once

#include <hornbill/detail/bp/extended.hpp>
#include <hornbill/types.hpp>

namespace hornbill::detail {

/// p1, p2 and their complements, each rounded by itself: 1 - p must not become 0 where p rounds to 1.
template <class Value>
struct HornParameters {
  Value p1, not_p1, p2, not_p2;
};

/// Parameters for the conjunction that a disjunction is, of the complements.
template <class Value>
KOKKOS_INLINE_FUNCTION HornParameters<Value> negated(HornParameters<Value> const& p) {
  return {p.not_p2, p.p2, p.not_p1, p.p1};
}

/// Odds against both of two independent conditions, from the odds against each.
template <class Value>
KOKKOS_INLINE_FUNCTION Extended<Value> odds_against_both(Extended<Value> a, Extended<Value> b) {
  return a + b * (Extended<Value>::from(1) + a);
}

/// Log-odds of the message to the head, from the odds against the body.
template <class Value>
KOKKOS_INLINE_FUNCTION Value message_to_head(HornParameters<Value> const& p, Extended<Value> against) {
  using E = Extended<Value>;
  bool const impossible = against.is_infinite();  // then P(head) = p2, whatever the factor of infinity
  E const numerator = impossible ? E::from(p.p2) : E::from(p.p1) + against * E::from(p.p2);
  E const denominator = impossible ? E::from(p.not_p2) : E::from(p.not_p1) + against * E::from(p.not_p2);
  if (denominator.is_zero()) return Kokkos::Experimental::infinity_v<Value>;
  return (numerator / denominator).log();
}

/// What the head says to all body members: r.
template <class Value>
KOKKOS_INLINE_FUNCTION Extended<Value> head_ratio(HornParameters<Value> const& p, Value head_log_odds) {
  using E = Extended<Value>;
  E const h = E::exp(head_log_odds);
  bool const certain = h.is_infinite();  // then c1 : c2 = p1 : p2; infinities themselves have no ratio
  E const c1 = certain ? E::from(p.p1) : E::from(p.p1) * h + E::from(p.not_p1);
  E const c2 = certain ? E::from(p.p2) : E::from(p.p2) * h + E::from(p.not_p2);
  if (!c2.is_zero()) return c1 / c2;
  return c1.is_zero() ? E::from(1) : E::infinity();  // both 0: the head contradicts the factor, which is reported at the head
}

/// Log-odds of the message to a body member, from r and the odds against all other members.
template <class Value>
KOKKOS_INLINE_FUNCTION Value message_to_body(Extended<Value> ratio, Extended<Value> against_others) {
  if (against_others.is_infinite()) return 0;  // another member is impossible, so this one does not matter
  return ((ratio + against_others) / (Extended<Value>::from(1) + against_others)).log();
}

}  // namespace hornbill::detail
