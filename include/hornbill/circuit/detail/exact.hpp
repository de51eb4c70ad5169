// Values with an exponent for each node: for samples that are too small, somewhere, for a common one.
#pragma once

#include <hornbill/circuit/detail/input_value.hpp>

namespace hornbill::circuit::detail {

/// A vector of nodes after the other, each node of each sample by itself, from the circuit as it is.
template <class MemorySpace>
struct ExactNodes {
  Kokkos::View<InputPlan const*, MemorySpace> inputs;
  Kokkos::View<Factor const*, MemorySpace> factors;
  Kokkos::View<Index const*, MemorySpace> factor_children;
  Kokkos::View<EdgeBlock const*, MemorySpace> blocks;
  Kokkos::View<Offset const*, MemorySpace> block_offsets;  ///< [num_nodes + 1], into block_list
  Kokkos::View<Index const*, MemorySpace> block_list;      ///< blocks that each sum node is in
  Kokkos::View<double const*, MemorySpace> parameters;
  InputValues<double, MemorySpace> of;
  Observed<MemorySpace> observed;
  Kokkos::View<Scaled*, MemorySpace> values;  ///< [num_nodes, num_samples]
  Offset num_samples = 0;
  NodeVector nodes{};

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const i = static_cast<Index>(item / num_samples);
    Offset const sample = item % num_samples;
    Scaled result;
    switch (nodes.kind) {
      case NodeKind::input: result = observed.value(of, inputs(nodes.begin), i, sample); break;
      case NodeKind::product:
        result = scaled(1);
        for (Offset f = nodes.begin; f < nodes.end; ++f)
          result = product(result, value(child_of(factors(f), i), sample));
        break;
      case NodeKind::sum:
        for (Offset b = block_offsets(nodes.first + i); b < block_offsets(nodes.first + i + 1); ++b)
          result = sum(result, sum_of(blocks(block_list(b)), nodes.first + i, sample));
        break;
    }
    values(Offset{nodes.first + i} * num_samples + sample) = result;
  }

 private:
  KOKKOS_FUNCTION Scaled value(Index node, Offset sample) const { return values(node * num_samples + sample); }
  KOKKOS_FUNCTION Index child_of(Factor const& factor, Index i) const {
    return factor.list < 0 ? factor.child + i * factor.step : factor_children(factor.list + i);
  }

  KOKKOS_FUNCTION Scaled sum_of(EdgeBlock const& block, Index node, Offset sample) const {
    Scaled result;
    Index const row = node - block.sum;
    for (Index c = 0; c < block.columns; ++c)
      result = sum(result, product(scaled(parameters(block.parameter + Offset{row} * block.columns + c)),
                                   value(block.child + c, sample)));
    return result;
  }
};

}  // namespace hornbill::circuit::detail
