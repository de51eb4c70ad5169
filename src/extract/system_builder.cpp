#include "system_builder.hpp"

#include <algorithm>
#include <limits>

#include <hornbill/points_to/detail/fields.hpp>

namespace hornbill::extract {

std::vector<Index> SystemBuilder::fields_at(Index object, std::int64_t byte) const {
  std::vector<Index> fields;
  if (byte < 0 || byte > points_to::largest_offset) return fields;
  points_to::detail::ObjectFields const all{first_.data(), system_.object_sizes.data(), system_.bytes_to_end.data(),
                                            system_.object_periods.data(), system_.is_function.data()};
  auto const found = all.at_offset(object, static_cast<Index>(byte));
  for (Index const field : {found.first, found.second})
    if (field >= 0) fields.push_back(field);
  return fields;
}

Index SystemBuilder::derived(Kind kind, Index pointer, Index offset) {
  if (pointer == nothing) return nothing;
  auto const key = static_cast<std::uint64_t>(pointer) << 32 | static_cast<std::uint64_t>(offset) << 2 |
                   (static_cast<std::uint64_t>(kind) & 3);
  auto const [at, is_new] = derived_.try_emplace(key, system_.num_variables);
  if (!is_new) return at->second;
  Index const variable = add_variable();
  constrain(kind, pointer, variable, offset);
  return variable;
}

Index SystemBuilder::moved(Index pointer, std::int64_t bytes) {
  if (bytes == 0) return pointer;
  if (bytes < 0) return stepped(pointer, bytes);
  if (bytes > points_to::largest_offset) return stepped(pointer, 1);
  return derived(Kind::offset, pointer, static_cast<Index>(bytes));
}

Index SystemBuilder::stepped(Index pointer, std::int64_t bytes) {
  if (bytes == 0) return pointer;
  auto const least = std::numeric_limits<std::int64_t>::min();
  auto const length = bytes == least ? 1 : bytes < 0 ? -bytes : bytes;
  bool const is_long = length > points_to::largest_offset;
  return derived(Kind::any_offset, pointer, is_long ? 1 : static_cast<Index>(length));
}

points_to::ConstraintSystem SystemBuilder::take() {
  system_.outside = outside;
  drop_idle_columns(system_);
  system_.variable_names.resize(system_.num_variables);
  for (auto& [variable, name] : names_) system_.variable_names[variable] = std::move(name);
  bool const have_names = !names_.empty();
  if (!have_names) system_.variable_names.clear();
  if (system_.places.empty()) system_.place_of_constraint.clear();
  return std::move(system_);
}

}  // namespace hornbill::extract
