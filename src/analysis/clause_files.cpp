// Reading and writing clauses, rule probabilities and lists of tuples as BINGO has them.
#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <hornbill/analysis/clauses.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>

#include "../io/number.hpp"

namespace hornbill::analysis {
namespace {

constexpr std::string_view rule_separator = " + ", literal_separator = ", ";

using io::trimmed;

/// Calls a function with each line of a text that is neither blank nor a comment, trimmed. Errors get the place.
template <class Function>
void for_each_entry(std::string const& file, std::string const& text, Function const& function) {
  io::for_each_line(file, text, [&](std::string_view line, int) {
    if (!io::is_utf8(line)) throw InputError("is not UTF-8");
    line = trimmed(line);
    if (!line.empty() && line.front() != '#') function(line);
  });
}

/// A name in a text: a part of it, or what its quotes hold.
struct Name {
  std::string_view bare;
  std::optional<std::string> quoted;
};

/// Numbers names in the order in which they come. The text that they are in must live on.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  Index operator()(Name const& name) {
    return (*this)(name.quoted ? std::string_view(unquoted_.emplace_back(*name.quoted)) : name.bare);
  }
  Index operator()(std::string_view name) {
    auto const [at, is_new] = number_.try_emplace(name, static_cast<Index>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string_view, Index> number_;
  std::deque<std::string> unquoted_;
};

/// Takes a name, which may be quoted, off a text up to where it ends if it is not.
template <class End>
Name take_name(std::string_view& text, End const& end_of) {
  Name name;
  if (text.starts_with('"')) name.quoted = io::take_quoted(text);
  auto const end = end_of(text);
  name.bare = trimmed(text.substr(0, end));
  text.remove_prefix(end);
  if (name.quoted && !name.bare.empty()) io::fail_behind_quotes(name.bare, *name.quoted);
  return name;
}

/// Of a rule, before a colon that a blank or the end of the line follows, since names may hold others.
std::size_t end_of_rule(std::string_view text) {
  auto const end = std::min(text.find(": "), text.find(rule_separator));
  return std::min(end, text.ends_with(':') ? text.size() - 1 : text.size());
}
std::size_t end_of_literal(std::string_view text) { return std::min(text.find(literal_separator), text.size()); }

/// As where a blank is missing behind the colon, so that what is taken for a rule's name ends within a tuple's.
bool seems_to_hold_literals(std::string_view rule) { return rule.find(":NOT ") != std::string_view::npos; }

[[noreturn]] void fail_without_rule(std::string_view line) {
  auto const colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0)
    throw InputError(fmt::format("'{}' begins with no rule's name and a colon", line));
  throw InputError(fmt::format("a blank is missing behind the colon of '{}'; write `{}: {}`", line,
                               line.substr(0, colon), line.substr(colon + 1)));
}

/// "Rule + Rule: rest".
struct RuleLine {
  std::vector<Name> rules;
  std::string_view rest;
};
RuleLine split_rule(std::string_view const line) {
  RuleLine result{{}, line};
  for (auto& rest = result.rest;;) {
    auto name = take_name(rest, end_of_rule);
    if (rest.empty() || seems_to_hold_literals(name.bare)) fail_without_rule(line);
    if (!name.quoted && name.bare.empty()) throw InputError("the name of the rule is missing before the colon");
    result.rules.push_back(std::move(name));
    bool const is_last = rest.front() == ':';
    rest = trimmed(rest.substr(is_last ? 1 : rule_separator.size()));
    if (is_last) return result;
  }
}

/// What is wrong with a literal may be that a name was divided: `edge(a, b)`.
std::string_view hint_at_blanks(std::string_view literal) {
  return std::ranges::count(literal, '(') == std::ranges::count(literal, ')')
             ? ""
             : "; a comma and a blank separate literals, so leave out the blank, or put the name in double quotes";
}

/// Hash and equality of clauses by number, so that none is kept twice.
struct SameClause {
  ClauseSet const& set;
  std::size_t operator()(Index c) const {
    std::size_t hash = 0;
    auto mix = [&](Index x) { hash = (hash ^ static_cast<std::size_t>(x)) * 0x9e3779b97f4a7c15u + (hash >> 29); };
    mix(set.heads[c]);
    for (Index r : set.rules_of(c)) mix(r);
    for (Index t : set.body_of(c)) mix(t);
    return hash;
  }
  bool operator()(Index a, Index b) const {
    return set.heads[a] == set.heads[b] && std::ranges::equal(set.rules_of(a), set.rules_of(b)) &&
           std::ranges::equal(set.body_of(a), set.body_of(b));
  }
};

class ClauseReader {
 public:
  explicit ClauseReader(std::string const& file)
      : file_(file),
        text_(io::read_text(file)),
        tuple_(set_.tuple_names),
        rule_(set_.rule_names),
        known_(1024, SameClause{set_}, SameClause{set_}) {}

