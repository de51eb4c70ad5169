/// \file
/// Grounded Horn clauses, as analyses of programs derive them.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::analysis {

/// Clauses over tuples, in flat arrays. A clause derives its head where all of its body holds. C clauses, T tuples, R
/// rules.
///
/// A tuple that is no head is an input.
struct ClauseSet {
  std::vector<std::string> tuple_names;  ///< [T]
  std::vector<std::string> rule_names;   ///< [R]
  std::vector<Index> heads;              ///< [C]
  std::vector<Offset> body_offsets{0};   ///< [C+1], into bodies
  std::vector<Index> bodies;             ///< premises of each clause, none twice
  std::vector<Offset> rule_offsets{0};   ///< [C+1], into rules
  /// of each clause the rule that it is an instance of; several where clauses were folded into one
  std::vector<Index> rules;

  Index num_clauses() const { return static_cast<Index>(heads.size()); }
  Index num_tuples() const { return static_cast<Index>(tuple_names.size()); }
  std::span<Index const> body_of(Index clause) const {
    return std::span(bodies).subspan(body_offsets[clause], body_offsets[clause + 1] - body_offsets[clause]);
  }
  std::span<Index const> rules_of(Index clause) const {
    return std::span(rules).subspan(rule_offsets[clause], rule_offsets[clause + 1] - rule_offsets[clause]);
  }
  /// Appends a clause; no premise may be there twice.
  void add(Index head, std::span<Index const> body, std::span<Index const> of_rules);
};

/// The listed clauses, over the tuples that they use. Tuples keep their order.
struct Selection {
  ClauseSet clauses;
  std::vector<Index> tuple_of;  ///< by tuple of the set they were selected from; -1 where no clause uses it
};
Selection select(ClauseSet const& clauses, std::span<Index const> listed);

/// Reads BINGO's text form: `Rule: NOT premise, NOT premise, conclusion` a line. Literals are separated by a comma and
/// a blank; names may hold commas that no blank follows. The rules of a clause that was folded together from several
/// are separated by ` + `. Repeated premises count once, and so do repeated clauses of one rule; two of several rules
/// may be alike and yet not the same, since premises were folded away. Blank lines, and those that begin with `#`, are
/// skipped. A name that would be divided so, or begins as a comment, stands in double quotes (io::in_quotes()).
/// \throws InputError naming the line
ClauseSet read_clauses(std::string const& file);

/// A clause as a line of that form.
std::string to_string(ClauseSet const& clauses, Index clause);
/// All of them, a line each.
std::string to_string(ClauseSet const& clauses);

/// Writes the same form, beside the file first: it appears whole or not at all.   \throws InputError
void write_clauses(ClauseSet const& clauses, std::string const& file);

/// Reads `Rule: probability` lines.   \throws InputError naming the line
std::map<std::string, double> read_rule_probabilities(std::string const& file);
/// The same of a text.   \param file  that errors name
std::map<std::string, double> rule_probabilities(std::string const& text, std::string const& file);

/// A line of that form.
std::string to_line(std::string const& rule, double probability);

/// The probability of each rule that some clause is of; 0 for others.
/// \param default_probability  of rules for which there is none
/// \shape [R]
/// \throws InputError naming all rules for which there is none, without a default
std::vector<double> probabilities_of_rules(ClauseSet const& clauses, std::map<std::string, double> const& probabilities,
                                           std::string const& file,
                                           std::optional<double> default_probability = std::nullopt);

/// A clause's line, as to_string() makes it, without its rules.
std::string literals_of(std::string const& line);

/// Reads tuples that clauses derive, such as alarms, by name, one a line; those listed twice count once.
/// \throws InputError naming the line of a tuple that no clause derives
std::vector<Index> read_derived_tuples(std::string const& file, ClauseSet const& clauses);

}  // namespace hornbill::analysis
