/// \file
/// Exact marginals: messages along a junction tree, both ways.
///
/// A message from clique C to its neighbour D is the product of C's tables and of all messages to C but D's, summed
/// over what is not in D (Shafer and Shenoy 1990). No message is divided by another, so zeros need no convention, a
/// message depends on nothing that lies behind its receiver, and after new evidence just those that lead away from it
/// are stale. The marginal of a variable comes of the smallest separator that has it, else of its clique. All messages
/// that are ready are one launch.
#pragma once

#include <span>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/jtree/join_tree.hpp>
#include <hornbill/tables/decode.hpp>
#include <hornbill/tables/reduction.hpp>
#include <hornbill/tables/slices.hpp>

namespace hornbill::jtree {

struct PlanOptions {
  Index num_sets = 1;  ///< evidence sets that are propagated together
  /// variables whose joint marginals are wanted; each list is one clique's, as scopes of the tree were
  std::vector<std::vector<Index>> joint{};
};

/// Tables and messages of a junction tree. Several evidence sets are one more variable, the fastest, of all that
/// depends on evidence.
struct HostPlan {
  JoinTree tree;
  tables::HostReductions reductions{{}};
  /// table of variable 0's evidence, behind the network's tables; those of the others follow
  Index first_evidence = 0;
  std::vector<Index> marginals;  ///< [V], tables: of each variable, not normalised
  std::vector<Index> joints;     ///< as PlanOptions::joint
  Index total = 0;               ///< table: the sum over all assignments, or the largest
  Index num_sets = 1;

  Index num_variables() const { return static_cast<Index>(marginals.size()); }
  /// Variables of a joint marginal, in the order in which its table has them.
  std::vector<Index> joint_scope(std::size_t joint) const {
    auto scope = reductions.tables()[joints.at(joint)].scope;
    if (num_sets > 1) scope.pop_back();
    return scope;
  }
};

/// Plans messages.   \param scopes  of the network's tables, all within cliques of the tree
/// \throws InputError for a scope that no clique holds   \throws CapacityError
HostPlan make_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                   JoinTree tree, PlanOptions const& options = {});

/// A plan where it will run; of any values.
template <class MemorySpace>
struct Plan {
  HostPlan host;
  tables::Reductions<MemorySpace> reductions;
  tables::Schedule<MemorySpace> schedule;
  std::vector<Offset> user_offsets;                         ///< [tables + 1], into users
  std::vector<Index> users;                                 ///< of each table: reductions that read it
  std::vector<Offset> marginal_offsets;                     ///< [V + 1], of a set's marginals
  Kokkos::View<Offset const*, MemorySpace> offsets, cells;  ///< the same; [V], where each marginal is
};

/// Tables, messages and evidence, of one run at a time. The semiring is SumProduct, or MaxProduct: marginals are then
/// the largest products of assignments that have a variable in a state, normalised. Where is_in_range() says no, their
/// OfLogarithms.
template <class Semiring, class MemorySpace>
struct State {
  using Value = typename Semiring::Value;
  tables::TableValues<Value, MemorySpace> values;
  std::vector<std::vector<Value>> evidence;  ///< [V], each [states, sets]
  std::vector<bool> is_current;              ///< [reductions]
};

/// Copies a plan to where it will run; waits for `exec`.
template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan host);

/// With the network's tables, and no evidence.   \param network  as the plan was made for, of probabilities in any
/// semiring
/// \throws ShapeError
/// \note waits for `exec`
template <class Semiring, class ExecutionSpace>
State<Semiring, typename ExecutionSpace::memory_space> make_state(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    tables::TableNetwork<typename Semiring::Value> const& network);

/// Replaces all evidence. What does not depend on a change stays as it is.   \param sets  \shape [num_sets]
/// \throws ShapeError, and InputError where evidence does not fit its variable, or a likelihood is more or less than
/// Value can hold
/// \note waits for `exec`
template <class Semiring, class ExecutionSpace>
void observe(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             State<Semiring, typename ExecutionSpace::memory_space>& state, std::span<HostEvidence const> sets);

/// Sends what messages are stale.   \async yes, but for a copy of what is to be run where that is not all
template <class Semiring, class ExecutionSpace>
void calibrate(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
               State<Semiring, typename ExecutionSpace::memory_space>& state);

/// The same where tables are larger than a device's memory: plan and state are in the host's, and messages, marginals'
/// and joint tables are computed on the device in slices. They are normalised on the host.
/// \param max_bytes  on the device
/// \return slices that went through it
/// \throws CapacityError where even one row of a table needs more
/// \note waits for `exec`
template <class Semiring, class ExecutionSpace>
double calibrate_in_slices(ExecutionSpace const& exec, Plan<Kokkos::HostSpace> const& plan,
                           State<Semiring, Kokkos::HostSpace>& state, std::size_t max_bytes);

/// As calibrate(), of what the marginals of some variables need.
template <class Semiring, class ExecutionSpace>
void calibrate_for(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                   State<Semiring, typename ExecutionSpace::memory_space>& state, std::span<Index const> variables);

/// Whether no product of what is calibrated can have been too small or large to be held: else marginals may lack
/// states, and a set that is possible may seem impossible; the semiring's OfLogarithms has no such limit. Of several
/// sets, of all together: alone, one may well be in range.
/// \note waits for `exec`
template <class Semiring, class ExecutionSpace>
bool is_in_range(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                 State<Semiring, typename ExecutionSpace::memory_space> const& state);

/// Marginals of all variables, after calibrate(); all 0 in a connected part where a set is impossible.   \async yes
/// \param[out] p  \shape [marginal_offsets.back(), num_sets]: each variable's states, one behind the other
template <class Semiring, class ExecutionSpace>
void marginals(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
               State<Semiring, typename ExecutionSpace::memory_space> const& state,
               Kokkos::View<typename Semiring::Value*, typename ExecutionSpace::memory_space> const& p);

/// A joint marginal of PlanOptions::joint, by set, after calibrate().
/// \return [num_sets][states], as HostPlan::joint_scope() has the variables, the last fastest
template <class Semiring, class ExecutionSpace>
std::vector<std::vector<double>> joint_marginal(ExecutionSpace const& exec,
                                                Plan<typename ExecutionSpace::memory_space> const& plan,
                                                State<Semiring, typename ExecutionSpace::memory_space> const& state,
                                                std::size_t joint);

/// ln of the sum over all assignments, by evidence set; of a Bayesian network ln P(evidence). After calibrate().
/// -infinity of a set that is impossible.
/// \shape [num_sets]
/// \note waits for `exec`
template <class Semiring, class ExecutionSpace>
std::vector<double> log_partition(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                                  State<Semiring, typename ExecutionSpace::memory_space> const& state);

/// An assignment of largest product, of MaxProduct or MaxSum.
/// \throws ShapeError of several sets
/// \note waits for `exec`
template <class Semiring, class ExecutionSpace>
std::vector<Index> best_assignment(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                                   State<Semiring, typename ExecutionSpace::memory_space>& state);

}  // namespace hornbill::jtree

#include <hornbill/jtree/detail/calibrate.hpp>
