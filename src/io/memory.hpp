// How much this machine holds. Internal to src/io.
#pragma once

#include <cstddef>

namespace hornbill::io {

/// \units bytes
std::size_t host_memory_bytes();

}  // namespace hornbill::io
