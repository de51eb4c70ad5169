#include <hornbill/tables/slices.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hornbill::tables::detail {
namespace {

std::vector<Index> without(std::vector<Index> scope, std::vector<Index> const& fixed) {
  std::erase_if(scope, [&](Index v) { return std::find(fixed.begin(), fixed.end(), v) != fixed.end(); });
  return scope;
}

}  // namespace

HostSlices slices_of(HostReductions const& host, std::span<Index const> wanted, std::size_t num_fixed) {
  auto const& scope = host.tables()[host.reductions()[wanted.front()].output].scope;
  HostSlices slices{HostReductions(host.cardinality()),
                    {},
                    {},
                    {scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(num_fixed)},
                    1};
  slices.count = host.states_of(slices.fixed);
  std::unordered_map<Index, Index> slice_of;
  for (Index r : wanted) slice_of.emplace(host.reductions()[r].output, -1);
  for (Index r : wanted)
    for (Index t : host.reductions()[r].inputs)
      if (slice_of.emplace(t, -1).second) slices.sources.push_back(t);
  std::stable_partition(slices.sources.begin(), slices.sources.end(),
                        [&](Index t) { return !SliceOfTable(host, t, slices.fixed).depends_on_slice(); });
  for (Index t : slices.sources)
    slice_of.at(t) = slices.reductions.add_table(without(host.tables()[t].scope, slices.fixed));
  for (Index r : wanted) {
    auto const& reduction = host.reductions()[r];
    std::vector<Index> inputs;
    for (Index t : reduction.inputs) inputs.push_back(slice_of.at(t));
    auto const rest = without(host.tables()[reduction.output].scope, slices.fixed);
    slice_of.at(reduction.output) =
        reduction.shifts >= 0 ? slices.reductions.add_shift(std::move(inputs), rest, reduction.shifts)
                              : slices.reductions.add_undivided(std::move(inputs), rest, reduction.eliminated);
    slices.targets.push_back(reduction.output);
  }
  return slices;
}

SliceOfTable::SliceOfTable(HostReductions const& host, Index table, std::vector<Index> const& fixed)
    : offset_(host.tables()[table].offset) {
  for (Index v : fixed) fixed_strides_.push_back(host.stride(table, v));
  depends_ = std::any_of(fixed_strides_.begin(), fixed_strides_.end(), [](Offset stride) { return stride > 0; });
  bool in_run = true;  // all that is faster is in it
  auto const& scope = host.tables()[table].scope;
  for (std::size_t i = scope.size(); i-- > 0;) {
    Index const states = host.cardinality()[scope[i]];
    bool const is_fixed = std::find(fixed.begin(), fixed.end(), scope[i]) != fixed.end();
    if (is_fixed) {
      in_run = false;
      continue;
    }
    cells_ *= states;
    if (in_run) {
      run_ *= states;
    } else {
      free_strides_.insert(free_strides_.begin(), host.stride(table, scope[i]));
      free_states_.insert(free_states_.begin(), states);
    }
  }
}

Offset SliceOfTable::begin(std::vector<Index> const& states) const {
  Offset cell = offset_;
  for (std::size_t i = 0; i < states.size(); ++i) cell += fixed_strides_[i] * states[i];
  return cell;
}

void PackedSlices::add(SliceOfTable slice) {
  ends_.push_back(cells() + slice.cells());
  if (!slice.depends_on_slice() && cells_that_stay_ + slice.cells() == ends_.back()) cells_that_stay_ = ends_.back();
  slices_.push_back(std::move(slice));
}

void PackedSlices::set_states(std::vector<Index> const& states) {
  begins_.clear();
  for (auto const& slice : slices_) begins_.push_back(slice.begin(states));
}

}  // namespace hornbill::tables::detail
