#include "host_solver.hpp"

#include <hornbill/detail/huge_pages.hpp>

namespace hornbill::points_to {

using detail::Stopwatch;

// --- what there is at first ---

void HostSolver::add_sets(Solution const& earlier) {
  require_part_of(earlier, plan_);
  std::vector<SetId> sets;
  for (Index s = 0; s < earlier.num_sets(); ++s) sets.push_back(pool_.of(earlier.objects_of_set(s)));
  for (std::size_t v = 0; v < earlier.set_of_variable.size(); ++v)
    nodes_.add_to(nodes_.root(static_cast<Index>(v)), sets[earlier.set_of_variable[v]]);
}

void HostSolver::add_copies() {
  for (auto const& c : plan_.constraints) {
    if (c.kind != ConstraintKind::copy) continue;
    graph_.add_edge(c.source, c.destination);
    ++report_.copy_edges;
  }
}

void HostSolver::add_addresses() {
  std::vector<std::pair<Index, Index>> addresses;  // variable, object
  for (auto const& c : plan_.constraints)
    if (c.kind == ConstraintKind::address_of) addresses.emplace_back(c.destination, c.source);
  std::ranges::sort(addresses);
  std::vector<Index> objects;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    objects.push_back(addresses[i].second);
    if (i + 1 < addresses.size() && addresses[i + 1].first == addresses[i].first) continue;
    nodes_.add_to(addresses[i].first, pool_.of(objects));
    objects.clear();
  }
}

// --- expanding ---

/// Applies constraints to new targets of their pointers.   \return whether anything has changed
bool HostSolver::expand() {
  Stopwatch watch;
  changes_ = false;
  groups_.clear();
  auto const count = static_cast<Index>(dereferences_.list.size());
  if (rounds_) {  // none of which is of this round
    targets_.clear();
    for (Index d = 0; d < count; ++d) targets_.push_back(take_new_targets(d));
    for (Index d = 0; d < count; ++d) apply_to(targets_[d], d);
  } else {
    for (Index d = 0; d < count; ++d) apply_to(take_new_targets(d), d);
  }
  std::ranges::sort(groups_);
  for (std::size_t begin = 0, end = 0; begin < groups_.size(); begin = end) {
    while (end < groups_.size() && groups_[end].first == groups_[begin].first) ++end;
    add_edges(groups_[begin].first, Group(groups_).subspan(begin, end - begin));
  }
  report_.expand_seconds += watch.lap();
  return changes_;
}

SetId HostSolver::take_new_targets(Index d) {
  auto const set = nodes_.set(nodes_.root(dereferences_.list[d].pointer));
  return set == done_[d] ? empty_set : pool_.subtract(set, std::exchange(done_[d], set));
}

void HostSolver::apply_to(SetId targets, Index d) {
  if (targets == empty_set) return;
  auto const& dereference = dereferences_.list[d];
  bool has_edges = false;
  for (Index c = dereference.begin; c < dereference.end; ++c) {
    auto const& [kind, source, destination, offset] = dereferences_.constraints[c];
    if (kind == ConstraintKind::offset)
      changes_ |= nodes_.add_to(nodes_.root(destination), offsets_.shifted(targets, offset));
    else if (kind == ConstraintKind::function_offset)
      changes_ |= nodes_.add_to(nodes_.root(destination), offsets_.function_fields(targets, offset));
    else if (kind == ConstraintKind::any_offset)
      changes_ |= nodes_.add_to(nodes_.root(destination), offsets_.fields(targets, offset));
    else
      has_edges = true;
  }
  if (has_edges) groups_.emplace_back(targets, d);
  if (dereference.cycle >= 0) merge_contents(targets, dereference.cycle);
}

void HostSolver::merge_contents(SetId targets, Index variable) {
  pool_.for_each(targets, [&](Index object) {
    if (object == plan_.outside || !nodes_.merge(variable, object)) return;
    ++report_.merged_by_hybrid_cycles;
    changes_ = true;
    graph_.send_again(nodes_.root(variable));
  });
}

/// Edges for loads and stores of pointers that have the same new targets.
void HostSolver::add_edges(SetId targets, Group group) {
  contents_.clear();
  for (auto const kind : {ConstraintKind::load, ConstraintKind::store}) {
    find_ends(group, kind);
    if (ends_.empty()) continue;
    if (contents_.empty() || plan_.outside >= 0) find_contents(targets, kind);  // which differ in the outside alone
    if (kind == ConstraintKind::load)
      connect(contents_, ends_, report_.load_edges);
    else
      connect(ends_, contents_, report_.store_edges);
  }
}

