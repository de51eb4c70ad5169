/// \file
/// Synthetic points-to constraints: the shape of what C programs make, at any size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hornbill/points_to/constraints.hpp>

namespace hornbill::points_to {

struct GeneratorOptions {
  Index num_variables = 1000;  ///< objects with all fields, and pointers
  Offset num_constraints = 1000;
  std::uint64_t seed = 1;
};

/// Numbers of variables and statements of a program of the paper's suite: ex, perl, python, nh, svn, gcc, gdb, vim,
/// php, mplayer, gimp, pine, linux, tshark.
/// \source Mendez-Lojo, Burtscher and Pingali, PPoPP 2012, figure 11
/// \throws InputError for another name, listing the known
GeneratorOptions options_like(std::string_view program);
/// The names that options_like() knows.
std::vector<std::string> known_programs();

/// Generates constraints with exactly the sizes asked for: functions with parameters, structures, global variables that
/// are reached through pointers, calls, loads and stores, offsets, loops. The shares of statements by kind, and how far
/// they reach, are those of Vim's (field-sensitive) constraints. The same options give the same ones on every machine.
/// \throws InputError if there are fewer than 16 variables
ConstraintSystem generate(GeneratorOptions const& options);

}  // namespace hornbill::points_to
