#include <hornbill/points_to/solution.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/points_to/constraints.hpp>

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

/// Numbers that are added one after another; terms do not wait for each other, as in FNV they would.
class Hash {
 public:
  void add(std::int64_t number) {
    auto x = static_cast<std::uint64_t>(number) * 0x9e3779b97f4a7c15u + ++position_ * 0xc2b2ae3d27d4eb4fu;
    x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
    sum_ += x ^ x >> 32;
  }
  template <class Numbers>
  void add_all(Numbers const& numbers) {
    add(std::ssize(numbers));
    for (auto const number : numbers) add(number);
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0, position_ = 0;
};

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
  Hash hash;
  hash.add(system.num_variables);
  hash.add_all(system.object_sizes);
  for (Index o = 0; o < system.num_objects(); ++o) hash.add(system.period_of(o));
  hash.add_all(system.bytes_to_end);
  hash.add(system.outside);
  hash.add(system.num_constraints());
  for (auto const& [kind, source, destination, offset] : system.constraints) {
    hash.add(static_cast<std::int64_t>(kind));
    hash.add(source);
    hash.add(destination);
    hash.add(offset);
  }
  hash.add_all(solution.set_of_variable);
  hash.add_all(solution.set_offsets);
  hash.add_all(solution.set_objects);
  return hash.sum();
}

std::vector<Index> objects_with_outside(Solution const& solution, ConstraintSystem const& system, Index variable) {
  auto const own = solution.objects_of(variable);
  if (system.outside < 0 || !std::ranges::binary_search(own, system.outside)) return {own.begin(), own.end()};
  std::vector<Index> objects;
  std::ranges::set_union(own, solution.objects_of(system.outside), std::back_inserter(objects));
  return objects;
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
