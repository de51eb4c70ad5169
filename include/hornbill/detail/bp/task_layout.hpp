// Tasks on the host, before they are copied to a device. Compiled in src/bp/task_layout.cpp.
#pragma once

#include <array>
#include <vector>

#include <hornbill/bp/kernel_types.hpp>
#include <hornbill/bp/schedule.hpp>

namespace hornbill::detail {

struct HostTaskList {
  std::vector<Index> factor, edge_offsets{0}, edges, workspace;
  std::vector<Index> offsets{0};  // [B+1], tasks by batch
};

/// Where each task of a sequential run stands among the lists.
struct HostSequence {
  std::vector<Index> task, type;
};

struct TaskLayout {
  std::array<HostTaskList, bp::num_kernel_types> lists;
  HostSequence sequence;
  Index num_partials = 0, largest_wide_body = 0;
};

/// Tasks of batches: the edges of one factor in one batch are one task, or one to the head and one to the body.
TaskLayout lay_out_batches(HostFactorGraph const& graph, bp::Batches const& batches);

/// Tasks of a total order: a run of edges of one factor. Messages out of one factor do not feed each other, so a whole run
/// reads its factor's inputs once.
TaskLayout lay_out_sequence(HostFactorGraph const& graph, std::vector<Offset> const& order);

/// Divides batches into launches of one large batch each and stretches of small ones.
std::vector<bp::Segment> make_segments(bp::Batches const& batches, Offset largest_stretch_batch);

/// Entries of workspace that the odds of a wide body take, with and without each part: see bp::body_fan_in.
Index partials_of_body(Index body_size);

}  // namespace hornbill::detail
