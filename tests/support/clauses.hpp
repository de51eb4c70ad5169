// Clauses for tests, and what they mean, by enumeration.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include <hornbill/analysis/clauses.hpp>

namespace hornbill::test {

/// A folder that goes with the test.
struct ClauseFolder {
  static inline int made = 0;
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / fmt::format("hornbill_test_clauses_{}_{}", ::getpid(), made++);
  ClauseFolder() { std::filesystem::create_directories(path); }
  ~ClauseFolder() { std::filesystem::remove_all(path); }
  std::string write(std::string const& text, std::string const& name = "file.txt") const {
    std::string const file = path / name;
    std::ofstream(file) << text;
    return file;
  }
};

inline analysis::ClauseSet clauses_of(std::string const& text) {
  return analysis::read_clauses(ClauseFolder().write(text));
}

inline std::vector<Index> tuples_named(analysis::ClauseSet const& set, std::vector<std::string> const& names) {
  std::vector<Index> tuples;
  for (auto const& name : names)
    tuples.push_back(static_cast<Index>(std::ranges::find(set.tuple_names, name) - set.tuple_names.begin()));
  return tuples;
}

/// Clauses over random tuples, of which the first few are inputs, each of one of three rules.
/// \param acyclic  premises have smaller numbers than their heads; otherwise most tuples are on cycles
inline analysis::ClauseSet random_clauses(unsigned seed, Index tuples, Index clauses, bool acyclic = false,
                                          Index longest = 3) {
  std::mt19937 random(seed);
  auto const below = [&](Index n) { return static_cast<Index>(random() % static_cast<unsigned>(n)); };
  analysis::ClauseSet set;
  set.rule_names = {"R0", "R1", "R2"};
  Index const inputs = 1 + tuples / 10;
  for (Index t = 0; t < tuples; ++t) set.tuple_names.push_back(fmt::format("t{}", t));
  for (Index c = 0; c < clauses; ++c) {
    Index const head = inputs + below(tuples - inputs), rule = below(3);
    std::set<Index> body;
    for (Index i = below(longest + 1); i > 0; --i) body.insert(below(acyclic ? head : tuples));
    set.add(head, std::vector<Index>(body.begin(), body.end()), {&rule, 1});
  }
  return set;
}

/// The probability that both of two tuples hold, by name, from all outcomes of all instances of rules. Inputs hold.
inline std::map<std::pair<std::string, std::string>, double> joint_probabilities(
    analysis::ClauseSet const& set, std::map<std::string, double> const& probabilities) {
  std::vector<bool> derived(set.num_tuples());
  for (Index head : set.heads) derived[head] = true;
  std::vector<double> sums(static_cast<std::size_t>(set.num_tuples()) * set.num_tuples());
  for (std::size_t outcome = 0; outcome < std::size_t{1} << set.rules.size(); ++outcome) {
    double p = 1;
    for (std::size_t i = 0; i < set.rules.size(); ++i) {
      double const of_rule = probabilities.at(set.rule_names[set.rules[i]]);
      p *= outcome >> i & 1 ? of_rule : 1 - of_rule;
    }
    std::vector<bool> holds(set.num_tuples());
    for (Index t = 0; t < set.num_tuples(); ++t) holds[t] = !derived[t];
    for (bool changed = true; std::exchange(changed, false);)
      for (Index c = 0; c < set.num_clauses(); ++c) {
        bool fires = !holds[set.heads[c]];
        for (Offset i = set.rule_offsets[c]; i < set.rule_offsets[c + 1]; ++i) fires = fires && (outcome >> i & 1);
        for (Index premise : set.body_of(c)) fires = fires && holds[premise];
        if (fires) changed = holds[set.heads[c]] = true;
      }
    for (Index a = 0; a < set.num_tuples(); ++a)
      for (Index b = 0; holds[a] && b < set.num_tuples(); ++b)
        if (holds[b]) sums[a * set.num_tuples() + b] += p;
  }
  std::map<std::pair<std::string, std::string>, double> result;
  for (Index a = 0; a < set.num_tuples(); ++a)
    for (Index b = 0; b < set.num_tuples(); ++b)
      result[{set.tuple_names[a], set.tuple_names[b]}] += sums[a * set.num_tuples() + b];
  return result;
}

}  // namespace hornbill::test
