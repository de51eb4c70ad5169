// Slices of tables on their way between the host's memory and a device's.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {

/// Where a slice of a table lies among the cells of all of the host's tables.
class SliceOfTable {
 public:
  /// \param fixed  variables whose states are given, where the table has them
  SliceOfTable(HostReductions const& host, Index table, std::vector<Index> const& fixed);

  bool depends_on_slice() const { return depends_; }
  Offset cells() const { return cells_; }
  /// Of its first cell.   \param states  of what is fixed
  Offset begin(std::vector<Index> const& states) const;
  /// Calls visit(begin among all tables' cells, begin in the slice, length) for each run of neighbours among cells
  /// [first, last) of the slice.
  /// \param begin  of the slice's first cell
  template <class Visit>
  void for_each_run(Offset begin, Offset first, Offset last, Visit const& visit) const {
    std::vector<Index> state(free_states_.size());
    Offset from = begin, rest = first / run_;
    for (std::size_t i = free_states_.size(); i-- > 0; rest /= free_states_[i]) {
      state[i] = static_cast<Index>(rest % free_states_[i]);
      from += free_strides_[i] * state[i];
    }
    for (Offset at = first; at < last;) {
      Offset const skipped = at % run_, count = std::min(run_ - skipped, last - at);
      visit(from + skipped, at, count);
      at += count;
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

/// Slices of several tables, one behind another, as a device has them.
class PackedSlices {
 public:
  void add(SliceOfTable slice);
  /// \param states  of what is fixed
  void set_states(std::vector<Index> const& states);

  Offset cells() const { return ends_.empty() ? 0 : ends_.back(); }
  /// Of those that come first and are the same whatever the states.
  Offset cells_that_stay() const { return cells_that_stay_; }
  /// Calls visit(begin among all tables' cells, begin among the packed, length) for each run of neighbours among packed
  /// cells [first, last).
  template <class Visit>
  void for_each_run(Offset first, Offset last, Visit const& visit) const {
    auto k = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin());
    for (; first < last; first = ends_[k++]) {
      Offset const origin = ends_[k] - slices_[k].cells();
      slices_[k].for_each_run(begins_[k], first - origin, std::min(last, ends_[k]) - origin,
                              [&](Offset from, Offset at, Offset count) { visit(from, origin + at, count); });
    }
  }

 private:
  std::vector<SliceOfTable> slices_;
  std::vector<Offset> ends_, begins_;  // of each: where it ends here, and begins among all tables' cells
  Offset cells_that_stay_ = 0;
};

/// Of the host's memory, to copy by way of, at most.   \units bytes
inline constexpr std::size_t transfer_bytes = std::size_t{1} << 25;

/// Carries packed slices between the host's tables and a device. Where the host cannot reach the device's memory they
/// go by way of two page-locked buffers: while one is on its way, the host's threads fill or empty the other.
template <class Value, class ExecutionSpace>
class SliceTransfer {
 public:
  using DeviceCells = Kokkos::View<Value*, typename ExecutionSpace::memory_space>;

  /// \param longest  cells of the largest slices
  SliceTransfer(ExecutionSpace const& exec, Offset longest) {
    if constexpr (is_direct) {
      copier_ = exec;
    } else {
      max_cells_ = std::min(longest, Offset{transfer_bytes / 2 / sizeof(Value)});
      auto const parts = Kokkos::Experimental::partition_space(exec, 1, 1);
      for (std::size_t i = 0; i < lanes_.size(); ++i)
        lanes_[i] = {parts[i], Buffer(Kokkos::view_alloc("hornbill::tables::transfer", Kokkos::WithoutInitializing),
                                      static_cast<std::size_t>(max_cells_))};
    }
  }

  /// Packed cells from `first` on; waits. What was started on the device must be done with them.
  void upload(PackedSlices const& slices, Offset first, Value const* tables, DeviceCells const& device) {
    if constexpr (is_direct) {
      gather(slices, first, slices.cells(), tables, device.data() + first);
    } else {
      for (Offset begin = first; begin < slices.cells(); begin += max_cells_) {
        Offset const end = std::min(begin + max_cells_, slices.cells());
        auto const& lane = lane_of(begin);
        lane.exec.fence("hornbill: a buffer is filled again");
        gather(slices, begin, end, tables, lane.buffer.data());
        Kokkos::deep_copy(lane.exec, Kokkos::subview(device, std::pair(begin, end)),
                          Kokkos::subview(lane.buffer, std::pair(Offset{0}, end - begin)));
      }
      for (auto const& lane : lanes_) lane.exec.fence("hornbill: slices are on the device");
    }
  }

  /// All packed cells; waits. What was started on the device must be done with them.
  void download(PackedSlices const& slices, DeviceCells const& device, Value* tables) {
    if constexpr (is_direct) {
      scatter(slices, 0, slices.cells(), device.data(), tables);
    } else {
      Offset const cells = slices.cells();
      auto const fetch = [&](Offset begin) {
        Offset const end = std::min(begin + max_cells_, cells);
        auto const& lane = lane_of(begin);
        if (begin < end)
          Kokkos::deep_copy(lane.exec, Kokkos::subview(lane.buffer, std::pair(Offset{0}, end - begin)),
                            Kokkos::subview(device, std::pair(begin, end)));
      };
      fetch(0);
      for (Offset begin = 0; begin < cells; begin += max_cells_) {
        fetch(begin + max_cells_);
        auto const& lane = lane_of(begin);
        lane.exec.fence("hornbill: result read by the host");
        scatter(slices, begin, std::min(begin + max_cells_, cells), lane.buffer.data(), tables);
      }
    }
  }

 private:
  static constexpr bool is_direct = std::is_same_v<typename ExecutionSpace::memory_space, Kokkos::HostSpace>;
  static constexpr Offset cells_of_block = 1 << 14;  // that one thread copies
  using Copier = std::conditional_t<is_direct, ExecutionSpace, Kokkos::DefaultHostExecutionSpace>;
  using Buffer = Kokkos::View<Value*, Kokkos::SharedHostPinnedSpace>;
  struct Lane {
    ExecutionSpace exec;
    Buffer buffer;
  };

  Lane const& lane_of(Offset begin) const { return lanes_[static_cast<std::size_t>(begin / max_cells_ % 2)]; }

  /// visit() for the runs among packed cells [first, last), on the threads of the host; waits.
  template <class Visit>
  void for_each_run(PackedSlices const& slices, Offset first, Offset last, Visit const& visit) const {
    Offset const blocks = (last - first + cells_of_block - 1) / cells_of_block;
    Kokkos::parallel_for("hornbill::tables::copy_slices",
                         Kokkos::RangePolicy<Copier, Kokkos::IndexType<Offset>>(copier_, 0, blocks), [&](Offset block) {
                           Offset const begin = first + block * cells_of_block;
                           slices.for_each_run(begin, std::min(begin + cells_of_block, last), visit);
                         });
    copier_.fence("hornbill: copies by the host's threads");
  }
  /// \param packed  from cell `first` on
  void gather(PackedSlices const& slices, Offset first, Offset last, Value const* tables, Value* packed) const {
    for_each_run(slices, first, last, [=](Offset from, Offset at, Offset count) {
      std::copy_n(tables + from, count, packed + (at - first));
    });
  }
  void scatter(PackedSlices const& slices, Offset first, Offset last, Value const* packed, Value* tables) const {
    for_each_run(slices, first, last,
                 [=](Offset to, Offset at, Offset count) { std::copy_n(packed + (at - first), count, tables + to); });
  }

  Copier copier_;
  Offset max_cells_ = 0;  // of a buffer
  std::array<Lane, 2> lanes_;
};

}  // namespace hornbill::tables::detail
