// The arithmetic that kernels are made of, called on the host.
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/bp/detail/accumulator.hpp>
#include <hornbill/bp/detail/extended.hpp>
#include <hornbill/bp/detail/horn_message.hpp>
#include <hornbill/bp/detail/odds_tree.hpp>

using hornbill::bp::detail::Accumulator;
using hornbill::bp::detail::Extended;

TEST_CASE_TEMPLATE("extended numbers: logarithms survive sums and products far outside the range of the type", Value,
                   double, float) {
  using E = Extended<Value>;
  double const eps = std::numeric_limits<Value>::epsilon();
  std::mt19937 rng(1);
  for (double scale : {1.0, 50.0, 1000.0, 100000.0}) {
    std::uniform_real_distribution<double> uniform(-scale, scale);
    for (int i = 0; i < 2000; ++i) {
      auto const a = static_cast<Value>(uniform(rng)), b = static_cast<Value>(uniform(rng));
      double const tolerance = 8 * eps * (1 + std::abs(double(a)) + std::abs(double(b)));
      INFO(fmt::format("a = {}, b = {}", a, b));
      CHECK(std::abs(E::exp(a).log() - a) <= tolerance);
      CHECK(std::abs((E::exp(a) * E::exp(b)).log() - (double(a) + b)) <= tolerance);
      CHECK(std::abs((E::exp(a) / E::exp(b)).log() - (double(a) - b)) <= tolerance);
      double const sum = std::max<double>(a, b) + std::log1p(std::exp(-std::abs(double(a) - b)));
      CHECK(std::abs((E::exp(a) + E::exp(b)).log() - sum) <= tolerance);
      CHECK((E::exp(a) < E::exp(b)) == (a < b));
    }
  }
}

TEST_CASE_TEMPLATE("extended numbers: zero and infinity are exact", Value, double, float) {
  using E = Extended<Value>;
  constexpr Value infinity = std::numeric_limits<Value>::infinity();
  CHECK(E::exp(-infinity).is_zero());
  CHECK(E::exp(infinity).is_infinite());
  CHECK(E::zero().log() == -infinity);
  CHECK((E::infinity() + E::from(3)).log() == infinity);
  CHECK((E::from(0.25) + E::zero()).log() == std::log(Value(0.25)));
  CHECK((E::from(0.25) * E::zero()).log() == -infinity);
  CHECK((E::from(1) / E::infinity()).log() == -infinity);
}

TEST_CASE_TEMPLATE("sums on the grid: order does not matter, leaving one out is exact, nothing drifts", Value, double,
                   float) {
  std::mt19937 rng(2);
  std::normal_distribution<double> normal(0, 30);
  std::vector<Value> terms;
  for (int i = 0; i < 1000; ++i) terms.push_back(static_cast<Value>(normal(rng)));
  terms[10] = 60000;  // a wide disjunction
  Accumulator<Value> forward, backward;
  for (auto t : terms) add_term(forward, t);
  for (auto t = terms.rbegin(); t != terms.rend(); ++t) add_term(backward, *t);
  CHECK(log_odds(forward) == log_odds(backward));

  Accumulator<Value> without;
  for (std::size_t i = 1; i < terms.size(); ++i) add_term(without, terms[i]);
  CHECK(log_odds_without(forward, terms[0]) == log_odds(without));

  Accumulator<Value> changed = forward;
  for (int round = 0; round < 1000; ++round) {
    add_sum(changed, hornbill::bp::detail::difference(terms[round], Value(1.5)));
    add_sum(changed, hornbill::bp::detail::difference(Value(1.5), terms[round]));
  }
  CHECK(log_odds(changed) == log_odds(forward));
}

TEST_CASE_TEMPLATE("sums on the grid: certainty is counted beside the finite sum", Value, double, float) {
  constexpr Value infinity = std::numeric_limits<Value>::infinity();
  Accumulator<Value> sum;
  add_term(sum, Value(2));
  add_term(sum, infinity);
  CHECK(log_odds(sum) == infinity);
  CHECK(log_odds_without(sum, infinity) == 2);
  add_term(sum, infinity);
  CHECK(log_odds_without(sum, infinity) == infinity);
  add_term(sum, -infinity);
  CHECK(log_odds(sum) == 0);  // contradiction; the belief kernel reports it
  add_sum(sum, hornbill::bp::detail::difference(-infinity, Value(1)));
  CHECK(log_odds(sum) == infinity);
}

