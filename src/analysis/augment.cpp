// Further clauses for an acyclic set, by an order of the tuples that is kept up to date.
#include <algorithm>
#include <cstdint>

#include <hornbill/analysis/prune.hpp>

#include "incidence.hpp"

namespace hornbill::analysis {
namespace {

/// Tuples in an order in which the premises of all kept clauses come before their heads.   Source: Pearce and Kelly 2006, with all edges
/// of a clause at once.
class OrderedTuples {
 public:
  OrderedTuples(ClauseSet const& clauses, std::span<Index const> depths, std::span<Index const> kept)
      : clauses_(clauses), users_(by_premise(clauses, all_clauses(clauses))), derivers_(by_head(clauses, all_clauses(clauses))), kept_(clauses.num_clauses()),
        place_(clauses.num_tuples()), side_(clauses.num_tuples()) {
    std::vector<Index> order(clauses.num_tuples());
    for (Index t = 0; t < clauses.num_tuples(); ++t) order[t] = t;
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return depths[a] < depths[b]; });
    for (Index at = 0; at < clauses.num_tuples(); ++at) place_[order[at]] = at;
    for (Index c : kept) kept_[c] = true;
  }

  bool is_kept(Index clause) const { return kept_[clause]; }

  /// Keeps a clause unless it makes a cycle.
  void try_to_keep(Index clause) {
    Index const head = clauses_.heads[clause];
    Index last = -1;
    for (Index t : clauses_.body_of(clause)) last = std::max(last, place_[t]);
    if (last >= place_[head] && !make_room(head, clauses_.body_of(clause), last)) return;
    kept_[clause] = true;
  }

 private:
  static constexpr std::uint8_t side_after = 1, side_before = 2;

  /// Moves the premises, and what comes before them, ahead of the head and what comes after it. False if that makes a cycle.
  bool make_room(Index head, std::span<Index const> body, Index last) {
    Index const first = place_[head];
    Search after(*this, side_after, {&head, 1}), before(*this, side_before, body);
    bool cycle = after.meets_other || before.meets_other;
    // Both ways in turn: where there is a path from the head to a premise, it is met long before either side is exhausted.
    while (!cycle && !after.done() && !before.done()) {
      auto& smaller = after.work <= before.work ? after : before;
      cycle = !smaller.expand(first, last);
    }
    while (!cycle && !after.done()) after.expand(first, last);
    while (!cycle && !before.done()) before.expand(first, last);
    for (auto* found : {&after.found, &before.found})
      for (Index t : *found) side_[t] = 0;
    if (!cycle) reorder(before.found, after.found);
    return !cycle;
  }

  /// Tuples after the head, or before the premises, among those between them in the order.
  struct Search {
    OrderedTuples& tuples;
    std::uint8_t side;
    std::vector<Index> found{};
    std::size_t next = 0, work = 0;
    bool meets_other = false;

    Search(OrderedTuples& t, std::uint8_t s, std::span<Index const> from) : tuples(t), side(s) {
      for (Index tuple : from) visit(tuple);
    }
    bool done() const { return next == found.size(); }
    void visit(Index t) {
      auto& seen = tuples.side_[t];
      if (seen == side) return;
      if (seen != 0) {
        meets_other = true;
        return;
      }
      seen = side;
      found.push_back(t);
    }
    /// From one more tuple. False if the other side is met.
    bool expand(Index first, Index last) {
      Index const t = found[next++];
      auto const step = [&](Index to) {
        ++work;
        if (first <= tuples.place_[to] && tuples.place_[to] <= last) visit(to);
      };
      for (Index c : side == side_after ? tuples.users_.of(t) : tuples.derivers_.of(t)) {
        ++work;
        if (!tuples.kept_[c]) continue;
        if (side == side_after) step(tuples.clauses_.heads[c]);
        else
          for (Index premise : tuples.clauses_.body_of(c)) step(premise);
      }
      return !meets_other;
    }
  };

  /// Those before take the first of all their places, those after the last; each keep their order.
  void reorder(std::vector<Index>& before, std::vector<Index>& after) {
    auto const by_place = [&](Index a, Index b) { return place_[a] < place_[b]; };
    std::sort(before.begin(), before.end(), by_place);
    std::sort(after.begin(), after.end(), by_place);
    before.insert(before.end(), after.begin(), after.end());
    std::vector<Index> places;
    for (Index t : before) places.push_back(place_[t]);
    std::sort(places.begin(), places.end());
    for (std::size_t i = 0; i < before.size(); ++i) place_[before[i]] = places[i];
  }

  ClauseSet const& clauses_;
  Incidence users_, derivers_;
  std::vector<bool> kept_;
  std::vector<Index> place_;
  std::vector<std::uint8_t> side_;  ///< of a search under way, that has found the tuple
};

}  // namespace

std::vector<Index> augmented_clauses(ClauseSet const& clauses, std::span<Index const> depths, std::span<Index const> kept) {
  OrderedTuples tuples(clauses, depths, kept);
  std::vector<Index> others, augmented;
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if (!tuples.is_kept(c) && depth_of_body(clauses, depths, c) != underivable) others.push_back(c);
  std::stable_sort(others.begin(), others.end(), [&](Index a, Index b) { return depth_of_body(clauses, depths, a) < depth_of_body(clauses, depths, b); });
  for (Index c : others) tuples.try_to_keep(c);
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if (tuples.is_kept(c)) augmented.push_back(c);
  return augmented;
}

}  // namespace hornbill::analysis
