// Labels of sets that are not known yet. Internal to src/points_to.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/points_to/constraints.hpp>
#include <hornbill/points_to/plan.hpp>

#include "set_pool.hpp"

namespace hornbill::points_to {

/// A label stands for a set. Most labels are one atom, so only unions of several are sets of a pool.
using Label = std::uint32_t;
constexpr Label no_targets = 0, unknown_label = PairMap::none, atom_bit = Label{1} << 31;

/// A number for each label: `none` until it is set.
class LabelMap {
 public:
  static constexpr std::uint32_t none = PairMap::none;
  std::uint32_t& operator()(Label label) {
    auto& numbers = label & atom_bit ? of_atoms_ : of_sets_;
    auto const i = std::size_t{label & ~atom_bit};
    if (i >= numbers.size()) numbers.resize(2 * i + 1024, none);
    return numbers[i];
  }

 private:
  std::vector<std::uint32_t> of_atoms_, of_sets_;
};

/// Labels of nodes, which are variables or cycles of copies: equal labels mean equal sets.   \shape [num_nodes]
/// \param node_of  [num_variables]
/// \source Hardekopf and Lin, SAS 2007 (HVN, HU)
std::vector<Label> label_nodes(ConstraintSystem const& system, std::vector<Constraint> const& constraints,
                               std::vector<Index> const& node_of, Index num_nodes, ValueNumbering numbering);

}  // namespace hornbill::points_to
