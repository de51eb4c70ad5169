/// \file
/// Distributed constraint optimization: elimination by agents that exchange messages along a pseudo-tree.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/elim/mini_buckets.hpp>
#include <hornbill/elim/pseudo_tree.hpp>
#include <hornbill/error.hpp>

namespace hornbill::elim {

/// How messages get from one process to another. Each is a list of numbers.
class Messenger {
 public:
  virtual ~Messenger() = default;
  virtual int rank() const = 0;
  virtual int num_ranks() const = 0;
  /// May return before the message has arrived, and never waits for the receiver.   \param tag  no two messages under
  /// way between two ranks have the same
  virtual void send(int rank, Index tag, std::vector<std::int64_t> message) = 0;
  /// Waits for a message.   \param rank  of the sender   \param tag  that it was sent with
  virtual std::vector<std::int64_t> receive(int rank, Index tag) = 0;
};

/// All agents in this process.
class OneProcess : public Messenger {
 public:
  int rank() const override { return 0; }
  int num_ranks() const override { return 1; }
  void send(int, Index, std::vector<std::int64_t>) override { throw Error("there is no other process to send to"); }
  std::vector<std::int64_t> receive(int, Index) override { throw Error("there is no other process to receive from"); }
};

/// What agents sent each other, whichever process they are in.
struct MessageCount {
  double messages = 0;
  double bytes = 0;          ///< 8 for each utility (UTIL), 4 for each state (VALUE)
  double largest_bytes = 0;  ///< of one message
};

/// What came out; on rank 0.
struct Distributed {
  tables::Cost value = 0;  ///< the least sum of costs, or a bound below it
  bool is_exact = true;
  std::vector<Index> assignment;  ///< [V]
  MessageCount util, value_messages;
  /// of agents that all run at once, and whose messages take no time: the longest chain of who waited for whom
  double simulated_seconds = 0;
  double compute_seconds = 0;  ///< of all agents, added
  Index largest_share = 0;     ///< the most agents that a rank has
};

/// DPOP: each agent adds the tables that end at it and what its children say, minimises over its own variable, and
/// tells its parent what is left (UTIL); then each chooses, knowing its ancestors' choices (VALUE). The same as
/// elimination in the tree's order.
///
/// With a limit on the variables of a table it is ADPOP: an agent's tables go into parts, as those of a bucket in
/// mini-buckets, and it says as many tables as there are parts; what does not concern the parent is passed on. The
/// value is then a bound.
///
/// Agents run where `exec` does, one after another on each rank; simulated time is by each agent's own clock, which is
/// set forward by every message that it receives. Ranks have runs of the tree's order, most of which are subtrees.
/// \param network  the same on all ranks, as is the tree; each agent looks only at the tables that end at it
/// \source Petcu and Faltings: A scalable method for multiagent constraint optimization, 2005; Approximations in
/// distributed optimization, 2005; simulated time: Sultanik, Modi and Regli: On modeling multiagent task scheduling as
/// a distributed constraint optimization problem, 2007
/// \throws CapacityError for a table that is too large   \throws ShapeError for a tree of other variables or tables
template <class ExecutionSpace>
Distributed dpop(ExecutionSpace const& exec, tables::TableNetwork<tables::Cost> const& network, PseudoTree const& tree,
                 MiniBucketOptions const& options, Messenger& messenger);

/// The rank of each agent: runs of the tree's order with about equal work, none of them empty where there are enough
/// agents.
/// \param max_variables  of a table   \return [V]   \throws ShapeError
std::vector<int> ranks_of_agents(PseudoTree const& tree, std::vector<Index> const& cardinality, int max_variables,
                                 int num_ranks);

}  // namespace hornbill::elim

#include <hornbill/elim/detail/dpop.hpp>
