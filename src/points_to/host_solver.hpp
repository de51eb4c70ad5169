// Points-to analysis by one thread: waves over sets that are stored once. Internal to src/points_to.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include <hornbill/points_to/detail/stopwatch.hpp>
#include <hornbill/points_to/solve.hpp>

#include "copy_graph.hpp"
#include "dereferences.hpp"
#include "nodes.hpp"
#include "offset_sets.hpp"
#include "set_pool.hpp"

namespace hornbill::points_to {

/// What variables had at the end of a round, when sets had gone along all edges: in the order of a graph without
/// cycles, whose nodes are the roots.
struct RoundOfSets {
  std::vector<SetId> sets;   ///< [variables]
  std::vector<Index> roots;  ///< [variables]
};

/// Dereferences by their new targets.
using Group = std::span<std::pair<SetId, Index> const>;

class HostSolver {
 public:
  HostSolver(HostPlan const& plan, SolveOptions const& options)
      : plan_(plan),
        options_(options),
        nodes_(plan.representative, pool_),
        graph_(nodes_),
        offsets_(plan, pool_),
        dereferences_(dereferences_of(plan)),
        done_(dereferences_.list.size(), empty_set) {
    pool_.set_limit(options.max_bytes);
    add_copies();
    add_addresses();
    if (plan.outside < 0) return;
    from_outside_ = nodes_.add();
    nodes_.add_to(from_outside_, pool_.of({&plan.outside, 1}));
  }

  /// From now on sets of rounds are kept. What a round adds follows then from sets of rounds before it, along edges.
  void record(std::vector<RoundOfSets>& rounds) { rounds_ = &rounds; }
  SetPool const& pool() const { return pool_; }

  /// Variables have at least these sets.
  void add_sets(Solution const& earlier);

  Solution solve() {
    report_.prepare_seconds = watch_.lap();
    for (bool has_changed = true; has_changed;) {
      ++report_.rounds;
      collapse();
      propagate();
      if (rounds_) record_round();
      if (options_.progress) options_.progress(report_.rounds, pool_.num_sets());
      has_changed = expand();
      report_.set_bytes = std::max(report_.set_bytes, static_cast<Offset>(pool_.bytes()));
      if (has_changed && !rounds_) forget_sets();
    }
    report_.unions = static_cast<Offset>(pool_.num_unions());
    return collected();
  }

 private:
  void add_copies();
  void add_addresses();

  void collapse() {
    detail::Stopwatch watch;
    report_.merged_by_cycles += graph_.collapse(options_.collapse_cycles);
    report_.collapse_seconds += watch.lap();
  }
  void propagate() {
    detail::Stopwatch watch;
    graph_.propagate(options_.collapse_cycles);
    report_.propagate_seconds += watch.lap();
  }
  void record_round();
  bool expand();
  void forget_sets();
  SetId take_new_targets(Index d);
  void apply_to(SetId targets, Index d);
  void merge_contents(SetId targets, Index variable);
  void add_edges(SetId targets, Group group);
  void find_contents(SetId targets, ConstraintKind kind);
  void find_ends(Group group, ConstraintKind kind);
  void connect(std::vector<Index> const& from, std::vector<Index> const& to, Offset& num_edges);
  void add_edge(Index from, Index to, Offset& num_edges);

  Solution collected();

  detail::Stopwatch watch_;  // of what comes before rounds
  HostPlan const& plan_;
  SolveOptions options_;
  SolveReport report_;
  SetPool pool_;
  Nodes nodes_;
  CopyGraph graph_;
  OffsetSets offsets_;
  Dereferences dereferences_;
  Index from_outside_ = -1;  // a node that has the outside, which is loaded from there
  std::vector<RoundOfSets>* rounds_ = nullptr;
  std::vector<SetId> done_;  // [dereferences], the targets that each was applied to
  // of one round
  bool changes_ = false;
  std::vector<SetId> targets_;                   // [dereferences] new ones
  std::vector<std::pair<SetId, Index>> groups_;  // new targets, dereference
  Marks marks_;
  std::vector<Index> contents_, ends_;
  std::vector<SetId> sets_;
};

}  // namespace hornbill::points_to
