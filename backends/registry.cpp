// The backends of this build by name, and facts about the host.
#include <hornbill/backend/registry.hpp>

#include <fstream>
#include <sstream>

namespace hornbill::backend {

#define HORNBILL_DECLARE_DEVICE(SPACE)          \
  template <>                                   \
  std::size_t Device<SPACE>::available_bytes(); \
  template <>                                   \
  std::string Device<SPACE>::describe();
HORNBILL_FOR_EACH_BACKEND(HORNBILL_DECLARE_DEVICE)
#undef HORNBILL_DECLARE_DEVICE

std::vector<std::string> names() {
  std::vector<std::string> result;
#define HORNBILL_ADD_NAME(SPACE) result.emplace_back(NameOf<SPACE>::value);
  HORNBILL_FOR_EACH_BACKEND(HORNBILL_ADD_NAME)
#undef HORNBILL_ADD_NAME
  return result;
}

std::size_t available_bytes(std::string_view name) {
  return visit(name, [](auto const& exec) { return Device<std::decay_t<decltype(exec)>>::available_bytes(); });
}

std::string describe(std::string_view name) {
  return visit(name, [](auto const& exec) { return Device<std::decay_t<decltype(exec)>>::describe(); });
}

std::size_t available_host_bytes() {
  std::ifstream in("/proc/meminfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    std::size_t kilobytes = 0;
    if (words >> key >> kilobytes && key == "MemAvailable:") return kilobytes * 1024;
  }
  return static_cast<std::size_t>(-1);  // unknown: nothing is refused
}

std::string describe_threads(int threads) {
  return std::to_string(threads) + (threads == 1 ? " CPU thread" : " CPU threads");
}

}  // namespace hornbill::backend
