/// \file
/// Labels of sets that are not known yet, before solving.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <hornbill/points_to/plan.hpp>

namespace hornbill::points_to::detail {

/// A label stands for a set.
using Label = std::uint32_t;
inline constexpr Label no_targets = 0, unknown_label = 0xffffffffu;

/// Labels of variables: equal labels mean equal sets. All variables of a node, which is one variable or a cycle of
/// copies, have one label.
struct Labels {
  std::vector<Index> node_of;      ///< [num_variables], one of the variables of its node
  std::vector<Label> of_variable;  ///< [num_variables]
};

/// The plan that follows from labels.
/// \param label  labels all variables by the constraints that it gets
HostPlan make_plan(ConstraintSystem const& system, PlanOptions const& options,
                   std::function<Labels(std::vector<Constraint> const&)> const& label);

/// Finds cycles of copies among some variables.
/// \param node_of  [num_variables], gets the first of a cycle's variables for each of them
/// \return variables on cycles
std::vector<std::uint32_t> find_copy_cycles(std::vector<std::uint32_t> const& variables,
                                            std::vector<Constraint> const& constraints, std::vector<Index>& node_of);

}  // namespace hornbill::points_to::detail
