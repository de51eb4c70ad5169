#include <hornbill/points_to/constraints.hpp>

#include <algorithm>
#include <functional>
#include <span>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::points_to {
namespace {

void require_size(std::string const& where, std::string const& what, std::size_t actual, std::size_t expected) {
  if (actual != expected) throw InputError(where, what, fmt::format("has {} entries; {} are needed", actual, expected));
}

/// Fields of one object lie in a row, each one shorter than the one before.
void validate_objects(ConstraintSystem const& system, std::string const& where) {
  auto const fail = [&](Index o, std::string const& message) {
    throw InputError(where, "objects", fmt::format("object {} {}", o, message));
  };
  auto const& sizes = system.object_sizes;
  for (Index o = 0; o < system.num_objects(); ++o) {
    if (sizes[o] < 0) fail(o, fmt::format("has size {}; 0 or more is needed", sizes[o]));
    if (sizes[o] > system.num_objects() - o)
      fail(o, fmt::format("has size {} and runs past the last object, {}", sizes[o], system.num_objects() - 1));
    if (sizes[o] > 1 && sizes[o + 1] != sizes[o] - 1)
      fail(o + 1, fmt::format("has size {}, but is a field of object {}, of size {}: {} is needed", sizes[o + 1], o,
                              sizes[o], sizes[o] - 1));
    bool const begins = o == 0 || sizes[o - 1] <= 1;
    if (system.is_function[o] > 1)
      fail(o, fmt::format("has {} for whether it is a function; 0 or 1 is needed", system.is_function[o]));
    if (system.is_function[o] && !begins) fail(o, "is a function, but not the first field of its object");
  }
}

void validate_bytes(ConstraintSystem const& system, std::string const& where) {
  if (system.bytes_to_end.empty()) return;
  require_size(where, "bytes_to_end", system.bytes_to_end.size(), system.object_sizes.size());
  auto const first = first_fields(system);
  auto const& is_function = system.is_function;
  for (Index o = system.num_objects() - 1; o >= 0; --o) {  // so that the next field's are sound
    auto const bytes = system.bytes_to_end[o];
    bool const is_last = system.object_sizes[o] <= 1;
    Index const least = is_last ? system.object_sizes[o] : system.bytes_to_end[o + 1] + 1;  // of a sound one
    Index const most = system.object_sizes[o] == 0 ? 0 : largest_offset;
    if (is_function[first[o]] != 0 && bytes != system.object_sizes[o])
      throw InputError(
          where, "objects",
          fmt::format("object {} is a field of a function and has {} bytes to its end; a field of a function "
                      "counts as one: {} are needed",
                      o, bytes, system.object_sizes[o]));
    if (bytes < least || bytes > most)
      throw InputError(where, "objects",
                       fmt::format("object {} has {} bytes to its end; {} to {} are possible", o, bytes, least, most));
  }
}

void validate_periods(ConstraintSystem const& system, std::string const& where) {
  if (system.object_periods.empty()) return;
  require_size(where, "object_periods", system.object_periods.size(), system.object_sizes.size());
  auto const first = first_fields(system);
  auto const& places = system.bytes_to_end.empty() ? system.object_sizes : system.bytes_to_end;
  for (Index o = 0; o < system.num_objects(); ++o) {
    auto const period = system.object_periods[o], bytes = places[first[o]];
    if (period < 0 || period > bytes)
      throw InputError(where, "objects",
                       fmt::format("object {} has period {}; 0 to {} are possible", o, period, bytes));
    auto const fields = std::span(places).subspan(first[o], static_cast<std::size_t>(system.object_sizes[first[o]]));
    if (period > 0 && first[o] == o && !std::ranges::binary_search(fields, period, std::greater<>()))
      throw InputError(
          where, "objects",
          fmt::format("object {} has period {}, but none of its fields begins so far before its end", o, period));
    if (period != system.object_periods[first[o]])
      throw InputError(where, "objects",
                       fmt::format("object {} has period {}, but is a field of object {}, whose period is {}", o,
                                   period, first[o], system.object_periods[first[o]]));
  }
}

}  // namespace

