// Agents, and what they say to each other.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/elim/dpop.hpp>
#include <hornbill/tables/detail/reorder.hpp>

namespace hornbill::elim::detail {

using tables::Cost;

/// A table as agents hold it: variables in the order of elimination.
struct AgentTable {
  /// place of the agent that made it; -1 of a given one. So tables come in the order that elimination would see
  Index key = -1;
  tables::HostTable<Cost> table;
};

/// From a child to its parent.
struct UtilMessage {
  double clock = 0;  ///< when it was sent, in seconds
  Cost sum = 0;      ///< costs of what depends on no variable any more
  std::vector<AgentTable> tables;
};
std::vector<std::int64_t> encode(UtilMessage const& message);
UtilMessage decode_util(std::vector<std::int64_t> const& numbers);

/// From a parent to a child: the states of the child's separator.
struct ValueMessage {
  double clock = 0;
  std::vector<Index> states;
};
std::vector<std::int64_t> encode(ValueMessage const& message);
ValueMessage decode_value(std::vector<std::int64_t> const& numbers);

/// Of one rank to rank 0.
std::vector<std::int64_t> encode(Distributed const& part, std::vector<Index> const& own_agents);
void add_part(Distributed& whole, std::vector<std::int64_t> const& numbers);

/// What an agent is to do, in variables of its own: 0 is the one it decides, the others are ancestors, the nearest
/// first.
struct LocalProblem {
  std::vector<Index> variables;  ///< of the network, by local number
  std::vector<Index> cardinality;
  std::vector<std::vector<Index>> scopes;
  HostPlan plan;
};
LocalProblem make_local_problem(Index agent, std::vector<Index> const& cardinality, std::vector<Index> const& separator,
                                std::vector<AgentTable> const& tables, MiniBucketOptions const& options);

/// One agent: what it keeps between UTIL and VALUE.
template <class ExecutionSpace>
class Agent {
 public:
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Semiring = tables::MinSum<Cost>;

  /// Minimises over its variable.   \param tables  that have it
  /// \return tables of the others, and what does not depend on any
  UtilMessage propagate(ExecutionSpace const& exec, LocalProblem problem, std::vector<AgentTable> tables, Index key) {
    variables_ = std::move(problem.variables);
    plan_ = make_plan(exec, std::move(problem.plan));
    state_ = make_state<Cost>(exec, plan_);
    auto const& host = plan_.host;
    std::vector<std::vector<Cost>> given;
    for (auto& t : tables) given.push_back(std::move(t.table.values));
    tables::set_given<Cost>(exec, host.reductions, state_.values, given);
    tables::reduce<Semiring>(exec, plan_.reductions, plan_.schedule, state_.values);
    UtilMessage message;
    message.sum = tables::cells_of(exec, host.reductions, state_.values, host.result).front();
    for (Index t : host.left) {
      std::vector<Index> scope;
      for (Index local : host.reductions.tables()[t].scope) scope.push_back(variables_[local]);
      message.tables.push_back({key, {std::move(scope), tables::cells_of(exec, host.reductions, state_.values, t)}});
    }
    forget_made(exec);
    return message;
  }
  bool is_exact() const { return plan_.host.is_exact; }

  /// The best state of its variable, given those of its ancestors.   \param assignment  [V]
  Index choose(ExecutionSpace const& exec, std::vector<Index> const& assignment) {
    std::vector<Index> known;
    for (Index v : variables_) known.push_back(assignment[v]);
    Kokkos::deep_copy(exec, state_.assignment,
                      Kokkos::View<Index const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
                          known.data(), known.size()));
    tables::decode<Semiring>(exec, plan_.decode, state_.values, state_.known, state_.assignment);
    return hornbill::detail::to_vector(exec, state_.assignment).front();
  }

 private:
  /// What was made is the parent's now; choosing reads only what was given, which comes first.
  void forget_made(ExecutionSpace const& exec) {
    auto const& host = plan_.host.reductions;
    Offset given = 0;
    for (Index t = 0; t < host.num_given(); ++t) given += host.tables()[t].cells;
    Kokkos::View<Cost*, MemorySpace> const kept = hornbill::detail::allocate<Kokkos::View<Cost*, MemorySpace>>(
        exec, "hornbill::elim::given", static_cast<std::size_t>(given));
    Kokkos::deep_copy(exec, kept, Kokkos::subview(state_.values.cells, std::pair(Offset{0}, given)));
    exec.fence("hornbill: copied before it goes");
    state_.values.cells = kept;
  }

