// Points-to constraints in HDF5, and either format by a file's ending.
#include <hornbill/io/constraint_file.hpp>

#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>

#include "hdf5.hpp"
#include "hdf5_file.hpp"
#include "token_reader.hpp"

namespace hornbill::io {
namespace {

using points_to::Constraint, points_to::ConstraintKind, points_to::ConstraintSystem;

std::vector<Index> read_column(hdf5::Reader const& in, std::string const& path, std::size_t size) {
  auto values = in.read<Index>(path);
  if (values.size() != size)
    throw InputError(in.file(), path, fmt::format("has {} entries for {} constraints", values.size(), size));
  return values;
}

Index require_index(hdf5::Reader const& in, std::int64_t object, Index num_objects) {
  if (object < 0 || object >= num_objects)
    throw InputError(in.file(), "/objects@outside", fmt::format("is {}; objects are 0 to {}", object, num_objects - 1));
  return static_cast<Index>(object);
}

void read_objects(hdf5::Reader const& in, ConstraintSystem& system) {
  system.object_sizes = in.read<Index>("/objects/size");
  if (in.has("/objects/bytes_to_end")) system.bytes_to_end = in.read<Index>("/objects/bytes_to_end");
  if (in.has("/objects/period")) system.object_periods = in.read<Index>("/objects/period");
  if (in.has_attribute("/objects", "outside"))
    system.outside = require_index(in, in.read_integer_attribute("/objects", "outside"), system.num_objects());
  system.is_function.resize(system.object_sizes.size());
  if (!in.has("/objects/functions")) return;
  for (Index o : in.read<Index>("/objects/functions")) {
    if (o < 0 || o >= system.num_objects())
      throw InputError(in.file(), "/objects/functions",
                       fmt::format("names object {}; objects are 0 to {}", o, system.num_objects() - 1));
    system.is_function[o] = 1;
  }
}

void read_constraints(hdf5::Reader const& in, ConstraintSystem& system) {
  auto const kinds = in.read<std::int64_t>("/constraints/kind");
  auto const sources = read_column(in, "/constraints/source", kinds.size());
  auto const destinations = read_column(in, "/constraints/destination", kinds.size());
  auto const offsets = in.has("/constraints/offset") ? read_column(in, "/constraints/offset", kinds.size())
                                                     : std::vector<Index>(kinds.size());
  system.constraints.reserve(kinds.size());
  for (std::size_t c = 0; c < kinds.size(); ++c) {
    if (kinds[c] < 0 || kinds[c] >= static_cast<std::int64_t>(points_to::num_constraint_kinds))
      throw InputError(
          in.file(), "/constraints/kind",
          fmt::format("entry {} is {}; 0 to {} are known", c, kinds[c], points_to::num_constraint_kinds - 1));
    system.constraints.push_back({static_cast<ConstraintKind>(kinds[c]), sources[c], destinations[c], offsets[c]});
  }
}

void read_calls(hdf5::Reader const& in, ConstraintSystem& system) {
  auto const pointers = in.read<Index>("/calls/pointer");
  auto const places = in.has("/calls/place") ? in.read<Index>("/calls/place") : std::vector<Index>(pointers.size(), -1);
  if (places.size() != pointers.size())
    throw InputError(in.file(), "/calls/place",
                     fmt::format("has {} entries for {} calls", places.size(), pointers.size()));
  for (std::size_t c = 0; c < pointers.size(); ++c) system.calls.push_back({pointers[c], places[c]});
}

ConstraintSystem read_system(hdf5::Reader const& in) {
  if (!in.has("/constraints"))
    throw InputError(in.file(), "", "holds no points-to constraints: the group /constraints is missing");
  ConstraintSystem system;
  auto const num_variables = in.read_integer_attribute("/constraints", "num_variables");
  if (num_variables < 0 || num_variables > largest_variable_id() + 1)
    throw InputError(in.file(), "/constraints@num_variables",
                     fmt::format("is {}; 0 to {} fit this machine", num_variables, largest_variable_id() + 1));
  system.num_variables = static_cast<Index>(num_variables);
  read_objects(in, system);
  read_constraints(in, system);
  if (in.has("/variable_names")) system.variable_names = in.read_strings("/variable_names");
  if (in.has("/places")) system.places = in.read_strings("/places");
  if (in.has("/constraints/place"))
    system.place_of_constraint = read_column(in, "/constraints/place", system.constraints.size());
  if (in.has("/calls")) read_calls(in, system);
  points_to::validate(system, in.file());
  points_to::drop_idle_columns(system);
  return system;
}

/// A solution is not checked against each constraint, which would take as long as solving.
void require_fingerprint(hdf5::Reader const& in, PointsTo const& points_to) {
  if (!in.has_attribute("/points_to", "fingerprint"))
    throw InputError(in.file(), "/points_to@fingerprint",
                     "this attribute is missing, so that the constraints that the solution is of are not known");
  if (static_cast<std::uint64_t>(in.read_integer_attribute("/points_to", "fingerprint")) !=
      fingerprint(*points_to.solution, points_to.constraints))
    throw InputError(in.file(), "/points_to", "is not the solution of these constraints: one of both was changed");
  if (in.has("/points_to/representative") &&
      in.read<Index>("/points_to/representative") != representatives(*points_to.solution))
    throw InputError(in.file(), "/points_to/representative", "does not fit the sets");
}

void read_solution(hdf5::Reader const& in, PointsTo& points_to) {
  auto& solution = points_to.solution.emplace();
  solution.set_of_variable = in.read<Index>("/points_to/set_of_variable");
  solution.set_offsets = in.read<Offset>("/points_to/set_offsets");
  solution.set_objects = in.read<Index>("/points_to/set_objects");
  points_to::validate(solution, points_to.constraints, in.file() + ":/points_to");
  require_fingerprint(in, points_to);
  for (auto& [key, value] : in.string_attributes("/points_to")) points_to.attributes[key] = value;
}

PointsTo read_without_solution(hdf5::Reader const& in) {
  hdf5::require_format(in);
  return {.constraints = read_system(in), .solution = {}};
}

PointsTo read_with_solution(hdf5::Reader const& in) {
  auto points_to = read_without_solution(in);
  if (!in.has("/points_to")) return points_to;
  try {
    read_solution(in, points_to);
  } catch (InputError const& e) {
    throw InputError(
        fmt::format("{}; solve again with `hornbill pointsto {} --again -o {}`, or delete the group "
                    "/points_to",
                    e.what(), in.file(), in.file()));
  }
  return points_to;
}

void write_calls(hdf5::Writer& out, ConstraintSystem const& system) {
  std::vector<Index> pointers, places;
  for (auto const& [pointer, place] : system.calls) {
    pointers.push_back(pointer);
    places.push_back(place);
  }
  out.write("/calls/pointer", pointers);
  out.write("/calls/place", places);
}

void write_system(hdf5::Writer& out, ConstraintSystem const& system) {
  std::vector<std::uint8_t> kinds;
  std::vector<Index> sources, destinations, offsets, functions;
  for (auto const& c : system.constraints) {
    kinds.push_back(static_cast<std::uint8_t>(c.kind));
    sources.push_back(c.source);
    destinations.push_back(c.destination);
    offsets.push_back(c.offset);
  }
  for (Index o = 0; o < system.num_objects(); ++o)
    if (system.is_function[o]) functions.push_back(o);
  out.write("/constraints/kind", kinds);
  out.write("/constraints/source", sources);
  out.write("/constraints/destination", destinations);
  out.write("/constraints/offset", offsets);
  out.write_attribute("/constraints", "num_variables", std::int64_t{system.num_variables});
  out.write("/objects/size", system.object_sizes);
  out.write("/objects/functions", functions);
  if (!system.bytes_to_end.empty()) out.write("/objects/bytes_to_end", system.bytes_to_end);
  if (!system.object_periods.empty()) out.write("/objects/period", system.object_periods);
  if (system.outside >= 0) out.write_attribute("/objects", "outside", std::int64_t{system.outside});
  if (!system.variable_names.empty()) out.write_strings("/variable_names", system.variable_names);
  if (!system.places.empty()) out.write_strings("/places", system.places);
  if (!system.place_of_constraint.empty()) out.write("/constraints/place", system.place_of_constraint);
  if (!system.calls.empty()) write_calls(out, system);
}

void write_solution(hdf5::Writer& out, PointsTo const& points_to) {
  auto const& solution = *points_to.solution;
  out.write("/points_to/set_of_variable", solution.set_of_variable);
  out.write("/points_to/set_offsets", solution.set_offsets);
  out.write("/points_to/set_objects", solution.set_objects);
  out.write("/points_to/representative", points_to::representatives(solution));
  out.write_attribute("/points_to", "fingerprint",
                      static_cast<std::int64_t>(points_to::fingerprint(solution, points_to.constraints)));
  for (auto const& [key, value] : points_to.attributes) out.write_attribute("/points_to", key, value);
}

std::string image_of(PointsTo const& points_to, std::string const& file) {
  hdf5::Writer out(file);
  hdf5::write_format(out);
  write_system(out, points_to.constraints);
  if (points_to.solution) write_solution(out, points_to);
  return out.image();
}

void require_hdf5(std::string const& file) {
  if (!is_hdf5(file))
    throw InputError(file, "", "has not the ending of points-to constraints: .cons.txt (text) or .h5 (HDF5)");
}

PointsTo read_by_ending(std::string const& file, PointsTo (*read_from)(hdf5::Reader const&)) {
  if (is_constraint_text(file)) return {.constraints = read_constraint_text(constraint_files(file)), .solution = {}};
  require_hdf5(file);
  return hdf5::read_file(file, read_from, image_of);
}

}  // namespace

bool holds_constraints(std::string const& file) {
  auto const has_group = [](hdf5::Reader const& in) { return in.has("/constraints"); };
  if (hdf5::has_checksums(file)) return has_group(hdf5::Reader(file));
  return hdf5::image_by_child(file, [&](hdf5::Reader const& in) { return std::string(has_group(in) ? "1" : "0"); }) ==
         "1";
}

PointsTo read_points_to(std::string const& file) { return read_by_ending(file, read_with_solution); }

void write_points_to(PointsTo const& points_to, std::string const& file) {
  points_to::validate(points_to.constraints, file);
  if (points_to.solution) points_to::validate(*points_to.solution, points_to.constraints, file);
  if (is_constraint_text(file)) return write_constraint_text(points_to.constraints, constraint_files(file));
  require_hdf5(file);
  write_atomically(file, image_of(points_to, file));
}

ConstraintSystem read_constraints(std::string const& file) {
  return read_by_ending(file, read_without_solution).constraints;
}

void write_constraints(ConstraintSystem const& system, std::string const& file) {
  write_points_to({.constraints = system, .solution = {}}, file);
}

}  // namespace hornbill::io
