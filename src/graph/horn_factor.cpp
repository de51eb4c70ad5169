#include <hornbill/graph/horn_factor.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <hornbill/graph/factor_traits.hpp>

namespace hornbill {
namespace {

// To 4 units in the last place: 0 equals 0 alone.
bool nearly_equal(double a, double b) {
  return std::abs(a - b) <= 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b));
}

/// Whether 1 - p is what the table has in its place, but for the digits that p has of it: next to a p that rounds to 1
/// may be what is unlikely, but not impossible. What is printed as less than about 1e-6 may so remain a table.
bool is_complement(double q, double p) { return std::abs(q - (1 - p)) <= 1e-10 * q; }

/// The table read as P(head | body), where the body state `special` has one distribution and all others another.
std::optional<HornFactor> recognise(std::span<double const> table, int arity, int head, FactorType type) {
  std::size_t const head_bit = std::size_t{1} << (arity - 1 - head);  // last variable fastest
  std::size_t const body_bits = (std::size_t{1} << arity) - 1 - head_bit;
  bool const fires_if_undecided = !deciding_value(type);
  std::size_t const special = fires_if_undecided ? body_bits : 0;  // none has the deciding value
  std::size_t const other = arity == 1 ? special : (special ^ body_bits);
  for (std::size_t body : {special, other})
    if (!nearly_equal(table[body] + table[body | head_bit], 1) || !is_complement(table[body], table[body | head_bit]))
      return std::nullopt;
  for (std::size_t body = 0; body <= body_bits; ++body) {
    if (body & head_bit) continue;
    std::size_t const like = body == special ? special : other;
    if (!nearly_equal(table[body], table[like]) || !nearly_equal(table[body | head_bit], table[like | head_bit]))
      return std::nullopt;
  }
  double const p_special = table[special | head_bit], p_other = table[other | head_bit];
  return fires_if_undecided ? HornFactor{type, head, p_special, p_other} : HornFactor{type, head, p_other, p_special};
}

}  // namespace

std::optional<HornFactor> recognise_horn_factor(std::span<double const> table, int arity) {
  if (arity < 1 || arity > 40 || table.size() != (std::size_t{1} << arity)) return std::nullopt;
  for (int head = 0; head < arity; ++head) {
    if (arity > 1)
      if (auto f = recognise(table, arity, head, FactorType::disjunction); f && f->p1 == 1 && f->p2 == 0) return f;
    if (auto f = recognise(table, arity, head, FactorType::conjunction)) return f;
    if (auto f = recognise(table, arity, head, FactorType::disjunction)) return f;
  }
  return std::nullopt;
}

std::vector<double> table_of_horn_factor(FactorType type, double p1, double p2, int arity) {
  std::size_t const head_bit = std::size_t{1} << (arity - 1), all = head_bit - 1;
  std::vector<double> table(2 * head_bit);
  for (std::size_t body = 0; body < head_bit; ++body) {
    double const p = fires(type, body == all, body != 0) ? p1 : p2;
    table[body] = 1 - p;
    table[body | head_bit] = p;
  }
  return table;
}

}  // namespace hornbill
