// Reductions slice by slice.
#pragma once

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/tables/detail/instantiate.hpp>
#include <hornbill/tables/detail/slice_transfer.hpp>
#include <hornbill/tables/slices.hpp>

namespace hornbill::tables::detail {

/// Of reductions, ascending.   \param num_fixed  of the slowest variables of the output; 0 of several reductions
HostSlices slices_of(HostReductions const& host, std::span<Index const> wanted, std::size_t num_fixed);

/// Reductions on a device, slice by slice.
template <class Semiring, class ExecutionSpace>
class Slicer {
 public:
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Transfer = SliceTransfer<Value, ExecutionSpace>;

  Slicer(ExecutionSpace const& exec, HostReductions const& host, TableValues<Value, Kokkos::HostSpace> const& values,
         HostSlices const& slices)
      : exec_(exec), host_(host), slices_(slices), on_host_(values) {
    for (Index t : slices.sources) sources_.add(SliceOfTable(host, t, slices.fixed));
    for (Index t : slices.targets) targets_.add(SliceOfTable(host, t, slices.fixed));
    reductions_ = make_reductions(exec, slices.reductions);
    schedule_ = make_schedule(exec, slices.reductions, reductions_);
    on_device_ = make_values<Value>(exec, slices.reductions);
    if constexpr (Semiring::scales) set_extents();
  }

  void run(Transfer& transfer) {
    auto const given = Kokkos::subview(on_device_.cells, std::pair(Offset{0}, sources_.cells())),
               made = Kokkos::subview(on_device_.cells, std::pair(sources_.cells(), slices_.reductions.num_cells()));
    exec_.fence("hornbill: allocation before another stream writes there");
    std::vector<Index> states(slices_.fixed.size());
    Offset first = 0;
    do {
      sources_.set_states(states);
      targets_.set_states(states);
      transfer.upload(sources_, first, on_host_.cells.data(), given);
      reduce<Semiring>(exec_, reductions_, schedule_, on_device_);
      exec_.fence("hornbill: slices are copied by other streams");
      transfer.download(targets_, made, on_host_.cells.data());
      if constexpr (Semiring::scales) include_extents();
      first = sources_.cells_that_stay();
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
    Kokkos::View<Value const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const known(largest.data(),
                                                                                                       largest.size());
    Kokkos::deep_copy(exec_, Kokkos::subview(on_device_.largest, std::pair(std::size_t{0}, largest.size())), known);
    exec_.fence("hornbill: copy from a temporary host array");
  }
  /// Of the slice that was made.
  void include_extents() {
    auto const made = extents_of(exec_, on_device_);
    for (std::size_t k = 0; k < slices_.targets.size(); ++k) {
      auto &largest = on_host_.largest(slices_.targets[k]), &smallest = on_host_.smallest(slices_.targets[k]);
      largest = std::max(largest, made.largest[slices_.sources.size() + k]);
      smallest = std::min(smallest, made.smallest[slices_.sources.size() + k]);
    }
  }
  bool next(std::vector<Index>& states) const {
    for (std::size_t i = states.size(); i-- > 0;) {
      if (++states[i] < host_.cardinality()[slices_.fixed[i]]) return true;
      states[i] = 0;
    }
    return false;
  }

  ExecutionSpace exec_;
  HostReductions const& host_;
  HostSlices const& slices_;
  TableValues<Value, Kokkos::HostSpace> on_host_;
  PackedSlices sources_, targets_;
  Reductions<MemorySpace> reductions_;
  Schedule<MemorySpace> schedule_;
  TableValues<Value, MemorySpace> on_device_;
};

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

namespace detail {

/// Of one reduction.   \throws CapacityError
template <class Value>
HostSlices fitting_slices(HostReductions const& host, Index reduction, std::size_t max_bytes) {
  auto const num_variables = host.tables()[host.reductions()[reduction].output].scope.size();
  std::size_t needed = 0;
  for (std::size_t fixed = 0; fixed <= num_variables; ++fixed) {
    auto slices = slices_of(host, std::span(&reduction, 1), fixed);
    needed = bytes_needed<Value>(slices.reductions);
    if (needed <= max_bytes) return slices;
  }
  throw CapacityError("one row of a table needs " + std::to_string(needed) + " bytes on the device, and " +
                      std::to_string(max_bytes) + " may be used");
}

/// Halves what does not fit together, until it does or is one reduction.
template <class Value>
void append_slices(HostReductions const& host, std::span<Index const> wanted, std::size_t max_bytes,
                   std::vector<HostSlices>& result) {
  if (wanted.size() == 1) {
    result.push_back(fitting_slices<Value>(host, wanted.front(), max_bytes));
  } else if (auto slices = slices_of(host, wanted, 0); bytes_needed<Value>(slices.reductions) <= max_bytes) {
    result.push_back(std::move(slices));
  } else {
    append_slices<Value>(host, wanted.first(wanted.size() / 2), max_bytes, result);
    append_slices<Value>(host, wanted.subspan(wanted.size() / 2), max_bytes, result);
  }
}

}  // namespace detail

template <class Value>
std::vector<HostSlices> make_slices(HostReductions const& host, std::span<Index const> wanted, std::size_t max_bytes) {
  std::vector<HostSlices> result;
  if (!wanted.empty()) detail::append_slices<Value>(host, wanted, max_bytes, result);
  return result;
}

template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host,
                        TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values,
                        std::span<Index const> wanted, std::size_t max_bytes) {
  auto const all = make_slices<typename Semiring::Value>(host, wanted, max_bytes);  // before any work, as that may fail
  if (all.empty()) return 0;
  Offset max_cells = 0;
  for (auto const& slices : all) max_cells = std::max(max_cells, slices.reductions.num_cells());
  typename detail::Slicer<Semiring, ExecutionSpace>::Transfer transfer(exec, max_cells);
  double count = 0;
  for (auto const& slices : all) {
    detail::Slicer<Semiring, ExecutionSpace>(exec, host, values, slices).run(transfer);
    count += slices.count;
  }
  return count;
}

template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host,
                        TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values, std::size_t max_bytes) {
  std::vector<Index> all(host.reductions().size());
  std::iota(all.begin(), all.end(), 0);
  return reduce_in_slices<Semiring>(exec, host, values, all, max_bytes);
}

}  // namespace hornbill::tables

#define HORNBILL_INSTANTIATE_TABLES_SLICES(PREFIX, SPACE, SEMIRING)                                         \
  PREFIX template double reduce_in_slices<SEMIRING, SPACE>(                                                 \
      SPACE const&, HostReductions const&, TableValues<typename SEMIRING::Value, Kokkos::HostSpace> const&, \
      std::size_t);                                                                                         \
  PREFIX template double reduce_in_slices<SEMIRING, SPACE>(                                                 \
      SPACE const&, HostReductions const&, TableValues<typename SEMIRING::Value, Kokkos::HostSpace> const&, \
      std::span<Index const>, std::size_t);

namespace hornbill::tables {
HORNBILL_EXTERN(HORNBILL_FOR_SEMIRINGS, HORNBILL_INSTANTIATE_TABLES_SLICES)
}  // namespace hornbill::tables
