/// \file
/// What backends/NAME/instantiate_tables.cpp compiles of dense tables, so that users' files need not. Other semirings
/// still work from the headers.
#pragma once

#include <hornbill/backend/enabled.hpp>
#include <hornbill/tables/decode.hpp>
#include <hornbill/tables/slices.hpp>

/// Once for each semiring; backends/CMakeLists.txt lists them too.
#define HORNBILL_INSTANTIATE_REDUCE(PREFIX, SPACE, SEMIRING)                                                       \
  PREFIX template void reduce<SEMIRING, SPACE>(SPACE const&, Reductions<SPACE::memory_space> const&,               \
                                               Schedule<SPACE::memory_space> const&,                               \
                                               TableValues<typename SEMIRING::Value, SPACE::memory_space> const&); \
  PREFIX template double reduce_in_slices<SEMIRING, SPACE>(                                                        \
      SPACE const&, HostReductions const&, TableValues<typename SEMIRING::Value, Kokkos::HostSpace> const&,        \
      std::span<Index const>, std::size_t);

/// Of semirings that select.
#define HORNBILL_INSTANTIATE_DECODE(PREFIX, SPACE, SEMIRING)                                                      \
  PREFIX template void decode<SEMIRING, SPACE>(SPACE const&, DecodePlan<SPACE::memory_space> const&,              \
                                               TableValues<typename SEMIRING::Value, SPACE::memory_space> const&, \
                                               Kokkos::View<Offset*, SPACE::memory_space> const&,                 \
                                               Kokkos::View<Index*, SPACE::memory_space> const&);

/// The parts that no semiring enters, and the best states of those that select.
#define HORNBILL_INSTANTIATE_TABLE_PLANS(PREFIX, SPACE)                                                        \
  PREFIX template Reductions<SPACE::memory_space> make_reductions<SPACE>(SPACE const&, HostReductions const&); \
  PREFIX template Schedule<SPACE::memory_space> make_schedule<SPACE>(                                          \
      SPACE const&, HostReductions const&, Reductions<SPACE::memory_space> const&, std::vector<Index> const&); \
  PREFIX template DecodePlan<SPACE::memory_space> make_decode_plan<SPACE>(SPACE const&, HostReductions const&, \
                                                                          std::vector<HostDecodeStep> const&); \
  HORNBILL_INSTANTIATE_DECODE(PREFIX, SPACE, MinSum<Cost>)                                                     \
  HORNBILL_INSTANTIATE_DECODE(PREFIX, SPACE, MinSum<NarrowCost>)                                               \
  HORNBILL_INSTANTIATE_DECODE(PREFIX, SPACE, MaxProduct<float>)                                                \
  HORNBILL_INSTANTIATE_DECODE(PREFIX, SPACE, MaxProduct<double>)                                               \
  HORNBILL_INSTANTIATE_DECODE(PREFIX, SPACE, MaxSum<float>)                                                    \
  HORNBILL_INSTANTIATE_DECODE(PREFIX, SPACE, MaxSum<double>)

#ifndef HORNBILL_INSTANTIATING
namespace hornbill::tables {
#define HORNBILL_EXTERN(SPACE)                                    \
  HORNBILL_INSTANTIATE_TABLE_PLANS(extern, SPACE)                 \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, MinSum<Cost>)        \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, MinSum<NarrowCost>)  \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, CountedMinSum<Cost>) \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, MaxProduct<float>)   \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, MaxProduct<double>)  \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, MaxSum<float>)       \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, MaxSum<double>)      \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, SumProduct<float>)   \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, SumProduct<double>)  \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, LogSumExp<float>)    \
  HORNBILL_INSTANTIATE_REDUCE(extern, SPACE, LogSumExp<double>)
HORNBILL_FOR_EACH_BACKEND(HORNBILL_EXTERN)
#undef HORNBILL_EXTERN
}  // namespace hornbill::tables
#endif
