// Slices of tables: from the host to a device, and back.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/detail/copy.hpp>
#include <hornbill/tables/slices.hpp>

namespace hornbill::tables::detail {

/// Of reductions, ascending.   \param num_fixed  of the slowest variables of the output; 0 of several reductions
HostSlices slices_of(HostReductions const& host, std::span<Index const> wanted, std::size_t num_fixed);

/// Where a slice of a table lies in it.
class SliceOfTable {
 public:
  SliceOfTable(HostReductions const& host, Index table, std::vector<Index> const& fixed);

  bool depends_on_slice() const { return depends_; }
  Offset cells() const { return cells_; }
  bool is_one_run() const { return run_ == cells_; }
  /// Of the first cell, in the table.   \param states  of what is fixed
  Offset begin(std::vector<Index> const& states) const;
  /// Calls visit(begin in the table, begin in the slice, length) for each run of neighbouring cells.
  template <class Visit>
  void for_each_run(std::vector<Index> const& states, Visit const& visit) const {
    std::vector<Index> state(free_states_.size());
    Offset from = begin(states);
    for (Offset at = 0; at < cells_; at += run_) {
      visit(from, at, run_);
      for (std::size_t i = free_states_.size(); i-- > 0;) {
        from += free_strides_[i];
        if (++state[i] < free_states_[i]) break;
        from -= free_strides_[i] * free_states_[i];
        state[i] = 0;
      }
    }
  }

 private:
  Offset offset_ = 0, cells_ = 1, run_ = 1;
  bool depends_ = false;
  std::vector<Offset> fixed_strides_, free_strides_;  // the latter of what is slower than a run
  std::vector<Index> free_states_;
};

/// Reductions on a device, slice by slice.
template <class Semiring, class ExecutionSpace>
class Slicer {
 public:
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using HostCells = Kokkos::View<Value*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Slicer(ExecutionSpace const& exec, HostReductions const& host, TableValues<Value, Kokkos::HostSpace> const& values, HostSlices const& slices) : exec_(exec), host_(host), slices_(slices), on_host_(values) {
    for (Index t : slices.sources) sources_.emplace_back(host, t, slices.fixed);
    for (Index t : slices.targets) targets_.emplace_back(host, t, slices.fixed);
    reductions_ = make_reductions(exec, slices.reductions);
    schedule_ = make_schedule(exec, slices.reductions, reductions_);
    on_device_ = make_values<Value>(exec, slices.reductions);
    if constexpr (Semiring::scales) set_extents();
  }

  void run() {
    std::vector<Index> states(slices_.fixed.size());
    bool is_first = true;
    do {
      for (std::size_t k = 0; k < sources_.size(); ++k)
        if (is_first || sources_[k].depends_on_slice()) upload(k, states);
      reduce<Semiring>(exec_, reductions_, schedule_, on_device_);
      for (std::size_t k = 0; k < targets_.size(); ++k) download(k, states);
      is_first = false;
    } while (next(states));
  }

