// What the files of `hornbill pointsto` share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <hornbill/io/constraint_file.hpp>
#include <hornbill/points_to.hpp>

namespace hornbill::cli {

struct PointsToArguments {
  std::string file, output, backend, solver = "auto", numbering = "hu";
  std::vector<std::string> more, queries;
  std::vector<std::pair<std::string, std::string>> aliases, reasons;
  bool calls = false, again = false, json = false;
  std::size_t count = 20;
  std::vector<std::string> solving;  ///< options of planning and solving that are given
  points_to::PlanOptions plan;
  points_to::SolveOptions solve;
};

/// What was done: nothing where a file had the solution.
struct PointsToRun {
  bool is_stored = false;
  std::string backend;  ///< or "host", where one thread of it has solved
  points_to::PlanReport plan;
  points_to::SolveReport solve;
};

/// Checks that all variables that are asked for are there, which is known before solving.   \throws InputError
void require_known(PointsToArguments const& a, points_to::ConstraintSystem const& system);

/// Prints what is asked for, and a summary where nothing is.
void print_points_to(PointsToArguments const& a, io::PointsTo const& points_to, PointsToRun const& run);

}  // namespace hornbill::cli
