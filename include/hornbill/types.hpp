/// \file
/// Integer types shared by all of Hornbill.
#pragma once

#include <cstdint>

namespace hornbill {

/// A variable, a factor, or an edge on the device (at most 2^31 - 1 of each).
using Index = std::int32_t;

/// A position in a flat array on the host and in files, e.g. an edge id.
using Offset = std::int64_t;

}  // namespace hornbill
