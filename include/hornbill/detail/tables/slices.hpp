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

/// Slices of one reduction, as many of its output's variables being fixed as said.
HostSlices slices_of(HostReductions const& host, Index reduction, std::size_t num_fixed);

/// Where a slice of a table lies in it.
class SliceOfTable {
 public:
  SliceOfTable(HostReductions const& host, Index table, std::vector<Index> const& fixed);

  bool depends_on_slice() const { return depends_; }
  Offset cells() const { return cells_; }
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

/// A reduction on a device, slice by slice.
template <class Semiring, class ExecutionSpace>
class Slicer {
 public:
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using HostCells = Kokkos::View<Value*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  Slicer(ExecutionSpace const& exec, HostReductions const& host, Index reduction, TableValues<Value, Kokkos::HostSpace> const& values, HostSlices const& slices)
      : exec_(exec), host_(host), slices_(slices), reduction_(host.reductions()[reduction]), on_host_(values), output_(host, host.reductions()[reduction].output, slices.fixed) {
    for (Index t : reduction_.inputs) inputs_.emplace_back(host, t, slices.fixed);
    reductions_ = make_reductions(exec, slices.reductions);
    schedule_ = make_schedule(exec, slices.reductions, reductions_);
    on_device_ = make_values<Value>(exec, slices.reductions);
    if constexpr (Semiring::scales) set_largest();
  }

  void run() {
    std::vector<Index> states(slices_.fixed.size());
    bool is_first = true;
    do {
      for (std::size_t k = 0; k < inputs_.size(); ++k)
        if (is_first || inputs_[k].depends_on_slice()) upload(k, states);
      reduce<Semiring>(exec_, reductions_, schedule_, on_device_);
      download(states);
      is_first = false;
    } while (next(states));
  }

 private:
  /// Of whole tables, so that all slices are scaled alike.
  void set_largest() {
    std::vector<Value> largest;
    for (Index t : reduction_.inputs) largest.push_back(on_host_.largest(t));
    copy_to(on_device_.largest, 0, largest.data(), std::ssize(largest));
    exec_.fence("hornbill: copy from a temporary host array");
  }
  bool next(std::vector<Index>& states) const {
    for (std::size_t i = states.size(); i-- > 0;) {
      if (++states[i] < host_.cardinality()[slices_.fixed[i]]) return true;
      states[i] = 0;
    }
    return false;
  }
  void copy_to(Kokkos::View<Value*, MemorySpace> const& target, Offset begin, Value* from, Offset count) const {
    Kokkos::deep_copy(exec_, Kokkos::subview(target, std::pair(begin, begin + count)), HostCells(from, static_cast<std::size_t>(count)));
  }
  void upload(std::size_t k, std::vector<Index> const& states) {
    auto const& slice = inputs_[k];
    staging_.resize(static_cast<std::size_t>(slice.cells()));
    slice.for_each_run(states, [&](Offset from, Offset at, Offset count) { std::copy_n(on_host_.cells.data() + from, count, staging_.data() + at); });
    copy_to(on_device_.cells, slices_.reductions.tables()[k].offset, staging_.data(), slice.cells());
    exec_.fence("hornbill: copy from a buffer that is filled again");
  }
  void download(std::vector<Index> const& states) {
    auto const& output = slices_.reductions.tables().back();
    staging_.resize(static_cast<std::size_t>(output.cells));
    Kokkos::deep_copy(exec_, HostCells(staging_.data(), staging_.size()), Kokkos::subview(on_device_.cells, std::pair(output.offset, output.offset + output.cells)));
    exec_.fence("hornbill: result read by the host");
    output_.for_each_run(states, [&](Offset to, Offset at, Offset count) { std::copy_n(staging_.data() + at, count, on_host_.cells.data() + to); });
    if constexpr (Semiring::scales) {
      auto& largest = on_host_.largest(reduction_.output);
      largest = std::max(largest, *std::max_element(staging_.begin(), staging_.end()));
    }
  }

  ExecutionSpace exec_;
  HostReductions const& host_;
  HostSlices const& slices_;
  HostReduction const& reduction_;
  TableValues<Value, Kokkos::HostSpace> on_host_;
  std::vector<SliceOfTable> inputs_;
  SliceOfTable output_;
  Reductions<MemorySpace> reductions_;
  Schedule<MemorySpace> schedule_;
  TableValues<Value, MemorySpace> on_device_;
  std::vector<Value> staging_;
};

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

namespace detail {

/// How many of the output's slowest variables are to be fixed, for a slice to fit.   \throws CapacityError
template <class Value>
std::size_t num_fixed(HostReductions const& host, Index reduction, std::size_t most_bytes) {
  auto const num_variables = host.tables()[host.reductions()[reduction].output].scope.size();
  std::size_t needed = 0;
  for (std::size_t fixed = 0; fixed <= num_variables; ++fixed) {
    needed = bytes_needed<Value>(slices_of(host, reduction, fixed).reductions);
    if (needed <= most_bytes) return fixed;
  }
  throw CapacityError("one row of a table needs " + std::to_string(needed) + " bytes on the device, and " + std::to_string(most_bytes) + " may be used");
}

}  // namespace detail

template <class Value>
HostSlices make_slices(HostReductions const& host, Index reduction, std::size_t most_bytes) {
  return detail::slices_of(host, reduction, detail::num_fixed<Value>(host, reduction, most_bytes));
}

template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host, TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values, std::vector<Index> const& wanted,
                        std::size_t most_bytes) {
  std::vector<std::size_t> num_fixed;  // of all before any work, as it may fail
  for (Index r : wanted) num_fixed.push_back(detail::num_fixed<typename Semiring::Value>(host, r, most_bytes));
  double count = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    auto const slices = detail::slices_of(host, wanted[i], num_fixed[i]);
    if constexpr (Semiring::scales) values.largest(host.reductions()[wanted[i]].output) = 0;
    detail::Slicer<Semiring, ExecutionSpace>(exec, host, wanted[i], values, slices).run();
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
