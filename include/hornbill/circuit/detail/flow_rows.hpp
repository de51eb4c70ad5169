// Flows of rows: where they begin, where they are gathered, and as sums pass them on.
#pragma once

#include <hornbill/circuit/detail/tile_values.hpp>
#include <hornbill/circuit/flows.hpp>

namespace hornbill::circuit::detail {

/// Flows divided by values are at most this; larger ones might not be held where they are multiplied and added.
template <class Value>
inline constexpr Value largest_share = sizeof(Value) == sizeof(float) ? Value(0x1p100) : Value(0x1p1000);

/// Where flows are, of a batch.
template <class Value, class MemorySpace>
struct FlowRows {
  Kokkos::View<Value*, MemorySpace> rows, own_rows;
  Kokkos::View<Index*, MemorySpace> is_known;
  Offset stride = 0;

  KOKKOS_FUNCTION Value& flow(Index row, Offset sample) const { return rows(row * stride + sample); }
  KOKKOS_FUNCTION Value& own(Index row, Offset sample) const { return own_rows(row * stride + sample); }
  /// Several threads may find that at the same time.
  KOKKOS_FUNCTION void give_up(Offset sample) const { Kokkos::atomic_store(&is_known(sample), 0); }
};

/// The root's flow is 1.
template <class Value, class MemorySpace>
struct StartFlows {
  FlowRows<Value, MemorySpace> flows;
  Kokkos::View<Index const*, MemorySpace> unused_rows;
  Kokkos::View<double const*, MemorySpace> log_likelihood;
  Kokkos::View<std::uint8_t const*, MemorySpace> is_certain;
  Index root = 0;

  KOKKOS_FUNCTION void operator()(Offset sample) const {
    flows.is_known(sample) =
        is_certain(sample) != 0 && log_likelihood(sample) > -Kokkos::Experimental::infinity_v<double>;
    for (std::size_t i = 0; i < unused_rows.extent(0); ++i) flows.flow(unused_rows(i), sample) = 0;
    flows.flow(root, sample) = 1;
  }
};

/// Samples of a thread, one behind the other: on a CPU many, so that it reads memory in order.
template <int width>
struct SampleBlocks {
  Offset num_samples = 0;

  KOKKOS_FUNCTION Offset count() const { return (num_samples + width - 1) / width; }
  KOKKOS_FUNCTION Offset first(Offset item) const { return item % count() * width; }
  KOKKOS_FUNCTION Offset end(Offset item) const { return smaller(first(item) + width, num_samples); }
};

/// A sum's flow divided by its mantissa; samples of which it is too large are given up.
template <class Value, class MemorySpace>
KOKKOS_FUNCTION Value share_of(FlowRows<Value, MemorySpace> const& flows, Value flow, Value value, Offset sample) {
  if (flow <= largest_share<Value> * value && value > 0) return flow / value;
  if (flow > 0 && value > 0) flows.give_up(sample);
  return 0;
}

/// Flows of the sums of a layer divided by their mantissas.
template <class Value, class MemorySpace, int width>
struct DivideFlows {
  Kokkos::View<Tile const*, MemorySpace> tiles;
  Kokkos::View<Index const*, MemorySpace> sum_tiles;
  TileValues<Value, MemorySpace> values;
  FlowRows<Value, MemorySpace> flows;
  SampleBlocks<width> blocks;
  Index begin = 0;  ///< of the layer's tiles

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const [row, size] = tiles(sum_tiles(begin + static_cast<Index>(item / blocks.count())));
    for (Index i = row; i < row + size; ++i)
      for (Offset s = blocks.first(item); s < blocks.end(item); ++s)
        flows.flow(i, s) = share_of(flows, flows.flow(i, s), values.value(i, s), s);
  }
};

/// Sums of flows that come from several places.
template <class Value, class MemorySpace, int width>
struct GatherFlows {
  Kokkos::View<FlowGather const*, MemorySpace> gathers;
  Kokkos::View<Index const*, MemorySpace> sources;
  FlowRows<Value, MemorySpace> flows;
  SampleBlocks<width> blocks;
  Index begin = 0;  ///< of the step's gathers

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const& [row, is_first, sources_begin, sources_end] =
        gathers(begin + static_cast<Index>(item / blocks.count()));
    Offset const first = blocks.first(item);
    int const count = static_cast<int>(blocks.end(item) - first);
    Value sums[width];
    for (int b = 0; b < count; ++b) sums[b] = is_first ? Value(0) : flows.flow(row, first + b);
    for (Offset i = sources_begin; i < sources_end; ++i) {
      Index const source = sources(i);
      for (int b = 0; b < count; ++b)
        sums[b] += source < 0 ? flows.own(-1 - source, first + b) : flows.flow(source, first + b);
    }
    for (int b = 0; b < count; ++b) flows.flow(row, first + b) = sums[b];
  }
};

}  // namespace hornbill::circuit::detail
