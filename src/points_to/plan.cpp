#include <hornbill/points_to/plan.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>

#include "components.hpp"
#include "set_pool.hpp"

namespace hornbill::points_to {
namespace {

/// Whether an offset of 0 is a copy: null and others of size 0 pass copies alone.
bool offset_zero_copies(ConstraintSystem const& system) {
  return std::ranges::none_of(system.constraints, [&](Constraint const& c) {
    return c.kind == ConstraintKind::address_of && system.object_sizes[c.source] == 0;
  });
}

/// Offsets of 0 as copies where they are, and without offsets that reach no field.
std::vector<Constraint> simplified(ConstraintSystem const& system) {
  bool const zero_copies = offset_zero_copies(system);
  Index const largest = system.object_sizes.empty() ? 0 : std::ranges::max(system.object_sizes);
  std::vector<Constraint> constraints;
  constraints.reserve(system.constraints.size());
  for (auto c : system.constraints) {
    if (c.kind == ConstraintKind::offset && c.offset >= largest) continue;
    if (c.kind == ConstraintKind::offset && c.offset == 0 && zero_copies) c.kind = ConstraintKind::copy;
    constraints.push_back(c);
  }
  return constraints;
}

/// Rows of pairs (row, entry), in the order in which they are given.
template <class ForEachPair>
Rows rows_of(Index num_nodes, ForEachPair const& for_each_pair) {
  Rows rows;
  rows.offsets.assign(num_nodes + 1, 0);
  for_each_pair([&](Index row, Index) { ++rows.offsets[row + 1]; });
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  rows.targets.resize(rows.offsets.back());
  auto next = rows.offsets;
  for_each_pair([&](Index row, Index entry) { rows.targets[next[row]++] = entry; });
  return rows;
}

/// A label stands for a set. Most labels are one atom, so only unions of several are sets of a pool.
using Label = std::uint32_t;
constexpr Label no_targets = 0, unknown_label = PairMap::none;

/// Labels of nodes, which are variables or cycles of copies: equal labels mean equal sets.
class Labeller {
 public:
  Labeller(ConstraintSystem const& system, std::vector<Constraint> const& constraints,
           std::vector<Index> const& node_of, Index num_nodes, ValueNumbering numbering)
      : constraints_(constraints), node_of_(node_of), numbering_(numbering), labels_(num_nodes, unknown_label) {
    holds_object_.resize(num_nodes);
    for (Index o = 0; o < system.num_objects(); ++o) holds_object_[node_of[o]] = true;
  }

  /// [num_nodes]
  std::vector<Label> label() {
    auto const num_nodes = static_cast<Index>(labels_.size());
    // What flows into a node is labelled before it, where it does not depend on it.
    auto const inputs = rows_of(num_nodes, [&](auto const& add) {
      for (std::size_t c = 0; c < constraints_.size(); ++c)
        if (constraints_[c].kind != ConstraintKind::store)
          add(node_of_[constraints_[c].destination], static_cast<Index>(c));
    });
    Rows sources = inputs;
    for (auto& c : sources.targets)
      c = constraints_[c].kind == ConstraintKind::address_of ? node_of_[constraints_[c].destination]
                                                             : node_of_[constraints_[c].source];
    Components order;
    order.find(sources);
    for (Index const node : order.order()) label_node(node, inputs.of(node));
    return std::move(labels_);
  }

 private:
  static constexpr Label atom_bit = Label{1} << 31;
  enum Tag : std::uint32_t { address, load, any_offset, union_of, offset };  // the last plus an offset

  void label_node(Index node, std::span<Index const> inputs) {
    values_.clear();
    for (Index const c : inputs) add_value(node, constraints_[c]);
    if (holds_object_[node]) values_.push_back(fresh());
    labels_[node] = united();
  }

  void add_value(Index node, Constraint const& c) {
    if (c.kind == ConstraintKind::address_of) {
      values_.push_back(atom(address, static_cast<std::uint32_t>(c.source), true));
      return;
    }
    Index const source = node_of_[c.source];
    auto const label = labels_[source];
    bool const is_known = label != unknown_label;
    if (c.kind == ConstraintKind::copy && source == node) return;
    if (label == no_targets) return;
    auto const key = is_known ? label : static_cast<std::uint32_t>(source);
    switch (c.kind) {
      case ConstraintKind::copy: values_.push_back(is_known ? label : atom(union_of, key, false)); break;
      case ConstraintKind::load: values_.push_back(atom(load, key, is_known)); break;
      case ConstraintKind::any_offset: values_.push_back(atom(any_offset, key, is_known)); break;
      case ConstraintKind::offset:
        values_.push_back(atom(offset + static_cast<std::uint32_t>(c.offset), key, is_known));
        break;
      case ConstraintKind::address_of:
      case ConstraintKind::store: break;
    }
  }

  /// The label of all values together.
  Label united() {
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    if (values_.empty()) return no_targets;
    if (values_.size() == 1) return values_.front();
    for (auto& value : values_)
      if (value & atom_bit) value = pool_.singleton(value & ~atom_bit);
    auto const set = pool_.unite_all(values_);
    return numbering_ == ValueNumbering::hash_values ? atom(union_of, set, true) : set;
  }

