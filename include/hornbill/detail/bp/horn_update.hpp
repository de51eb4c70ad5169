// Updates out of one Horn factor: the bodies of the four factor-to-variable kernels and their union.
#pragma once

#include <hornbill/detail/bp/fields.hpp>

namespace hornbill::detail {

/// AND as it is; OR as the AND of complements, whose log-odds have the other sign.
struct And {
  template <class Value>
  static KOKKOS_FUNCTION Value orient(Value log_odds) { return log_odds; }
};
struct Or {
  template <class Value>
  static KOKKOS_FUNCTION Value orient(Value log_odds) { return -log_odds; }
};

using bp::Direction;

/// The edges out of a factor that a task writes to its body: all, or a list.
template <class MemorySpace>
struct BodyEdges {
  Kokkos::View<Index const*, MemorySpace> list;  // unused if all
  Index first, count;                            // into list; or edge ids if all
  bool all;
  KOKKOS_FUNCTION Index operator[](Index i) const { return all ? first + i : list(first + i); }
};

/// One Horn factor as a kernel sees it.
template <class Kind, class Value, class MemorySpace>
struct HornUpdate {
  using E = Extended<Value>;
  Fields<Value, MemorySpace> const& f;
  Index head, end;  // its edges: the head's, and one past the last of the body
  HornParameters<Value> p;

  KOKKOS_FUNCTION HornUpdate(Fields<Value, MemorySpace> const& fields, Index factor)
      : f(fields), head(fields.graph.factor_offsets(factor)), end(fields.graph.factor_offsets(factor + 1)),
        p(fields.graph.parameters(factor)) {}

  KOKKOS_FUNCTION Index body_size() const { return end - head - 1; }
  /// Odds against a body member (AND: against its truth; OR: against its falsehood).
  KOKKOS_FUNCTION E odds_against(Index edge) const { return E::exp(-Kind::orient(f.variable_to_factor(edge))); }

  /// Odds against the conjunction of members [first, last).
  KOKKOS_FUNCTION E odds_against_all(Index first, Index last) const {
    E odds = E::zero();
    for (Index e = first; e < last; ++e) odds = odds_against_both(odds, odds_against(e));
    return odds;
  }
  KOKKOS_FUNCTION E ratio() const { return head_ratio(p, Kind::orient(f.variable_to_factor(head))); }
  template <Write write>
  KOKKOS_FUNCTION void write_head(E against) const {
    put<write>(head, message_to_head(p, against));
  }
  template <Write write>
  KOKKOS_FUNCTION void write_body(E ratio, E against_others, Index edge) const {
    put<write>(edge, message_to_body(ratio, against_others));
  }

 private:
  template <Write write>
  KOKKOS_FUNCTION void put(Index edge, Value oriented) const {
    put_message<write>(f, edge, f.graph.factor_variables(edge), Kind::orient(oriented));
  }
};

/// A narrow factor, by one thread.
template <class Kind, Direction direction, Write write, class Value, class MemorySpace>
KOKKOS_FUNCTION void update_narrow(Fields<Value, MemorySpace> const& f, Index factor, BodyEdges<MemorySpace> const& edges) {
  HornUpdate<Kind, Value, MemorySpace> const update(f, factor);
  if constexpr (direction == Direction::to_head) {
    update.template write_head<write>(update.odds_against_all(update.head + 1, update.end));
  } else {
    using E = Extended<Value>;
    E odds[bp::narrow_body], before[bp::narrow_body], all = E::zero(), after = E::zero();
    Index const size = update.body_size();
    for (Index i = 0; i < size; ++i) {
      before[i] = all;
      all = odds_against_both(all, odds[i] = update.odds_against(update.head + 1 + i));
    }
    E const ratio = update.ratio();
    if constexpr (direction == Direction::to_all) update.template write_head<write>(all);
    Index next = edges.all ? size - 1 : edges.count - 1;  // last edge still to be written; lists are ascending
    for (Index i = size - 1; i >= 0 && next >= 0; --i) {
      Index const edge = update.head + 1 + i;
      if (edges.all || edges[next] == edge) {
        update.template write_body<write>(ratio, odds_against_both(before[i], after), edge);
        --next;
      }
      after = odds_against_both(odds[i], after);
    }
  }
}

/// The threads that share a wide factor: a team, a vector, or one thread that does their work.
template <class Member>
struct TeamGroup {
  Member const& member;
  template <class Function>
  KOKKOS_FUNCTION void for_each(Index count, Function const& function) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, count), function);
  }
  KOKKOS_FUNCTION void barrier() const { member.team_barrier(); }
};
/// The lanes of a vector. A loop over them ends in a barrier of its own.
template <class Member>
struct VectorGroup {
  Member const& member;
  template <class Function>
  KOKKOS_FUNCTION void for_each(Index count, Function const& function) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, count), function);
  }
  KOKKOS_FUNCTION void barrier() const {}
};
struct OneThread {
  template <class Function>
  KOKKOS_FUNCTION void for_each(Index count, Function const& function) const {
    for (Index i = 0; i < count; ++i) function(i);
  }
  KOKKOS_FUNCTION void barrier() const {}
};

