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

/// Any backend on the host, for tests that need but one.
using AnyHost = Kokkos::DefaultHostExecutionSpace;

}  // namespace hornbill::test

#define HORNBILL_CELL_OF_DOUBLE(SPACE) hornbill::test::Cell<SPACE, double>
#define HORNBILL_CELL_OF_FLOAT(SPACE) hornbill::test::Cell<SPACE, float>
#define HORNBILL_CELLS_OF_VALUES(SPACE) hornbill::test::Cell<SPACE, double>, hornbill::test::Cell<SPACE, float>
#define HORNBILL_TEST_CELLS HORNBILL_LIST_BACKENDS(HORNBILL_CELLS_OF_VALUES)
#define HORNBILL_DOUBLE_CELLS HORNBILL_LIST_BACKENDS(HORNBILL_CELL_OF_DOUBLE)
#define HORNBILL_FLOAT_CELLS HORNBILL_LIST_BACKENDS(HORNBILL_CELL_OF_FLOAT)
