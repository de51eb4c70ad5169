// hornbill rank: the alarm to look at next, again and again.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/hornbill.hpp>
#include <hornbill/io/atomic_file.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "rank.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using analysis::Label;

/// Which alarms are true: those of a query of the model, or of a text file of names.
std::vector<bool> read_oracle(RankArguments const& a, Model const& model, std::vector<Index> const& alarms) {
  std::unordered_map<Index, std::size_t> place;
  for (std::size_t i = 0; i < alarms.size(); ++i) place.emplace(alarms[i], i);
  std::vector<bool> truth(alarms.size());
  auto const say = [&](Index v, std::string const& file, std::string const& where) {
    auto const found = place.find(v);
    if (found == place.end())
      throw InputError(file, where,
                       fmt::format("{} is no alarm that is ranked (query '{}')", model.graph.name_of(v), a.query));
    truth[found->second] = true;
  };
  if (auto const stored = model.queries.find(a.oracle); stored != model.queries.end()) {
    for (Index v : stored->second) say(v, a.file, "/queries/" + a.oracle);
    return truth;
  }
  if (!std::filesystem::exists(a.oracle))
    throw InputError(a.file, "/queries",
                     fmt::format("'{}' is neither a query of this file nor a file of true alarms", a.oracle));
  auto const named = io::read_variables_text(a.oracle, model.graph);
  if (named.empty()) throw InputError(a.oracle, "", "names no true alarm");
  for (auto const& [v, line] : named) say(v, a.oracle, fmt::format("line {}", line));
  return truth;
}

/// Alarms of the query of which nothing is given as evidence.
Alarms find_alarms(RankArguments const& a, Model const& model, HostEvidence const& given) {
  Alarms alarms;
  auto const query = find_query(a.file, model, a.query);
  if (!a.oracle.empty()) alarms.truth = read_oracle(a, model, query);
  std::vector<bool> truth;
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (model.graph.states(query[i]) != 2)
      throw InputError(a.file, "/queries/" + a.query,
                       fmt::format("{} has {} states; alarms are true or false", model.graph.name_of(query[i]),
                                   model.graph.states(query[i])));
    auto const known = std::find_if(given.begin(), given.end(),
                                    [&](Observation const& o) { return o.is_hard() && o.variable == query[i]; });
    if (alarms.truth && known != given.end() && (known->value == 1) != (*alarms.truth)[i])
      throw InputError(a.file, "",
                       fmt::format("the evidence says that {} is {}, and the oracle otherwise",
                                   model.graph.name_of(query[i]), known->value == 1 ? "true" : "false"));
    if (known != given.end()) continue;
    alarms.variables.push_back(query[i]);
    if (alarms.truth) truth.push_back((*alarms.truth)[i]);
  }
  if (alarms.truth) alarms.truth = truth;
  alarms.labels.assign(alarms.variables.size(), Label::none);
  return alarms;
}

/// The rounds of a ranking.
class Ranker {
 public:
  Ranker(RankArguments const& a, Model const& model, Alarms alarms, HostEvidence const& given,
         std::unique_ptr<bp::Inference> inference)
      : a_(a),
        graph_(model.graph),
        alarms_(std::move(alarms)),
        inference_(std::move(inference)),
        session_(a.session, model.graph) {
    for (auto const& o : given) inference_->observe(o);
    for (auto const& round : session_.rounds()) take_up(round);
  }

  Alarms const& alarms() const { return alarms_; }
  std::vector<Round> const& rounds() const { return session_.rounds(); }

  /// Until all true alarms are found, none is left, enough rounds were run, or the user stops.
  void run() {
    int left = a_.max_rounds < 0 ? std::numeric_limits<int>::max() : a_.max_rounds;
    if (!alarms_.found_all() && left > 0) infer();
    if (!a_.lists.empty() && rounds().empty() && !ranked_.empty())
      write_ranked_list(a_.lists + "init.out", ranked_, alarms_, graph_);
    for (; left > 0 && !alarms_.found_all(); --left) {
      auto const next = analysis::next_to_label(ranked_, alarms_.labels);
      if (!next || !look_at(*next)) break;
      if (left > 1 && !alarms_.found_all()) infer();
    }
    write_table();
  }

