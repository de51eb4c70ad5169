// Flows of samples of which something was too small or too large for a common exponent.
#pragma once

#include <cstddef>
#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/detail/exact_pass.hpp>
#include <hornbill/circuit/detail/flow_rows.hpp>

namespace hornbill::circuit::detail {

/// The pass from the root to the inputs, on the host: node by node, edge by edge.
class ExactFlows {
 public:
  ExactFlows(Circuit const& circuit, Parameters const& parameters);

  /// Flows of a sample that is possible.
  /// \param values  of all nodes   \shape [num_nodes, width]   \param sample  within these
  /// \param weight  by which those of parameters are multiplied before they are added
  void run(std::vector<Scaled> const& values, std::size_t width, std::size_t sample, double weight);

  std::vector<double> const& nodes() const { return nodes_; }  ///< [num_nodes], of the last sample
  std::vector<double> const& sum() const { return sum_; }      ///< [num_sum_parameters], of all

 private:
  Circuit const& circuit_;
  Parameters const& parameters_;
  std::vector<double> nodes_, sum_;
};

/// Rows of all input nodes, and their flows for some samples, one row's behind the other's.
struct InputNodeRows {
  std::vector<Index> nodes, rows;
};
InputNodeRows input_nodes(Circuit const& circuit, HostPlan const& plan);

/// Stands in FlowState::is_known of a sample of which inputs alone have flows: those of sums were added before.
inline constexpr Index only_inputs = 2;

/// Gives inputs the flows of some samples.
template <class Value, class MemorySpace>
struct PlaceInputFlows {
  FlowRows<Value, MemorySpace> flows;
  Kokkos::View<Index const*, MemorySpace> rows, places;
  Kokkos::View<double const*, MemorySpace> values;  ///< [places, rows]

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const count = static_cast<Offset>(rows.extent(0));
    Index const place = places(item / count);
    flows.flow(rows(item % count), place) = static_cast<Value>(values(item));
    if (item % count == 0) flows.is_known(place) = only_inputs;
  }
};

/// to += from, from a place on.
template <class MemorySpace>
struct AddTo {
  Kokkos::View<double*, MemorySpace> to;
  Offset first;
  Kokkos::View<double const*, MemorySpace> from;

  KOKKOS_FUNCTION void operator()(Offset i) const { to(first + i) += from(i); }
};

}  // namespace hornbill::circuit::detail
