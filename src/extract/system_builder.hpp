// Constraints as they come. Internal to src/extract.
#pragma once

#include <array>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hornbill/points_to/constraints.hpp>

namespace hornbill::extract {

/// No variable: a value that points to nothing.
inline constexpr Index nothing = -1;
/// The object that is all that is not known; its content is what may be reached from there.
inline constexpr Index outside = 0;

/// Objects first, then other variables. A constraint from or to nothing is none.
class SystemBuilder {
 public:
  using Kind = points_to::ConstraintKind;

  /// \param begins  of fields, in bytes from the object's beginning, ascending   \return its first field
  Index add_object(Index bytes, std::span<Index const> begins, Index period, bool is_function = false) {
    auto const first = system_.num_objects();
    auto left = static_cast<Index>(begins.size());
    for (Index const begin : begins) {
      first_.push_back(first);
      system_.object_sizes.push_back(left--);
      system_.bytes_to_end.push_back(bytes - begin);
      system_.object_periods.push_back(period);
      system_.is_function.push_back(is_function && begin == 0);
    }
    system_.num_variables = system_.num_objects();
    return first;
  }
  /// An object of one field.
  Index add_object() { return add_object(1, std::array{Index{0}}, 1); }
  /// There are no objects behind the first variable.
  Index add_variable() { return system_.num_variables++; }
  Index num_objects() const { return system_.num_objects(); }
  Index num_fields(Index object) const { return system_.object_sizes[object]; }
  Index period_of(Index object) const { return system_.object_periods[object]; }
  Index bytes_of(Index object) const { return system_.bytes_to_end[object]; }
  /// The field that a byte of an object belongs to; the next one too, where the byte is not the field's first one.
  std::vector<Index> fields_at(Index object, std::int64_t byte) const;
  void name(Index variable, std::string const& name) { names_.emplace_back(variable, name); }

  /// What follows belongs to a place of the program's source; an empty one is not known.
  void set_place(std::string const& place) {
    place_ = -1;
    if (place.empty()) return;
    auto const [at, is_new] = places_.try_emplace(place, static_cast<Index>(system_.places.size()));
    if (is_new) system_.places.push_back(place);
    place_ = at->second;
  }

  void constrain(Kind kind, Index source, Index destination, Index offset = 0) {
    if (source == nothing || destination == nothing) return;
    system_.constraints.push_back({kind, source, destination, offset});
    system_.place_of_constraint.push_back(place_);
  }
  void address(Index object, Index destination) { constrain(Kind::address_of, object, destination); }
  void copy(Index source, Index destination) {
    if (source != destination) constrain(Kind::copy, source, destination);
  }
  void load(Index pointer, Index destination) { constrain(Kind::load, pointer, destination); }
  void store(Index source, Index pointer) { constrain(Kind::store, source, pointer); }
  void add_call(Index pointer) { system_.calls.push_back({pointer, place_}); }

  /// A pointer moved by bytes, also backwards, which leads to all places at multiples of as many.
  Index moved(Index pointer, std::int64_t bytes);
  /// A field of the functions that a pointer leads to.
  Index of_functions(Index pointer, Index field) { return derived(Kind::function_offset, pointer, field); }
  /// A pointer moved by any number of steps of as many bytes.
  Index stepped(Index pointer, std::int64_t bytes);

  points_to::ConstraintSystem take();

 private:
  Index derived(Kind kind, Index pointer, Index offset);

  points_to::ConstraintSystem system_;
  std::vector<Index> first_;  // [objects], of the object that a field belongs to
  std::vector<std::pair<Index, std::string>> names_;
  std::unordered_map<std::string, Index> places_;
  std::unordered_map<std::uint64_t, Index> derived_;  // by pointer, kind and offset
  Index place_ = -1;
};

}  // namespace hornbill::extract
