/// \file
/// The kinds of kernels that factor-to-variable messages are divided among.
#pragma once

#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/types.hpp>

namespace hornbill::bp {

/// Which messages out of a factor a task computes.
enum class Direction : int { to_head, to_body, to_all };

/// The kernels that compute factor-to-variable messages: AND and OR; to the head, to the body (a list of edges) or
/// to all variables; by one thread (narrow) or by a team (wide). Tables are a kind of their own.
struct KernelType {
  FactorType factor;
  Direction direction;
  bool wide;
};
inline constexpr int num_kernel_types = 13;
inline constexpr KernelType kernel_types[num_kernel_types] = {
    {FactorType::conjunction, Direction::to_head, false}, {FactorType::conjunction, Direction::to_body, false},
    {FactorType::conjunction, Direction::to_all, false},  {FactorType::disjunction, Direction::to_head, false},
    {FactorType::disjunction, Direction::to_body, false}, {FactorType::disjunction, Direction::to_all, false},
    {FactorType::conjunction, Direction::to_head, true},  {FactorType::conjunction, Direction::to_body, true},
    {FactorType::conjunction, Direction::to_all, true},   {FactorType::disjunction, Direction::to_head, true},
    {FactorType::disjunction, Direction::to_body, true},  {FactorType::disjunction, Direction::to_all, true},
    {FactorType::table, Direction::to_body, false},
};

/// Body members that one thread handles; wider factors take a team.
inline constexpr Index narrow_body = 16;
/// Fan-in of the tree by which a team composes the odds of a wide body. The tree's shape depends on the body alone, so the
/// bits of messages do not depend on the size of the team.
inline constexpr Index body_fan_in = 8;
/// Incoming messages that one thread sums; larger variables take a team.
inline constexpr Index narrow_degree = 32;

/// Consecutive batches that are run alike.
struct Segment {
  enum class Mode { flat, stretch } mode = Mode::flat;  ///< launches for one large batch, or one team for many small ones
  Offset first = 0, last = 0;                           ///< batches
};

}  // namespace hornbill::bp
