#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>

#include <hornbill/io/bif.hpp>

#include "../graph/cycle.hpp"
#include "table_factor.hpp"

namespace hornbill::io {
namespace {

/// Words, quoted strings and marks of punctuation; comments as in C++.
class BifTokens {
 public:
  explicit BifTokens(std::string const& file) : file_(file), text_(read_text(file)) {}

  std::string_view next() {
    skip_blanks();
    if (at_ == text_.size()) return {};
    std::size_t const begin = at_;
    if (text_[at_] == '"') return take_quoted();
    if (is_mark(text_[at_])) return std::string_view(text_).substr(at_++, 1);
    while (at_ < text_.size() && !is_blank(text_[at_]) && !is_mark(text_[at_])) ++at_;
    return std::string_view(text_).substr(begin, at_ - begin);
  }
  /// The names of states up to the brace, separated by blanks and commas: they may be intervals, which hold marks.
  std::vector<std::string> states() {
    std::vector<std::string> names;
    for (;;) {
      skip_blanks();
      if (at_ == text_.size()) fail("the file ends where the states are needed: it is truncated");
      if (text_[at_] == '"') {
        names.emplace_back(take_quoted());
        continue;
      }
      std::size_t const begin = at_;
      while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != ',' && text_[at_] != '}') ++at_;
      if (at_ > begin) names.push_back(text_.substr(begin, at_ - begin));
      skip_blanks();
      if (at_ < text_.size() && (text_[at_] == ',' || text_[at_] == '}') && text_[at_++] == '}') return names;
    }
  }
  /// Takes one of these names, the longest that stands there; none if there is none.
  std::optional<Index> one_of(std::vector<std::string> const& names) {
    skip_blanks();
    bool const is_quoted = at_ < text_.size() && text_[at_] == '"';
    std::optional<Index> found;
    for (std::size_t i = 0; i < names.size(); ++i)
      if (stands_here(names[i], is_quoted) && (!found || names[i].size() > names[*found].size()))
        found = static_cast<Index>(i);
    if (found) at_ += names[*found].size() + (is_quoted ? 2 : 0);
    return found;
  }
  /// Takes a mark if it is next.
  bool take(char mark) {
    skip_blanks();
    bool const is_next = at_ < text_.size() && text_[at_] == mark;
    at_ += is_next;
    return is_next;
  }
  std::string_view require(std::string_view what) {
    auto const token = next();
    if (token.empty()) fail(fmt::format("the file ends where {} is needed: it is truncated", what));
    return token;
  }
  void expect(std::string_view mark) {
    if (auto const token = require(mark); token != mark)
      fail(fmt::format("'{}' stands where '{}' is needed", token, mark));
  }
  double require_probability() {
    auto const token = require("a probability");
    auto const [state, value] = parse_number<double>(token);
    if (state == Parsed<double>::State::too_small) roundings_.add(token, line_);
    bool const is_number = state == Parsed<double>::State::good || state == Parsed<double>::State::too_small;
    if (!is_number || !std::isgreaterequal(value, 0) || std::isinf(value))
      fail(fmt::format("'{}' is not a probability", token));
    return value;
  }
  /// What follows up to a mark, separated by commas.
  std::vector<std::string> list_to(std::string_view end, std::string_view what) {
    std::vector<std::string> words;
    for (auto token = require(what); token != end; token = require(what))
      if (token != ",") words.emplace_back(token);
    return words;
  }
  void skip_to(std::string_view mark) {
    while (require(mark) != mark) {
    }
  }
  Roundings const& roundings() const { return roundings_; }
  int line() const { return line_; }
  [[noreturn]] void fail(std::string const& message) const { fail_at(line_, message); }
  [[noreturn]] void fail_at(int line, std::string const& message) const {
    throw InputError(file_, fmt::format("line {}", line), message);
  }

