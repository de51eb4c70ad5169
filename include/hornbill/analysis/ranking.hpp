/// \file
/// Alarms in the order in which a person should look at them, and how good that order was.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/types.hpp>

namespace hornbill::analysis {

/// What is said of an alarm.
enum class Label : std::uint8_t {
  none,    ///< nothing yet
  no,      ///< false
  yes,     ///< true
  unknown  ///< was asked, and could not be told
};

struct RankedAlarm {
  std::size_t alarm = 0;  ///< its place in the list of alarms
  double confidence = 0;  ///< P(alarm)
};

/// Alarms as BINGO's drivers list them: those labelled true first, those labelled false last; then the most probable
/// first; then by name.
/// \param labels  of each alarm   \shape [alarms]
/// \param p_true  of all variables   \shape [V]
/// \param log_odds  of all variables, or none: where probabilities are 0 or 1 to the last bit, by these before names
/// \shape [V]
std::vector<RankedAlarm> rank_alarms(HostFactorGraph const& graph, std::span<Index const> alarms,
                                     std::span<Label const> labels, std::span<double const> p_true,
                                     std::span<double const> log_odds = {});

/// The first of a ranked list about which nothing was said yet.
std::optional<RankedAlarm> next_to_label(std::span<RankedAlarm const> ranked, std::span<Label const> labels);

/// Pairs of a false alarm that stands before a true one.   \param is_true  by alarm
std::int64_t count_inversions(std::span<RankedAlarm const> ranked, std::vector<bool> const& is_true);

/// How good an order of inspection was.
struct RankingQuality {
  Index rank_of_all = 0;         ///< how many alarms were looked at until all true ones were found (Rank-100%-T)
  Index rank_of_90_percent = 0;  ///< the same for nine in ten of them, rounded up (Rank-90%-T)
  std::int64_t inversions = 0;   ///< pairs of a false alarm looked at before a true one
  /// under the ROC curve: the share of pairs of a true and a false alarm that are in the right order
  double area = 1;
};

/// \param inspected  whether each alarm that was looked at is true, in that order; all true ones are among them
/// \param num_alarms  of which the others, all false, count as looked at last
RankingQuality quality_of(std::vector<bool> const& inspected, Index num_alarms);

}  // namespace hornbill::analysis
