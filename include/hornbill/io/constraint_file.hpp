/// \file
/// Files of points-to constraints, as text and in HDF5 (inputs/FORMAT.md, "Points-to constraints").
#pragma once

#include <map>
#include <optional>
#include <string>

#include <hornbill/points_to/constraints.hpp>
#include <hornbill/points_to/solution.hpp>

namespace hornbill::io {

/// Names of the files that make up constraints as text.
struct ConstraintFiles {
  std::string constraints;  ///< `NAME.cons.txt`
  std::string objects;      ///< `NAME.nodes.txt`: how many variables, and the objects' sizes
  std::string names;        ///< `NAME.objnames.txt`: names of variables; may be missing
  std::string places;       ///< `NAME.places.txt`: places of constraints in the program's source; may be missing
  std::string calls;        ///< `NAME.calls.txt`: pointers that are called, and places; may be missing
};

/// What these files hold.
struct ConstraintTexts {
  std::string constraints, objects;
  std::optional<std::string> names, places, calls;
};

/// Names of the files that belong to `NAME.cons.txt`.   \throws InputError for a name with another ending
ConstraintFiles constraint_files(std::string const& file);

/// Whether a file has the ending of a text of constraints.
bool is_constraint_text(std::string const& file);

/// Reads constraints from texts.   \param files  that errors name
/// \throws InputError naming the file and the line
points_to::ConstraintSystem parse_constraints(ConstraintTexts const& texts, ConstraintFiles const& files);
/// The same from files.   \throws InputError
points_to::ConstraintSystem read_constraint_text(ConstraintFiles const& files);

/// Adds the constraints of a text, of either header, to a system. A header of two lines may say more variables than the
/// system has: those are new, and not objects.
/// \throws InputError naming the file and the line
void read_more_constraints(std::string const& file, points_to::ConstraintSystem& system);

/// Constraints as texts; names, places and calls where there are some. The header is of two lines where no object has
/// several fields, as field-insensitive systems have it, or else of one.
ConstraintTexts to_texts(points_to::ConstraintSystem const& system);
/// Writes them to files.   \throws InputError if one cannot be written
void write_constraint_text(points_to::ConstraintSystem const& system, ConstraintFiles const& files);

/// Whether an HDF5 file holds constraints.   \throws InputError if it cannot be opened
bool holds_constraints(std::string const& file);

/// Constraints, and their solution where it is stored with them.
struct PointsTo {
  points_to::ConstraintSystem constraints;
  std::optional<points_to::Solution> solution;      ///< without a report
  std::map<std::string, std::string> attributes{};  ///< that say how it was computed
};

/// Reads constraints, and a solution that an HDF5 file has, by the file's ending: `.h5` or `.cons.txt`.
/// \throws InputError also for a solution that is not of these constraints; CapacityError
PointsTo read_points_to(std::string const& file);
/// Writes both; text holds the constraints alone.   \throws InputError
void write_points_to(PointsTo const& points_to, std::string const& file);

/// The same of constraints alone: a solution that the file has is neither read nor checked.
points_to::ConstraintSystem read_constraints(std::string const& file);
void write_constraints(points_to::ConstraintSystem const& system, std::string const& file);

}  // namespace hornbill::io
