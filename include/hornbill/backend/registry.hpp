/// \file
/// The backends of this build, by name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/enabled.hpp>
#include <hornbill/error.hpp>

namespace hornbill::backend {

/// Names of the backends of this build, e.g. {"serial", "openmp"}; the last is the default.
std::vector<std::string> names();

/// Calls function(std::type_identity<ExecutionSpace>()) with that of the named backend, and returns what it returns. It
/// needs no device.
/// \throws InputError naming the backends there are
template <class Function>
auto visit_type(std::string_view name, Function&& function) {
#define HORNBILL_VISIT(SPACE) \
  if (name == NameOf<SPACE>::value) return function(std::type_identity<SPACE>());
  HORNBILL_FOR_EACH_BACKEND(HORNBILL_VISIT)
#undef HORNBILL_VISIT
  std::string message = "there is no backend '" + std::string(name) + "' in this build; there are";
  for (auto const& known : names()) message += " " + known;
  throw InputError(message);
}

/// Calls function(instance) with an instance of the named backend and returns what it returns.
/// \throws InputError naming the backends there are
template <class Function>
auto visit(std::string_view name, Function&& function) {
  return visit_type(
      name, [&]<class ExecutionSpace>(std::type_identity<ExecutionSpace>) { return function(ExecutionSpace()); });
}

/// Bytes that can still be allocated where a backend keeps its data.   \units bytes
std::size_t available_bytes(std::string_view name);

/// The device's name, e.g. "NVIDIA H200", or the number of threads.
std::string describe(std::string_view name);

/// The same two of a device that is not the host, which Kokkos does not tell; its backend's device.cpp defines them.
template <class ExecutionSpace>
struct Device {
  static std::size_t available_bytes();
  static std::string describe();
};

}  // namespace hornbill::backend
