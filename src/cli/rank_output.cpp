// hornbill rank: its tables, as BINGO's drivers write them, and its summary.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/names.hpp>

#include "output.hpp"
#include "rank.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using analysis::Label;

char const* ground_of(Label label) {
  return label == Label::yes ? "TrueGround" : label == Label::no ? "FalseGround" : "UnknownGround";
}
char const* name_of(Label label) { return label == Label::yes ? "true" : label == Label::no ? "false" : "unknown"; }

nlohmann::json to_json(Round const& round, HostFactorGraph const& graph) {
  nlohmann::json json{{"variable", round.variable},     {"name", graph.name_of(round.variable)},
                      {"label", name_of(round.label)},  {"confidence", round.confidence},
                      {"iterations", round.iterations}, {"unconverged", round.unconverged},
                      {"seconds", round.seconds}};
  if (round.inversions >= 0) json["inversions"] = round.inversions;
  if (round.contradicts) json["contradicts"] = true;
  return json;
}

/// Whether each alarm that was looked at is true: as the oracle says, where there is one.
std::vector<bool> inspected(std::vector<Round> const& rounds, Alarms const& alarms) {
  std::vector<bool> result;
  for (auto const& round : rounds) {
    auto const place =
        std::find(alarms.variables.begin(), alarms.variables.end(), round.variable) - alarms.variables.begin();
    result.push_back(alarms.truth ? (*alarms.truth)[place] : round.label == Label::yes);
  }
  return result;
}

}  // namespace

bool Alarms::found_all() const {
  if (!truth) return false;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if ((*truth)[i] && labels[i] == Label::none) return false;
  return true;
}

void write_statistics(std::string const& file, std::vector<Round> const& rounds, HostFactorGraph const& graph) {
  std::string text =
      "Tuple\tConfidence\tGround\tNumTrue\tNumFalse\tFraction\tInversionCount\tYetToConvergeFraction\tTime(s)\n";
  int num_true = 0, num_false = 0;
  for (auto const& round : rounds) {
    num_true += round.label == Label::yes;
    num_false += round.label == Label::no;
    double const fraction = num_true + num_false > 0 ? static_cast<double>(num_true) / (num_true + num_false) : 0;
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.6f}\n", io::as_line(graph.name_of(round.variable)),
                        round.confidence, ground_of(round.label), num_true, num_false, fraction,
                        round.inversions >= 0 ? fmt::format("{}", round.inversions) : "-", round.unconverged,
                        round.seconds);
  }
  io::write_atomically(file, text);
}

void write_ranked_list(std::string const& file, std::vector<analysis::RankedAlarm> const& ranked, Alarms const& alarms,
                       HostFactorGraph const& graph) {
  std::string text = "Rank\tConfidence\tGround\tLabel\tComments\tTuple\n";
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    auto const alarm = ranked[i].alarm;
    auto const label = alarms.labels[alarm];
    auto const ground = alarms.truth ? ((*alarms.truth)[alarm] ? Label::yes : Label::no) : label;
    text += fmt::format("{}\t{}\t{}\t{}\tSPOkGoodGood\t{}\n", i + 1, ranked[i].confidence, ground_of(ground),
                        label == Label::yes  ? "PosLabel"
                        : label == Label::no ? "NegLabel"
                                             : "Unlabelled",
                        io::as_line(graph.name_of(alarms.variables[alarm])));
  }
  io::write_atomically(file, text);
}

void print_round(Round const& round, std::size_t number, HostFactorGraph const& graph) {
  write_out("{:>5}  {:.6f}  {:<7}  {}{}  ({} iterations, {}{})\n", number, round.confidence, name_of(round.label),
            graph.name_of(round.variable), round.contradicts ? " (contradicts)" : "", round.iterations,
            human_seconds(round.seconds), round.unconverged > 0 ? ", not converged" : "");
  flush_output();
}

void print_summary(RankArguments const& a, std::vector<Round> const& rounds, Alarms const& alarms,
                   HostFactorGraph const& graph, double setup_seconds) {
  auto const count = [&](Label label) {
    return std::count_if(rounds.begin(), rounds.end(), [=](Round const& r) { return r.label == label; });
  };
  double seconds = 0;
  for (auto const& round : rounds) seconds += round.seconds;
  auto const unconverged =
      std::count_if(rounds.begin(), rounds.end(), [](Round const& r) { return r.unconverged > 0; });
  auto const contradictory = std::count_if(rounds.begin(), rounds.end(), [](Round const& r) { return r.contradicts; });
  double const mean = rounds.empty() ? 0 : seconds / static_cast<double>(rounds.size());
  bool const complete = alarms.found_all();
  auto const quality = analysis::quality_of(inspected(rounds, alarms), static_cast<Index>(alarms.variables.size()));
  if (a.json) {
    nlohmann::json json{{"file", a.file},
                        {"schedule", a.schedule},
                        {"backend", a.backend},
                        {"device", backend::describe(a.backend)},
                        {"precision", a.precision},
                        {"alarms", alarms.variables.size()},
                        {"true", count(Label::yes)},
                        {"false", count(Label::no)},
                        {"unknown", count(Label::unknown)},
                        {"rounds", nlohmann::json::array()},
                        {"unconverged_rounds", unconverged},
                        {"contradictory_labels", contradictory},
                        {"seconds", seconds},
                        {"seconds_a_round", mean},
                        {"setup_seconds", setup_seconds}};
    if (complete)
      json.update({{"rank_100_percent", quality.rank_of_all},
                   {"rank_90_percent", quality.rank_of_90_percent},
                   {"inversions", quality.inversions},
                   {"auc", quality.area}});
    for (auto const& round : rounds) json["rounds"].push_back(to_json(round, graph));
    write_out("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  write_out("{}: {} of {} alarms looked at: {} true, {} false", a.file, rounds.size(), alarms.variables.size(),
            count(Label::yes), count(Label::no));
  write_out("{}\n", count(Label::unknown) > 0 ? fmt::format(", {} unknown", count(Label::unknown)) : "");
  if (complete)
    write_out("  all true ones after {}, nine in ten after {}; {} inversions, area under the ROC curve {:.4f}\n",
              quality.rank_of_all, quality.rank_of_90_percent, quality.inversions, quality.area);
  write_out("  {} on {} ({}, {}): {} a round, {} in all, set-up {}\n", a.schedule, a.backend,
            backend::describe(a.backend), a.precision, human_seconds(mean), human_seconds(seconds),
            human_seconds(setup_seconds));
  if (unconverged > 0)
    write_out("  {} rounds did not converge: their ranking is by the last iteration; {} may help\n", unconverged,
              what_may_help(a, bp::Stop::iteration_limit));
  if (contradictory > 0)
    write_out("  {} labels contradict what was said before them, and were left out\n", contradictory);
}

}  // namespace hornbill::cli
