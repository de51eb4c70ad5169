// Levels of work, each of which needs the one before: which are started together.
#pragma once

#include <utility>
#include <vector>

#include <hornbill/tables/detail/inputs.hpp>

namespace hornbill::tables::detail {

/// Multiplications, about, that take as long as to start all threads and to wait for them.
inline constexpr double work_of_start = 4096;

/// Levels, added one after another. On the host those of little work are done in turn by one thread: a long chain has
/// as many levels as variables.
template <class ExecutionSpace>
class LaunchList {
 public:
  /// \param count  items of the level   \param work  multiplications, about
  void add_level(Offset count, double work) {
    if (count == 0) return;
    bool const is_small = runs_on_host<ExecutionSpace> && work < work_of_start;
    if (is_small && last_is_small_)
      launches_.back().items_of_team += count;
    else
      launches_.push_back(is_small ? Launch{next_, 1, count} : Launch{next_, count, 1});
    last_is_small_ = is_small;
    next_ += count;
  }
  std::vector<Launch> take() && { return std::move(launches_); }

 private:
  std::vector<Launch> launches_;
  Offset next_ = 0;
  bool last_is_small_ = false;
};

/// Calls what is done with each item of a team's.
template <class ExecutionSpace, class Function>
KOKKOS_FORCEINLINE_FUNCTION void for_each_of_team(Launch const& launch, int team, Function const& function) {
  if constexpr (runs_on_host<ExecutionSpace>) {
    Offset const first = launch.first + team * launch.items_of_team;
    for (Offset item = first; item < first + launch.items_of_team; ++item) function(item);
  } else {
    function(launch.first + team);
  }
}

}  // namespace hornbill::tables::detail