/// What is loaded from targets, or stored into.
void HostSolver::find_contents(SetId targets, ConstraintKind kind) {
  contents_.clear();
  marks_.clear(nodes_.size());
  pool_.for_each(targets, [&](Index object) {
    bool const is_mark = object == plan_.outside && kind == ConstraintKind::load;
    if (Index const root = is_mark ? from_outside_ : nodes_.root(object); marks_.mark(root)) contents_.push_back(root);
  });
}

/// Destinations of loads, or sources of stores, through the pointers of a group.
void HostSolver::find_ends(Group group, ConstraintKind kind) {
  ends_.clear();
  marks_.clear(nodes_.size());
  for (auto const& [targets, d] : group)
    for (Index c = dereferences_.list[d].begin; c < dereferences_.list[d].end; ++c) {
      auto const& constraint = dereferences_.constraints[c];
      if (constraint.kind != kind) continue;
      Index const root = nodes_.root(kind == ConstraintKind::load ? constraint.destination : constraint.source);
      if (marks_.mark(root)) ends_.push_back(root);
    }
}

/// An edge from each to each, or through a hub where that is fewer.
void HostSolver::connect(std::vector<Index> const& from, std::vector<Index> const& to, Offset& num_edges) {
  if (from.empty() || to.empty()) return;
  if (!options_.hubs || from.size() == 1 || to.size() == 1) {
    for (Index const a : from)
      for (Index const b : to)
        if (a != b) add_edge(a, b, num_edges);
    return;
  }
  Index const hub = nodes_.add();
  ++report_.hubs;
  num_edges += static_cast<Offset>(from.size());
  sets_.clear();
  for (Index const a : from) {
    graph_.add_edge(a, hub);
    sets_.push_back(nodes_.set(a));
  }
  nodes_.add_to(hub, pool_.unite_all(sets_));
  for (Index const b : to) add_edge(hub, b, num_edges);
}

void HostSolver::add_edge(Index from, Index to, Offset& num_edges) {
  ++num_edges;
  changes_ = true;
  graph_.add_edge(from, to);
  nodes_.add_to(to, nodes_.set(from));
}

/// Most sets are of use in one round, and later only where a node has one, or where a pointer's targets are compared
/// with it.
void HostSolver::forget_sets() {
  if (!pool_.has_grown(options_.forget_above)) return;
  Stopwatch watch;
  std::vector<bool> is_used(pool_.num_ids());
  nodes_.mark_sets(is_used);
  for (auto const set : done_) is_used[set] = true;
  graph_.keep_sets(is_used);
  offsets_.clear();
  pool_.keep(is_used);
  report_.expand_seconds += watch.lap();
}

void HostSolver::record_round() {
  auto& [sets, roots] = rounds_->emplace_back();
  for (Index v = 0; v < plan_.num_variables; ++v) {
    roots.push_back(nodes_.root(v));
    sets.push_back(nodes_.set(roots.back()));
  }
}

// --- the result ---

Solution HostSolver::collected() {
  Stopwatch watch;
  Solution solution;
  solution.set_of_variable.resize(plan_.num_variables);
  solution.set_offsets = {0, 0};
  std::vector<Index> number(pool_.num_ids(), -1);
  number[empty_set] = 0;
  std::vector<SetId> sets{empty_set};  // by number
  for (Index v = 0; v < plan_.num_variables; ++v) {
    auto const set = nodes_.set(nodes_.root(v));
    if (number[set] < 0) {
      number[set] = static_cast<Index>(sets.size());
      sets.push_back(set);
      solution.set_offsets.push_back(solution.set_offsets.back() + static_cast<Offset>(pool_.num_elements(set)));
    }
    solution.set_of_variable[v] = number[set];
  }
  auto& objects = solution.set_objects;
  objects = hornbill::detail::vector_with_room<Index>(static_cast<std::size_t>(solution.set_offsets.back()));
  for (auto const set : sets) pool_.for_each(set, [&](Index object) { objects.push_back(object); });
  report_.collect_seconds = watch.lap();
  solution.report = report_;
  return solution;
}

namespace {

Solution solve_from(HostPlan const& plan, Solution const* earlier, SolveOptions const& options) {
  Stopwatch watch;
  HostSolver solver(plan, options);
  if (earlier) solver.add_sets(*earlier);
  auto solution = solver.solve();
  solution.report.elapsed_seconds = watch.lap();
  return solution;
}

}  // namespace

Solution solve(HostPlan const& plan, SolveOptions const& options) { return solve_from(plan, nullptr, options); }

Solution resume(HostPlan const& plan, Solution const& earlier, SolveOptions const& options) {
  return solve_from(plan, &earlier, options);
}

}  // namespace hornbill::points_to