  ClauseSet read() {
    for_each_entry(file_, text_, [&](std::string_view line) { read_clause(line); });
    return std::move(set_);
  }

 private:
  void read_clause(std::string_view line) {
    auto [rules, literals] = split_rule(line);
    if (literals.empty()) throw InputError("the clause has no head");
    body_.clear();
    Index head = -1;
    for (bool is_last = false; !is_last;) {
      bool const is_negated = literals == "NOT" || literals.starts_with("NOT ");
      if (is_negated) literals = trimmed(literals.substr(3));
      auto const name = take_name(literals, end_of_literal);
      is_last = literals.empty();
      literals = trimmed(literals.substr(std::min(literals.size(), literal_separator.size())));
      check_literal(name, is_negated, is_last);
      if (is_last)
        head = tuple_(name);
      else
        body_.push_back(tuple_(name));
    }
    std::sort(body_.begin(), body_.end());
    body_.erase(std::unique(body_.begin(), body_.end()), body_.end());
    rules_.clear();
    for (auto const& rule : rules) rules_.push_back(rule_(rule));
    set_.add(head, body_, rules_);
    if (rules_.size() == 1) drop_if_repeated();
  }
  static void check_literal(Name const& name, bool is_negated, bool is_last) {
    auto const text = name.quoted ? std::string_view(*name.quoted) : name.bare;
    if (!name.quoted && (text.empty() || text == ","))
      throw InputError(is_negated ? "a tuple is missing after NOT" : "a literal is missing beside a comma");
    if (!name.quoted && is_last && text.ends_with(',')) throw InputError("a literal is missing after the last comma");
    if (is_last && is_negated)
      throw InputError(fmt::format("the clause has no head: its last literal, NOT {}, is negated", text));
    if (!is_last && !is_negated)
      throw InputError(
          fmt::format("the premise {} is not negated: premises are NOT, and the head is the last literal{}", text,
                      hint_at_blanks(text)));
  }
  void drop_if_repeated() {
    if (known_.insert(set_.num_clauses() - 1).second) return;
    set_.heads.pop_back();
    set_.body_offsets.pop_back();
    set_.bodies.resize(set_.body_offsets.back());
    set_.rule_offsets.pop_back();
    set_.rules.pop_back();
  }

  std::string file_, text_;
  ClauseSet set_;
  Names tuple_, rule_;
  std::unordered_set<Index, SameClause, SameClause> known_;
  std::vector<Index> body_, rules_;
};

/// Names as split_rule() and read_clause() take them.
std::string rule_word(std::string const& name) {
  auto const ends_before = [&](std::string_view next) { return end_of_rule(name + std::string(next)) == name.size(); };
  bool const is_plain = ends_before(": ") && ends_before(rule_separator) && !seems_to_hold_literals(name);
  return is_plain ? io::as_line(name) : io::in_quotes(name);
}

std::string literal_word(std::string const& name) {
  bool const is_divided = end_of_literal(name + std::string(literal_separator)) != name.size() || name.ends_with(',') ||
                          name == "NOT" || name.starts_with("NOT ");
  return is_divided ? io::in_quotes(name) : io::as_line(name);
}

}  // namespace

ClauseSet read_clauses(std::string const& file) { return ClauseReader(file).read(); }

