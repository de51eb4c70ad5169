// The matrix of backends and value types that tests run over.
#pragma once

#include <doctest/doctest.h>

#include <hornbill/hornbill.hpp>

namespace hornbill::test {

template <class ExecutionSpace, class ValueType>
struct Cell {
  using Exec = ExecutionSpace;
  using Value = ValueType;
  using Memory = typename Exec::memory_space;
};

}  // namespace hornbill::test

#define HORNBILL_TEST_CELLS                                                                                          \
  hornbill::test::Cell<Kokkos::Serial, double>,                                                                      \
      hornbill::test::Cell<Kokkos::Serial, float> HORNBILL_IF_OPENMP(, hornbill::test::Cell<Kokkos::OpenMP, double>, \
                                                                     hornbill::test::Cell<Kokkos::OpenMP, float>)    \
          HORNBILL_IF_CUDA(, hornbill::test::Cell<Kokkos::Cuda, double>, hornbill::test::Cell<Kokkos::Cuda, float>)
#define HORNBILL_DOUBLE_CELLS                                                                                     \
  hornbill::test::Cell<Kokkos::Serial, double> HORNBILL_IF_OPENMP(, hornbill::test::Cell<Kokkos::OpenMP, double>) \
      HORNBILL_IF_CUDA(, hornbill::test::Cell<Kokkos::Cuda, double>)