 private:
  std::string_view take_quoted() {
    std::size_t const begin = at_ + 1, end = text_.find('"', begin);
    if (end == text_.npos) fail("a quoted name does not end");
    at_ = end + 1;
    return std::string_view(text_).substr(begin, end - begin);
  }
  bool stands_here(std::string const& name, bool is_quoted) const {
    std::size_t const begin = at_ + is_quoted, end = begin + name.size();
    if (text_.compare(begin, name.size(), name) != 0 || end >= text_.size()) return false;
    return is_quoted ? text_[end] == '"' : is_blank(text_[end]) || text_[end] == ',' || text_[end] == ')';
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
  static bool is_mark(char c) { return std::string_view("{}()[];,|").find(c) != std::string_view::npos; }
  void skip_blanks() {
    for (;;) {
      while (at_ < text_.size() && is_blank(text_[at_])) line_ += text_[at_++] == '\n';
      if (text_.compare(at_, 2, "//") == 0) {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (text_.compare(at_, 2, "/*") == 0) {
        auto const end = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
        for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
      } else {
        return;
      }
    }
  }

  std::string file_, text_;
  std::size_t at_ = 0;
  int line_ = 1;
  Roundings roundings_;
};

class BifReader {
 public:
  explicit BifReader(std::string const& file, std::vector<std::string>& warnings)
      : in_(file), room_(file, bytes_of_entry), file_(file), warnings_(warnings) {}

  HostFactorGraph read() {
    for (auto token = in_.next(); !token.empty(); token = in_.next()) {
      if (token == "network")
        read_network();
      else if (token == "variable")
        read_variable();
      else if (token == "probability")
        read_probability();
      else if (token == "property")
        in_.skip_to(";");
      else
        in_.fail(fmt::format("'{}' stands where network, variable or probability is needed", token));
    }
    if (names_.empty())
      throw InputError(
          file_, "",
          "there is no variable in it; a network has some, as in: variable rain { type discrete [ 2 ] { no, yes }; }");
    for (std::size_t v = 0; v < names_.size(); ++v)
      if (line_of_[v] == 0) throw InputError(file_, "", fmt::format("there is no probability of {}", names_[v]));
    require_no_cycle();
    for (auto& factor : factors_) {
      int const line = line_of_[factor.variables.back()];
      append(graph_, std::move(factor), [&](std::string const& message) { in_.fail_at(line, message); });
    }
    graph_.variable_names = names_;
    graph_.state_names = states_;
    std::vector<Index> cardinality;
    for (auto const& states : states_) cardinality.push_back(static_cast<Index>(states.size()));
    finish(graph_, std::move(cardinality), file_);
    in_.roundings().tell(file_, &warnings_);
    return std::move(graph_);
  }

 private:
  void read_network() {
    if (!in_.take('{')) {
      in_.require("the network's name");
      in_.expect("{");
    }
    in_.skip_to("}");
  }

  void read_variable() {
    std::string const name(in_.require("a variable's name"));
    if (!number_of_.emplace(name, static_cast<Index>(names_.size())).second)
      in_.fail(fmt::format("the variable {} is there twice", name));
    std::vector<std::string> states;
    in_.expect("{");
    for (auto token = in_.require("}"); token != "}"; token = in_.require("}")) {
      if (token == "type")
        states = read_states(name);
      else
        in_.skip_to(";");
    }
    if (states.empty())
      in_.fail(fmt::format("the variable {} has no states: `type discrete [ n ] {{ ... }};` is needed", name));
    names_.push_back(name);
    states_.push_back(std::move(states));
    line_of_.push_back(0);
  }

  std::vector<std::string> read_states(std::string const& name) {
    if (auto const kind = in_.require("discrete"); kind != "discrete")
      in_.fail(fmt::format("{} is of the type {}; discrete variables alone are read", name, kind));
    in_.expect("[");
    std::string const count(in_.require("the number of states"));
    in_.expect("]");
    in_.expect("{");
    auto states = in_.states();
    in_.expect(";");
    for (auto state = states.begin(); state != states.end(); ++state)
      if (std::find(states.begin(), state, *state) != state)
        in_.fail(fmt::format("{} has the state {} twice", name, *state));
    if (std::to_string(states.size()) != count)
      in_.fail(fmt::format("{} is said to have {} states, and {} are listed", name, count, states.size()));
    return states;
  }

  Index number_of(std::string const& name) const {
    auto const found = number_of_.find(name);
    if (found == number_of_.end()) in_.fail(fmt::format("'{}' is no variable that was declared", name));
    return found->second;
  }

  /// `probability ( child | parents ) { ... }`, in older files `( child, parents )` or `( child parents )`: the factor
  /// has the parents first, so that rows are contiguous.
  void read_probability() {
    int const line = in_.line();
    in_.expect("(");
    Index const child = number_of(std::string(in_.require("a variable")));
    if (line_of_[child] > 0)
      in_.fail(fmt::format("the probability of {} was given on line {}", names_[child], line_of_[child]));
    line_of_[child] = line;
    TableFactor factor;
    if (!in_.take('|')) in_.take(',');  // older files have a comma, or a blank, in place of the bar
    for (auto const& name : in_.list_to(")", "the parents")) add_parent(factor, child, number_of(name));
    factor.variables.push_back(child);
    for (Index v : factor.variables) factor.states.push_back(static_cast<Index>(states_[v].size()));
    factor.table.assign(room_.take(factor.states, [&](std::string const& message) { in_.fail(message); }),
                        std::numeric_limits<double>::quiet_NaN());
    read_entries(factor, child);
    finish_rows(factor, child, line);
    factors_.push_back(std::move(factor));
  }

  void add_parent(TableFactor& factor, Index child, Index parent) {
    if (parent == child ||
        std::find(factor.variables.begin(), factor.variables.end(), parent) != factor.variables.end())
      in_.fail(fmt::format("{} is twice in the probability of {}", names_[parent], names_[child]));
    factor.variables.push_back(parent);
  }

  void read_entries(TableFactor& factor, Index child) {
    in_.expect("{");
    for (auto token = in_.require("}"); token != "}"; token = in_.require("}")) {
      if (token == "(")
        read_row(factor, child);
      else if (token == "table")
        read_table(factor, child);
      else if (token == "default")
        default_row_ = read_values(states_[child].size());
      else if (token == "property")
        in_.skip_to(";");
      else
        in_.fail(fmt::format("'{}' stands where a row, `table` or `default` is needed", token));
    }
  }

  /// So many probabilities, separated by commas or blanks; a comma may follow the last.
  std::vector<double> read_values(std::size_t count) {
    std::vector<double> values;
    for (; !in_.take(';'); in_.take(',')) {
      values.push_back(in_.require_probability());
      if (values.size() > count)
        in_.fail(fmt::format("there are more than the {} probabilities that are needed", count));
    }
    if (values.size() < count)
      in_.fail(fmt::format("there are {} probabilities where {} are needed", values.size(), count));
    return values;
  }

  void read_row(TableFactor& factor, Index child) {
    std::size_t row = 0;
    auto const num_parents = factor.variables.size() - 1;
    for (std::size_t i = 0; i < num_parents; ++i) {
      row = row * factor.states[i] + require_state(factor.variables[i], i, num_parents);
      in_.take(',');
    }
    if (!in_.take(')'))
      in_.fail(fmt::format("'{}' stands where the {} values of the parents end", in_.next(), num_parents));
    auto const at = factor.table.begin() + static_cast<std::ptrdiff_t>(row * states_[child].size());
    if (!std::isnan(*at)) in_.fail("this row was given before");
    std::ranges::copy(read_values(states_[child].size()), at);
  }

  Index require_state(Index variable, std::size_t number, std::size_t of) {
    if (in_.take(')')) in_.fail(fmt::format("{} values are given for {} parents", number, of));
    if (auto const state = in_.one_of(states_[variable])) return *state;
    in_.fail(fmt::format("'{}' is no state of {}", in_.require("a parent's value"), names_[variable]));
  }

  /// All rows at once. With parents, the child's first state comes first for all of theirs, as the format has it.
  void read_table(TableFactor& factor, Index child) {
    std::size_t const states = states_[child].size(), rows = factor.table.size() / states;
    auto const values = read_values(factor.table.size());
    for (std::size_t s = 0; s < states; ++s)
      for (std::size_t row = 0; row < rows; ++row) factor.table[row * states + s] = values[s * rows + row];
  }

  /// Rows add to one; what printing has rounded off is put right.
  void finish_rows(TableFactor& factor, Index child, int line) {
    std::size_t const states = states_[child].size();
    for (std::size_t row = 0; row < factor.table.size() / states; ++row) {
      auto const values = std::span(factor.table).subspan(row * states, states);
      if (std::isnan(values[0]) && !default_row_.empty()) std::ranges::copy(default_row_, values.begin());
      if (std::isnan(values[0]))
        in_.fail_at(line,
                    fmt::format("the probability of {} has no row ({})", names_[child], name_of_row(factor, row)));
      double const sum = std::accumulate(values.begin(), values.end(), 0.0);
      if (sum == 0)
        in_.fail_at(line, fmt::format("the row ({}) of {} is all 0", name_of_row(factor, row), names_[child]));
      if (std::abs(sum - 1) > tolerated)
        warnings_.push_back(fmt::format("{}:line {}: the row ({}) of {} adds to {}, and was divided by it", file_, line,
                                        name_of_row(factor, row), names_[child], sum));
      for (double& p : values) p /= sum;
    }
    default_row_.clear();
  }

  std::string name_of_row(TableFactor const& factor, std::size_t row) const {
    std::string name;
    for (std::size_t i = factor.variables.size() - 1; i-- > 0; row /= factor.states[i])
      name = states_[factor.variables[i]][row % factor.states[i]] + (name.empty() ? "" : ", ") + name;
    return name;
  }

  /// Probabilities of variables that depend on each other may well multiply to something, but it is no distribution.
  void require_no_cycle() const {
    // parents that do not come before; one of these
    std::vector<Index> missing(names_.size()), cause(names_.size(), -1), ready;
    std::vector<std::vector<Index>> children(names_.size());
    for (auto const& factor : factors_) {
      auto const [child, parents] =
          std::pair(factor.variables.back(), std::span(factor.variables).first(factor.variables.size() - 1));
      for (Index parent : parents) children[parent].push_back(child);
      if ((missing[child] = static_cast<Index>(parents.size())) == 0) ready.push_back(child);
    }
    for (std::size_t next = 0; next < ready.size(); ++next)
      for (Index child : children[ready[next]])
        if (--missing[child] == 0) ready.push_back(child);
    for (std::size_t v = 0; v < names_.size(); ++v)
      if (missing[v] > 0)
        for (Index child : children[v]) cause[child] = static_cast<Index>(v);
    if (ready.size() == names_.size()) return;
    auto const cycle = cycle_of_causes(
        cause, static_cast<Index>(std::find_if(missing.begin(), missing.end(), [](Index m) { return m > 0; }) -
                                  missing.begin()));
    in_.fail_at(line_of_[cycle.front()], fmt::format("variables depend on each other, {}; in a Bayesian network none "
                                                     "depends on itself. Take one of the parents away",
                                                     describe_cycle(cycle, [&](Index v) { return names_[v]; })));
  }

  static constexpr double tolerated = 1e-5;  // printed digits

  BifTokens in_;
  TableRoom room_;
  std::string file_;
  std::vector<std::string>& warnings_;
  HostFactorGraph graph_;
  std::vector<TableFactor> factors_;
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> states_;
  std::vector<int> line_of_;  ///< of a variable's probability; 0 where there was none yet
  std::unordered_map<std::string, Index> number_of_;
  std::vector<double> default_row_;  ///< of the probability under way: for rows that nothing else gives
};

}  // namespace

HostFactorGraph read_bif(std::string const& file, std::vector<std::string>* warnings) {
  std::vector<std::string> unused;
  return BifReader(file, warnings ? *warnings : unused).read();
}

}  // namespace hornbill::io