 private:
  /// A label of a session that goes on.
  void take_up(Round const& round) {
    auto const place = std::find(alarms_.variables.begin(), alarms_.variables.end(), round.variable);
    if (place == alarms_.variables.end())
      throw InputError(a_.session, "",
                       fmt::format("{} is no alarm that is ranked (query '{}'): the session is of others",
                                   graph_.name_of(round.variable), a_.query));
    auto const alarm = static_cast<std::size_t>(place - alarms_.variables.begin());
    if (alarms_.truth && round.label != Label::unknown && (round.label == Label::yes) != (*alarms_.truth)[alarm])
      throw InputError(a_.session, "",
                       fmt::format("it says that {} is {}, and the oracle otherwise", graph_.name_of(round.variable),
                                   round.label == Label::yes ? "true" : "false"));
    alarms_.labels[alarm] = round.label;
    if (!round.contradicts) observe(round);
  }

  void observe(Round const& round) {
    if (round.label == Label::unknown) return;
    inference_->observe(Observation::hard(round.variable, round.label == Label::yes));
    observed_.push_back(round.variable);
  }

  /// Marginals with the labels so far, and the ranking by them. The last labels are left out as long as they contradict
  /// those before.
  void infer() {
    auto const begin = Clock::now();
    auto options = a_.options;
    options.warm_start = !a_.cold;
    auto report = inference_->run(options);
    while (report.stop == bp::Stop::contradiction) {
      leave_out_last(report);
      report = inference_->run(options);
    }
    now_ = {};
    now_.iterations = report.iterations;
    p_true_ = inference_->marginals();
    if (report.stop != bp::Stop::converged && options.tolerance > 0) now_.unconverged = share_that_moves(options);
    ranked_ = analysis::rank_alarms(graph_, alarms_.variables, alarms_.labels, p_true_);
    // Log-odds take longer to fetch than some rounds take: only where they may decide what is next.
    if (auto const next = analysis::next_to_label(ranked_, alarms_.labels);
        next && (next->confidence == 0 || next->confidence == 1))
      ranked_ = analysis::rank_alarms(graph_, alarms_.variables, alarms_.labels, p_true_, inference_->log_odds());
    if (alarms_.truth) now_.inversions = analysis::count_inversions(ranked_, *alarms_.truth);
    now_.seconds = seconds_since(begin);
  }

  /// The share of variables whose probability one further iteration changes.
  double share_that_moves(bp::Options options) {
    options.max_iterations = 1;
    inference_->run(options);  // should it meet a contradiction, so will the next round
    return share_that_moved(p_true_, inference_->marginals(), options.tolerance);
  }

  void leave_out_last(bp::Report const& report) {
    if (observed_.empty())
      throw ContradictionError(fmt::format(
          "{}: the evidence contradicts itself at {}, before any label. Withdraw or soften an observation near it",
          a_.file, graph_.name_of(report.contradiction)));
    Index const v = observed_.back();
    observed_.pop_back();
    auto const round = std::find_if(rounds().begin(), rounds().end(), [=](Round const& r) { return r.variable == v; });
    fmt::print(stderr,
               "hornbill: round {}: the label of {} contradicts those before it (found at {}); it is left out\n",
               round - rounds().begin() + 1, graph_.name_of(v), graph_.name_of(report.contradiction));
    inference_->release(v);
    session_.mark_contradiction(v);
  }

  /// False if the user stops.
  bool look_at(analysis::RankedAlarm const& next) {
    now_.variable = alarms_.variables[next.alarm];
    now_.confidence = next.confidence;
    now_.label = alarms_.truth ? ((*alarms_.truth)[next.alarm] ? Label::yes : Label::no) : ask();
    if (now_.label == Label::none) return false;
    if (!a_.lists.empty())
      write_ranked_list(fmt::format("{}{}.out", a_.lists, rounds().size()), ranked_, alarms_, graph_);
    session_.append(now_);
    alarms_.labels[next.alarm] = now_.label;
    observe(now_);
    write_table();
    if (!a_.json && !a_.ask) print_round(now_, rounds().size(), graph_);
    return true;
  }

  void write_table() const {
    if (!a_.stats.empty()) write_statistics(a_.stats, rounds(), graph_);
  }

  /// What the user says of the alarm; nothing if that is to stop.
  Label ask() const {
    for (std::string answer;;) {
      write_out("{}  {:.4f}  {}\n  true? [y]es, [n]o, [u]nknown, [q]uit: ", rounds().size() + 1, now_.confidence,
                graph_.name_of(now_.variable));
      flush_output();
      if (!std::getline(std::cin, answer)) return Label::none;
      for (char& c : answer) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      if (answer == "y" || answer == "yes") return Label::yes;
      if (answer == "n" || answer == "no") return Label::no;
      if (answer == "u" || answer == "unknown") return Label::unknown;
      if (answer == "q" || answer == "quit") return Label::none;
      write_out("  '{}' was not understood\n", answer);
    }
  }

