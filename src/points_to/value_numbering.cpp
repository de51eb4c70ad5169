#include "value_numbering.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "components.hpp"

namespace hornbill::points_to {
namespace {

/// A constraint as its destination sees it, so that labelling reads no constraints.
struct Input {
  ConstraintKind kind;
  Index source, offset;  ///< a variable; of an address an object
};

/// Inputs by variable; for Components a graph with an edge to each source.
struct Inputs {
  HugePageVector<Index> offsets;  // [num_variables + 1]
  HugePageVector<Input> inputs;

  Inputs(Index num_variables, std::vector<Constraint> const& constraints) : offsets(num_variables + 1) {
    auto const is_input = [](Constraint const& c) { return c.kind != ConstraintKind::store; };
    for (auto const& c : constraints)
      if (is_input(c)) ++offsets[c.destination + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    inputs.resize(offsets.back());
    auto next = offsets;
    for (auto const& c : constraints)
      if (is_input(c)) inputs[next[c.destination]++] = {c.kind, c.source, c.offset};
  }
  Index num_nodes() const { return static_cast<Index>(offsets.size()) - 1; }
  /// An address does not depend on what the object holds: that edge leads nowhere.
  Index target(Index variable, Index edge) const {
    return inputs[edge].kind == ConstraintKind::address_of ? variable : inputs[edge].source;
  }
  std::span<Input const> of(Index variable) const {
    return {inputs.data() + offsets[variable], inputs.data() + offsets[variable + 1]};
  }
};

class Labeller {
 public:
  Labeller(ConstraintSystem const& system, std::vector<Constraint> const& constraints, PlanOptions const& options)
      : options_(options),
        num_objects_(system.num_objects()),
        inputs_(system.num_variables, constraints),
        node_of_(system.num_variables),
        labels_(system.num_variables, unknown_label),
        atom_of_object_(system.num_objects(), unknown_label) {
    std::iota(node_of_.begin(), node_of_.end(), 0);
  }

  /// A variable's sources are labelled before it, where they do not depend on it.
  Labels label() {
    components_.find(inputs_, inputs_.num_nodes(), [&](Index component) {
      auto const variables = components_.members(component);
      if (variables.size() > 1 && options_.collapse_cycles)
        label_nodes_of(component);
      else
        for (auto const& variable : variables) label_node({&variable, 1});
    });
    return {std::move(node_of_), std::move(labels_)};
  }

 private:
  // those with offsets plus three times the offset
  enum Tag : std::uint32_t { load, union_of, offset, any_offset, function_offset };

  /// Variables that depend on each other: those on a cycle of copies are one node.
  void label_nodes_of(Index component) {
    auto const variables = components_.members(component);
    for (std::size_t i = 0; i < variables.size(); ++i) node_of_[variables[i]] = static_cast<Index>(i);
    auto const num_variables = static_cast<Index>(variables.size());
    copies_.find(rows_of(num_variables, [&](auto const& add) {
      for (Index i = 0; i < num_variables; ++i)
        for (auto const& input : inputs_.of(variables[i]))
          if (input.kind == ConstraintKind::copy && components_[input.source] == component)
            add(i, node_of_[input.source]);
    }));
    in_order_.clear();
    for (Index const i : copies_.order()) in_order_.push_back(variables[i]);
    auto const for_each_node = [&](auto const& function) {
      auto const* begin = in_order_.data();
      for (Index node = 0; node < copies_.count(); begin += copies_.members(node++).size())
        function(std::span(begin, copies_.members(node).size()));
    };
    for_each_node([&](std::span<Index const> node) {
      for (Index const variable : node) node_of_[variable] = node.front();
    });
    for_each_node([&](std::span<Index const> node) { label_node(node); });
  }

  void label_node(std::span<Index const> variables) {
    auto const label = options_.value_numbering == ValueNumbering::none ? fresh() : label_of_inputs(variables);
    for (Index const variable : variables) labels_[variable] = label;
  }
  Label label_of_inputs(std::span<Index const> variables) {
    values_.clear();
    bool holds_object = false;
    for (Index const variable : variables) {
      for (auto const& input : inputs_.of(variable)) add_value(variables.front(), input);
      holds_object = holds_object || variable < num_objects_;
    }
    // What stores write into an object is not known.
    if (holds_object) values_.push_back(fresh());
    return united();
  }

