#include <reference/points_to.hpp>

#include <algorithm>

#include <hornbill/error.hpp>

namespace hornbill::reference {
namespace {

using points_to::Constraint, points_to::ConstraintKind, points_to::ConstraintSystem;
using Set = std::vector<bool>;  // [num_objects]

class Solver {
 public:
  explicit Solver(ConstraintSystem const& system)
      : system_(system), sets_(system.num_variables, Set(system.num_objects())) {}

  std::vector<Set> const& solve() {
    for (bool changes = true; changes;) {
      changes = false;
      for (auto const& constraint : system_.constraints) changes |= apply(constraint);
    }
    return sets_;
  }

 private:
  /// \return whether a set has grown
  bool apply(Constraint const& c) {
    switch (c.kind) {
      case ConstraintKind::address_of: return insert(c.source, c.destination);
      case ConstraintKind::copy: return include(c.source, c.destination);
      case ConstraintKind::load:
        return for_each(c.source, [&](Index o) {
          return o == system_.outside ? insert(o, c.destination) : include(o, c.destination);
        });
      case ConstraintKind::store: return for_each(c.destination, [&](Index o) { return include(c.source, o); });
      case ConstraintKind::offset:
        return for_each(c.source, [&](Index o) {
          if (is_code(o)) return c.offset == 0 && system_.object_sizes[o] > 0 && insert(o, c.destination);
          return insert_field(o, c.offset, c.destination);
        });
      case ConstraintKind::function_offset:
        return for_each(c.source,
                        [&](Index o) { return system_.is_function[o] && insert_field(o, c.offset, c.destination); });
      case ConstraintKind::any_offset:
        return for_each(c.source, [&](Index o) { return insert_fields(o, c.offset, c.destination); });
    }
    throw InputError("a constraint is of an unknown kind");
  }

  bool insert(Index object, Index variable) {
    if (sets_[variable][object]) return false;
    return sets_[variable][object] = true;
  }
  bool include(Index from, Index to) {
    return for_each(from, [&](Index o) { return insert(o, to); });
  }
  Index first_field(Index o) const {
    while (o > 0 && system_.object_sizes[o - 1] > 1) --o;
    return o;
  }
  Index bytes_to_end(Index o) const {
    return system_.bytes_to_end.empty() ? system_.object_sizes[o] : system_.bytes_to_end[o];
  }
  /// Where a field begins in its object.
  Index first_byte(Index o) const { return bytes_to_end(first_field(o)) - bytes_to_end(o); }
  /// Behind the last byte come the last `period` ones again, and again.   \return -1 if there is no such byte
  Index byte_behind(Index object, Index byte, Index offset) const {
    Index const size = bytes_to_end(object), period = system_.period_of(object);
    if (size == 0) return -1;
    for (Index step = 0; step < offset; ++step) {
      ++byte;
      if (byte == size && period == 0) return -1;
      if (byte == size) byte -= period;
    }
    return byte;
  }
  /// The field that has a byte, and the next one, unless the byte is its first one.
  bool insert_fields_at(Index object, Index byte, Index variable) {
    Index field = object;
    while (field + 1 < object + system_.object_sizes[object] && first_byte(field + 1) <= byte) ++field;
    bool changes = insert(field, variable);
    for (Index next = byte; next >= 0 && first_byte(field) != byte;) {
      next = byte_behind(object, next, 1);
      for (Index f = object; f < object + system_.object_sizes[object]; ++f)
        if (first_byte(f) == next) return insert(f, variable) || changes;
    }
    return changes;
  }
  bool is_code(Index o) const { return !system_.bytes_to_end.empty() && system_.is_function[first_field(o)]; }
  bool insert_field(Index o, Index offset, Index variable) {
    Index const byte = byte_behind(first_field(o), first_byte(o), offset);
    return byte >= 0 && insert_fields_at(first_field(o), byte, variable);
  }
  /// What any number of steps of `stride`, forwards and backwards, leads to.
  bool insert_fields(Index o, Index stride, Index variable) {
    Index const first = first_field(o), size = bytes_to_end(first);
    if (size == 0) return false;
    if (is_code(o) || (stride > 0 && system_.is_function[first])) return insert(o, variable);
    std::vector<bool> is_reached(static_cast<std::size_t>(size));
    is_reached[first_byte(o)] = true;
    for (bool changes = true; changes;) {
      changes = false;
      for (Index from = 0; from < size; ++from) {
        Index const to = byte_behind(first, from, std::max<Index>(stride, 1));
        if (to < 0 || is_reached[from] == is_reached[to]) continue;
        is_reached[from] = is_reached[to] = changes = true;
      }
    }
    bool changes = false;
    for (Index byte = 0; byte < size; ++byte)
      if (is_reached[byte]) changes |= insert_fields_at(first, byte, variable);
    return changes;
  }
  /// With each object that is in a set now.
  template <class Function>
  bool for_each(Index variable, Function const& function) {
    bool changes = false;
    auto const set = sets_[variable];
    for (Index o = 0; o < system_.num_objects(); ++o)
      if (set[o]) changes |= function(o);
    return changes;
  }

  ConstraintSystem const& system_;
  std::vector<Set> sets_;
};

}  // namespace

std::vector<std::vector<Index>> points_to_sets(ConstraintSystem const& system) {
  Solver solver(system);
  std::vector<std::vector<Index>> sets;
  for (auto const& set : solver.solve()) {
    auto& ascending = sets.emplace_back();
    for (std::size_t o = 0; o < set.size(); ++o)
      if (set[o]) ascending.push_back(static_cast<Index>(o));
  }
  return sets;
}

}  // namespace hornbill::reference
