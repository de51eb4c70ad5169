#include <hornbill/points_to/solution.hpp>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/points_to/constraints.hpp>
#include <hornbill/points_to/detail/hash.hpp>

namespace hornbill::points_to {
namespace {

void validate_set(Solution const& solution, Index set, Index num_objects, std::string const& where) {
  Index last = -1;
  for (Index const object : solution.objects_of_set(set)) {
    if (object <= last || object >= num_objects)
      throw InputError(
          where, "set_objects",
          fmt::format("set {} has object {} behind {}; objects ascend, up to {}", set, object, last, num_objects - 1));
    last = object;
  }
}

}  // namespace

Offset Solution::num_facts() const {
  Offset facts = 0;
  for (Index const set : set_of_variable) facts += set_offsets[set + 1] - set_offsets[set];
  return facts;
}

void validate(Solution const& solution, ConstraintSystem const& system, std::string const& where) {
  auto const& offsets = solution.set_offsets;
  if (static_cast<Index>(solution.set_of_variable.size()) != system.num_variables)
    throw InputError(
        where, "set_of_variable",
        fmt::format("has {} entries for {} variables", solution.set_of_variable.size(), system.num_variables));
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<Offset>(solution.set_objects.size()))
    throw InputError(where, "set_offsets", fmt::format("does not go from 0 to {}", solution.set_objects.size()));
  for (std::size_t s = 1; s < offsets.size(); ++s)
    if (offsets[s] < offsets[s - 1])
      throw InputError(where, "set_offsets",
                       fmt::format("entry {} decreases ({} -> {})", s, offsets[s - 1], offsets[s]));
  for (Index s = 0; s < solution.num_sets(); ++s) validate_set(solution, s, system.num_objects(), where);
  for (std::size_t v = 0; v < solution.set_of_variable.size(); ++v)
    if (auto const set = solution.set_of_variable[v]; set < 0 || set >= solution.num_sets())
      throw InputError(where, "set_of_variable",
                       fmt::format("entry {} is set {}; there are {} sets", v, set, solution.num_sets()));
}

std::uint64_t fingerprint(Solution const& solution, ConstraintSystem const& system) {
  std::uint64_t hash = 0, position = 0;
  auto const add = [&](std::int64_t number) {
    hash += detail::hash_of_word(static_cast<std::uint64_t>(number), position++);
  };
  auto const add_all = [&](auto const& numbers) {
    add(std::ssize(numbers));
    for (auto const number : numbers) add(number);
  };
  add(system.num_variables);
  add_all(system.object_sizes);
  add(system.num_constraints());
  for (auto const& [kind, source, destination, offset] : system.constraints) {
    add(static_cast<std::int64_t>(kind));
    add(source);
    add(destination);
    add(offset);
  }
  add_all(solution.set_of_variable);
  add_all(solution.set_offsets);
  add_all(solution.set_objects);
  return detail::mixed(hash);
}

std::vector<Index> representatives(Solution const& solution) {
  std::vector<Index> first(solution.num_sets(), -1), representative;
  for (std::size_t v = 0; v < solution.set_of_variable.size(); ++v) {
    auto& of_set = first[solution.set_of_variable[v]];
    if (of_set < 0) of_set = static_cast<Index>(v);
    representative.push_back(of_set);
  }
  return representative;
}

}  // namespace hornbill::points_to
