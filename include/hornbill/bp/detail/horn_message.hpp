// Messages of a Horn factor from the odds of its members: nothing cancels, no range is left.
//
// All is written for a conjunction; a disjunction is the conjunction of its negated body with negated head:
// OR(p1, p2) is AND(1 - p2, 1 - p1) of the complements, so its log-odds change sign on the way in and out.
//
// With u_i = P(x_i = 0) / P(x_i = 1), the odds against body member i, the odds against the whole body are
//     U = prod_i (1 + u_i) - 1 = (1 - Q) / Q, built up by U <- (U + u) + U u, all terms non-negative, in the order of a
//     fixed binary tree (odds_tree.hpp). U_j, without member j, is composed of the rest of the tree; to divide j out of
//     U would be cheaper and, with care, as accurate, but its rounding would depend on u_j, and an update must not
//     depend on what it does not read. With h = odds of the head,
//     c1 = p1 h + 1 - p1,  c2 = p2 h + 1 - p2,
//     to the head:  m(1)/m(0) = (p1 + U p2) / ((1 - p1) + U (1 - p2))
//     to body j:    m(1)/m(0) = (c1 + U_j c2) / (c2 + U_j c2),
// which are equations 8 and 9 of hornbill/bp/README.md.
//
// Everything is written for two kinds of numbers: Extended, which never leaves its range, and the machine's own. Where
// inputs and results are ordinary, both give the same bits (tests/test_bp_arithmetic.cpp), so which of them computed a
// message cannot be told from it.
#pragma once

#include <type_traits>

#include <hornbill/bp/detail/extended.hpp>

namespace hornbill::bp::detail {

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

/// No parameter or complement is positive and so small that sums and quotients of ordinary numbers could lose it.
inline bool are_ordinary(double p1, double p2) {
  auto ordinary = [](double p) { return p == 0 || p >= 0x1p-40; };
  return ordinary(p1) && ordinary(1 - p1) && ordinary(p2) && ordinary(1 - p2);
}
/// exp(l) is so near the middle that plain arithmetic can go on from it. With odds between 1/plain and plain (2^480 in
/// double, 2^55 in float) and parameters that are 0 or at least 2^-40, no sum, product or quotient of a message leaves
/// the range of Value.
template <class Value>
KOKKOS_INLINE_FUNCTION bool is_ordinary(Value l) {
  return Kokkos::abs(l) < ExtendedRange<Value>::log_plain;
}

/// Whether numbers of a kind can go on from odds against a whole body.
template <class Value>
KOKKOS_INLINE_FUNCTION bool suffices(Value total) {
  return total < ExtendedRange<Value>::plain;
}
template <class Value>
KOKKOS_INLINE_FUNCTION bool suffices(Extended<Value>) {
  return true;
}

/// Numbers of one kind, made from Value: Number is Value or Extended<Value>.
template <class Number, class Value>
KOKKOS_INLINE_FUNCTION Number number_from(Value x) {
  if constexpr (std::is_same_v<Number, Value>)
    return x;
  else
    return Number::from(x);
}
template <class Number, class Value>
KOKKOS_INLINE_FUNCTION Number number_exp(Value l) {
  if constexpr (std::is_same_v<Number, Value>)
    return Kokkos::exp(l);
  else
    return Number::exp(l);
}
/// From Extended; to plain numbers only what is ordinary.
template <class Number, class Value>
KOKKOS_INLINE_FUNCTION Number number_of(Extended<Value> x) {
  if constexpr (std::is_same_v<Number, Value>)
    return x.plain();
  else
    return x;
}
/// Odds against both of two independent conditions, from the odds against each. Symmetric to the last bit; 0 is
/// neutral.
template <class Number>
KOKKOS_INLINE_FUNCTION Number odds_against_both(Number a, Number b) {
  return (a + b) + a * b;
}

/// What the head says to all body members: c1 if the whole body holds, c2 otherwise.
template <class Number>
struct HeadWeights {
  Number c1, c2;
};
template <class Number, class Value>
KOKKOS_INLINE_FUNCTION HeadWeights<Number> weights_of(HeadWeights<Extended<Value>> const& w) {
  return {number_of<Number>(w.c1), number_of<Number>(w.c2)};
}

template <class Value>
KOKKOS_INLINE_FUNCTION HeadWeights<Value> head_weights(HornParameters<Value> const& p, Value head_odds) {
  return {p.p1 * head_odds + p.not_p1, p.p2 * head_odds + p.not_p2};
}
template <class Value>
KOKKOS_INLINE_FUNCTION HeadWeights<Extended<Value>> head_weights(HornParameters<Value> const& p,
                                                                 Extended<Value> head_odds) {
  using E = Extended<Value>;
  if (!head_odds.is_infinite())
    return {E::from(p.p1) * head_odds + E::from(p.not_p1), E::from(p.p2) * head_odds + E::from(p.not_p2)};
  // the head contradicts the factor, which is reported at the head
  if (p.p1 == 0 && p.p2 == 0) return {E::from(1), E::from(1)};
  // c1 : c2 = p1 : p2; infinities themselves have no ratio
  return {E::from(p.p1), E::from(p.p2)};
}

/// A message as a function of the odds U against the body: m(1)/m(0) = (a + U b) / (c + U d).
template <class Number>
struct OddsForm {
  Number a, b, c, d;
};

template <class Number, class Value>
KOKKOS_INLINE_FUNCTION OddsForm<Number> form_to_head(HornParameters<Value> const& p) {
  return {number_from<Number>(p.p1), number_from<Number>(p.p2), number_from<Number>(p.not_p1),
          number_from<Number>(p.not_p2)};
}
template <class Number>
KOKKOS_INLINE_FUNCTION OddsForm<Number> form_to_body(HeadWeights<Number> const& w) {
  return {w.c1, w.c2, w.c2, w.c2};
}

/// Log-odds of a message, of numbers of unlimited range.
template <class Value>
KOKKOS_INLINE_FUNCTION Value message(OddsForm<Extended<Value>> const& form, Extended<Value> against) {
  bool const impossible = against.is_infinite();  // then only the parts with U count, whatever the factor of infinity
  Extended<Value> const m1 = impossible ? form.b : form.a + against * form.b;
  Extended<Value> const m0 = impossible ? form.d : form.c + against * form.d;
  // 0 : 0 is reported elsewhere
  if (m0.is_zero()) return m1.is_zero() ? Value(0) : Kokkos::Experimental::infinity_v<Value>;
  return (m1 / m0).log();
}
/// The same of plain numbers.
template <class Value>
KOKKOS_INLINE_FUNCTION Value message(OddsForm<Value> const& form, Value against) {
  Value const m1 = form.a + against * form.b, m0 = form.c + against * form.d;
  if (m0 == 0) return m1 == 0 ? Value(0) : Kokkos::Experimental::infinity_v<Value>;  // 0 : 0 is reported elsewhere
  return m1 == 0 ? -Kokkos::Experimental::infinity_v<Value> : Kokkos::log(m1 / m0);
}

}  // namespace hornbill::bp::detail
