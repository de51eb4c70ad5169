/// \file
/// Hashes of sets, which are rows of words. Those of words are added up, so that they do not wait for each other. Equal
/// hashes are never taken for equal sets.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Macros.hpp>

namespace hornbill::points_to::detail {

/// Bits of a number, each of which depends on most of the number's.
KOKKOS_INLINE_FUNCTION std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93u;
  return x ^ x >> 32;
}
/// The hash of a word at a position.
KOKKOS_INLINE_FUNCTION std::uint64_t hash_of_word(std::uint64_t word, std::uint64_t position) {
  return mixed(word * 0x9e3779b97f4a7c15u + (position + 1) * 0xc2b2ae3d27d4eb4fu);
}

/// \return a power of two
inline std::size_t index_size_for(std::size_t count) {
  std::size_t size = 1024;
  while (size < 2 * count) size *= 2;
  return size;
}

}  // namespace hornbill::points_to::detail
