// Tasks on the host, before they are copied to a device. Compiled in src/bp/task_layout.cpp.
#pragma once

#include <vector>

#include <hornbill/bp/host_plan.hpp>

namespace hornbill::bp::detail {

/// Chunks, wide factors and tables of batches: the edges of one factor in one batch are one task.
/// \param lanes  pack chunks into lanes; those commit their messages themselves
void lay_out_batches(HostFactorGraph const& graph, bp::Batches const& batches, bool lanes, bp::HostPlan& plan);

/// The same of a total order, a step for each run of edges of one factor. Messages out of one factor do not feed each
/// other, so a whole run reads its factor's inputs once.
void lay_out_sequence(HostFactorGraph const& graph, std::vector<Offset> const& order, bp::HostPlan& plan);

/// A sequence of one step for each factor that has messages among the edges, and which of them read each variable.
bp::HostPlan lay_out_by_factor(HostFactorGraph const& graph, std::vector<Offset> edges);

/// Rows of incoming messages to sum, by length. Variables of other cardinality than two have a kernel of their own.
void lay_out_rows(HostFactorGraph const& graph, bp::HostPlan& plan);

/// Divides batches into launches of one large batch each and stretches of small ones.
std::vector<bp::Segment> make_segments(bp::Batches const& batches, Offset largest_stretch_batch);

}  // namespace hornbill::bp::detail
