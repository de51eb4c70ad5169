/// \file
/// What brings propagation to rest where plain iterations swing for ever.
#pragma once

namespace hornbill::bp {

/// Damped iterations, and every few of them an extrapolation to where they seem to go.
///
/// With changes u_i = m_{i+1} - m_i of the messages over the last `window` iterations, the messages become the affine
/// combination sum_i gamma_i m_{i+1}, sum_i gamma_i = 1, for which |sum_i gamma_i u_i| is smallest: were an iteration
/// linear, that would be its fixed point as far as the window spans it. Changes are log-odds, weighted by what they do
/// to their variable's probability. A fixed point of all this is one of plain propagation. Where it does not come
/// nearer for `patience` cycles, the undamped share is multiplied by 0.7; below a tenth it begins anew, in every other
/// round carefully: where the residual is larger a cycle after an extrapolation than it was before, that has failed,
/// and a cycle follows without one; two if the next fails too, then four, at most eight.
/// Source: reduced rank extrapolation in cycles (Eddy 1979; Sidi 2017), which is Anderson's acceleration (1965)
/// alternating with plain iterations (Pratapa, Suryanarayana and Pask 2016). The numbers are what perf/convergence.py
/// speaks for.
struct Acceleration {
  int after = 30;        ///< iterations, after which it sets in; -1 = never
  double damping = 0.3;  ///< at first; in [0, 1)
  /// the same for PARALL and RESIDUAL, where no update reads what the iteration wrote
  double simultaneous_damping = 0.5;
  int cycle = 25;    ///< iterations from one extrapolation to the next, at most 1,000
  int window = 20;   ///< of these, the last so many are extrapolated from; 2 to 32
  int patience = 6;  ///< cycles
  bool operator==(Acceleration const&) const = default;
};

}  // namespace hornbill::bp
