// The tree by which the odds of a factor's members are composed.
//
// Its leaves are the factor's edges in order, the head first (as 0, which is neutral). Blocks of 2^l leaves, counted
// from the first, are the nodes of level l; what lies beyond the last leaf is 0. A node's total is that of its two
// halves; the odds *outside* a node are those outside its parent and those of its sibling. The shape follows from the
// number of leaves alone, so threads, lanes and teams that walk it in pieces of any size compute the same bits.
#pragma once

#include <hornbill/bp/detail/horn_message.hpp>
#include <hornbill/bp/tasks.hpp>

namespace hornbill::bp::detail {

/// The tree over up to chunk_size leaves, by one thread: level after level in one array.
template <class Number>
struct BlockTree {
  Number odds[2 * bp::chunk_size + 8];

  /// From leaves odds[0, count) up; returns the root's total.
  KOKKOS_FUNCTION Number compose(int count) {
    int at = 0;
    for (int nodes = count; nodes > 1; nodes = (nodes + 1) / 2) {
      int const above = at + nodes;
      for (int i = 0; i < nodes / 2; ++i) odds[above + i] = odds_against_both(odds[at + 2 * i], odds[at + 2 * i + 1]);
      if (nodes % 2) odds[above + nodes / 2] = odds[at + nodes - 1];
      at = above;
    }
    return odds[at];
  }
  /// Down again: replaces each leaf by the odds outside it. `outside` are those outside the root.
  KOKKOS_FUNCTION void leave_one_out(int count, Number outside) {
    int first[7], nodes[7], levels = 0, at = 0;
    for (int n = count;; n = (n + 1) / 2) {
      first[levels] = at;
      nodes[levels++] = n;
      at += n;
      if (n <= 1) break;
    }
    odds[first[levels - 1]] = outside;
    for (int l = levels - 2; l >= 0; --l) {
      Number* const here = odds + first[l];
      Number const* const above = odds + first[l + 1];
      for (int i = 0; i < nodes[l] / 2; ++i) {
        Number const left = here[2 * i];
        here[2 * i] = odds_against_both(above[i], here[2 * i + 1]);
        here[2 * i + 1] = odds_against_both(above[i], left);
      }
      if (nodes[l] % 2) here[nodes[l] - 1] = above[nodes[l] / 2];
    }
  }
};

/// A node of a wide factor's tree.
template <class Value>
struct Node {
  Extended<Value> total, outside;     ///< odds against what is below it, and against all else
  HeadWeights<Extended<Value>> head;  ///< of the factor; only at the nodes of chunks
};

template <class Value>
KOKKOS_INLINE_FUNCTION void store(HeadWeights<Extended<Value>>& to, HeadWeights<Extended<Value>> const& weights) {
  store(to.c1, weights.c1);
  store(to.c2, weights.c2);
}

/// Nodes of a wide factor's tree: level 0 are its chunks, each level above has a node for a block of chunk_size.
struct NodeLevels {
  static constexpr int most = 6;  // 32^7 > 2^31
  Index first[most], count[most];
  int levels = 0;

  KOKKOS_FUNCTION NodeLevels(Index first_node, Index degree) {
    Index at = first_node, nodes = (degree + bp::chunk_size - 1) / bp::chunk_size;
    for (;;) {
      first[levels] = at;
      count[levels++] = nodes;
      at += nodes;
      if (nodes <= bp::chunk_size) break;
      nodes = (nodes + bp::chunk_size - 1) / bp::chunk_size;
    }
  }
  KOKKOS_FUNCTION Index total() const { return first[levels - 1] + count[levels - 1] - first[0]; }
  /// Nodes of level l below node b of level l + 1.
  KOKKOS_FUNCTION Index block_size(int l, Index b) const {
    return Kokkos::min(Index{bp::chunk_size}, count[l] - b * bp::chunk_size);
  }
};

}  // namespace hornbill::bp::detail
