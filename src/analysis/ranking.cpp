#include <hornbill/analysis/ranking.hpp>

#include <algorithm>
#include <tuple>

namespace hornbill::analysis {

std::vector<RankedAlarm> rank_alarms(HostFactorGraph const& graph, std::span<Index const> alarms,
                                     std::span<Label const> labels, std::span<double const> p_true,
                                     std::span<double const> log_odds) {
  std::vector<RankedAlarm> ranked;
  for (std::size_t i = 0; i < alarms.size(); ++i) ranked.push_back({i, p_true[alarms[i]]});
  auto const class_of = [&](RankedAlarm const& a) {
    return labels[a.alarm] == Label::yes ? 0 : labels[a.alarm] == Label::no ? 2 : 1;
  };
  std::sort(ranked.begin(), ranked.end(), [&](RankedAlarm const& a, RankedAlarm const& b) {
    if (int const x = class_of(a), y = class_of(b); x != y) return x < y;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    bool const saturated = !log_odds.empty() && (a.confidence == 0 || a.confidence == 1);
    if (saturated && log_odds[alarms[a.alarm]] != log_odds[alarms[b.alarm]])
      return log_odds[alarms[a.alarm]] > log_odds[alarms[b.alarm]];
    return graph.name_of(alarms[a.alarm]) < graph.name_of(alarms[b.alarm]);
  });
  return ranked;
}

std::optional<RankedAlarm> next_to_label(std::span<RankedAlarm const> ranked, std::span<Label const> labels) {
  auto const next =
      std::find_if(ranked.begin(), ranked.end(), [&](RankedAlarm const& a) { return labels[a.alarm] == Label::none; });
  if (next == ranked.end()) return {};
  return *next;
}

std::int64_t count_inversions(std::span<RankedAlarm const> ranked, std::vector<bool> const& is_true) {
  std::int64_t inversions = 0, false_before = 0;
  for (auto const& a : ranked) {
    if (is_true[a.alarm])
      inversions += false_before;
    else
      ++false_before;
  }
  return inversions;
}

RankingQuality quality_of(std::vector<bool> const& inspected, Index num_alarms) {
  RankingQuality quality;
  auto const num_true = static_cast<std::int64_t>(std::count(inspected.begin(), inspected.end(), true)),
             num_false = num_alarms - num_true;
  std::int64_t found = 0;
  for (std::size_t i = 0; i < inspected.size(); ++i) {
    if (!inspected[i]) continue;
    ++found;
    quality.inversions += static_cast<std::int64_t>(i) + 1 - found;
    auto const rank = static_cast<Index>(i) + 1;
    if (found == num_true) quality.rank_of_all = rank;
    if (quality.rank_of_90_percent == 0 && 10 * found >= 9 * num_true) quality.rank_of_90_percent = rank;
  }
  if (num_true > 0 && num_false > 0)
    quality.area =
        1 - static_cast<double>(quality.inversions) / (static_cast<double>(num_true) * static_cast<double>(num_false));
  return quality;
}

}  // namespace hornbill::analysis
