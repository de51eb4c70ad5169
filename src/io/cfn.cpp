// toulbar2's .cfn.
#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <hornbill/io/cost_network_file.hpp>

#include "cost_units.hpp"
#include "table_factor.hpp"

namespace hornbill::io {
namespace {

using tables::Cost;

/// Brackets and words; which brackets they are does not matter, nor do commas and colons.
class CfnTokens {
 public:
  enum class Kind { open, close, word, end };
  struct Token {
    Kind kind = Kind::end;
    std::string_view text{};
    int line = 0;
  };

  explicit CfnTokens(std::string const& file) : file_(file), text_(read_text(file)) { advance(); }

  Token const& peek() const { return token_; }
  Token take() {
    auto const token = token_;
    advance();
    return token;
  }
  bool at(Kind kind) const { return token_.kind == kind; }
  void require(Kind kind, std::string_view what) {
    if (!at(kind)) fail(fmt::format("{} is needed here, not {}", what, describe(token_)));
    advance();
  }
  std::string_view word(std::string_view what) {
    if (!at(Kind::word)) fail(fmt::format("{} is needed here, not {}", what, describe(token_)));
    return take().text;
  }
  /// Passes a tag, where it is there.
  bool pass(std::string_view tag) {
    if (!at(Kind::word) || token_.text != tag) return false;
    advance();
    return true;
  }
  [[noreturn]] void fail(std::string const& message) const {
    throw InputError(file_, fmt::format("line {}", token_.line), message);
  }

 private:
  static std::string describe(Token const& token) {
    if (token.kind == Kind::end) return "the end of the file";
    return fmt::format("'{}'", token.text);
  }
  bool is_separator(char c) const { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':'; }

  void advance() {
    for (; at_ < text_.size() && (is_separator(text_[at_]) || text_[at_] == '#'); ++at_) {
      if (text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      line_ += text_[at_] == '\n';
    }
    token_ = {Kind::end, {}, line_};
    if (at_ == text_.size()) return;
    std::size_t begin = at_, end;
    char const c = text_[at_];
    if (c == '{' || c == '[' || c == '}' || c == ']') {
      token_.kind = c == '{' || c == '[' ? Kind::open : Kind::close;
      end = at_ = begin + 1;
    } else if (c == '"') {
      token_.kind = Kind::word;
      ++begin;
      end = std::min(text_.find_first_of("\"\n", begin), text_.size());
      if (end == text_.size() || text_[end] != '"') fail("a quote is not closed on its line");
      at_ = end + 1;
    } else {
      token_.kind = Kind::word;
      end = at_ = std::min(text_.find_first_of(" \t\r\n,:{}[]\"", begin), text_.size());
    }
    token_.text = std::string_view(text_).substr(begin, end - begin);
  }

  std::string file_, text_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token token_;
};

/// A function as it stands in the file: costs as texts, as their units are known at the end.
struct Function {
  std::string name, shares;  // shares: whose costs these are
  std::vector<Index> scope;
  std::vector<Decimal> costs;
  int line = 0;
};

class CfnReader {
 public:
  CfnReader(std::string const& file, std::vector<std::string>& warnings)
      : file_(file), in_(file), room_(file, sizeof(Decimal) + sizeof(Cost)), warnings_(warnings) {}

  tables::CostNetwork read() {
    using Kind = CfnTokens::Kind;
    in_.require(Kind::open, "'{'");
    in_.pass("problem");
    read_problem();
    in_.pass("variables");
    read_variables();
    in_.pass("functions");
    in_.require(Kind::open, "the list of functions");
    while (!in_.at(Kind::close)) read_function();
    in_.take();
    in_.require(Kind::close, "'}' at the end");
    if (!in_.at(Kind::end)) in_.fail("something follows the end of the problem");
    share_costs();
    take_costs();
    return std::move(network_);
  }

 private:
  void read_problem() {
    in_.require(CfnTokens::Kind::open, "the problem's name and bound");
    auto name = in_.word("the problem's name");
    auto bound = in_.word("the bound, e.g. <10.00");
    if (name == "name" && !is_bound(bound)) {
      name = bound;
      in_.pass("mustbe");
      bound = in_.word("the bound, e.g. <10.00");
    } else if (bound == "mustbe") {
      bound = in_.word("the bound, e.g. <10.00");
    }
    if (!is_bound(bound)) in_.fail(fmt::format("'{}' is no bound; one is < or > and a number, e.g. <10.00", bound));
    network_.name = name;
    network_.is_maximised = bound.front() == '>';
    bound_ = number(bound.substr(1), "the bound");
    in_.require(CfnTokens::Kind::close, "the end of the problem's properties");
  }
  static bool is_bound(std::string_view text) { return text.starts_with('<') || text.starts_with('>'); }

