// Products of small matrices on a CPU.
#pragma once

#include <cstdint>
#include <type_traits>

#include <hornbill/types.hpp>

// A multiplication and an addition are one instruction here, where there is one. Elsewhere Hornbill keeps them apart,
// so that the same formula gives the same bits in every kernel; sums of circuits are formed nowhere else on a CPU.
#if defined(__GNUC__) && !defined(__clang__)
#define HORNBILL_FUSED __attribute__((noinline, optimize("fp-contract=fast")))
#else
#define HORNBILL_FUSED
#endif

namespace hornbill::circuit::detail {

#ifdef __AVX512F__
inline constexpr int bytes_of_vector = 64;
#else
inline constexpr int bytes_of_vector = 32;
#endif

/// A matrix whose entry (r, c) is at r * row_stride + c * column_stride.
template <class Value>
struct Matrix {
  Value const* entries;
  Offset row_stride, column_stride = 1;

  Matrix rows_from(int r) const { return {entries + r * row_stride, row_stride, column_stride}; }
};

/// sums[r][b] += the sum over c of matrix(r, c) * terms[c][b]. What is summed stays in registers: compilers keep it
/// there if it is said to be vectors. Sums of a term by themselves make long ones more exact.
/// \param count  columns of the matrix, rows of terms
template <int rows, int width, class Value>
HORNBILL_FUSED void add_rows(Matrix<Value> matrix, Value const (*terms)[width], int count, Value (*sums)[width]) {
  typedef Value Vector __attribute__((vector_size(bytes_of_vector), may_alias));
  constexpr int lanes = bytes_of_vector / static_cast<int>(sizeof(Value)), vectors = 2;
  static_assert(width % (vectors * lanes) == 0);
  for (int first = 0; first < width; first += vectors * lanes) {
    Vector of[rows][vectors] = {};
    for (int c = 0; c < count; ++c) {
      auto const* const term = reinterpret_cast<Vector const*>(&terms[c][first]);
      for (int r = 0; r < rows; ++r)
        for (int v = 0; v < vectors; ++v)
          of[r][v] = matrix.entries[r * matrix.row_stride + c * matrix.column_stride] * term[v] + of[r][v];
    }
    for (int r = 0; r < rows; ++r) {
      auto* const sum = reinterpret_cast<Vector*>(&sums[r][first]);
      for (int v = 0; v < vectors; ++v) sum[v] += of[r][v];
    }
  }
}

/// The same for any number of rows.
template <int width, class Value>
void add_product(Matrix<Value> matrix, int rows, Value const (*terms)[width], int count, Value (*sums)[width]) {
  constexpr int rows_at_once = 6;
  int r = 0;
  for (; r + rows_at_once <= rows; r += rows_at_once)
    add_rows<rows_at_once, width>(matrix.rows_from(r), terms, count, sums + r);
  for (; r < rows; ++r) add_rows<1, width>(matrix.rows_from(r), terms, count, sums + r);
}

/// As many rows as a vector has entries are made columns.
template <class Value>
class VectorTranspose {
 public:
  static constexpr int lanes = bytes_of_vector / static_cast<int>(sizeof(Value));
  typedef Value Vector __attribute__((vector_size(bytes_of_vector), may_alias));

  /// out[j * out_stride + i] = rows[i][j].
  static void run(Vector (&rows)[lanes], Value* out, Offset out_stride) {
    exchange<1>(rows);
    for (int i = 0; i < lanes; ++i) __builtin_memcpy(out + i * out_stride, &rows[i], sizeof(Vector));
  }

 private:
  using Number = std::conditional_t<sizeof(Value) == 4, std::int32_t, std::int64_t>;
  typedef Number Mask __attribute__((vector_size(bytes_of_vector)));

  /// Exchanges entries whose row and column differ in one bit.
  template <int bit>
  static void exchange(Vector (&rows)[lanes]) {
    Mask low, high;
    for (int l = 0; l < lanes; ++l) {
      low[l] = (l & bit) == 0 ? l : lanes + l - bit;
      high[l] = (l & bit) == 0 ? l + bit : lanes + l;
    }
    for (int i = 0; i < lanes; ++i) {
      if ((i & bit) != 0) continue;
      Vector const a = rows[i], b = rows[i + bit];
      rows[i] = __builtin_shuffle(a, b, low);
      rows[i + bit] = __builtin_shuffle(a, b, high);
    }
    if constexpr (2 * bit < lanes) exchange<2 * bit>(rows);
  }
};

}  // namespace hornbill::circuit::detail

#undef HORNBILL_FUSED
