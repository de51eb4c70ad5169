// Threads of the host.
#include <hornbill/backend/registry.hpp>

namespace hornbill::backend {

template <>
std::size_t Device<Kokkos::OpenMP>::available_bytes() {
  return available_host_bytes();
}
template <>
std::string Device<Kokkos::OpenMP>::describe() {
  return describe_threads(Kokkos::OpenMP().concurrency());
}

}  // namespace hornbill::backend
