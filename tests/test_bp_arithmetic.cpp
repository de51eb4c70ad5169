// The arithmetic that kernels are made of, called on the host.
#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/detail/bp/accumulator.hpp>
#include <hornbill/detail/bp/extended.hpp>
#include <hornbill/detail/bp/horn_message.hpp>

using hornbill::detail::Accumulator;
using hornbill::detail::Extended;

TEST_CASE_TEMPLATE("extended numbers: logarithms survive sums and products far outside the range of the type", Value, double, float) {
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

TEST_CASE_TEMPLATE("sums on the grid: order does not matter, leaving one out is exact, nothing drifts", Value, double, float) {
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
    add_sum(changed, hornbill::detail::difference(terms[round], Value(1.5)));
    add_sum(changed, hornbill::detail::difference(Value(1.5), terms[round]));
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
  add_sum(sum, hornbill::detail::difference(-infinity, Value(1)));
  CHECK(log_odds(sum) == infinity);
}

TEST_CASE("Horn messages: odds against the direct product, nothing lost where nearly all is certain") {
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> uniform(0, 1), exponent(-300, 300);
  for (int trial = 0; trial < 2000; ++trial) {
    int const n = 1 + static_cast<int>(rng() % 6);
    std::vector<double> l(n);
    for (auto& x : l) x = trial % 2 ? exponent(rng) : 10 * (uniform(rng) - 0.5);
    double const p1 = trial % 5 == 0 ? 1 : uniform(rng), p2 = trial % 3 == 0 ? 0 : uniform(rng), h = 20 * (uniform(rng) - 0.5);
    hornbill::detail::HornParameters<double> const p{p1, 1 - p1, p2, 1 - p2};
    auto odds = [&](int left_out) {
      auto against = Extended<double>::zero();
      for (int i = 0; i < n; ++i)
        if (i != left_out) against = odds_against_both(against, Extended<double>::exp(-l[i]));
      return against;
    };
    auto direct = [&](int left_out) {  // Q and 1 - Q in long double, by design.md's walk
      long double q = 1, not_q = 0;
      for (int i = 0; i < n; ++i) {
        if (i == left_out) continue;
        not_q += q / (1 + std::exp(static_cast<long double>(l[i])));
        q *= 1 / (1 + std::exp(-static_cast<long double>(l[i])));
      }
      return std::pair{q, not_q};
    };
    INFO(fmt::format("trial {}, p1 {}, p2 {}", trial, p1, p2));
    auto const [q, not_q] = direct(-1);
    long double const to_head = std::log((q * p1 + not_q * p2) / (q * (1 - p1) + not_q * (1 - p2)));
    CHECK(message_to_head(p, odds(-1)) == doctest::Approx(static_cast<double>(to_head)).epsilon(1e-12));
    auto const ratio = hornbill::detail::head_ratio(p, h);
    long double const eta = std::exp(static_cast<long double>(h));
    long double const c1 = p1 * eta + (1 - p1), c2 = p2 * eta + (1 - p2);
    for (int j = 0; j < n; ++j) {
      auto const [qj, not_qj] = direct(j);
      long double const to_body = std::log((qj * c1 + not_qj * c2) / c2);
      CHECK(std::abs(message_to_body(ratio, odds(j)) - static_cast<double>(to_body)) < 1e-13 * (1 + std::abs(static_cast<double>(to_body))));
    }
  }
}
