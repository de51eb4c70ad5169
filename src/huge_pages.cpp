#include <hornbill/detail/huge_pages.hpp>

#ifdef __linux__
#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>
#endif

namespace hornbill::detail {

void ask_for_huge_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t least = std::size_t{4} << 20;  // a huge page has 2 MiB or more, and begins where it may
  if (bytes < least) return;
  auto const page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto const first = (reinterpret_cast<std::uintptr_t>(begin) + page - 1) / page * page,
             last = (reinterpret_cast<std::uintptr_t>(begin) + bytes) / page * page;
  madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);  // advice: it may be declined
#endif
}

}  // namespace hornbill::detail
