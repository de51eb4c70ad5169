// From a program to clauses: rules of clients first, then the points-to facts that their alarms depend on.
#include <hornbill/alarms/analyse.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>

#include <fmt/format.h>
#include <Kokkos_Timer.hpp>

#include <hornbill/analysis/prune.hpp>
#include <hornbill/datalog/ground.hpp>
#include <hornbill/error.hpp>
#include <hornbill/points_to/derivations.hpp>

#include "derivations_ahead.hpp"
#include "relations.hpp"
#include "standard_clients.hpp"

namespace hornbill::alarms {

std::vector<Client> const& standard_clients() {
  static std::vector<Client> const clients{{"null", null_rules, null_probabilities},
                                           {"free", free_rules, free_probabilities},
                                           {"taint", taint_rules, taint_probabilities}};
  return clients;
}

namespace {

class Analysis {
 public:
  Analysis(extract::Program const& program, AnalyseOptions const& options)
      : program_(program),
        options_(options),
        derivations_(program.constraints()),
        facts_(program, derivations_.solution(), options_.reports),
        ahead_(derivations_, static_cast<std::size_t>(options_.derivations), options_.max_clauses,
               [this](Index variable) { return facts_.names().is_anonymous(variable); }) {}

  Analysed run(std::vector<Client> const& clients) {
    analysed_.points_to_seconds = timer_.seconds();
    for (auto const& client : clients) {
      auto const num_known = waiting_.size();
      add(client);
      ahead_.look_for(std::span(waiting_).subspan(num_known));
    }
    if (!options_.reports.empty()) add_reports();
    timer_.reset();
    ahead_.finish(options_.max_clauses - analysed_.clauses.num_clauses());
    derive_points_to();
    analysed_.derivation_seconds = timer_.seconds();
    return std::move(analysed_);
  }

 private:
  void add(Client const& client);
  void add_reports();
  void add_agreements(std::vector<Index> const& of_ours);
  void add_clause(std::string const& rule_name, std::vector<Index> const& body, Index head);
  void add_clauses(Client const& client, analysis::Pruned const& pruned, std::vector<Index> const& tuples);
  void add_probabilities(Client const& client);
  void derive_points_to();
  void add_derivation(points_to::Derivation const& derivation, std::vector<Index>& body, std::vector<Index>& rules);
  Index tuple_of(std::string const& name);
  Index tuple_of(points_to::Fact const& fact);
  Index rule_of(std::string const& name);

