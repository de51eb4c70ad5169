/// \file
/// Constraints made ready to be solved: variables that must have equal sets are one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <hornbill/points_to/constraints.hpp>

namespace hornbill::points_to {

/// How variables with equal sets are found before solving.
enum class ValueNumbering : std::uint8_t {
  none,
  hash_values,  ///< by the values that flow in (HVN)
  hash_unions   ///< by their union (HU), which finds more
};

/// Backends of the host with fewer threads leave planning and solving to one thread, which is faster without atomic
/// operations.
inline constexpr int fewest_host_threads = 8;

struct PlanOptions {
  ValueNumbering value_numbering = ValueNumbering::hash_unions;
  bool collapse_cycles = true;  ///< variables on a cycle of copies are one
  bool hybrid_cycles = true;    ///< find what will be a cycle as soon as a pointer has a target
  /// systems with fewer constraints are planned by one thread of the host whatever the backend, and all are where a
  /// backend of the host has fewer than `fewest_host_threads`; 0: none
  Offset host_below = 50000;
};

/// What was done before solving, and how long it took.
struct PlanReport {
  Index merged_by_cycles = 0;     ///< variables
  Index merged_by_numbering = 0;  ///< variables
  Index without_targets = 0;      ///< variables that point to nothing
  Offset constraints_left = 0;
  Offset hybrid_cycles = 0;  ///< pointers whose targets will be one with a variable
  double elapsed_seconds = 0;
};

/// A system whose variables are representatives.
struct HostPlan {
  Index num_variables = 0;
  std::vector<Index> object_sizes;
  std::vector<Index> bytes_to_end;        ///< [num_objects], or none
  std::vector<Index> object_periods;      ///< [num_objects], or none
  std::vector<std::uint8_t> is_function;  ///< [num_objects] 1 for the first field of a function
  Index outside = -1;                     ///< what is loaded from this object is itself; -1 if there is none
  std::vector<Index> first_field;         ///< [num_objects], of the object that a field belongs to
  std::vector<Index> representative;      ///< [num_variables], -1 of those that point to nothing
  std::vector<Constraint> constraints;    ///< between representatives, sorted, none twice
  /// a pointer and a variable: contents of the pointer's targets have the variable's set
  std::vector<std::pair<Index, Index>> hybrid_cycles;
  PlanReport report;

  Index num_objects() const { return static_cast<Index>(object_sizes.size()); }
};

/// Finds variables that have equal sets whatever stores do, and drops constraints that say nothing.
///
/// Labels stand for sets: equal labels mean equal sets. What is stored in objects is not known yet, so an object's
/// content, and what is loaded from or reached by an offset from a label, are labels of their own.
/// \source Hardekopf and Lin, SAS 2007 (HVN, HU); PLDI 2007 (hybrid cycle detection)
/// \throws InputError as validate() does
/// \cost near linear in the number of constraints; on the host, one thread
HostPlan make_plan(ConstraintSystem const& system, PlanOptions const& options = {});

/// The same, but labels are found by all threads of an execution space, unless `host_below` leaves them to the host.
/// Each backend has been compiled, see backends/instantiate/points_to.cpp.
///
/// A label stands for the list of values that flow in (HVN, also where HU is asked for), and cycles through an object,
/// or into which nothing flows, stay, so some more constraints are left. The host labels where no value numbering is
/// wanted, and systems of more than 2^28 variables or constraints, or with chains of copies of some hundred.
/// \throws InputError as validate() does
/// \cost near linear in the number of constraints; waits for the device at most some hundred times
template <class ExecutionSpace>
HostPlan make_plan(ExecutionSpace const& exec, ConstraintSystem const& system, PlanOptions const& options = {});

}  // namespace hornbill::points_to