  void add_value(Index node, Input const& input) {
    if (input.kind == ConstraintKind::address_of) {
      values_.push_back(known_or_fresh(atom_of_object_[input.source]));
      return;
    }
    auto const label = labels_[input.source];
    if (label == no_targets) return;
    bool const is_known = label != unknown_label;
    auto const key = is_known ? label : static_cast<std::uint32_t>(node_of_[input.source]);
    if (input.kind == ConstraintKind::copy && !is_known && key == static_cast<std::uint32_t>(node)) return;
    switch (input.kind) {
      case ConstraintKind::copy: values_.push_back(is_known ? label : atom(union_of, key, false)); break;
      case ConstraintKind::load:
        values_.push_back(is_known ? known_or_fresh(load_of_label_(label)) : atom(load, key, false));
        break;
      case ConstraintKind::any_offset:
        values_.push_back(atom(any_offset + 3 * static_cast<std::uint32_t>(input.offset), key, is_known));
        break;
      case ConstraintKind::offset:
        values_.push_back(atom(offset + 3 * static_cast<std::uint32_t>(input.offset), key, is_known));
        break;
      case ConstraintKind::function_offset:
        values_.push_back(atom(function_offset + 3 * static_cast<std::uint32_t>(input.offset), key, is_known));
        break;
      case ConstraintKind::address_of:
      case ConstraintKind::store: break;
    }
  }

  /// The label of all values together.
  Label united() {
    if (values_.empty()) return no_targets;
    if (values_.size() == 1) return values_.front();
    std::sort(values_.begin(), values_.end());
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    if (values_.size() == 1) return values_.front();
    auto const first_atom = std::lower_bound(values_.begin(), values_.end(), atom_bit);
    elements_.clear();
    for (auto value = first_atom; value != values_.end(); ++value)
      elements_.push_back(static_cast<Index>(*value & ~atom_bit));
    values_.erase(first_atom, values_.end());
    values_.push_back(pool_.of(elements_));
    auto const set = pool_.unite_all(values_);
    return options_.value_numbering == ValueNumbering::hash_values ? atom(union_of, set, true) : set;
  }

  Label fresh() { return atom_bit | num_atoms_++; }
  Label known_or_fresh(Label& known) { return known == unknown_label ? known = fresh() : known; }
  /// One atom for each operation and label, or node that has no label yet.
  Label atom(std::uint32_t tag, std::uint32_t key, bool is_label) {
    return known_or_fresh(atoms_(2 * tag + (is_label ? 1 : 0), key));
  }

  PlanOptions const& options_;
  Index num_objects_;
  Inputs inputs_;
  Components components_, copies_;  // of all inputs; of the copies among variables of one component
  std::vector<Index> in_order_;     // variables of one component, node after node
  HugePageVector<Index> node_of_;
  HugePageVector<Label> labels_, atom_of_object_;
  LabelMap load_of_label_;
  SetPool pool_;
  PairMap atoms_;
  std::vector<Label> values_;
  std::vector<Index> elements_;
  std::uint32_t num_atoms_ = 0;
};

}  // namespace

Labels detail::label_variables(ConstraintSystem const& system, std::vector<Constraint> const& constraints,
                               PlanOptions const& options) {
  return Labeller(system, constraints, options).label();
}

std::vector<std::uint32_t> detail::find_copy_cycles(std::vector<std::uint32_t> const& variables,
                                                    std::vector<Constraint> const& constraints,
                                                    HugePageVector<Index>& node_of) {
  HugePageVector<Index> number_of(node_of.size(), -1);
  for (std::size_t i = 0; i < variables.size(); ++i) number_of[variables[i]] = static_cast<Index>(i);
  std::vector<std::uint32_t> on_cycles;
  Components components;
  components.find(rows_of(static_cast<Index>(variables.size()), [&](auto const& add) {
    for (auto const& c : constraints)
      if (c.kind == ConstraintKind::copy && number_of[c.source] >= 0 && number_of[c.destination] >= 0)
        add(number_of[c.source], number_of[c.destination]);
  }));
  for (Index component = 0; component < components.count(); ++component) {
    auto const members = components.members(component);
    if (members.size() == 1) continue;
    for (Index const member : members) {
      node_of[variables[member]] = static_cast<Index>(variables[members.front()]);
      on_cycles.push_back(variables[member]);
    }
  }
  return on_cycles;
}

}  // namespace hornbill::points_to
