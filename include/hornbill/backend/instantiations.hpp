/// \file
/// What backends/NAME/instantiate.cpp compiles, so that users' files need not. Other value types still work from the
/// headers.
#pragma once

#include <hornbill/backend/enabled.hpp>
#include <hornbill/bp/run.hpp>

#define HORNBILL_INSTANTIATE(PREFIX, SPACE, VALUE)                                                                   \
  PREFIX template FactorGraph<VALUE, SPACE::memory_space> to_device<VALUE, SPACE>(SPACE const&,                      \
                                                                                  HostFactorGraph const&);           \
  PREFIX template Evidence<VALUE, SPACE::memory_space>::Evidence(SPACE const&, HostFactorGraph const&,               \
                                                                 FactorGraph<VALUE, SPACE::memory_space> const&);    \
  PREFIX template void Evidence<VALUE, SPACE::memory_space>::commit(SPACE const&);                                   \
  PREFIX template bp::State<VALUE, SPACE::memory_space> bp::make_state<VALUE, SPACE, SPACE::memory_space>(           \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, bp::Plan<SPACE::memory_space> const&);           \
  PREFIX template bp::Report bp::run<SPACE, VALUE, SPACE::memory_space>(                                             \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, Evidence<VALUE, SPACE::memory_space> const&,     \
      bp::Plan<SPACE::memory_space> const&, bp::State<VALUE, SPACE::memory_space>&, bp::Options const&);             \
  PREFIX template EvidenceSets<VALUE, SPACE::memory_space>::EvidenceSets(                                            \
      SPACE const&, HostFactorGraph const&, FactorGraph<VALUE, SPACE::memory_space> const&,                          \
      std::vector<HostEvidence> const&);                                                                             \
  PREFIX template std::vector<bp::Report> bp::run<SPACE, VALUE, SPACE::memory_space>(                                \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, EvidenceSets<VALUE, SPACE::memory_space> const&, \
      bp::Plan<SPACE::memory_space> const&, bp::State<VALUE, SPACE::memory_space>&, bp::Options const&);

/// The parts that no value type enters.
#define HORNBILL_INSTANTIATE_PLANS(PREFIX, SPACE)                                                                      \
  PREFIX template bp::HostPlan bp::lay_out<SPACE>(HostFactorGraph const&, bp::Batches const&, bp::PlanOptions const&); \
  PREFIX template bp::Plan<SPACE::memory_space> bp::make_plan<SPACE>(SPACE const&, bp::HostPlan const&);

#ifndef HORNBILL_INSTANTIATING
namespace hornbill {
#define HORNBILL_EXTERN(SPACE)                \
  HORNBILL_INSTANTIATE(extern, SPACE, float)  \
  HORNBILL_INSTANTIATE(extern, SPACE, double) \
  HORNBILL_INSTANTIATE_PLANS(extern, SPACE)
HORNBILL_FOR_EACH_BACKEND(HORNBILL_EXTERN)
#undef HORNBILL_EXTERN
}  // namespace hornbill
#endif
