// Labels of one thread, and numbers for them. Internal to src/points_to.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/points_to/detail/labels.hpp>

#include "set_pool.hpp"

namespace hornbill::points_to {

using detail::Label, detail::Labels, detail::no_targets, detail::unknown_label;
/// Most labels are one atom, so only unions of several are sets of a pool.
constexpr Label atom_bit = Label{1} << 31;

/// A number for each label: `none` until it is set.
class LabelMap {
 public:
  static constexpr std::uint32_t none = PairMap::none;
  std::uint32_t& operator()(Label label) {
    auto& numbers = label & atom_bit ? of_atoms_ : of_sets_;
    auto const i = std::size_t{label & ~atom_bit};
    if (i >= numbers.size()) numbers.resize(2 * i + 1024, none);
    return numbers[i];
  }

 private:
  hornbill::detail::HugePageVector<std::uint32_t> of_atoms_, of_sets_;
};

}  // namespace hornbill::points_to