  Label fresh() { return atom_bit | num_atoms_++; }
  /// One atom for each operation and label, or node that has no label yet.
  Label atom(std::uint32_t tag, std::uint32_t key, bool is_label) {
    auto& known = atoms_(2 * tag + (is_label ? 1 : 0), key);
    if (known != PairMap::none) return known;
    return known = fresh();
  }

  std::vector<Constraint> const& constraints_;
  std::vector<Index> const& node_of_;
  ValueNumbering numbering_;
  std::vector<Label> labels_;
  std::vector<bool> holds_object_;
  SetPool pool_;
  PairMap atoms_;
  std::vector<Label> values_;
  std::uint32_t num_atoms_ = 0;
};

/// Numbers nodes: cycles of copies, and variables on none.
std::pair<std::vector<Index>, Index> nodes_of(ConstraintSystem const& system,
                                              std::vector<Constraint> const& constraints, bool collapse_cycles) {
  std::vector<Index> node_of(system.num_variables);
  if (!collapse_cycles) {
    std::iota(node_of.begin(), node_of.end(), 0);
    return {node_of, system.num_variables};
  }
  Components components;
  components.find(rows_of(system.num_variables, [&](auto const& add) {
    for (auto const& c : constraints)
      if (c.kind == ConstraintKind::copy) add(c.source, c.destination);
  }));
  for (Index v = 0; v < system.num_variables; ++v) node_of[v] = components[v];
  return {node_of, components.count()};
}

/// The first variable of each node or label.
std::vector<Index> firsts(std::vector<Index> const& node_of, std::vector<Label> const& labels, PlanReport& report) {
  std::vector<Index> representative(node_of.size());
  std::vector<Index> first_of_node(labels.size(), -1);
  PairMap first_of_label;
  for (std::size_t v = 0; v < node_of.size(); ++v) {
    auto const node = node_of[v];
    if (labels[node] == no_targets) {
      representative[v] = -1;
      ++report.without_targets;
      continue;
    }
    if (first_of_node[node] >= 0) {
      ++report.merged_by_cycles;
    } else {
      auto& first = first_of_label(labels[node], 0);
      if (first == PairMap::none)
        first = static_cast<std::uint32_t>(v);
      else
        ++report.merged_by_numbering;
      first_of_node[node] = static_cast<Index>(first);
    }
    representative[v] = first_of_node[node];
  }
  return representative;
}

/// The same between representatives, sorted, without what says nothing.
std::vector<Constraint> reduced(std::vector<Constraint> constraints, std::vector<Index> const& representative) {
  std::erase_if(constraints, [&](Constraint& c) {
    if (c.kind != ConstraintKind::address_of) c.source = representative[c.source];
    c.destination = representative[c.destination];
    return c.source < 0 || c.destination < 0 || (c.kind == ConstraintKind::copy && c.source == c.destination);
  });
  auto const key = [](Constraint const& c) { return std::tuple(c.kind, c.source, c.destination, c.offset); };
  std::ranges::sort(constraints, {}, key);
  constraints.erase(std::unique(constraints.begin(), constraints.end()), constraints.end());
  return constraints;
}

/// Pointers p with a path of copies from what is loaded through p to what is stored through p: a target's content and
/// that path will be a cycle. A path that passes through other pointers counts only where it passes through p alone.
std::vector<std::pair<Index, Index>> find_hybrid_cycles(HostPlan const& plan) {
  Index const n = plan.num_variables;
  Components components;
  components.find(rows_of(2 * n, [&](auto const& add) {
    for (auto const& c : plan.constraints) {
      if (c.kind == ConstraintKind::copy) add(c.source, c.destination);
      if (c.kind == ConstraintKind::load) add(c.source + n, c.destination);
      if (c.kind == ConstraintKind::store) add(c.source, c.destination + n);
    }
  }));
  std::vector<std::pair<Index, Index>> found;
  auto const order = components.order();
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && components[order[end]] == components[order[begin]]) ++end;
    auto const members = order.subspan(begin, end - begin);
    auto const is_content = [&](Index node) { return node >= n; };
    if (members.size() < 2 || std::ranges::count_if(members, is_content) != 1) continue;
    auto const content = std::ranges::find_if(members, is_content);
    found.emplace_back(*content - n, content == members.begin() ? members[1] : members[0]);
  }
  return found;
}

}  // namespace

HostPlan make_plan(ConstraintSystem const& system, PlanOptions const& options) {
  auto const start = std::chrono::steady_clock::now();
  validate(system, "constraints");
  HostPlan plan;
  plan.num_variables = system.num_variables;
  plan.object_sizes = system.object_sizes;
  plan.first_field = first_fields(system);
  auto constraints = simplified(system);
  auto const [node_of, num_nodes] = nodes_of(system, constraints, options.collapse_cycles);
  std::vector<Label> labels(num_nodes);
  if (options.value_numbering == ValueNumbering::none)
    std::iota(labels.begin(), labels.end(), 1);
  else
    labels = Labeller(system, constraints, node_of, num_nodes, options.value_numbering).label();
  plan.representative = firsts(node_of, labels, plan.report);
  plan.constraints = reduced(std::move(constraints), plan.representative);
  if (options.hybrid_cycles) plan.hybrid_cycles = find_hybrid_cycles(plan);
  plan.report.constraints_left = static_cast<Offset>(plan.constraints.size());
  plan.report.hybrid_cycles = static_cast<Offset>(plan.hybrid_cycles.size());
  plan.report.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return plan;
}

}  // namespace hornbill::points_to
