// Labels that text formats give variables, which may have gaps. Internal to src/io.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::io {

inline constexpr std::int64_t largest_label = std::numeric_limits<Index>::max() - 1;

/// Numbers the variables of a graph whose factors hold labels: those that occur, in the order of their labels. Where a
/// number is not the label, labels become names.
void number_variables(HostFactorGraph& graph);

/// The labels to write: names, if all are labels in the order of variables; otherwise numbers.   \shape [V]
std::vector<Index> labels_of(HostFactorGraph const& graph);

}  // namespace hornbill::io
