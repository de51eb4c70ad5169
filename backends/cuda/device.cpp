// An NVIDIA GPU.
#include <hornbill/backend/registry.hpp>

#include "require_success.hpp"

namespace hornbill::backend {

using cuda::require_success;

template <>
std::size_t Device<Kokkos::Cuda>::available_bytes() {
  std::size_t free = 0, total = 0;
  require_success(cudaMemGetInfo(&free, &total));
  return free;
}
template <>
std::string Device<Kokkos::Cuda>::describe() {
  int device = 0;
  cudaDeviceProp properties{};
  require_success(cudaGetDevice(&device));
  require_success(cudaGetDeviceProperties(&properties, device));
  return properties.name;
}

}  // namespace hornbill::backend
