// Adaptive damping: the step of one message.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/bp/damping.hpp>

namespace hornbill::detail {

/// How far a message goes towards its new value.
struct Step {
  float last = 0;   ///< length in (0, 1], with the sign of the last change; 0: there was none
  float turns = 0;  ///< how often the change has turned round

  static constexpr float shortest = 1e-4f;

  /// The length of the step for a change of that sign.
  KOKKOS_FUNCTION float next(bool negative, bp::AdaptiveDamping const& rule) {
    float length = 1.f;
    if (last != 0.f && negative != (last < 0.f)) {
      turns += 1.f;
      length = Kokkos::fmax(static_cast<float>(shortest), rule.shrink * Kokkos::abs(last));
    } else if (last != 0.f) {
      length = Kokkos::fmin(1.f, Kokkos::abs(last) * (1.f + rule.growth / (1.f + turns / rule.patience)));
    }
    last = negative ? -length : length;
    return length;
  }
};

}  // namespace hornbill::detail
