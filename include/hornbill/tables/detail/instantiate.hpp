// The semirings and values for which templates of tables, elimination and junction trees are compiled once; see
// hornbill/backend/instantiate.hpp. The lines `// kinds:` in backends/instantiate list them too.
#pragma once

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/tables/semiring.hpp>

/// Of probabilities.
#define HORNBILL_FOR_SELECTING_REALS(MACRO, PREFIX, SPACE) \
  MACRO(PREFIX, SPACE, tables::MaxProduct<float>)          \
  MACRO(PREFIX, SPACE, tables::MaxProduct<double>)         \
  MACRO(PREFIX, SPACE, tables::MaxSum<float>) MACRO(PREFIX, SPACE, tables::MaxSum<double>)
#define HORNBILL_FOR_SUMMING(MACRO, PREFIX, SPACE) \
  MACRO(PREFIX, SPACE, tables::SumProduct<float>)  \
  MACRO(PREFIX, SPACE, tables::SumProduct<double>) \
  MACRO(PREFIX, SPACE, tables::LogSumExp<float>) MACRO(PREFIX, SPACE, tables::LogSumExp<double>)
#define HORNBILL_FOR_REAL_SEMIRINGS(MACRO, PREFIX, SPACE) \
  HORNBILL_FOR_SELECTING_REALS(MACRO, PREFIX, SPACE) HORNBILL_FOR_SUMMING(MACRO, PREFIX, SPACE)
/// With those of costs.
#define HORNBILL_FOR_SELECTING(MACRO, PREFIX, SPACE) \
  MACRO(PREFIX, SPACE, tables::MinSum<tables::Cost>) \
  MACRO(PREFIX, SPACE, tables::MinSum<tables::NarrowCost>) HORNBILL_FOR_SELECTING_REALS(MACRO, PREFIX, SPACE)
#define HORNBILL_FOR_SEMIRINGS(MACRO, PREFIX, SPACE) \
  HORNBILL_FOR_SELECTING(MACRO, PREFIX, SPACE)       \
  HORNBILL_FOR_SUMMING(MACRO, PREFIX, SPACE) MACRO(PREFIX, SPACE, tables::CountedMinSum<tables::Cost>)
/// What tables hold.
#define HORNBILL_FOR_TABLE_VALUES(MACRO, PREFIX, SPACE) \
  MACRO(PREFIX, SPACE, tables::Cost)                    \
  MACRO(PREFIX, SPACE, tables::NarrowCost)              \
  MACRO(PREFIX, SPACE, tables::Counted<tables::Cost>) HORNBILL_FOR_REALS(MACRO, PREFIX, SPACE)
