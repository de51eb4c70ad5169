// Host memory in large pages.
#pragma once

#include <cstddef>
#include <limits>
#include <new>
#include <vector>

namespace hornbill::detail {

/// Asks Linux to keep host memory in pages of megabytes, which it does for what is not yet touched: each small page
/// that a gather meets costs a walk of page tables, and a fault when it is touched first. Elsewhere, or where there are
/// none, nothing happens.
/// \units bytes
void ask_for_huge_pages(void* begin, std::size_t bytes);

/// Allocates what is large in huge pages.
template <class T>
struct HugePageAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard names it

  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(HugePageAllocator<U> const&) {}

  T* allocate(std::size_t size) {
    if (size > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    if (!is_large(size)) return static_cast<T*>(::operator new(size * sizeof(T)));
    void* const begin = ::operator new(size * sizeof(T), std::align_val_t(page));
    ask_for_huge_pages(begin, size * sizeof(T));
    return static_cast<T*>(begin);
  }
  void deallocate(T* begin, std::size_t size) {
    if (is_large(size))
      ::operator delete(begin, std::align_val_t(page));
    else
      ::operator delete(begin);
  }
  template <class U>
  bool operator==(HugePageAllocator<U> const&) const {
    return true;
  }

 private:
  static constexpr std::size_t page = std::size_t{2} << 20;
  static bool is_large(std::size_t size) { return size * sizeof(T) >= 2 * page; }
};

/// For arrays that are read all over.
template <class T>
using HugePageVector = std::vector<T, HugePageAllocator<T>>;

/// An empty vector with room for so many values, in huge pages if that is much.
template <class T>
std::vector<T> vector_with_room(std::size_t size) {
  std::vector<T> values;
  values.reserve(size);
  ask_for_huge_pages(values.data(), size * sizeof(T));
  return values;
}

}  // namespace hornbill::detail
