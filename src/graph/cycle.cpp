#include "cycle.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hornbill {

std::vector<Index> cycle_of_causes(std::vector<Index> const& cause, Index start) {
  std::vector<Index> path;
  std::vector<bool> seen(cause.size());
  Index at = start;
  for (; !seen[at]; at = cause[at]) {
    seen[at] = true;
    path.push_back(at);
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), at));
  std::reverse(path.begin(), path.end());
  return path;
}

std::string describe_cycle(std::vector<Index> const& cycle, std::function<std::string(Index)> const& name_of) {
  constexpr std::size_t max_shown = 8;
  std::string text = name_of(cycle.back());
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == max_shown && cycle.size() > max_shown + 1) {
      text += fmt::format(" -> ... ({} more)", cycle.size() - 1 - i);
      i = cycle.size() - 1;
    }
    text += " -> " + name_of(cycle[i]);
  }
  return text;
}

}  // namespace hornbill
