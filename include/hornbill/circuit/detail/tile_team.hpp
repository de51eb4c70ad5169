// A team that has a tile and some samples: how its work is shared out on any backend.
#pragma once

#include <string>

#include <hornbill/circuit/detail/items.hpp>
#include <hornbill/circuit/detail/tile_values.hpp>

namespace hornbill::circuit::detail {

/// Each part of a team has a sample and some of a tile's rows. On a GPU a part is a thread; on a CPU one thread does
/// all of a team.
struct TileTeam {
  static constexpr int samples = 32, groups = 8, parts = samples * groups, rows_of_part = tile_size / groups;
};

/// A part of a team.
struct TilePart {
  Offset sample;
  int lane, group;  ///< sample within the team; rows

  KOKKOS_FUNCTION Index first_row() const { return group * TileTeam::rows_of_part; }
  /// Behind the rows that a tile has.
  KOKKOS_FUNCTION Index end_row(Index size) const { return smaller(first_row() + TileTeam::rows_of_part, size); }
  KOKKOS_FUNCTION int place() const { return group * TileTeam::samples + lane; }
};

/// Calls function(part) for all parts, and waits for them.
template <class Member, class Function>
KOKKOS_FUNCTION void for_each_part(Member const& member, Offset first_sample, Function const& function) {
  Kokkos::parallel_for(Kokkos::TeamThreadRange(member, TileTeam::parts), [&](int p) {
    int const lane = p % TileTeam::samples;
    function(TilePart{first_sample + lane, lane, p / TileTeam::samples});
  });
  member.team_barrier();
}

/// What parts of a team find in their rows.
template <class Value>
struct Extremes {
  Value largest[TileTeam::parts], smallest[TileTeam::parts];
  bool has_zero[TileTeam::parts];

  KOKKOS_FUNCTION void set(TilePart const& part, TileSummary<Value> const& summary) {
    largest[part.place()] = summary.largest;
    smallest[part.place()] = summary.smallest;
    has_zero[part.place()] = summary.has_zero;
  }
  /// Of a sample.
  KOKKOS_FUNCTION TileSummary<Value> of(int lane) const {
    TileSummary<Value> all;
    for (int p = lane; p < TileTeam::parts; p += TileTeam::samples) {
      all.largest = larger(all.largest, largest[p]);
      all.smallest = smaller(all.smallest, smallest[p]);
      all.has_zero = all.has_zero || has_zero[p];
    }
    return all;
  }
};

/// A part's values in registers. All of them are read, those behind the tile's last row from the last one, so that no
/// read waits for another.
template <class Value>
struct PartValues {
  static constexpr Index rows = TileTeam::rows_of_part;
  Value values[rows];
  Index first, last;  ///< rows of the tile

  KOKKOS_FUNCTION PartValues(TilePart const& part, Index size) : first(part.first_row()), last(size - 1) {}

  KOKKOS_FUNCTION bool is_there(Index i) const { return first + i <= last; }
  /// Calls function(value, row), with a row that is there.
  template <class Function>
  KOKKOS_FUNCTION void for_each(Function const& function) {
    for (Index i = 0; i < rows; ++i) function(values[i], smaller(first + i, last));
  }
  /// Calls function(value, row) for rows that are there.
  template <class Function>
  KOKKOS_FUNCTION void for_each_there(Function const& function) const {
    for (Index i = 0; i < rows; ++i)
      if (is_there(i)) function(values[i], first + i);
  }
};

/// Values of a tile, that parts of a team keep from one step to the next: each its own.
template <class Value>
struct TileBuffer {
  Value values[tile_size * TileTeam::samples];

  KOKKOS_FUNCTION Value& at(TilePart const& part, Index i) { return values[i * TileTeam::samples + part.lane]; }
};

/// A team's memory.
template <class T, class Member>
KOKKOS_FUNCTION T* scratch_of(Member const& member) {
  return static_cast<T*>(member.team_shmem().get_shmem_aligned(sizeof(T), alignof(T)));
}
template <class T>
inline constexpr std::size_t scratch_bytes_of = sizeof(T) + alignof(T);

/// Runs functor(member, tile, first sample) for tiles, and blocks of their samples.
template <class Functor>
struct ByTile {
  Functor of;
  Offset blocks;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    of(member, static_cast<Index>(member.league_rank() / blocks), member.league_rank() % blocks * TileTeam::samples);
  }
};

/// \param samples  a multiple of a team's, or the last team has samples that are not there
template <class ExecutionSpace, class Functor>
void for_each_tile(ExecutionSpace const& exec, std::string const& label, Offset tiles, Offset samples,
                   Functor const& functor) {
  Offset const blocks = (samples + TileTeam::samples - 1) / TileTeam::samples;
  if (tiles * blocks == 0) return;
  constexpr int threads = runs_on_host<ExecutionSpace> ? 1 : TileTeam::parts;
  Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<TileTeam::parts>> policy(
      exec, static_cast<int>(tiles * blocks), threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes_of<typename Functor::Scratch>));
  Kokkos::parallel_for(label, policy, ByTile<Functor>{functor, blocks});
}

}  // namespace hornbill::circuit::detail
