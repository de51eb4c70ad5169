// Rankings of alarms, and how good they are.
#include <algorithm>
#include <random>

#include <doctest/doctest.h>

#include <hornbill/analysis/ranking.hpp>

using namespace hornbill;
using analysis::Label;

namespace {

HostFactorGraph named(std::vector<std::string> const& names) {
  FactorGraphBuilder builder;
  for (auto const& name : names) builder.add_variable(name);
  return std::move(builder).build();
}

}  // namespace

TEST_CASE("ranking: labelled true, then by confidence, then by name, labelled false last") {
  auto const graph = named({"f", "e", "d", "c", "b", "a"});
  std::vector<Index> const alarms{5, 4, 3, 2, 1};
  std::vector<double> const p_true{1, 0.2, 0.5, 0.5, 0.9, 0.7};
  std::vector<Label> const labels{Label::none, Label::no, Label::none, Label::unknown, Label::yes};
  auto const ranked = analysis::rank_alarms(graph, alarms, labels, p_true);
  std::vector<std::size_t> order;
  for (auto const& one : ranked) order.push_back(one.alarm);
  CHECK(order == std::vector<std::size_t>{4, 0, 2, 3, 1});  // e; a 0.7; c, d 0.5; b
  CHECK(ranked[1].confidence == 0.7);
  CHECK(analysis::next_to_label(ranked, labels)->alarm == 0);
  CHECK(!analysis::next_to_label(ranked, std::vector<Label>(5, Label::unknown)));
  // before a: e; before b: e, c, d
  CHECK(analysis::count_inversions(ranked, {true, true, false, false, false}) == 1 + 3);
}

TEST_CASE("ranking: what is 0 or 1 to the last bit goes by log-odds") {
  auto const graph = named({"a", "b", "c", "d", "e"});
  std::vector<Index> const alarms{0, 1, 2, 3, 4};
  std::vector<double> const p_true{0, 0, 1, 0.5, 0.5}, log_odds{-900, -800, 700, 0, 1e-17};
  std::vector<std::size_t> order;
  for (auto const& one : analysis::rank_alarms(graph, alarms, std::vector<Label>(5, Label::none), p_true, log_odds))
    order.push_back(one.alarm);
  CHECK(order == std::vector<std::size_t>{2, 3, 4, 1, 0});
}

TEST_CASE("ranking: the quality of an order of inspection") {
  auto const quality = analysis::quality_of({true, false, true, false, false, true}, 10);
  CHECK(quality.rank_of_all == 6);
  CHECK(quality.rank_of_90_percent == 6);
  CHECK(quality.inversions == 1 + 3);
  CHECK(quality.area == doctest::Approx(1 - 4.0 / (3 * 7)));
  std::vector<bool> eleven(12, true);
  eleven[10] = false;
  CHECK(analysis::quality_of(eleven, 20).rank_of_90_percent == 10);  // 9.9 of 11, rounded up
  CHECK(analysis::quality_of({}, 5).area == 1);
  CHECK(analysis::quality_of({true, true}, 2).area == 1);
}

TEST_CASE("ranking: the area is the share of pairs in the right order") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<bool> all(30);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = random() % 3 == 0;
    double right = 0, pairs = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t j = 0; j < all.size(); ++j)
        if (all[i] && !all[j]) pairs += 1, right += i < j;
    auto looked_at = all;
    while (!looked_at.empty() && !looked_at.back()) looked_at.pop_back();
    CHECK(analysis::quality_of(looked_at, 30).area == doctest::Approx(right / pairs));
  }
}
