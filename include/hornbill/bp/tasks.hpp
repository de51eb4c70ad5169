/// \file
/// Units of work that a plan hands to kernels.
///
/// The messages out of a Horn factor are computed a *chunk* at a time: up to chunk_size consecutive edges, one thread's
/// loop on a CPU, as many lanes of a warp on a GPU. AND and OR, head and body differ in signs and coefficients alone
/// (see bp/detail/horn_message.hpp), so one kernel serves all of them. A factor of more edges is *wide*: its chunks are
/// first composed each by itself, then tied together by a tree of nodes, then read out.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/types.hpp>

namespace hornbill::bp {

/// Edges of a chunk, and nodes of a block of the tree above them.
inline constexpr Index chunk_size = 32;
/// Incoming messages of a variable that a SmallRow names itself, that a quarter of a warp sums, that a warp does, and
/// that a team does; a variable with more is a hub, divided into rows of that length. On a CPU each row is one
/// thread's; of several evidence sets a warp, or team, takes some at once, and medium rows are a thread's.
inline constexpr Index small_row = 3, medium_row = 32, large_row = 256, long_row = 4096;

/// Consecutive edges of one Horn factor, of which some messages are wanted.
struct Chunk {
  Index factor;
  Index first_edge;
  std::uint32_t wanted;      ///< bit i: the message of edge first_edge + i
  Index node;                ///< wide factors: the chunk's entry of State::nodes; others: -1
  std::uint8_t count;        ///< edges, at most chunk_size
  std::uint8_t head;         ///< the first edge is the head's
  std::uint8_t disjunction;  ///< OR
  std::uint8_t ordinary;     ///< no parameter is so small that plain arithmetic would lose it
};

/// What ties the chunks of a wide factor together.
struct WideTask {
  Index factor, first_edge, degree;
  Index head_variable;
  Index first_node;               ///< of State::nodes; first the chunks, in order, then the levels above
  Index first_part, last_part;    ///< all its chunks, among Plan::parts
  Index first_chunk, last_chunk;  ///< those with messages to the body wanted, among Plan::chunks
  std::uint8_t disjunction;       ///< OR
  std::uint8_t head_wanted;       ///< the message to the head is
};

/// A table and the edges whose messages are wanted.
struct TableTask {
  Index factor;
  Index first, last;  ///< into Plan::table_edges
};

/// One edge of a narrow factor, as a lane of a GPU's warp sees it. Factors are packed into warps of lanes; none
/// straddles two.
using backend::warp_size;
struct alignas(16) Lane {
  Index edge;
  Index variable;
  Index factor;
  std::uint32_t bits;  ///< see below; a lane without work has its warp's levels alone

  static constexpr std::uint32_t valid = 1u << 31, wanted = 1u << 30, disjunction = 1u << 29, head = 1u << 28,
                                 ordinary = 1u << 27;
  KOKKOS_FUNCTION bool is(std::uint32_t flag) const { return (bits & flag) != 0; }
  /// Place in the chunk, edges of the chunk, and levels of the tallest tree in the lane's warp.
  KOKKOS_FUNCTION int position() const { return static_cast<int>(bits & 31u); }
  KOKKOS_FUNCTION int count() const { return static_cast<int>(bits >> 5 & 63u); }
  KOKKOS_FUNCTION int levels() const { return static_cast<int>(bits >> 11 & 7u); }
  KOKKOS_FUNCTION static constexpr std::uint32_t pack(int position, int count) {
    return static_cast<std::uint32_t>(position) | static_cast<std::uint32_t>(count) << 5;
  }
  KOKKOS_FUNCTION static constexpr std::uint32_t pack_levels(int levels) {
    return static_cast<std::uint32_t>(levels) << 11;
  }
};

/// A variable of few neighbours and its edges; -1 where it has fewer.
struct alignas(16) SmallRow {
  Index variable;
  Index edge[small_row];
};
/// Some of a variable's incoming messages: entries [first, first + count) of FactorGraph::variable_edges. Their sum is
/// the variable's, or that of a part of a hub.
struct Row {
  Index target;  ///< variable; parts of hubs: entry of State::part_sums
  Index first, count;
};

/// Where the tasks of a batch begin.
struct BatchOffsets {
  Index wide = 0;
  Index chunks = 0;  ///< of all factors; where lanes are used, of wide ones
  Index warps = 0;   ///< of lanes
  Index tables = 0;
  Index edges = 0;  ///< messages to commit; where lanes are used, those that no lane commits
};

/// Consecutive batches that are run alike.
struct Segment {
  /// launches for one large batch, or one team for many small ones
  enum class Mode { flat, stretch } mode = Mode::flat;
  Offset first = 0, last = 0;  ///< batches
};

/// One step of a sequential run.
struct Step {
  enum class Kind : Index { chunk, wide, table } kind;
  Index task;
};

}  // namespace hornbill::bp
