/// \file
/// Labels of sets that are not known yet, before solving.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <hornbill/detail/huge_pages.hpp>
#include <hornbill/points_to/plan.hpp>

namespace hornbill::points_to::detail {

using hornbill::detail::HugePageVector;

/// A label stands for a set.
using Label = std::uint32_t;
inline constexpr Label no_targets = 0, unknown_label = 0xffffffffu;

/// Labels of variables: equal labels mean equal sets. All variables of a node, which is one variable or a cycle of
/// copies, have one label.
struct Labels {
  HugePageVector<Index> node_of;      ///< [num_variables], one of the variables of its node
  HugePageVector<Label> of_variable;  ///< [num_variables]
};

/// Labels of variables, by one thread.
/// \param constraints  of the system, simplified
/// \source Hardekopf and Lin, SAS 2007 (HVN, HU)
Labels label_variables(ConstraintSystem const& system, std::vector<Constraint> const& constraints,
                       PlanOptions const& options);

/// The plan that follows from labels.
/// \param label  labels all variables by the constraints that it gets
HostPlan make_plan(ConstraintSystem const& system, PlanOptions const& options,
                   std::function<Labels(std::vector<Constraint> const&)> const& label);

/// Finds cycles of copies among some variables.
/// \param node_of  [num_variables], gets the first of a cycle's variables for each of them
/// \return variables on cycles
std::vector<std::uint32_t> find_copy_cycles(std::vector<std::uint32_t> const& variables,
                                            std::vector<Constraint> const& constraints, HugePageVector<Index>& node_of);

}  // namespace hornbill::points_to::detail