std::string to_string(ClauseSet const& clauses, Index clause) {
  std::string text;
  for (Index r : clauses.rules_of(clause)) {
    if (!text.empty()) text += rule_separator;
    text += rule_word(clauses.rule_names[r]);
  }
  text += ": ";
  for (Index t : clauses.body_of(clause)) text += "NOT " + literal_word(clauses.tuple_names[t]) + ", ";
  return text + literal_word(clauses.tuple_names[clauses.heads[clause]]);
}

std::string to_string(ClauseSet const& clauses) {
  std::string text;
  for (Index c = 0; c < clauses.num_clauses(); ++c) text += to_string(clauses, c) + "\n";
  return text;
}

void write_clauses(ClauseSet const& clauses, std::string const& file) {
  io::write_atomically(file, to_string(clauses));
}

std::map<std::string, double> read_rule_probabilities(std::string const& file) {
  return rule_probabilities(io::read_text(file), file);
}

std::map<std::string, double> rule_probabilities(std::string const& text, std::string const& file) {
  std::map<std::string, double> probabilities;
  for_each_entry(file, text, [&](std::string_view line) {
    auto const [rules, number] = split_rule(line);
    if (rules.size() > 1) throw InputError("a probability is one rule's; several are named");
    auto const rule = rules[0].quoted ? *rules[0].quoted : std::string(rules[0].bare);
    auto const p = io::require_number<double>(number, "a probability");
    if (!std::isgreaterequal(p, 0) || !std::islessequal(p, 1))
      throw InputError(fmt::format("the probability of {} is {}; 0 to 1 are possible", rule, p));
    auto const [known, is_new] = probabilities.try_emplace(rule, p);
    if (!is_new && known->second != p)
      throw InputError(fmt::format("{} has the probability {} on an earlier line, and {} here; keep one of the two",
                                   rule, known->second, p));
  });
  return probabilities;
}

std::string to_line(std::string const& rule, double probability) {
  return fmt::format("{}: {}\n", rule_word(rule), probability);
}

std::vector<double> probabilities_of_rules(ClauseSet const& clauses, std::map<std::string, double> const& probabilities,
                                           std::string const& file, std::optional<double> default_probability) {
  std::vector<bool> is_used(clauses.rule_names.size());
  for (Index r : clauses.rules) is_used[r] = true;
  std::vector<double> of_rules(clauses.rule_names.size());
  std::vector<std::string> missing;
  for (std::size_t r = 0; r < of_rules.size(); ++r) {
    if (!is_used[r]) continue;
    auto const found = probabilities.find(clauses.rule_names[r]);
    if (found != probabilities.end())
      of_rules[r] = found->second;
    else if (default_probability)
      of_rules[r] = *default_probability;
    else
      missing.push_back(rule_word(clauses.rule_names[r]));
  }
  if (!missing.empty())
    throw InputError(file, "",
                     fmt::format("has no probability for {} {}; add a line `{}: 0.999`, say{}, or give a default "
                                 "(--default-probability 0.999)",
                                 missing.size() == 1 ? "the rule" : "the rules", fmt::join(missing, ", "),
                                 missing.front(), missing.size() == 1 ? "" : ", for each"));
  return of_rules;
}

std::string literals_of(std::string const& line) { return std::string(split_rule(line).rest); }

std::vector<Index> read_derived_tuples(std::string const& file, ClauseSet const& clauses) {
  std::unordered_map<std::string_view, Index> number;
  for (Index t = 0; t < clauses.num_tuples(); ++t) number.emplace(clauses.tuple_names[t], t);
  std::vector<bool> derived(clauses.num_tuples()), listed(clauses.num_tuples());
  for (Index head : clauses.heads) derived[head] = true;
  std::vector<Index> tuples;
  for_each_entry(file, io::read_text(file), [&](std::string_view line) {
    auto const name = io::word_of_line(line)->text;
    auto const found = number.find(name);
    if (found == number.end() || !derived[found->second]) throw InputError(fmt::format("no clause derives {}", name));
    if (!listed[found->second]) tuples.push_back(found->second);
    listed[found->second] = true;
  });
  if (tuples.empty()) throw InputError(file, "", "names no tuple");
  return tuples;
}

}  // namespace hornbill::analysis