/// The odds of a wide body as a tree of fixed shape in State::partials: first, for each node, the odds against the members
/// below it; then, for each node, the odds against all members that are not below it.
template <class Group, class Kind, class Value, class MemorySpace>
struct BodyTree {
  using E = Extended<Value>;
  static constexpr Index fan_in = bp::body_fan_in;
  static constexpr int most_levels = 11;  // 8^11 > 2^31

  Group const& group;
  HornUpdate<Kind, Value, MemorySpace> const& update;
  Index first[most_levels], count[most_levels];  // nodes of a level, leaves' parents first
  int levels = 0;
  Index complement = 0;  // distance from a node's odds to those of its complement

  KOKKOS_FUNCTION BodyTree(Group const& g, HornUpdate<Kind, Value, MemorySpace> const& u, Index workspace) : group(g), update(u) {
    Index nodes = u.body_size(), at = workspace;
    do {
      nodes = (nodes + fan_in - 1) / fan_in;
      first[levels] = at;
      count[levels++] = nodes;
      at += nodes;
    } while (nodes > 1);
    complement = at - workspace;
  }

  KOKKOS_FUNCTION Index member(Index i) const { return update.head + 1 + i; }

  /// Fills in the odds of all nodes; returns those of the root, against the whole body.
  KOKKOS_FUNCTION E compose() const {
    auto const& partials = update.f.partials;
    group.for_each(count[0], [&](Index c) {
      partials(first[0] + c) = update.odds_against_all(member(c * fan_in), Kokkos::min(member((c + 1) * fan_in), update.end));
    });
    group.barrier();
    for (int l = 1; l < levels; ++l) {
      group.for_each(count[l], [&](Index c) {
        E odds = E::zero();
        for (Index i = c * fan_in; i < Kokkos::min((c + 1) * fan_in, count[l - 1]); ++i) odds = odds_against_both(odds, partials(first[l - 1] + i));
        partials(first[l] + c) = odds;
      });
      group.barrier();
    }
    return partials(first[levels - 1]);
  }

  /// Fills in the odds of all nodes' complements.
  KOKKOS_FUNCTION void compose_complements() const {
    auto const& partials = update.f.partials;
    group.for_each(1, [&](Index) { partials(first[levels - 1] + complement) = E::zero(); });
    group.barrier();
    for (int l = levels - 2; l >= 0; --l) {
      group.for_each(count[l], [&](Index c) {
        Index const parent = c / fan_in, begin = parent * fan_in, end = Kokkos::min(begin + fan_in, count[l]);
        E before = E::zero(), after = E::zero();
        for (Index i = begin; i < c; ++i) before = odds_against_both(before, partials(first[l] + i));
        for (Index i = end - 1; i > c; --i) after = odds_against_both(partials(first[l] + i), after);
        partials(first[l] + c + complement) = odds_against_both(partials(first[l + 1] + parent + complement), odds_against_both(before, after));
      });
      group.barrier();
    }
  }

  /// Odds against all members but the one at `edge`.
  KOKKOS_FUNCTION E odds_against_others(Index edge) const {
    Index const parent = (edge - update.head - 1) / fan_in, end = Kokkos::min(member((parent + 1) * fan_in), update.end);
    E const before = update.odds_against_all(member(parent * fan_in), edge);
    E after = E::zero();
    for (Index e = end - 1; e > edge; --e) after = odds_against_both(update.odds_against(e), after);
    return odds_against_both(update.f.partials(first[0] + parent + complement), odds_against_both(before, after));
  }
};

/// A wide factor, by a group of threads.
template <class Kind, Direction direction, Write write, class Group, class Value, class MemorySpace>
KOKKOS_FUNCTION void update_wide(Group const& group, Fields<Value, MemorySpace> const& f, Index factor,
                                 BodyEdges<MemorySpace> const& edges, Index workspace) {
  HornUpdate<Kind, Value, MemorySpace> const update(f, factor);
  BodyTree<Group, Kind, Value, MemorySpace> const tree(group, update, workspace);
  auto const all = tree.compose();
  if constexpr (direction == Direction::to_head) {
    group.for_each(1, [&](Index) { update.template write_head<write>(all); });
  } else {
    auto const ratio = update.ratio();
    tree.compose_complements();
    if constexpr (direction == Direction::to_all) {
      group.for_each(1, [&](Index) { update.template write_head<write>(all); });
      // A node at a time: its members' odds are read before any of its messages is replaced.
      group.for_each(tree.count[0], [&](Index c) {
        using E = Extended<Value>;
        E odds[bp::body_fan_in], others[bp::body_fan_in];
        Index const begin = tree.member(c * bp::body_fan_in), size = Kokkos::min(Index{bp::body_fan_in}, update.end - begin);
        E before = E::zero(), after = E::zero();
        for (Index i = 0; i < size; ++i) {
          others[i] = before;
          before = odds_against_both(before, odds[i] = update.odds_against(begin + i));
        }
        E const outside = f.partials(tree.first[0] + c + tree.complement);
        for (Index i = size - 1; i >= 0; --i) {
          others[i] = odds_against_both(outside, odds_against_both(others[i], after));
          after = odds_against_both(odds[i], after);
        }
        for (Index i = 0; i < size; ++i) update.template write_body<write>(ratio, others[i], begin + i);
      });
    } else {
      group.for_each(edges.count, [&](Index i) { update.template write_body<write>(ratio, tree.odds_against_others(edges[i]), edges[i]); });
    }
  }
}

}  // namespace hornbill::detail