  Kokkos::Timer timer_;  // begins with the object, before points-to sets are solved
  extract::Program const& program_;
  AnalyseOptions options_;
  points_to::Derivations derivations_;
  ProgramFacts facts_;
  DerivationsAhead ahead_;
  Analysed analysed_;
  std::unordered_map<std::string, Index> tuples_, rules_;
  std::map<points_to::Fact, Index> points_to_;  // that clauses have, and their tuples
  std::vector<points_to::Fact> waiting_;        // for derivations
};

Index Analysis::tuple_of(std::string const& name) {
  auto const [at, is_new] = tuples_.try_emplace(name, analysed_.clauses.num_tuples());
  if (is_new) analysed_.clauses.tuple_names.push_back(name);
  return at->second;
}

Index Analysis::rule_of(std::string const& name) {
  auto const [at, is_new] = rules_.try_emplace(name, static_cast<Index>(analysed_.clauses.rule_names.size()));
  if (is_new) analysed_.clauses.rule_names.push_back(name);
  return at->second;
}

Index Analysis::tuple_of(points_to::Fact const& fact) {
  auto const [at, is_new] = points_to_.try_emplace(fact, 0);
  if (!is_new) return at->second;
  auto const name =
      fmt::format("{} may point to {}", facts_.names().variable(fact.variable), facts_.names().object(fact.object));
  // Two variables may have one text.
  at->second =
      tuples_.contains(name) ? tuple_of(fmt::format("{} [{}, {}]", name, fact.variable, fact.object)) : tuple_of(name);
  waiting_.push_back(fact);
  return at->second;
}

/// How many of the first alarms have at most so many clauses that lead to them.
std::size_t affordable(analysis::ClauseSet const& clauses, std::vector<Index> const& alarms, Offset most) {
  std::vector<std::vector<Index>> derivers(static_cast<std::size_t>(clauses.num_tuples()));
  for (Index c = 0; c < clauses.num_clauses(); ++c) derivers[clauses.heads[c]].push_back(c);
  std::vector<bool> is_taken(derivers.size());
  Offset count = 0;
  for (std::size_t i = 0; i < alarms.size(); ++i) {
    std::vector<Index> work{alarms[i]};
    is_taken[alarms[i]] = true;
    while (!work.empty()) {
      Index const tuple = work.back();
      work.pop_back();
      count += std::ssize(derivers[tuple]);
      for (Index const clause : derivers[tuple])
        for (Index const premise : clauses.body_of(clause))
          if (!is_taken[premise]) {
            is_taken[premise] = true;
            work.push_back(premise);
          }
    }
    if (count > most) return i;
  }
  return alarms.size();
}

/// All clauses that lead to alarms.
analysis::Pruned leading_to(analysis::ClauseSet const& clauses, std::vector<Index> const& alarms) {
  std::vector<Index> all(static_cast<std::size_t>(clauses.num_clauses()));
  std::iota(all.begin(), all.end(), 0);
  auto selection = analysis::select(clauses, analysis::coreachable_clauses(clauses, all, alarms));
  analysis::Pruned kept;
  for (Index const alarm : alarms) kept.alarms.push_back(selection.tuple_of[alarm]);
  kept.clauses = std::move(selection.clauses);
  return kept;
}

void Analysis::add(Client const& client) {
  Kokkos::Timer const timer;
  add_probabilities(client);
  auto const& file = client.file.empty() ? client.name : client.file;
  auto rules = datalog::parse(client.rules, file);
  datalog::Database database(rules);
  Relations relations(facts_, rules, database, options_.max_objects);
  Offset const left = options_.max_clauses - analysed_.clauses.num_clauses();
  constexpr Offset to_look_at = 16;  // many clauses lead to no alarm
  try {
    relations.provide();
    datalog::DeriveLimits limits{.is_forward = !options_.is_complete, .all = to_look_at * left};
    if (!options_.is_complete) limits.per_tuple = options_.derivations;
    auto const grounded = datalog::ground(rules, database, limits, false);
    auto alarms = grounded.outputs;
    alarms.resize(affordable(grounded.clauses, alarms, left));
    bool const is_complete = grounded.is_complete && alarms.size() == grounded.outputs.size();
    analysed_.clients.push_back(
        {client.name, static_cast<Index>(alarms.size()), 0, is_complete, relations.num_passed_over(), 0});
    if (!alarms.empty()) {
      auto const pruned = options_.is_complete ? leading_to(grounded.clauses, alarms)
                                               : analysis::prune(grounded.clauses, alarms, {}, client.name);
      std::vector<Index> tuples;
      datalog::TupleNames names(database);
      for (auto const& number : pruned.clauses.tuple_names) {
        auto const& tuple = grounded.tuples[static_cast<std::size_t>(std::stoi(number))];
        if (relations.is_points_to(tuple)) {
          auto const [variable, object] = relations.fact_of(tuple);
          tuples.push_back(tuple_of(points_to::Fact{variable, object}));
        } else {
          tuples.push_back(tuple_of(names.of(tuple)));
        }
      }
      add_clauses(client, pruned, tuples);
    }
    analysed_.clients.back().seconds = timer.seconds();
  } catch (InputError const& e) {
    throw InputError(file, "", e.what());
  }
}

void Analysis::add_reports() {
  auto const of_ours = analysed_.alarms;
  add({"reported", reported_rules, reported_probabilities});
  add_agreements(of_ours);
  std::set<Index> const derived(analysed_.clauses.heads.begin(), analysed_.clauses.heads.end());
  std::set<Index> known(analysed_.alarms.begin(), analysed_.alarms.end());
  for (auto const& report : options_.reports) {
    Index const tuple = tuple_of(report.text());
    if (!known.insert(tuple).second) continue;
    analysed_.alarms.push_back(tuple);
    ++analysed_.clients.back().alarms;
    if (!derived.contains(tuple)) add_clause("reported.alone", {}, tuple);
  }
  analysed_.unplaced_reports = facts_.num_unplaced_reports();
}

void Analysis::add_clause(std::string const& rule_name, std::vector<Index> const& body, Index head) {
  Index const rule = rule_of(rule_name);
  analysed_.clauses.add(head, body, std::span(&rule, 1));
  ++analysed_.clients.back().clauses;
}

/// The file and the line with which an alarm's name begins.
std::pair<std::string, Index> file_and_line_of(std::string const& name) {
  auto const line = name.find(':');
  if (line == std::string::npos) return {};
  return {name.substr(0, line), static_cast<Index>(std::strtol(name.c_str() + line + 1, nullptr, 10))};
}

/// What is reported is likely where an alarm of ours is in the same line.
void Analysis::add_agreements(std::vector<Index> const& of_ours) {
  std::map<Index, std::vector<Index>> alarms_in_line;
  for (Index const alarm : of_ours)
    alarms_in_line[file_and_line_of(analysed_.clauses.tuple_names[alarm]).second].push_back(alarm);
  for (auto const& report : options_.reports)
    for (Index const alarm : alarms_in_line[report.line]) {
      if (!may_be_same_file(file_and_line_of(analysed_.clauses.tuple_names[alarm]).first, report.file)) continue;
      add_clause("reported.agrees", {alarm}, tuple_of(report.text()));
    }
}

/// \param tuples  of all, by those of the client
void Analysis::add_clauses(Client const& client, analysis::Pruned const& pruned, std::vector<Index> const& tuples) {
  auto const& clauses = pruned.clauses;
  std::vector<Index> body, rules, rule_numbers;
  for (auto const& name : clauses.rule_names) rule_numbers.push_back(rule_of(client.name + "." + name));
  for (Index c = 0; c < clauses.num_clauses(); ++c) {
    body.clear();
    rules.clear();
    for (Index const premise : clauses.body_of(c)) body.push_back(tuples[premise]);
    for (Index const rule : clauses.rules_of(c)) rules.push_back(rule_numbers[rule]);
    analysed_.clauses.add(tuples[clauses.heads[c]], body, rules);
  }
  for (Index const alarm : pruned.alarms) analysed_.alarms.push_back(tuples[alarm]);
  analysed_.clients.back().clauses = clauses.num_clauses();
}

void Analysis::add_probabilities(Client const& client) {
  for (auto const& [rule, probability] : analysis::rule_probabilities(client.probabilities, client.name))
    analysed_.probabilities[client.name + "." + rule] = probability;
}

/// Premises that a derivation has. A fact of a variable that is not the program's is not there itself: the derivation
/// is also by the rules that derive it.
void Analysis::add_derivation(points_to::Derivation const& derivation, std::vector<Index>& body,
                              std::vector<Index>& rules) {
  constexpr double of_a_statement = 0.99;
  auto const* const kind =
      points_to::name_of(program_.constraints().constraints[static_cast<std::size_t>(derivation.constraint)].kind);
  rules.push_back(rule_of(kind));
  analysed_.probabilities[kind] = of_a_statement;
  for (int i = 0; i < derivation.num_premises; ++i) {
    auto const& premise = derivation.premises[static_cast<std::size_t>(i)];
    if (facts_.names().is_anonymous(premise.variable)) {
      add_derivation(ahead_.of(premise, 1).front(), body, rules);
    } else if (Index const tuple = tuple_of(premise); std::ranges::find(body, tuple) == body.end()) {
      body.push_back(tuple);
    }
  }
}

/// Shallow ones first: those that alarms need, then those that these need.
void Analysis::derive_points_to() {
  for (std::size_t next = 0; next < waiting_.size(); ++next) {
    auto const fact = waiting_[next];
    ++analysed_.points_to_facts;
    Offset const left = options_.max_clauses - analysed_.clauses.num_clauses();
    if (left <= 0) {
      ++analysed_.given_facts;
      continue;
    }
    auto const most = std::min<Offset>(left, options_.derivations);
    for (auto const& derivation : ahead_.of(fact, static_cast<std::size_t>(most))) {
      std::vector<Index> body, rules;
      add_derivation(derivation, body, rules);
      analysed_.clauses.add(points_to_.at(fact), body, rules);
    }
  }
}

}  // namespace

std::set<std::string> rule_names(std::vector<Client> const& clients) {
  std::set<std::string> names{"reported.agrees", "reported.alone"};
  auto all = clients;
  all.insert(all.end(), standard_clients().begin(), standard_clients().end());
  all.push_back({"reported", reported_rules, reported_probabilities});
  for (auto const& client : all)
    for (auto const& rule : datalog::parse(client.rules, client.file.empty() ? client.name : client.file).rules)
      names.insert(client.name + "." + rule.name);
  using points_to::ConstraintKind;
  for (int kind = 0; kind < static_cast<int>(points_to::num_constraint_kinds); ++kind)
    names.insert(points_to::name_of(static_cast<ConstraintKind>(kind)));
  return names;
}

Analysed analyse(extract::Program const& program, std::vector<Client> const& clients, AnalyseOptions const& options) {
  return Analysis(program, options).run(clients);
}

}  // namespace hornbill::alarms
