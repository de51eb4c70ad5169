// Which clauses have a tuple among their premises, or as their head. Internal to src/analysis.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <hornbill/analysis/clauses.hpp>

namespace hornbill::analysis {

/// Listed clauses by tuple.
struct Incidence {
  std::vector<Offset> offsets;
  std::vector<Index> clauses;

  template <class TuplesOf>
  Incidence(Index num_tuples, std::span<Index const> listed, TuplesOf const& tuples_of)
      : offsets(static_cast<std::size_t>(num_tuples) + 1) {
    for (Index c : listed)
      for (Index t : tuples_of(c)) ++offsets[t + 1];
    for (Index t = 0; t < num_tuples; ++t) offsets[t + 1] += offsets[t];
    clauses.resize(offsets.back());
    auto next = offsets;
    for (Index c : listed)
      for (Index t : tuples_of(c)) clauses[next[t]++] = c;
  }
  std::span<Index const> of(Index tuple) const {
    return std::span(clauses).subspan(offsets[tuple], offsets[tuple + 1] - offsets[tuple]);
  }
};

inline std::vector<Index> all_clauses(ClauseSet const& clauses) {
  std::vector<Index> all(clauses.num_clauses());
  for (Index c = 0; c < clauses.num_clauses(); ++c) all[c] = c;
  return all;
}
inline Incidence by_premise(ClauseSet const& clauses, std::span<Index const> listed) {
  return {clauses.num_tuples(), listed, [&](Index c) { return clauses.body_of(c); }};
}
inline Incidence by_head(ClauseSet const& clauses, std::span<Index const> listed) {
  return {clauses.num_tuples(), listed, [&](Index c) { return std::span(&clauses.heads[c], 1); }};
}

/// The largest depth in a clause's body.
inline Index depth_of_body(ClauseSet const& clauses, std::span<Index const> depths, Index c) {
  Index deepest = 0;
  for (Index t : clauses.body_of(c)) deepest = std::max(deepest, depths[t]);
  return deepest;
}

}  // namespace hornbill::analysis