  void read_variables() {
    using Kind = CfnTokens::Kind;
    in_.require(Kind::open, "the variables");
    while (!in_.at(Kind::close)) {
      std::string name;
      if (in_.at(Kind::word) && !starts_number(in_.peek().text)) {
        name = in_.take().text;
        if (!variable_of_name_.emplace(name, network_.num_variables()).second)
          in_.fail(fmt::format("there are two variables {}", name));
      }
      auto& states = network_.state_names.emplace_back();
      if (in_.at(Kind::open)) {
        in_.take();
        while (!in_.at(Kind::close)) {
          auto const state = in_.word("a value");
          if (std::find(states.begin(), states.end(), state) != states.end())
            in_.fail(fmt::format("variable {} has the value {} twice", name, state));
          states.emplace_back(state);
        }
        in_.take();
        if (states.empty()) in_.fail(fmt::format("variable {} has no values", name));
        network_.cardinality.push_back(static_cast<Index>(states.size()));
      } else {
        network_.cardinality.push_back(read_domain());
      }
      network_.variable_names.push_back(name);
    }
    in_.take();
  }

  Index read_domain() {
    auto const size = whole(in_.word("a domain"));
    if (!size) in_.fail("a domain is a list of values, or how many there are");
    if (*size < 0) in_.fail(fmt::format("the domain size {} stands for an interval; intervals are not read", *size));
    if (*size == 0 || *size > largest_domain_read)
      in_.fail(fmt::format("a domain size is {}; 1 to {} are possible", *size, largest_domain_read));
    return static_cast<Index>(*size);
  }

  void read_function() {
    using Kind = CfnTokens::Kind;
    Function function;
    function.line = in_.peek().line;
    function.name = in_.at(Kind::word) ? std::string(in_.take().text) : fmt::format("{}", functions_.size());
    in_.require(Kind::open, fmt::format("function {}", function.name));
    in_.pass("scope");
    in_.require(Kind::open, fmt::format("the variables of function {}", function.name));
    while (!in_.at(Kind::close)) function.scope.push_back(read_variable(function));
    in_.take();
    if (in_.pass("type"))
      in_.fail(
          fmt::format("function {} is '{}', which is no table: such functions, global ones among them, are not read; "
                      "write it out as costs",
                      function.name, in_.word("its type")));
    std::vector<Index> states;
    for (Index v : function.scope) states.push_back(network_.cardinality[v]);
    auto const entries =
        static_cast<std::size_t>(room_.take(states, [&](std::string const& message) { in_.fail(message); }));
    bool const is_sparse = in_.pass("defaultcost");
    if (is_sparse) function.costs.assign(entries, cost(in_.word("the default cost"), "the default cost"));
    in_.pass("costs");
    if (in_.at(Kind::word)) {
      function.shares = in_.take().text;
    } else {
      in_.require(Kind::open, fmt::format("the costs of function {}", function.name));
      while (!in_.at(Kind::close)) {
        if (is_sparse)
          read_tuple(function);
        else
          function.costs.push_back(cost(in_.word("a cost"), "a cost"));
      }
      if (function.costs.size() != entries)
        in_.fail(fmt::format("function {} has {} costs, not {} as its variables have joint values", function.name,
                             function.costs.size(), entries));
      in_.take();
    }
    in_.require(Kind::close, fmt::format("the end of function {}", function.name));
    if (!function_of_name_.emplace(function.name, functions_.size()).second)
      in_.fail(fmt::format("there are two functions {}", function.name));
    functions_.push_back(std::move(function));
  }

  Index read_variable(Function const& function) {
    auto const text = in_.word("a variable");
    Index variable = -1;
    if (auto const named = variable_of_name_.find(std::string(text)); named != variable_of_name_.end())
      variable = named->second;
    else if (auto const id = whole(text); id && *id >= 0 && *id < network_.num_variables())
      variable = static_cast<Index>(*id);
    else
      in_.fail(fmt::format("function {} is over '{}', which is no variable", function.name, text));
    if (std::find(function.scope.begin(), function.scope.end(), variable) != function.scope.end())
      in_.fail(fmt::format("function {} has the variable {} twice", function.name, text));
    return variable;
  }

  void read_tuple(Function& function) {
    std::size_t cell = 0;
    for (Index v : function.scope) {
      auto const text = in_.word("a value of a tuple");
      auto const& names = network_.state_names[v];
      auto const named = std::find(names.begin(), names.end(), text);
      auto const id = whole(text);
      if (named == names.end() && (!id || *id < 0 || *id >= network_.cardinality[v]))
        in_.fail(fmt::format("'{}' is no value of {}", text, network_.name_of(v)));
      cell = cell * static_cast<std::size_t>(network_.cardinality[v]) +
             static_cast<std::size_t>(named == names.end() ? *id : named - names.begin());
    }
    function.costs[cell] = cost(in_.word("the cost of a tuple"), "the cost of a tuple");
  }

