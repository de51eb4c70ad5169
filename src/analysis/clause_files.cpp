// Reading and writing clauses, rule probabilities and lists of tuples as BINGO has them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include <hornbill/analysis/clauses.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>

#include "../io/token_reader.hpp"

namespace hornbill::analysis {
namespace {

std::string const rule_separator = " + ";

std::string_view trimmed(std::string_view text) {
  auto const blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Whether all bytes are UTF-8, overlong forms and surrogates left aside.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    auto const lead = static_cast<unsigned char>(text[i]);
    std::size_t const length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : (lead & 0xf0) == 0xe0       ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
    i += length;
  }
  return true;
}

/// The lines of a text that are neither blank nor comments, trimmed.
class Lines {
 public:
  explicit Lines(std::string const& file) : file_(file), text_(io::read_text(file)) {}

  std::optional<std::string_view> next() {
    std::string_view const text = text_;
    while (at_ < text.size()) {
      auto const end = std::min(text.find('\n', at_), text.size());
      auto const line = trimmed(text.substr(at_, end - at_));
      at_ = end + 1;
      ++number_;
      if (!is_utf8(line)) fail("is not UTF-8");
      if (!line.empty() && line.front() != '#') return line;
    }
    return std::nullopt;
  }
  [[noreturn]] void fail(std::string const& message) const {
    throw InputError(file_, fmt::format("line {}", number_), message);
  }

 private:
  std::string file_, text_;
  std::size_t at_ = 0;
  int number_ = 0;
};

/// Numbers names in the order in which they come. The text that they are in must live on.
class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  Index operator()(std::string_view name) {
    auto const [at, is_new] = number_.try_emplace(name, static_cast<Index>(names_.size()));
    if (is_new) names_.emplace_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string_view, Index> number_;
};

/// "Rule: rest". The colon is one that a blank or the end of the line follows, since names may hold others.
struct RuleLine {
  std::string_view rule, rest;
};
RuleLine split_rule(std::string_view line, Lines const& lines) {
  auto colon = line.find(": ");
  if (colon == std::string_view::npos && line.ends_with(':')) colon = line.size() - 1;
  if (colon == std::string_view::npos) lines.fail(fmt::format("'{}' begins with no rule's name and a colon", line));
  auto const rule = trimmed(line.substr(0, colon));
  if (rule.empty()) lines.fail("the name of the rule is missing before the colon");
  return {rule, trimmed(line.substr(colon + 1))};
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
      : lines_(file),
        tuple_(set_.tuple_names),
        rule_(set_.rule_names),
        known_(1024, SameClause{set_}, SameClause{set_}) {}

  ClauseSet read() {
    while (auto const line = lines_.next()) read_line(*line);
    return std::move(set_);
  }

 private:
  void read_line(std::string_view line) {
    auto const [rule, literals] = split_rule(line, lines_);
    body_.clear();
    if (literals.ends_with(',')) lines_.fail("a literal is missing after the last comma");
    Index head = -1;
    for (std::size_t at = 0; at <= literals.size();) {
      auto const end = std::min(literals.find(", ", at), literals.size());
      auto const literal = trimmed(literals.substr(at, end - at));
      at = end + 2;
      if (literal.empty())
        lines_.fail(literals.empty() ? "the clause has no head" : "a literal is missing between two commas");
      bool const last = end == literals.size(), negated = literal == "NOT" || literal.starts_with("NOT ");
      auto const name = negated ? trimmed(literal.substr(3)) : literal;
      if (name.empty()) lines_.fail("a tuple is missing after NOT");
      if (last && negated)
        lines_.fail(fmt::format("the clause has no head: its last literal, NOT {}, is negated", name));
      if (!last && !negated)
        lines_.fail(
            fmt::format("the premise {} is not negated: premises are NOT, and the head is the last literal", name));
      if (last)
        head = tuple_(name);
      else
        body_.push_back(tuple_(name));
    }
    std::sort(body_.begin(), body_.end());
    body_.erase(std::unique(body_.begin(), body_.end()), body_.end());
    split_rules(rule);
    set_.add(head, body_, rules_);
    if (rules_.size() == 1) drop_if_repeated();
  }
  void split_rules(std::string_view rules) {
    rules_.clear();
    for (std::size_t at = 0; at <= rules.size();) {
      auto const end = std::min(rules.find(rule_separator, at), rules.size());
      rules_.push_back(rule_(trimmed(rules.substr(at, end - at))));
      at = end + rule_separator.size();
    }
  }
  void drop_if_repeated() {
    if (known_.insert(set_.num_clauses() - 1).second) return;
    set_.heads.pop_back();
    set_.body_offsets.pop_back();
    set_.bodies.resize(set_.body_offsets.back());
    set_.rule_offsets.pop_back();
    set_.rules.pop_back();
  }

  Lines lines_;
  ClauseSet set_;
  Names tuple_, rule_;
  std::unordered_set<Index, SameClause, SameClause> known_;
  std::vector<Index> body_, rules_;
};

}  // namespace