  std::vector<Index> variables_;
  Plan<MemorySpace> plan_;
  State<Cost, MemorySpace> state_;
};

/// All agents of one rank.
template <class ExecutionSpace>
class Agents {
 public:
  Agents(ExecutionSpace const& exec, tables::TableNetwork<Cost> const& network, PseudoTree const& tree,
         MiniBucketOptions const& options, Messenger& messenger);

  Distributed run() {
    for (Index v : tree_.order.variables)
      if (is_mine(v)) propagate(v);
    for (std::size_t i = tree_.order.variables.size(); i-- > 0;)
      if (Index const v = tree_.order.variables[i]; is_mine(v)) choose(v);
    return gather();
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Semiring = tables::MinSum<Cost>;

  bool is_mine(Index v) const { return rank_of_[v] == messenger_.rank(); }
  void propagate(Index v);
  void choose(Index v);
  Distributed gather();

  /// Runs what an agent does, and sets its clock.
  template <class Work>
  auto timed(double& clock, Work const& work) {
    auto const begin = Clock::now();
    auto result = work();
    double const seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    clock += seconds;
    result_.compute_seconds += seconds;
    return result;
  }
  static void count(MessageCount& all, double bytes) {
    ++all.messages;
    all.bytes += bytes;
    all.largest_bytes = std::max(all.largest_bytes, bytes);
  }
  UtilMessage receive_util(Index child) {
    return is_mine(child) ? std::move(*std::exchange(util_[child], std::nullopt))
                          : decode_util(messenger_.receive(rank_of_[child], child));
  }
  ValueMessage receive_value(Index v) {
    Index const parent = tree_.parent[v];
    return is_mine(parent) ? std::move(*std::exchange(value_[v], std::nullopt))
                           : decode_value(messenger_.receive(rank_of_[parent], v));
  }

  ExecutionSpace exec_;
  tables::TableNetwork<Cost> const& network_;
  PseudoTree const& tree_;
  MiniBucketOptions options_;
  Messenger& messenger_;
  std::vector<int> rank_of_;
  std::vector<Index> place_;                          // in the tree's order
  std::vector<std::vector<Index>> children_, given_;  // given_: tables by the agent that they end at
  std::vector<std::optional<UtilMessage>> util_;      // to be read, by sender
  std::vector<std::optional<ValueMessage>> value_;    // to be read, by receiver
  std::vector<Agent<ExecutionSpace>> agents_;
  std::vector<double> clock_;
  Distributed result_;
};

template <class ExecutionSpace>
Agents<ExecutionSpace>::Agents(ExecutionSpace const& exec, tables::TableNetwork<Cost> const& network,
                               PseudoTree const& tree, MiniBucketOptions const& options, Messenger& messenger)
    : exec_(exec),
      network_(network),
      tree_(tree),
      options_(options),
      messenger_(messenger),
      rank_of_(ranks_of_agents(tree, network.cardinality, options.max_variables, messenger.num_ranks())) {
  auto const n = network.cardinality.size();
  place_.resize(n);
  children_.resize(n);
  given_.resize(n);
  util_.resize(n);
  value_.resize(n);
  agents_.resize(n);
  clock_.resize(n);
  result_.assignment.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    Index const v = tree.order.variables[i];
    place_[v] = static_cast<Index>(i);
    if (tree.parent[v] >= 0) children_[tree.parent[v]].push_back(v);
    result_.largest_share += is_mine(v);
  }
  for (Index t = 0; t < std::ssize(network.tables); ++t) {
    auto const& scope = network.tables[t].scope;
    if (!scope.empty())
      given_[*std::min_element(scope.begin(), scope.end(), [&](Index v, Index w) { return place_[v] < place_[w]; })]
          .push_back(t);
    else if (messenger.rank() == 0)
      result_.value = Semiring::multiply(result_.value, network.tables[t].values.front());
  }
}