char const* name_of(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::address_of: return "address-of";
    case ConstraintKind::copy: return "copy";
    case ConstraintKind::load: return "load";
    case ConstraintKind::store: return "store";
    case ConstraintKind::offset: return "offset";
    case ConstraintKind::any_offset: return "any-offset";
    case ConstraintKind::function_offset: return "function-offset";
  }
  return "unknown";
}

std::optional<std::string> complaint_about(Constraint const& constraint, ConstraintSystem const& system) {
  auto const [kind, source, destination, offset] = constraint;
  auto const is_variable = [&](Index v) { return v >= 0 && v < system.num_variables; };
  auto const unknown = [&](char const* what, Index v) {
    return fmt::format("{} {} is unknown: variables are 0 to {}", what, v, system.num_variables - 1);
  };
  if (!is_variable(source)) return unknown("source", source);
  if (!is_variable(destination)) return unknown("destination", destination);
  if (kind == ConstraintKind::address_of && source >= system.num_objects())
    return fmt::format("the address of variable {} is taken, which is not an object: objects are 0 to {}", source,
                       system.num_objects() - 1);
  if (offset < 0) return fmt::format("offset {} is negative", offset);
  if (offset > largest_offset) return fmt::format("offset {} is beyond {}", offset, largest_offset);
  if (offset > 0 && kind < ConstraintKind::offset)
    return fmt::format("has offset {}, but is of kind {} ({}): only kinds from {} (offset) on have one", offset,
                       static_cast<int>(kind), name_of(kind), static_cast<int>(ConstraintKind::offset));
  return std::nullopt;
}

void validate(ConstraintSystem const& system, std::string const& where) {
  if (system.num_objects() > system.num_variables)
    throw InputError(where, "objects", fmt::format("{} of {} variables", system.num_objects(), system.num_variables));
  require_size(where, "is_function", system.is_function.size(), system.object_sizes.size());
  if (!system.variable_names.empty())
    require_size(where, "variable_names", system.variable_names.size(), system.num_variables);
  validate_objects(system, where);
  validate_bytes(system, where);
  validate_periods(system, where);
  if (system.outside < -1 || system.outside >= system.num_objects())
    throw InputError(where, "outside",
                     fmt::format("is object {}; objects are 0 to {}", system.outside, system.num_objects() - 1));
  for (std::size_t c = 0; c < system.constraints.size(); ++c)
    if (auto const complaint = complaint_about(system.constraints[c], system))
      throw InputError(where, fmt::format("constraint {}", c), *complaint);
  auto const require_place = [&](std::string const& what, std::size_t number, Index place) {
    if (place < -1 || place >= static_cast<Index>(system.places.size()))
      throw InputError(where, fmt::format("{} {}", what, number),
                       fmt::format("has place {}, which is unknown: there are {} places", place, system.places.size()));
  };
  if (!system.place_of_constraint.empty())
    require_size(where, "place_of_constraint", system.place_of_constraint.size(), system.constraints.size());
  for (std::size_t c = 0; c < system.place_of_constraint.size(); ++c)
    require_place("constraint", c, system.place_of_constraint[c]);
  for (std::size_t c = 0; c < system.calls.size(); ++c) {
    require_place("call", c, system.calls[c].place);
    if (system.calls[c].pointer < 0 || system.calls[c].pointer >= system.num_variables)
      throw InputError(where, fmt::format("call {}", c),
                       fmt::format("is through variable {}, which is unknown: variables are 0 to {}",
                                   system.calls[c].pointer, system.num_variables - 1));
  }
}

void drop_idle_columns(ConstraintSystem& system) {
  if (std::ranges::all_of(system.object_periods, [](Index period) { return period == 0; }))
    system.object_periods.clear();
  // With bytes, fields of functions are no memory, so that these say something wherever a function has fields.
  bool const have_functions =
      std::ranges::any_of(system.is_function, [](auto is_function) { return is_function != 0; });
  if (system.bytes_to_end == system.object_sizes && !have_functions) system.bytes_to_end.clear();
}

std::vector<Index> first_fields(ConstraintSystem const& system) {
  std::vector<Index> first(system.object_sizes.size());
  for (Index o = 0; o < system.num_objects(); ++o)
    first[o] = o > 0 && system.object_sizes[o - 1] > 1 ? first[o - 1] : o;
  return first;
}

}  // namespace hornbill::points_to