 private:
  /// Of whole tables, so that all slices are scaled alike.
  void set_extents() {
    std::vector<Value> largest;
    for (Index t : slices_.sources) largest.push_back(on_host_.largest(t));
    for (Index t : slices_.targets) {
      on_host_.largest(t) = 0;
      on_host_.smallest(t) = Kokkos::Experimental::infinity_v<Value>;
    }
    Kokkos::deep_copy(exec_, Kokkos::subview(on_device_.largest, std::pair(Offset{0}, Offset{std::ssize(largest)})), HostCells(largest.data(), largest.size()));
    exec_.fence("hornbill: copy from a temporary host array");
  }
  bool next(std::vector<Index>& states) const {
    for (std::size_t i = states.size(); i-- > 0;) {
      if (++states[i] < host_.cardinality()[slices_.fixed[i]]) return true;
      states[i] = 0;
    }
    return false;
  }
  /// Where a slice is on the host: in its table, or in a buffer.
  Value* cells_of_slice(SliceOfTable const& slice, std::vector<Index> const& states) {
    if (slice.is_one_run()) return on_host_.cells.data() + slice.begin(states);
    staging_.resize(static_cast<std::size_t>(slice.cells()));
    return staging_.data();
  }
  auto on_device(std::size_t table) const {
    auto const& place = slices_.reductions.tables()[table];
    return Kokkos::subview(on_device_.cells, std::pair(place.offset, place.offset + place.cells));
  }
  void upload(std::size_t k, std::vector<Index> const& states) {
    auto const& slice = sources_[k];
    Value* const cells = cells_of_slice(slice, states);
    if (!slice.is_one_run()) slice.for_each_run(states, [&](Offset from, Offset at, Offset count) { std::copy_n(on_host_.cells.data() + from, count, cells + at); });
    Kokkos::deep_copy(exec_, on_device(k), HostCells(cells, static_cast<std::size_t>(slice.cells())));
    if (!slice.is_one_run()) exec_.fence("hornbill: copy from a buffer that is filled again");
  }
  void download(std::size_t k, std::vector<Index> const& states) {
    auto const& slice = targets_[k];
    Value* const cells = cells_of_slice(slice, states);
    Kokkos::deep_copy(exec_, HostCells(cells, static_cast<std::size_t>(slice.cells())), on_device(sources_.size() + k));
    exec_.fence("hornbill: result read by the host");
    if (!slice.is_one_run()) slice.for_each_run(states, [&](Offset to, Offset at, Offset count) { std::copy_n(cells + at, count, on_host_.cells.data() + to); });
    if constexpr (Semiring::scales) {
      Extent<Semiring> extent;
      for (Offset i = 0; i < slice.cells(); ++i) extent.include(cells[i]);
      auto &largest = on_host_.largest(slices_.targets[k]), &smallest = on_host_.smallest(slices_.targets[k]);
      largest = std::max(largest, extent.largest);
      smallest = std::min(smallest, extent.smallest);
    }
  }

  ExecutionSpace exec_;
  HostReductions const& host_;
  HostSlices const& slices_;
  TableValues<Value, Kokkos::HostSpace> on_host_;
  std::vector<SliceOfTable> sources_, targets_;
  Reductions<MemorySpace> reductions_;
  Schedule<MemorySpace> schedule_;
  TableValues<Value, MemorySpace> on_device_;
  std::vector<Value> staging_;
};

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

namespace detail {

/// Of one reduction.   \throws CapacityError
template <class Value>
HostSlices fitting_slices(HostReductions const& host, Index reduction, std::size_t most_bytes) {
  auto const num_variables = host.tables()[host.reductions()[reduction].output].scope.size();
  std::size_t needed = 0;
  for (std::size_t fixed = 0; fixed <= num_variables; ++fixed) {
    auto slices = slices_of(host, std::span(&reduction, 1), fixed);
    needed = bytes_needed<Value>(slices.reductions);
    if (needed <= most_bytes) return slices;
  }
  throw CapacityError("one row of a table needs " + std::to_string(needed) + " bytes on the device, and " + std::to_string(most_bytes) + " may be used");
}

/// Halves what does not fit together, until it does or is one reduction.
template <class Value>
void append_slices(HostReductions const& host, std::span<Index const> wanted, std::size_t most_bytes, std::vector<HostSlices>& result) {
  if (wanted.size() == 1) {
    result.push_back(fitting_slices<Value>(host, wanted.front(), most_bytes));
  } else if (auto slices = slices_of(host, wanted, 0); bytes_needed<Value>(slices.reductions) <= most_bytes) {
    result.push_back(std::move(slices));
  } else {
    append_slices<Value>(host, wanted.first(wanted.size() / 2), most_bytes, result);
    append_slices<Value>(host, wanted.subspan(wanted.size() / 2), most_bytes, result);
  }
}

}  // namespace detail

template <class Value>
std::vector<HostSlices> make_slices(HostReductions const& host, std::span<Index const> wanted, std::size_t most_bytes) {
  std::vector<HostSlices> result;
  if (!wanted.empty()) detail::append_slices<Value>(host, wanted, most_bytes, result);
  return result;
}

template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host, TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values, std::span<Index const> wanted,
                        std::size_t most_bytes) {
  double count = 0;
  for (auto const& slices : make_slices<typename Semiring::Value>(host, wanted, most_bytes)) {  // all made before any work, as that may fail
    detail::Slicer<Semiring, ExecutionSpace>(exec, host, values, slices).run();
    count += slices.count;
  }
  return count;
}

template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host, TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values, std::size_t most_bytes) {
  std::vector<Index> all(host.reductions().size());
  std::iota(all.begin(), all.end(), 0);
  return reduce_in_slices<Semiring>(exec, host, values, all, most_bytes);
}

}  // namespace hornbill::tables
