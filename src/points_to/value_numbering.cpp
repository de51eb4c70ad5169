#include "value_numbering.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "components.hpp"

namespace hornbill::points_to {
namespace {

/// A constraint as its destination sees it, by node, so that labelling reads no constraints.
struct Input {
  ConstraintKind kind;
  Index source, offset;  ///< a node; of an address an object
};

class Labeller {
 public:
  Labeller(ConstraintSystem const& system, std::vector<Constraint> const& constraints,
           std::vector<Index> const& node_of, Index num_nodes, ValueNumbering numbering)
      : numbering_(numbering),
        labels_(num_nodes, unknown_label),
        holds_object_(num_nodes),
        atom_of_object_(system.num_objects(), unknown_label) {
    for (Index o = 0; o < system.num_objects(); ++o) holds_object_[node_of[o]] = true;
    add_inputs(constraints, node_of);
  }

  /// [num_nodes]
  std::vector<Label> label() {
    // What flows into a node is labelled before it, where it does not depend on it.
    Components order;
    order.find(sources_);
    for (Index const node : order.order()) label_node(node);
    return std::move(labels_);
  }

 private:
  enum Tag : std::uint32_t { load, any_offset, union_of, offset };  // the last plus an offset

  void add_inputs(std::vector<Constraint> const& constraints, std::vector<Index> const& node_of) {
    auto& offsets = sources_.offsets;
    offsets.assign(labels_.size() + 1, 0);
    auto const is_input = [](Constraint const& c) { return c.kind != ConstraintKind::store; };
    for (auto const& c : constraints)
      if (is_input(c)) ++offsets[node_of[c.destination] + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    sources_.targets.resize(offsets.back());
    inputs_.resize(offsets.back());
    auto next = offsets;
    for (auto const& c : constraints) {
      if (!is_input(c)) continue;
      bool const is_address = c.kind == ConstraintKind::address_of;
      Index const node = node_of[c.destination], source = is_address ? c.source : node_of[c.source];
      auto const at = next[node]++;
      sources_.targets[at] = is_address ? node : source;
      inputs_[at] = {c.kind, source, c.offset};
    }
  }

  void label_node(Index node) {
    values_.clear();
    for (Index i = sources_.offsets[node]; i < sources_.offsets[node + 1]; ++i) add_value(node, inputs_[i]);
    if (holds_object_[node]) values_.push_back(fresh());
    labels_[node] = united();
  }

  void add_value(Index node, Input const& input) {
    if (input.kind == ConstraintKind::address_of) {
      values_.push_back(known_or_fresh(atom_of_object_[input.source]));
      return;
    }
    auto const label = labels_[input.source];
    bool const is_known = label != unknown_label;
    if (input.kind == ConstraintKind::copy && input.source == node) return;
    if (label == no_targets) return;
    auto const key = is_known ? label : static_cast<std::uint32_t>(input.source);
    switch (input.kind) {
      case ConstraintKind::copy: values_.push_back(is_known ? label : atom(union_of, key, false)); break;
      case ConstraintKind::load:
        values_.push_back(is_known ? known_or_fresh(load_of_label_(label)) : atom(load, key, false));
        break;
      case ConstraintKind::any_offset: values_.push_back(atom(any_offset, key, is_known)); break;
      case ConstraintKind::offset:
        values_.push_back(atom(offset + static_cast<std::uint32_t>(input.offset), key, is_known));
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
    auto const first_atom = std::lower_bound(values_.begin(), values_.end(), atom_bit);
    elements_.clear();
    for (auto value = first_atom; value != values_.end(); ++value)
      elements_.push_back(static_cast<Index>(*value & ~atom_bit));
    values_.erase(first_atom, values_.end());
    values_.push_back(pool_.of(elements_));
    auto const set = pool_.unite_all(values_);
    return numbering_ == ValueNumbering::hash_values ? atom(union_of, set, true) : set;
  }

  Label fresh() { return atom_bit | num_atoms_++; }
  Label known_or_fresh(Label& known) { return known == unknown_label ? known = fresh() : known; }
  /// One atom for each operation and label, or node that has no label yet.
  Label atom(std::uint32_t tag, std::uint32_t key, bool is_label) {
    return known_or_fresh(atoms_(2 * tag + (is_label ? 1 : 0), key));
  }

  ValueNumbering numbering_;
  std::vector<Label> labels_;
  std::vector<bool> holds_object_;
  std::vector<Label> atom_of_object_;
  LabelMap load_of_label_;
  Rows sources_;               // by node
  std::vector<Input> inputs_;  // in the same order
  SetPool pool_;
  PairMap atoms_;
  std::vector<Label> values_;
  std::vector<Index> elements_;
  std::uint32_t num_atoms_ = 0;
};

}  // namespace

std::vector<Label> label_nodes(ConstraintSystem const& system, std::vector<Constraint> const& constraints,
                               std::vector<Index> const& node_of, Index num_nodes, ValueNumbering numbering) {
  return Labeller(system, constraints, node_of, num_nodes, numbering).label();
}

}  // namespace hornbill::points_to
