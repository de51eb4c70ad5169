// Random points-to constraints with the nasty ones put in on purpose.
#pragma once

#include <algorithm>
#include <random>
#include <string>

#include <hornbill/points_to/constraints.hpp>

namespace hornbill::test {

struct RandomConstraintOptions {
  Index num_objects = 14;      ///< with all fields
  Index num_pointers = 26;     ///< variables that are not objects
  Index num_constraints = 50;  ///< at most
  Index largest_object = 5;    ///< in fields
  bool names = false;          ///< and places
};

/// Objects of several fields, in two of three systems some with a period, in one of them fields of several bytes;
/// functions, and null, whose size is 0; cycles,
/// also through loads, stores and offsets; self loops; pointers that point to nothing; offsets beyond objects; pointers
/// with many loads and stores.
inline points_to::ConstraintSystem random_constraints(unsigned seed, RandomConstraintOptions const& o = {}) {
  using points_to::ConstraintKind;
  std::mt19937 rng(seed);
  auto below = [&](Index n) { return static_cast<Index>(rng() % static_cast<unsigned>(n)); };
  points_to::ConstraintSystem system;
  system.num_variables = o.num_objects + o.num_pointers;
  auto add_object = [&](Index size, bool is_function) {
    Index period = seed % 3 == 0 || below(2) == 0 ? 0 : 1 + below(size);
    if (seed % 3 == 2) {
      std::vector<Index> bytes;
      for (Index k = 0; k < size; ++k)
        bytes.push_back((bytes.empty() ? 0 : bytes.back()) + 1 + (is_function ? 0 : below(3)));
      if (period > 0) period = bytes[period - 1];
      system.bytes_to_end.insert(system.bytes_to_end.end(), bytes.rbegin(), bytes.rend());
    }
    for (Index k = size; k > 0; --k) {
      if (seed % 3 != 0) system.object_periods.push_back(period);
      system.object_sizes.push_back(k);
      system.is_function.push_back(is_function && k == size);
    }
  };
  if (o.num_objects > 0) {
    system.object_sizes.push_back(0);
    system.is_function.push_back(0);
    if (seed % 3 != 0) system.object_periods.push_back(0);
    if (seed % 3 == 2) system.bytes_to_end.push_back(0);
  }
  while (system.num_objects() < o.num_objects)
    add_object(1 + below(std::min(o.largest_object, o.num_objects - system.num_objects())), below(3) == 0);
  Index const hub = below(system.num_variables);
  auto variable = [&] { return below(5) == 0 ? hub : below(system.num_variables); };
  Index const count = 1 + below(o.num_constraints);
  for (Index c = 0; c < count; ++c) {
    auto const kind = static_cast<ConstraintKind>(below(points_to::num_constraint_kinds));
    bool const is_address = kind == ConstraintKind::address_of;
    if (is_address && o.num_objects == 0) continue;
    Index const source = is_address ? below(o.num_objects) : variable();
    Index const destination = below(12) == 0 ? source : variable();
    Index const offset = kind >= ConstraintKind::offset ? below(2 * o.largest_object) : 0;
    system.constraints.push_back({kind, source, destination, below(2) == 0 ? offset : offset / 3});
  }
  drop_idle_columns(system);
  if ((o.names || seed % 4 == 1) && system.num_objects() > 0) system.outside = below(system.num_objects());
  if (o.names) {
    system.variable_names.resize(system.num_variables);
    for (Index v = 0; v < system.num_variables; v += 2) system.variable_names[v] = "# \"v\t" + std::to_string(v);
    system.places = {"a b.c:1:2", "#\n"};
    for (std::size_t c = 0; c < system.constraints.size(); ++c)
      system.place_of_constraint.push_back(static_cast<Index>(c % 3) - 1);
    if (system.num_variables > 0) system.calls = {{0, 1}, {system.num_variables - 1, -1}};
  }
  return system;
}

}  // namespace hornbill::test
