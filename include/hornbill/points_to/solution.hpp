/// \file
/// The least solution of a system of points-to constraints.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::points_to {

struct ConstraintSystem;

/// What solving did, and how long each step took.
struct SolveReport {
  int rounds = 0;
  Offset copy_edges = 0;       ///< between representatives before solving
  Offset load_edges = 0;       ///< added for loads, to hubs or destinations
  Offset store_edges = 0;      ///< added for stores, from hubs or sources
  Offset hubs = 0;             ///< nodes that stand for all targets that several pointers got together
  Index merged_by_cycles = 0;  ///< nodes merged while solving
  Index merged_by_hybrid_cycles = 0;
  Offset unions = 0;     ///< of sets that were formed; by a backend all operations on sets, since its memory last grew
  Offset set_bytes = 0;  ///< memory of sets: of a backend of all, of the host at the end of the round with most
  int launches = 0;      ///< of kernels on a device
  int looks = 0;         ///< how often the host waited for the device and looked
  int growths = 0;       ///< how often the device's memory was enlarged
  /// of steps: getting memory and moving constraints there, those of rounds, moving sets back; and of all
  double prepare_seconds = 0, collapse_seconds = 0, propagate_seconds = 0, expand_seconds = 0, collect_seconds = 0;
  double elapsed_seconds = 0;
};

/// Sets of all variables; equal ones are stored once. Depends on the constraints alone: the same bits however it was
/// solved. S sets, set 0 is empty, others in the order of the first variable that has each.
struct Solution {
  std::vector<Index> set_of_variable;  ///< [V]
  std::vector<Offset> set_offsets{0};  ///< [S+1], into set_objects
  std::vector<Index> set_objects;      ///< objects of each set, ascending
  SolveReport report;

  Index num_sets() const { return static_cast<Index>(set_offsets.size()) - 1; }
  std::span<Index const> objects_of_set(Index set) const {
    return {set_objects.data() + set_offsets[set], static_cast<std::size_t>(set_offsets[set + 1] - set_offsets[set])};
  }
  std::span<Index const> objects_of(Index variable) const { return objects_of_set(set_of_variable[variable]); }
  /// Pairs of a variable and an object.
  Offset num_facts() const;
};

/// Checks that each variable of a system has a set, and each set is of objects, in ascending order.
/// \param where  begins the message, e.g. a file's name
/// \throws InputError naming the first bad entry
void validate(Solution const& solution, ConstraintSystem const& system, std::string const& where);

/// A hash of the sets, and of all that they follow from: objects' sizes and constraints. A file keeps it with a
/// solution, so that one whose constraints were changed is not believed.
std::uint64_t fingerprint(Solution const& solution, ConstraintSystem const& system);

/// What a variable may point to; where it points to the outside, also what the outside points to. Ascending.
std::vector<Index> objects_with_outside(Solution const& solution, ConstraintSystem const& system, Index variable);

/// The first variable that has the same set as each.   \shape [V]
std::vector<Index> representatives(Solution const& solution);

}  // namespace hornbill::points_to
