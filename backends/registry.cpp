// The backends of this build, and what Kokkos does not tell of all of them alike: their memory and their names.
#include <fstream>
#include <sstream>

#include <hornbill/backend/registry.hpp>

#ifdef KOKKOS_ENABLE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace hornbill::backend {
namespace {

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

#ifdef KOKKOS_ENABLE_CUDA
void require_success(cudaError_t code) {
  if (code != cudaSuccess) throw Error(std::string("CUDA: ") + cudaGetErrorString(code));
}
#endif

}  // namespace

std::vector<std::string> names() {
  std::vector<std::string> result;
#define HORNBILL_ADD_NAME(SPACE) result.emplace_back(NameOf<SPACE>::value);
  HORNBILL_FOR_EACH_BACKEND(HORNBILL_ADD_NAME)
#undef HORNBILL_ADD_NAME
  return result;
}

std::size_t available_bytes(std::string_view name) {
#ifdef KOKKOS_ENABLE_CUDA
  if (name == "cuda") {
    std::size_t free = 0, total = 0;
    require_success(cudaMemGetInfo(&free, &total));
    return free;
  }
#endif
  (void)name;
  return available_host_bytes();
}

std::string describe(std::string_view name) {
#ifdef KOKKOS_ENABLE_CUDA
  if (name == "cuda") {
    int device = 0;
    cudaDeviceProp properties{};
    require_success(cudaGetDevice(&device));
    require_success(cudaGetDeviceProperties(&properties, device));
    return properties.name;
  }
#endif
  int const threads = name == "openmp" ? HORNBILL_IF_OPENMP(Kokkos::OpenMP().concurrency() +) 0 : 1;
  return std::to_string(threads) + (threads == 1 ? " CPU thread" : " CPU threads");
}

}  // namespace hornbill::backend