  /// Functions that name another have its costs.
  void share_costs() {
    for (auto& function : functions_) {
      std::size_t steps = 0;
      auto const* from = &function;
      while (!from->shares.empty()) {
        auto const found = function_of_name_.find(from->shares);
        if (found == function_of_name_.end() || ++steps > functions_.size())
          throw InputError(file_, fmt::format("line {}", function.line),
                           fmt::format("function {} has the costs of '{}', and there is no such function",
                                       function.name, from->shares));
        from = &functions_[found->second];
      }
      if (from == &function) continue;
      auto const states_of = [&](Function const& f) {
        std::vector<Index> states;
        for (Index v : f.scope) states.push_back(network_.cardinality[v]);
        return states;
      };
      if (states_of(*from) != states_of(function))
        throw InputError(file_, fmt::format("line {}", function.line),
                         fmt::format("function {} has the costs of {}, whose variables have other numbers of values",
                                     function.name, from->name));
      function.costs = from->costs;
    }
  }

  /// Each function's least cost is taken out.
  void take_costs() try {
    std::vector<std::span<Decimal const>> all;
    for (auto const& function : functions_) all.emplace_back(function.costs);
    CostUnits const units(network_.is_maximised, bound_, all);
    network_.decimals = units.decimals();
    if (units.is_rounded())
      warnings_.push_back(
          fmt::format("{}: costs have up to {} decimals, of which {} are kept, as their sums must be "
                      "exact; they were rounded",
                      file_, units.wanted(), units.decimals()));
    for (std::size_t f = 0; f < functions_.size(); ++f) {
      tables::HostTable<Cost> table{functions_[f].scope, {}};
      for (auto const& cost : functions_[f].costs) table.values.push_back(units.of(cost, f));
      take_least(table.values);
      network_.tables.push_back(std::move(table));
    }
    // Nothing is below 0 now, so what alone is at the bound is forbidden.
    network_.upper_bound = bound_.is_infinite ? tables::infinite_cost : units.bound() - network_.offset;
    for (auto& table : network_.tables)
      for (Cost& cost : table.values)
        if (cost >= network_.upper_bound) cost = tables::infinite_cost;
    drop_empty_names();
  } catch (InputError const& e) {
    throw InputError(file_, "", e.what());
  }

  void take_least(std::vector<Cost>& costs) {
    Cost const least = *std::ranges::min_element(costs);
    if (least == tables::infinite_cost) return;  // all are forbidden
    network_.offset += least;
    for (Cost& cost : costs)
      if (cost < tables::infinite_cost) cost -= least;
  }

  void drop_empty_names() {
    auto const is_empty = [](auto const& names) { return names.empty(); };
    if (std::ranges::all_of(network_.state_names, is_empty)) network_.state_names.clear();
    if (std::ranges::all_of(network_.variable_names, is_empty)) network_.variable_names.clear();
  }

  static bool starts_number(std::string_view text) {
    return !text.empty() && std::string_view("0123456789-.+").find(text.front()) != std::string_view::npos;
  }
  static std::optional<std::int64_t> whole(std::string_view text) {
    auto const [state, value] = parse_number<std::int64_t>(text);
    return state == Parsed<std::int64_t>::State::good ? std::optional(value) : std::nullopt;
  }
  Decimal number(std::string_view text, std::string_view what) {
    auto const decimal = Decimal::parse(text);
    if (!decimal) in_.fail(fmt::format("'{}' is not {}: a number, or inf", text, what));
    return *decimal;
  }

  Decimal cost(std::string_view text, std::string_view what) {
    auto const decimal = number(text, what);
    if (decimal.is_infinite && (decimal.digits < 0) != network_.is_maximised)
      in_.fail(fmt::format("'{}' would be better than all costs; what is forbidden costs {}inf", text,
                           network_.is_maximised ? "-" : ""));
    return decimal;
  }

  static constexpr std::int64_t largest_domain_read = 1 << 20;

  std::string file_;
  CfnTokens in_;
  TableRoom room_;
  std::vector<std::string>& warnings_;
  tables::CostNetwork network_;
  Decimal bound_;
  std::vector<Function> functions_;
  std::unordered_map<std::string, Index> variable_of_name_;
  std::unordered_map<std::string, std::size_t> function_of_name_;
};

}  // namespace

tables::CostNetwork read_cfn(std::string const& file, std::vector<std::string>* warnings) {
  std::vector<std::string> unused;
  return CfnReader(file, warnings ? *warnings : unused).read();
}

bool is_cost_network(std::string const& file) { return file.ends_with(".wcsp") || file.ends_with(".cfn"); }

tables::CostNetwork read_cost_network(std::string const& file, std::vector<std::string>* warnings) {
  return file.ends_with(".cfn") ? read_cfn(file, warnings) : read_wcsp(file);
}

}  // namespace hornbill::io
