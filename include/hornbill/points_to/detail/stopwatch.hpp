#pragma once

#include <chrono>

namespace hornbill::points_to::detail {

class Stopwatch {
 public:
  /// Seconds since it was made, or since the last call.
  double lap() {
    auto const now = Clock::now();
    auto const seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace hornbill::points_to::detail
