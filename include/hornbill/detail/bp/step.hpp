// Adaptive damping: the step of one message.
#pragma once

#include <Kokkos_Core.hpp>

namespace hornbill::detail {

/// Half as long whenever the message's change turns round, longer whenever it does not; and the more often it has turned, the
/// slower it grows again. So a message that swings comes to rest, and one that only moves on is not held back.
///
/// Source: the rule of Rprop (Riedmiller and Braun 1993), for messages instead of weights, with growth that wears off. The
/// constants converged on most generated graphs with sampled labels (perf/convergence.py).
struct Step {
  float last = 0;   ///< length in (0, 1], with the sign of the last change; 0: there was none
  float turns = 0;  ///< how often the change has turned round

  static constexpr float shrink = 0.5f, growth = 0.05f, turns_to_halve_growth = 5, shortest = 1e-4f;

  /// The length of the step for a change of that sign.
  KOKKOS_FUNCTION float next(bool negative) {
    float length = 1.f;
    if (last != 0.f && negative != (last < 0.f)) {
      turns += 1.f;
      length = Kokkos::fmax(static_cast<float>(shortest), shrink * Kokkos::abs(last));
    } else if (last != 0.f) {
      length = Kokkos::fmin(1.f, Kokkos::abs(last) * (1.f + growth / (1.f + turns / turns_to_halve_growth)));
    }
    last = negative ? -length : length;
    return length;
  }
};

}  // namespace hornbill::detail
