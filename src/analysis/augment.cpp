// Further clauses for an acyclic set, by an order of the tuples that is kept up to date.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include <hornbill/analysis/prune.hpp>

#include "incidence.hpp"

namespace hornbill::analysis {
namespace {

/// The place of each tuple in the reverse postorder of a depth-first search from premises to heads, which few clauses
/// go against: those that close a cycle of the search, and no others.
std::vector<Index> reverse_postorder(ClauseSet const& clauses, std::span<Index const> depths, Incidence const& users) {
  std::vector<Index> place(clauses.num_tuples());
  std::vector<bool> seen(clauses.num_tuples()), derivable(clauses.num_clauses());
  for (Index c = 0; c < clauses.num_clauses(); ++c) derivable[c] = depth_of_body(clauses, depths, c) != underivable;
  std::vector<std::pair<Index, std::size_t>> path;  // a tuple, and how many of its users were followed
  Index last = clauses.num_tuples();
  auto const enter = [&](Index t) {
    if (seen[t]) return;
    seen[t] = true;
    path.emplace_back(t, 0);
  };
  for (Index root = 0; root < clauses.num_tuples(); ++root) {
    enter(root);
    while (!path.empty()) {
      auto& [t, followed] = path.back();
      auto const of_tuple = users.of(t);
      if (followed == of_tuple.size()) {
        place[t] = --last;
        path.pop_back();
        continue;
      }
      Index const c = of_tuple[followed++];
      if (derivable[c]) enter(clauses.heads[c]);
    }
  }
  return place;
}

/// The places of tuples in an order in which the premises of kept clauses come before their heads, and otherwise those
/// of a rank do.
std::vector<Index> places_by_rank(ClauseSet const& clauses, Incidence const& users, std::vector<bool> const& kept,
                                  std::vector<Index> const& rank) {
  std::vector<Index> missing(clauses.num_tuples()), tuple_at(clauses.num_tuples()), place(clauses.num_tuples());
  for (Index t = 0; t < clauses.num_tuples(); ++t) tuple_at[rank[t]] = t;
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if (kept[c]) missing[clauses.heads[c]] += static_cast<Index>(clauses.body_of(c).size());
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready;
  for (Index t = 0; t < clauses.num_tuples(); ++t)
    if (missing[t] == 0) ready.push(rank[t]);
  for (Index next = 0; !ready.empty(); ++next) {
    Index const t = tuple_at[ready.top()];
    ready.pop();
    place[t] = next;
    for (Index c : users.of(t))
      if (kept[c] && --missing[clauses.heads[c]] == 0) ready.push(rank[clauses.heads[c]]);
  }
  return place;
}

/// Tuples in an order in which the premises of all kept clauses come before their heads.   Source: Pearce and Kelly
/// 2006, with all edges of a clause at once, and searches from both ends in turn.
class OrderedTuples {
 public:
  OrderedTuples(ClauseSet const& clauses, std::span<Index const> depths, std::span<Index const> kept)
      : clauses_(clauses),
        users_(by_premise(clauses, all_clauses(clauses))),
        derivers_(by_head(clauses, all_clauses(clauses))),
        kept_(clauses.num_clauses()),
        side_(clauses.num_tuples()) {
    for (Index c : kept) kept_[c] = true;
    place_ = places_by_rank(clauses, users_, kept_, reverse_postorder(clauses, depths, users_));
    tuple_at_.resize(place_.size());
    for (Index t = 0; t < clauses.num_tuples(); ++t) tuple_at_[place_[t]] = t;
  }

  bool is_kept(Index clause) const { return kept_[clause]; }

  /// Keeps a clause if it fits the order as it is.
  void keep_where_it_fits(Index clause) {
    kept_[clause] = kept_[clause] || last_premise(clause) < place_[clauses_.heads[clause]];
  }

  /// Keeps a clause unless it makes a cycle.
  void try_to_keep(Index clause) {
    kept_[clause] = kept_[clause] || make_room(clauses_.heads[clause], clauses_.body_of(clause), last_premise(clause));
  }

 private:
  static constexpr std::uint8_t side_after = 1, side_before = 2, moving = 3;

  Index last_premise(Index clause) const {
    Index last = -1;
    for (Index t : clauses_.body_of(clause)) last = std::max(last, place_[t]);
    return last;
  }

  /// Moves the premises, and what comes before them, ahead of the head and what comes after it. False if that makes a
  /// cycle.
  bool make_room(Index head, std::span<Index const> body, Index last) {
    Index const first = place_[head];
    if (last < first) return true;
    Search after(*this, side_after, {&head, 1}), before(*this, side_before, body);
    bool cycle = after.meets_other || before.meets_other;
    // Both ways in turn, until either is exhausted: what it found is all that must move.
    while (!cycle && !after.done() && !before.done()) {
      auto& smaller = after.work <= before.work ? after : before;
      cycle = !smaller.expand(first, last);
    }
    for (auto* found : {&after.found, &before.found})
      for (Index t : *found) side_[t] = 0;
    if (!cycle) move(first, last, after.done() ? after.found : before.found, after.done());
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
        if (side == side_after)
          step(tuples.clauses_.heads[c]);
        else
          for (Index premise : tuples.clauses_.body_of(c)) step(premise);
      }
      return !meets_other;
    }
  };

  /// Moves some tuples behind all others of a stretch of places, or ahead of them; each keep their order.
  void move(Index first, Index last, std::vector<Index> const& some, bool behind) {
    for (Index t : some) side_[t] = moving;
    moved_.clear();
    stays_.clear();
    for (Index at = first; at <= last; ++at)
      (side_[tuple_at_[at]] == moving ? moved_ : stays_).push_back(tuple_at_[at]);
    Index at = first;
    for (auto const* part : {behind ? &stays_ : &moved_, behind ? &moved_ : &stays_})
      for (Index t : *part) put(t, at++);
    for (Index t : some) side_[t] = 0;
  }

  void put(Index tuple, Index at) {
    place_[tuple] = at;
    tuple_at_[at] = tuple;
  }

  ClauseSet const& clauses_;
  Incidence users_, derivers_;
  std::vector<bool> kept_;
  std::vector<Index> place_, tuple_at_;
  std::vector<Index> moved_, stays_;  ///< of a move under way
  std::vector<std::uint8_t> side_;    ///< of a search under way, that has found the tuple
};

}  // namespace

std::vector<Index> augmented_clauses(ClauseSet const& clauses, std::span<Index const> depths,
                                     std::span<Index const> kept) {
  OrderedTuples tuples(clauses, depths, kept);
  std::vector<Index> others, augmented;
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if (!tuples.is_kept(c) && depth_of_body(clauses, depths, c) != underivable) others.push_back(c);
  std::stable_sort(others.begin(), others.end(), [&](Index a, Index b) {
    return depth_of_body(clauses, depths, a) < depth_of_body(clauses, depths, b);
  });
  for (Index c : others) tuples.keep_where_it_fits(c);  // most do, each at no cost
  for (Index c : others) tuples.try_to_keep(c);
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if (tuples.is_kept(c)) augmented.push_back(c);
  return augmented;
}

}  // namespace hornbill::analysis