namespace {

using hornbill::bp::detail::HornParameters;

/// A message of a conjunction: to the head (left_out < 0) or to a body member, composed as the kernels do, in one kind
/// of numbers.
template <class Number, class Value>
Value horn_message(HornParameters<Value> const& p, Value head, std::vector<Value> const& body, int left_out) {
  using namespace hornbill::bp::detail;
  auto tree = std::make_unique<BlockTree<Number>>();
  tree->odds[0] = {};
  for (std::size_t i = 0; i < body.size(); ++i) tree->odds[1 + i] = number_exp<Number>(-body[i]);
  Number const total = tree->compose(1 + static_cast<int>(body.size()));
  if (left_out < 0) return message(form_to_head<Number>(p), total);
  tree->leave_one_out(1 + static_cast<int>(body.size()), Number{});
  return message(form_to_body(head_weights(p, number_exp<Number>(head))), tree->odds[1 + left_out]);
}

}  // namespace

TEST_CASE("Horn messages: odds against the direct product, nothing lost where nearly all is certain") {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> uniform(0, 1), exponent(-300, 300);
  for (int trial = 0; trial < 2000; ++trial) {
    int const n = 1 + static_cast<int>(rng() % 31);
    std::vector<double> l(n);
    for (auto& x : l) x = trial % 2 ? exponent(rng) : 10 * (uniform(rng) - 0.5);
    double const p1 = trial % 5 == 0 ? 1 : uniform(rng), p2 = trial % 3 == 0 ? 0 : uniform(rng),
                 h = 20 * (uniform(rng) - 0.5);
    HornParameters<double> const p{p1, 1 - p1, p2, 1 - p2};
    auto direct = [&](int left_out) {  // Q and 1 - Q in long double, by the walk of hornbill/bp/README.md, equation 10
      long double q = 1, not_q = 0;
      for (int i = 0; i < n; ++i) {
        if (i == left_out) continue;
        not_q += q / (1 + std::exp(static_cast<long double>(l[i])));
        q *= 1 / (1 + std::exp(-static_cast<long double>(l[i])));
      }
      return std::pair{q, not_q};
    };
    using E = Extended<double>;
    INFO(fmt::format("trial {}, n {}, p1 {}, p2 {}", trial, n, p1, p2));
    auto const [q, not_q] = direct(-1);
    long double const to_head = std::log((q * p1 + not_q * p2) / (q * (1 - p1) + not_q * (1 - p2)));
    CHECK(horn_message<E>(p, h, l, -1) == doctest::Approx(static_cast<double>(to_head)).epsilon(1e-12));
    long double const eta = std::exp(static_cast<long double>(h));
    long double const c1 = p1 * eta + (1 - p1), c2 = p2 * eta + (1 - p2);
    for (int j = 0; j < n; ++j) {
      auto const [qj, not_qj] = direct(j);
      long double const to_body = std::log((qj * c1 + not_qj * c2) / c2);
      CHECK(std::abs(horn_message<E>(p, h, l, j) - static_cast<double>(to_body)) <
            1e-13 * (1 + std::abs(static_cast<double>(to_body))));
    }
  }
}

TEST_CASE_TEMPLATE("Horn messages: where plain numbers suffice they give the bits of extended ones", Value, double,
                   float) {
  using E = Extended<Value>;
  using namespace hornbill::bp::detail;
  std::mt19937 rng(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  int sufficed = 0, did_not = 0;
  for (int trial = 0; trial < 8000; ++trial) {
    double const reach = (trial % 4 + 1) / 4.0 * ExtendedRange<Value>::log_plain;
    int const n = static_cast<int>(rng() % 32);
    std::vector<Value> body(n);
    // some nearly surely false
    for (auto& l : body) l = static_cast<Value>(reach * (2 * uniform(rng) - (trial % 3 ? 1 : 2)));
    auto const head = static_cast<Value>(reach * (2 * uniform(rng) - 1));
    double const tiny = std::pow(2.0, -40 * uniform(rng));
    double const choices[] = {0, 1, uniform(rng), tiny, 1 - tiny};
    double const p1 = choices[rng() % 5], p2 = choices[rng() % 5];
    HornParameters<Value> const p{static_cast<Value>(p1), static_cast<Value>(1 - p1), static_cast<Value>(p2),
                                  static_cast<Value>(1 - p2)};
    bool usable = are_ordinary(p1, p2) && is_ordinary(head);
    BlockTree<E> tree;
    tree.odds[0] = {};
    for (int i = 0; i < n; ++i) {
      usable = usable && is_ordinary(body[i]);
      tree.odds[1 + i] = E::exp(-body[i]);
    }
    usable = usable && tree.compose(1 + n) < E::from(ExtendedRange<Value>::plain);
    ++(usable ? sufficed : did_not);
    if (!usable) continue;
    INFO(fmt::format("trial {}, n {}, p1 {}, p2 {}, head {}", trial, n, p1, p2, head));
    for (int j = -1; j < n; ++j) CHECK(horn_message<Value>(p, head, body, j) == horn_message<E>(p, head, body, j));
  }
  CHECK(sufficed > 1000);
  CHECK(did_not > 100);
}
