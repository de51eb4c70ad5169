// In place of src/io/memory.cpp: a small machine, so that small inputs can ask for more than it has.
#include "io/memory.hpp"

#include "targets.hpp"

namespace hornbill::io {

std::size_t host_memory_bytes() { return fuzz::machine_bytes; }

}  // namespace hornbill::io
