// hornbill rank: what is asked for, and its tables.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hornbill/analysis/ranking.hpp>
#include <hornbill/io/model.hpp>

#include "rank_session.hpp"
#include "solver.hpp"

namespace hornbill::cli {

struct RankArguments : SolverArguments {
  std::string query = "alarms", oracle, session, stats, lists;
  std::vector<std::string> evidence;
  int max_rounds = -1;
  bool ask = false, cold = false, json = false;
};

/// Alarms, and what is known of them.
struct Alarms {
  std::vector<Index> variables;
  std::vector<analysis::Label> labels;
  std::optional<std::vector<bool>> truth;  ///< as the oracle says

  bool found_all() const;
};

/// The table of BINGO's drivers, a row each round: Tuple, Confidence, Ground, NumTrue, NumFalse, Fraction,
/// InversionCount, YetToConvergeFraction, Time(s). Appears whole or not at all.
void write_statistics(std::string const& file, std::vector<Round> const& rounds, HostFactorGraph const& graph);

/// The list of BINGO's drivers: Rank, Confidence, Ground, Label, Comments, Tuple.
void write_ranked_list(std::string const& file, std::vector<analysis::RankedAlarm> const& ranked, Alarms const& alarms,
                       HostFactorGraph const& graph);

void print_round(Round const& round, std::size_t number, HostFactorGraph const& graph);
/// How good the ranking was, and how long it took, as text or JSON.
void print_summary(RankArguments const& a, std::vector<Round> const& rounds, Alarms const& alarms,
                   HostFactorGraph const& graph, double setup_seconds);

}  // namespace hornbill::cli