template <class ExecutionSpace>
void Agents<ExecutionSpace>::propagate(Index v) {
  std::vector<AgentTable> own, passed_on;
  for (Index t : given_[v]) {
    auto scope = network_.tables[t].scope;
    std::sort(scope.begin(), scope.end(), [&](Index a, Index b) { return place_[a] < place_[b]; });
    own.push_back({-1, {scope, tables::detail::reordered(network_.tables[t], network_.cardinality, scope)}});
  }
  Cost sum = 0;
  for (Index child : children_[v]) {
    auto message = receive_util(child);
    clock_[v] = std::max(clock_[v], message.clock);
    sum = Semiring::multiply(sum, message.sum);
    for (auto& t : message.tables) (t.table.scope.front() == v ? own : passed_on).push_back(std::move(t));
  }
  auto message = timed(clock_[v], [&] {
    std::stable_sort(own.begin(), own.end(), [](auto const& a, auto const& b) { return a.key < b.key; });
    auto problem = make_local_problem(v, network_.cardinality, tree_.separator[v], own, options_);
    return agents_[v].propagate(exec_, std::move(problem), std::move(own), place_[v]);
  });
  result_.is_exact = result_.is_exact && agents_[v].is_exact();
  message.sum = Semiring::multiply(message.sum, sum);
  for (auto& t : passed_on) message.tables.push_back(std::move(t));
  message.clock = clock_[v];
  Index const parent = tree_.parent[v];
  if (parent < 0) {
    result_.value = Semiring::multiply(result_.value, message.sum);
    return;
  }
  double bytes = 0;
  for (auto const& t : message.tables) bytes += static_cast<double>(t.table.values.size() * sizeof(Cost));
  count(result_.util, bytes);
  if (is_mine(parent))
    util_[v] = std::move(message);
  else
    messenger_.send(rank_of_[parent], v, encode(message));
}

template <class ExecutionSpace>
void Agents<ExecutionSpace>::choose(Index v) {
  auto& assignment = result_.assignment;
  if (tree_.parent[v] >= 0) {
    auto const message = receive_value(v);
    clock_[v] = std::max(clock_[v], message.clock);
    for (std::size_t i = 0; i < message.states.size(); ++i) assignment[tree_.separator[v][i]] = message.states[i];
  }
  assignment[v] = timed(clock_[v], [&] { return agents_[v].choose(exec_, assignment); });
  agents_[v] = {};
  result_.simulated_seconds = std::max(result_.simulated_seconds, clock_[v]);
  for (Index child : children_[v]) {
    ValueMessage message{clock_[v], {}};
    for (Index w : tree_.separator[child]) message.states.push_back(assignment[w]);
    count(result_.value_messages, static_cast<double>(message.states.size() * sizeof(Index)));
    if (is_mine(child))
      value_[child] = std::move(message);
    else
      messenger_.send(rank_of_[child], child, encode(message));
  }
}

template <class ExecutionSpace>
Distributed Agents<ExecutionSpace>::gather() {
  Index const tag = tree_.num_variables();  // behind those of agents
  if (messenger_.rank() != 0) {
    std::vector<Index> mine;
    for (Index v = 0; v < tree_.num_variables(); ++v)
      if (is_mine(v)) mine.push_back(v);
    messenger_.send(0, tag, encode(result_, mine));
    return result_;
  }
  for (int rank = 1; rank < messenger_.num_ranks(); ++rank) add_part(result_, messenger_.receive(rank, tag));
  if (Semiring::is_zero(result_.value)) result_.value = Semiring::zero();
  return result_;
}

}  // namespace hornbill::elim::detail

namespace hornbill::elim {

template <class ExecutionSpace>
Distributed dpop(ExecutionSpace const& exec, tables::TableNetwork<tables::Cost> const& network, PseudoTree const& tree,
                 MiniBucketOptions const& options, Messenger& messenger) {
  Kokkos::Profiling::ScopedRegion region("hornbill::elim::dpop");
  return detail::Agents<ExecutionSpace>(exec, network, tree, options, messenger).run();
}

}  // namespace hornbill::elim

#define HORNBILL_INSTANTIATE_ELIM_DPOP(PREFIX, SPACE)                                                                 \
  PREFIX template Distributed dpop<SPACE>(SPACE const&, tables::TableNetwork<tables::Cost> const&, PseudoTree const&, \
                                          MiniBucketOptions const&, Messenger&);

namespace hornbill::elim {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_ELIM_DPOP)
}  // namespace hornbill::elim
