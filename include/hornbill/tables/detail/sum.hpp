// add() over many terms.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/tables/semiring.hpp>

namespace hornbill::tables::detail {

/// A semiring's add() over terms, one by one.
template <class Semiring>
struct Sum {
  using Value = typename Semiring::Value;
  Value terms = Semiring::zero();

  KOKKOS_FORCEINLINE_FUNCTION void add(Value term) { terms = Semiring::add(terms, term); }
  KOKKOS_FORCEINLINE_FUNCTION void join(Sum const& other) { add(other.terms); }
  KOKKOS_FORCEINLINE_FUNCTION Value value() const { return terms; }
};

/// Of logarithms, in parts of the largest: the logarithm of all would be rounded at every term, and where it is large,
/// terms that are small beside the others' sum would be lost in it.
template <class T>
struct Sum<LogSumExp<T>> {
  T largest = LogSumExp<T>::zero();
  T parts = 0;  ///< of the largest; of no terms, none

  KOKKOS_FORCEINLINE_FUNCTION void add(T term) { add(term, 1); }
  KOKKOS_FORCEINLINE_FUNCTION void join(Sum const& other) { add(other.largest, other.parts); }
  KOKKOS_FORCEINLINE_FUNCTION T value() const {
    return largest == LogSumExp<T>::zero() ? largest : largest + Kokkos::log(parts);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void add(T term, T times) {
    if (term == LogSumExp<T>::zero()) return;  // also of the largest, which it cannot be compared with
    T const smaller = Kokkos::exp(-Kokkos::abs(term - largest));
    bool const is_largest = term > largest;
    parts = is_largest ? parts * smaller + times : parts + times * smaller;
    if (is_largest) largest = term;
  }
};

}  // namespace hornbill::tables::detail
