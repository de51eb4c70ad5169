// One thread of the host.
#include <hornbill/backend/registry.hpp>

namespace hornbill::backend {

template <>
std::size_t Device<Kokkos::Serial>::available_bytes() {
  return available_host_bytes();
}
template <>
std::string Device<Kokkos::Serial>::describe() {
  return describe_threads(Kokkos::Serial().concurrency());
}

}  // namespace hornbill::backend
