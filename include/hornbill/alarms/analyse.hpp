/// \file
/// Alarms of a program, with their derivations as clauses (hornbill/alarms/README.md).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <hornbill/alarms/reports.hpp>
#include <hornbill/analysis/clauses.hpp>
#include <hornbill/extract/extract.hpp>
#include <hornbill/types.hpp>

namespace hornbill::alarms {

/// Rules that derive alarms from relations of a program, and their probabilities.
struct Client {
  std::string name;             ///< its rules are `name.R0`, `name.R1`, ...
  std::string rules;            ///< text in Souffle's syntax
  std::string probabilities{};  ///< text: `R0: 0.9` a line; rules may be missing
  std::string file{};           ///< that messages name, or none
};

/// null: null pointers that are dereferenced. free: memory that is used, or freed again, after it was freed. taint:
/// data from outside where it does harm.
std::vector<Client> const& standard_clients();

/// Rules that clauses may name: of clients, also of the standard ones, of reports, and of points-to facts.
/// \throws InputError as analyse() does for rules that are not sound
std::set<std::string> rule_names(std::vector<Client> const& clients);

struct AnalyseOptions {
  Index derivations = 3;           ///< of each tuple, at most so many, the shallowest
  Offset max_clauses = 1'000'000;  ///< in all
  /// All derivations by rules, also those that are deeper than others or close a cycle.
  bool is_complete = false;
  /// What memory holds matters only where a pointer is to at most so many objects: that it is one of many others is
  /// hardly a reason for an alarm.
  Index max_objects = 32;
  /// Of other analysers: a client of their own, `reported`, comes last.
  std::vector<Report> reports{};
};

/// What a client found.
struct ClientReport {
  std::string name;
  Index alarms = 0;  ///< that the clauses derive
  Offset clauses = 0;
  bool is_complete = true;  ///< `max_clauses` was enough for it; otherwise there are more alarms
  Index passed_over = 0;    ///< accesses through pointers to more than `max_objects`, each time rules asked for them
  double seconds = 0;
};

struct Analysed {
  analysis::ClauseSet clauses;
  std::vector<Index> alarms;                    ///< tuples
  std::map<std::string, double> probabilities;  ///< of rules
  std::vector<ClientReport> clients;
  double points_to_seconds = 0;   ///< solving, and what functions write
  double derivation_seconds = 0;  ///< deriving points-to facts, after what was done of it while clients ran
  Index points_to_facts = 0;      ///< that alarms depend on
  Index unplaced_reports = 0;     ///< in whose lines the program has no statement
  Index given_facts = 0;          ///< of these without a derivation, since `max_clauses` was met: they count as certain
};

/// Solves the program's constraints, evaluates the clients' rules, and derives the points-to facts that alarms depend
/// on, by the constraints of the program's statements. Clauses have no cycle, unless all are asked for.
/// \throws InputError naming the client, line and column of a rule that is not sound, or of an input that is not a
/// relation of programs
Analysed analyse(extract::Program const& program, std::vector<Client> const& clients,
                 AnalyseOptions const& options = {});

}  // namespace hornbill::alarms
