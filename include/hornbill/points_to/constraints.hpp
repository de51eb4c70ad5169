/// \file
/// Constraints between sets of objects that pointers may point to: what an inclusion-based points-to analysis solves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::points_to {

/// What a statement of a program asks of the sets pts(v). The numbers are those of files.
/// \source Andersen 1994; Mendez-Lojo, Burtscher and Pingali, PPoPP 2012, section 2.1
enum class ConstraintKind : std::uint8_t {
  address_of,  ///< destination = &source:         source is in pts(destination)
  copy,        ///< destination = source:          pts(destination) contains pts(source)
  load,        ///< destination = *source:         for each o in pts(source), pts(destination) contains pts(o)
  store,       ///< *destination = source:         for each o in pts(destination), pts(o) contains pts(source)
  offset,  ///< destination = source + offset: for each o in pts(source) with offset < bytes(o), the field there is in
           ///< pts(destination); two, before and behind it, where it is within a field
  any_offset,  ///< destination = source + i * offset for any i: the same of all distances from o that `offset` divides,
               ///< of a function o alone; all fields of o's object if `offset` is 0
  function_offset,  ///< destination = source's field number `offset`: of functions in pts(source) alone
};
inline constexpr std::size_t num_constraint_kinds = 7;

/// The kind's name in messages and results, e.g. "load".
char const* name_of(ConstraintKind kind);

struct Constraint {
  ConstraintKind kind;
  Index source, destination;
  Index offset = 0;  ///< in bytes, a number of function_offset, at most largest_offset; 0 of kinds before `offset`

  bool operator==(Constraint const&) const = default;
};

inline constexpr Index largest_offset = (Index{1} << 29) - 1;

/// A call through a pointer.
struct IndirectCall {
  Index pointer;
  Index place = -1;  ///< in the program's source; -1 where it is not known

  bool operator==(IndirectCall const&) const = default;
};

/// Variables, objects among them, and constraints.
///
/// Variables 0 to num_objects() - 1 are objects, and at the same time the variables that hold what is stored in them.
/// An object of n fields is n of them in a row. A field is a byte, or more where `bytes_to_end` says so. A function is
/// an object whose fields are itself, its return value and its parameters, so that calls through pointers are loads and
/// stores.
struct ConstraintSystem {
  Index num_variables = 0;
  /// [num_objects] fields from this one to the object's last, both counted: n, n - 1, ..., 1. An object of size 0, such
  /// as null, has no field that an offset could reach.
  std::vector<Index> object_sizes;
  /// [num_objects] bytes from the beginning of this field to the end of its object; or none at all, where a field is a
  /// byte, so that these are the sizes. They are the sizes of functions in any case, whose fields are no memory: where
  /// fields have bytes, `function_offset` alone leads from one of them to another one.
  std::vector<Index> bytes_to_end;
  /// [num_objects], in bytes, the same for all fields of an object; or none at all. The last `period` bytes of an
  /// object stand for those behind them too, as one element of an array does for the others: an offset that leads to
  /// the n-th byte behind the last one leads to the (n mod period)-th of these. With 0 it leads to nothing. A field
  /// begins where the period does.
  std::vector<Index> object_periods;
  std::vector<std::uint8_t> is_function;  ///< [num_objects] 1 for the first field of a function, else 0
  std::vector<Constraint> constraints;
  /// The object that stands for all that is not known: a pointer to it may point to whatever its content points to,
  /// too. So what is loaded from it is the object itself, not its content. -1 where there is none.
  Index outside = -1;
  std::vector<std::string> variable_names;  ///< [num_variables], empty where one has no name; or none at all
  std::vector<std::string> places;          ///< places in the program's source, e.g. "main.c:12:3"
  std::vector<Index> place_of_constraint;  ///< [num_constraints], into places, -1 where it is not known; or none at all
  std::vector<IndirectCall> calls;         ///< where they are known; their constraints are among the others

  Index num_objects() const { return static_cast<Index>(object_sizes.size()); }
  Index period_of(Index object) const { return object_periods.empty() ? 0 : object_periods[object]; }
  Offset num_constraints() const { return static_cast<Offset>(constraints.size()); }
};

/// What is wrong with a constraint of a system whose variables and objects are known; nothing if it is sound.
std::optional<std::string> complaint_about(Constraint const& constraint, ConstraintSystem const& system);

/// Checks that sizes and bytes of objects are those of fields in a row, and that ids are in range.
/// \param where  begins the message, e.g. a file's name
/// \throws InputError naming the first bad entry
void validate(ConstraintSystem const& system, std::string const& where);

/// Leaves out periods where no object has one, and bytes where each field is one and no object is a
/// function, as readers do.
void drop_idle_columns(ConstraintSystem& system);

/// The first field of the object that each field belongs to.   \shape [num_objects]
std::vector<Index> first_fields(ConstraintSystem const& system);

}  // namespace hornbill::points_to