  RankArguments const& a_;
  HostFactorGraph const& graph_;
  Alarms alarms_;
  std::unique_ptr<bp::Inference> inference_;
  Session session_;
  std::vector<double> p_true_;
  std::vector<analysis::RankedAlarm> ranked_;
  Round now_;
  std::vector<Index> observed_;  ///< labels that are evidence, in their order
};

void require_usable(RankArguments const& a) {
  if (a.ask == !a.oracle.empty()) throw UsageError("give --oracle FILE, or --ask to be asked; one of the two");
  if (a.ask && a.json) throw UsageError("--json is for --oracle: with --ask the terminal is for questions");
  std::vector<NamedFile> read{{"MODEL", a.file}, {"--oracle", a.oracle}};
  for (auto const& source : a.evidence) read.push_back({"--evidence", source});
  keep_apart(read, {{"--session", a.session}, {"--stats", a.stats}});
  if (!a.stats.empty()) io::require_writable(a.stats);
  if (!a.lists.empty()) io::require_writable(a.lists + "init.out");
}

void rank(RankArguments& a) {
  require_usable(a);
  settle(a);
  auto const model = read_model(a.file);
  auto const given = last_of_each_variable(read_evidence(a.file, model, a.evidence));
  auto alarms = find_alarms(a, model, given);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const begin = Clock::now();
  auto const strategy = choose_strategy(a, model, 1);
  Ranker ranker(a, model, std::move(alarms), given, make_inference(a, model, strategy, {.local_update = !a.cold}));
  double const setup_seconds = seconds_since(begin);
  ranker.run();
  print_summary(a, ranker.rounds(), ranker.alarms(), model.graph, setup_seconds);
  if (a.ask && a.session.empty() && !ranker.rounds().empty())
    write_out("  these labels were not kept: --session FILE keeps them, and goes on with them\n");
}

}  // namespace

void add_rank(CLI::App& app, int&) {
  auto* command = app.add_subcommand("rank", "Rank alarms, label the first, and again, until all true ones are found");
  auto a = std::make_shared<RankArguments>();
  command->add_option("MODEL", a->file, "Model with a query of alarms: .h5, as `hornbill clauses model` makes it")
      ->required();
  command->add_option("--oracle", a->oracle,
                      "The true alarms: a text file, a name a line, or a query of MODEL, such as `true_alarms`");
  command->add_flag("--ask", a->ask, "Ask for each alarm in the terminal: y, n, u (cannot be told) or q (stop)");
  command->add_option("--alarms", a->query, "Query of MODEL that lists the alarms")->capture_default_str();
  command
      ->add_option(
          "--evidence", a->evidence,
          "What is known before: an evidence set of MODEL, or a text file, as for lbp; may be given several times")
      ->allow_extra_args(false)
      ->option_text("SET");
  command->add_option("--session", a->session,
                      "Keep every label in this file as it is given; if there is such a file, go on where it ends");
  command->add_option("--rounds", a->max_rounds, "Stop after so many rounds; with --session so many more")
      ->check(at_least(0));
  command->add_option("--stats", a->stats, "Write a row each round to this file, with the columns of BINGO's drivers");
  command
      ->add_option("--lists", a->lists,
                   "Write ranked lists to PREFIXinit.out and, before each label, to PREFIX0.out, PREFIX1.out ..., as "
                   "BINGO's drivers do")
      ->option_text("PREFIX");
  command->add_flag("--cold", a->cold,
                    "Begin each round's inference anew, rather than with the last one's messages: slower, and not "
                    "swayed by what was believed before");
  a->options.max_iterations = 1000;  // as BINGO asks for: with labels a few rounds may never converge
  add_solver_options(*command, *a);
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Each round infers the probability of every alarm from the labels so far, and takes the most probable one that "
      "has no\n"
      "label. The first run starts from nothing, later ones from the messages of the last; where a label moves little, "
      "only\n"
      "what moves is updated. A label that contradicts those before it is reported and left out.\n"
      "\n"
      "Examples:\n"
      "  hornbill rank model.h5 --oracle true_alarms.txt --stats stats.txt\n"
      "  hornbill rank model.h5 --ask --session mine.txt\n"
      "  hornbill rank graph.h5 --oracle true_alarms --json        (of `hornbill generate`)");
  command->callback([a] { rank(*a); });
}

}  // namespace hornbill::cli
