/// \file
/// Damping that adapts to what does not converge.
#pragma once

namespace hornbill::bp {

/// Each message takes steps of its own: shorter whenever its change turns round, longer whenever it does not; and the more often
/// it has turned, the slower it grows. So what swings comes to rest, and what only moves on is not held back. The numbers
/// converge on most generated graphs with sampled labels (perf/convergence.py).
/// Source: the rule of Rprop (Riedmiller and Braun 1993), for messages instead of weights, with growth that wears off
struct AdaptiveDamping {
  int after = 60;                ///< iterations, after which steps adapt; -1 = never
  float shrink = 0.5f;           ///< at a turn, by this; in (0, 1)
  float growth = 0.05f;          ///< otherwise by 1 + growth / (1 + turns / patience), up to full length
  float patience = 20;           ///< turns that halve the growth
  bool operator==(AdaptiveDamping const&) const = default;
};

}  // namespace hornbill::bp
