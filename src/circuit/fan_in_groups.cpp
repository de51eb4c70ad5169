#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hornbill/circuit/fan_in_groups.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

/// Different fan-ins, and how many sums have at most as many children.
struct Counts {
  std::vector<Offset> fan_ins, cumulative;

  Offset size() const { return std::ssize(fan_ins); }
  Offset up_to(Offset i) const { return i < 0 ? 0 : cumulative[static_cast<std::size_t>(i)]; }
  /// Children of fan-ins (j, i], padded to the most of them.
  Offset padded(Offset j, Offset i) const { return fan_ins[static_cast<std::size_t>(i)] * (up_to(i) - up_to(j)); }
};

Counts counts_of(std::vector<Offset>& fan_ins) {
  std::ranges::sort(fan_ins);
  Counts counts;
  for (std::size_t i = 0; i < fan_ins.size(); ++i) {
    if (counts.fan_ins.empty() || counts.fan_ins.back() != fan_ins[i]) {
      counts.fan_ins.push_back(fan_ins[i]);
      counts.cumulative.push_back(0);
    }
    counts.cumulative.back() = static_cast<Offset>(i) + 1;
  }
  return counts;
}

/// The table of the dynamic programme, a row for each number of groups.
class Table {
 public:
  explicit Table(Counts const& counts) : counts_(counts), least_(static_cast<std::size_t>(counts.size())) {
    for (Offset i = 0; i < counts.size(); ++i) least_[static_cast<std::size_t>(i)] = counts.padded(-1, i);
    last_.emplace_back(least_.size(), -1);
  }

  Offset groups() const { return std::ssize(last_); }
  Offset padded() const { return least_.back(); }

  /// Allows a group more.
  void add_group() {
    auto const before = least_;
    last_.emplace_back(least_.size(), -1);
    divide(before, 0, counts_.size() - 1, -1, counts_.size() - 2);
  }

  /// Capacities of the groups.
  std::vector<Offset> capacities() const {
    std::vector<Offset> result;
    Offset i = counts_.size() - 1;
    for (auto row = last_.rbegin(); row != last_.rend() && i >= 0; ++row) {
      result.push_back(counts_.fan_ins[static_cast<std::size_t>(i)]);
      i = (*row)[static_cast<std::size_t>(i)];
    }
    std::ranges::reverse(result);
    return result;
  }

 private:
  /// Fills entries [begin, end], whose groups before the last end in [low, high].
  void divide(std::vector<Offset> const& before, Offset begin, Offset end, Offset low, Offset high) {
    if (begin > end) return;
    Offset const i = (begin + end) / 2;
    Offset best = -1, least = counts_.padded(-1, i);
    for (Offset j = std::max<Offset>(low, 0); j <= std::min(high, i - 1); ++j) {
      Offset const padded = before[static_cast<std::size_t>(j)] + counts_.padded(j, i);
      if (padded >= least) continue;
      least = padded;
      best = j;
    }
    least_[static_cast<std::size_t>(i)] = least;
    last_.back()[static_cast<std::size_t>(i)] = best;
    divide(before, begin, i - 1, low, best);
    divide(before, i + 1, end, best, high);
  }

  Counts const& counts_;
  std::vector<Offset> least_;              ///< [fan-ins] padded children of those up to one, in so many groups
  std::vector<std::vector<Offset>> last_;  ///< [groups, fan-ins] the last fan-in of the group before
};

void validate(GroupOptions const& options) {
  auto const refuse = [](char const* member, std::string const& why) { throw InputError("grouping", member, why); };
  if (options.max_groups < 1) refuse("max_groups", fmt::format("is {}; it must be at least 1", options.max_groups));
  if (!(options.padding_tolerance >= 0) || std::isinf(options.padding_tolerance))
    refuse("padding_tolerance", fmt::format("is {}; it must be a number of at least 0", options.padding_tolerance));
}

}  // namespace

std::size_t FanInGroups::group_of(Offset fan_in) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(capacities, fan_in) - capacities.begin());
}

FanInGroups group_by_fan_in(std::vector<Offset> fan_ins, GroupOptions const& options) {
  validate(options);
  if (fan_ins.empty()) return {};
  auto const counts = counts_of(fan_ins);
  if (counts.fan_ins.back() > std::numeric_limits<Offset>::max() / std::ssize(fan_ins))
    throw CapacityError(fmt::format("{} sums of up to {} children cannot be counted in 64 bits", fan_ins.size(),
                                    counts.fan_ins.back()));
  Offset children = 0;
  for (Offset fan_in : fan_ins) children += fan_in;
  Table table(counts);
  auto const is_within = [&] {
    return static_cast<double>(table.padded() - children) <= options.padding_tolerance * static_cast<double>(children);
  };
  while (!is_within() && table.groups() < std::min<Offset>(options.max_groups, counts.size())) table.add_group();
  return {table.capacities(), table.padded() - children};
}

}  // namespace hornbill::circuit
