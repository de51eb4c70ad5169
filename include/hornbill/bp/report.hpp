/// \file
/// What a run of belief propagation says of itself.
#pragma once

#include <string_view>

#include <hornbill/types.hpp>

namespace hornbill::bp {

/// Why a run ended.
enum class Stop {
  converged,  ///< the residual fell below the tolerance
  iteration_limit,
  time_limit,
  contradiction  ///< the evidence (with the deterministic factors) leaves a variable no value
};

constexpr std::string_view to_string(Stop stop) {
  switch (stop) {
    case Stop::converged: return "converged";
    case Stop::iteration_limit: return "iteration limit";
    case Stop::time_limit: return "time limit";
    case Stop::contradiction: return "contradiction";
  }
  return "";
}

/// How a run went.
struct Report {
  Stop stop = Stop::iteration_limit;
  int iterations = 0;  ///< iterations run
  /// largest change of any marginal in the last iteration (see run()); infinity if there was none
  double residual = 0;
  Index contradiction = -1;  ///< a variable that is both surely true and surely false
  /// messages computed and edges followed by local update, before the iterations   \units edges of the graph
  double local_work = 0;
  double elapsed_seconds = 0;  ///< of the run, without plan and copies
};

}  // namespace hornbill::bp
