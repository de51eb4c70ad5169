// The backends of this build by name, and facts about the host.
#include <hornbill/backend/registry.hpp>

#include <fstream>
#include <limits>
#include <sstream>
#include <type_traits>

namespace hornbill::backend {

#define HORNBILL_DECLARE_DEVICE(SPACE)          \
  template <>                                   \
  std::size_t Device<SPACE>::available_bytes(); \
  template <>                                   \
  std::string Device<SPACE>::describe();
HORNBILL_FOR_EACH_BACKEND(HORNBILL_DECLARE_DEVICE)
#undef HORNBILL_DECLARE_DEVICE

namespace {

template <class ExecutionSpace>
constexpr bool is_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;

std::size_t available_host_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    std::size_t kilobytes = 0;
    if (words >> key >> kilobytes && key == "MemAvailable:") return kilobytes * 1024;
  }
  return std::numeric_limits<std::size_t>::max();  // unknown: nothing is refused
}

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> result;
#define HORNBILL_ADD_NAME(SPACE) result.emplace_back(NameOf<SPACE>::value);
  HORNBILL_FOR_EACH_BACKEND(HORNBILL_ADD_NAME)
#undef HORNBILL_ADD_NAME
  return result;
}

std::size_t available_bytes(std::string_view name) {
  return visit(name, []<class ExecutionSpace>(ExecutionSpace const&) {
    if constexpr (is_host<ExecutionSpace>)
      return available_host_bytes();
    else
      return Device<ExecutionSpace>::available_bytes();
  });
}

std::string describe(std::string_view name) {
  return visit(name, []<class ExecutionSpace>(ExecutionSpace const& exec) {
    if constexpr (is_host<ExecutionSpace>) {
      int const threads = exec.concurrency();
      return std::to_string(threads) + (threads == 1 ? " CPU thread" : " CPU threads");
    } else {
      return Device<ExecutionSpace>::describe();
    }
  });
}

}  // namespace hornbill::backend
