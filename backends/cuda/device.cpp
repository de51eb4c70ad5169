// An NVIDIA GPU.
#include <cuda_runtime_api.h>

#include <hornbill/backend/registry.hpp>

namespace hornbill::backend {
namespace {

void require_success(cudaError_t code) {
  if (code != cudaSuccess) throw Error(std::string("CUDA: ") + cudaGetErrorString(code));
}

}  // namespace

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