ClauseSet read_clauses(std::string const& file) { return ClauseReader(file).read(); }

std::string to_string(ClauseSet const& clauses, Index clause) {
  std::string text;
  for (Index r : clauses.rules_of(clause)) text += (text.empty() ? "" : rule_separator) + clauses.rule_names[r];
  text += ": ";
  for (Index t : clauses.body_of(clause)) text += "NOT " + clauses.tuple_names[t] + ", ";
  return text + clauses.tuple_names[clauses.heads[clause]];
}

void write_clauses(ClauseSet const& clauses, std::string const& file) {
  std::string text;
  for (Index c = 0; c < clauses.num_clauses(); ++c) text += to_string(clauses, c) + "\n";
  io::write_text_atomically(file, text);
}

std::map<std::string, double> read_rule_probabilities(std::string const& file) {
  Lines lines(file);
  std::map<std::string, double> probabilities;
  while (auto const line = lines.next()) {
    auto const [rule, text] = split_rule(*line, lines);
    double p = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), p);
    if (error != std::errc{} || end != text.data() + text.size())
      lines.fail(fmt::format("'{}' is not a probability", text));
    if (!std::isgreaterequal(p, 0) || !std::islessequal(p, 1))
      lines.fail(fmt::format("the probability of {} is {}; 0 to 1 are possible", rule, p));
    auto const [known, is_new] = probabilities.try_emplace(std::string(rule), p);
    if (!is_new && known->second != p)
      lines.fail(fmt::format("{} has the probability {} on an earlier line, and {} here; keep one of the two", rule,
                             known->second, p));
  }
  return probabilities;
}

std::vector<double> probabilities_of_rules(ClauseSet const& clauses, std::map<std::string, double> const& probabilities,
                                           std::string const& file) {
  std::vector<bool> is_used(clauses.rule_names.size());
  for (Index r : clauses.rules) is_used[r] = true;
  std::vector<double> of_rules(clauses.rule_names.size());
  for (std::size_t r = 0; r < of_rules.size(); ++r) {
    if (!is_used[r]) continue;
    auto const& rule = clauses.rule_names[r];
    auto const found = probabilities.find(rule);
    if (found == probabilities.end())
      throw InputError(file, "",
                       fmt::format("has no probability for the rule {}; add a line `{}: 0.999`, say", rule, rule));
    of_rules[r] = found->second;
  }
  return of_rules;
}

std::vector<Index> read_derived_tuples(std::string const& file, ClauseSet const& clauses) {
  std::unordered_map<std::string_view, Index> number;
  for (Index t = 0; t < clauses.num_tuples(); ++t) number.emplace(clauses.tuple_names[t], t);
  std::vector<bool> derived(clauses.num_tuples()), listed(clauses.num_tuples());
  for (Index head : clauses.heads) derived[head] = true;
  Lines lines(file);
  std::vector<Index> tuples;
  while (auto const line = lines.next()) {
    auto const found = number.find(*line);
    if (found == number.end() || !derived[found->second]) lines.fail(fmt::format("no clause derives {}", *line));
    if (!listed[found->second]) tuples.push_back(found->second);
    listed[found->second] = true;
  }
  if (tuples.empty()) throw InputError(file, "", "names no tuple");
  return tuples;
}

}  // namespace hornbill::analysis
