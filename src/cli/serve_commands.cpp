#include "serve_commands.hpp"

#include <cctype>
#include <charconv>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace hornbill::cli {
namespace {

/// The arguments of one command, read as they are asked for.
class Arguments {
 public:
  using NextWord = std::function<std::optional<std::string>()>;

  Arguments(NextWord next, HostFactorGraph const& graph, char const* syntax)
      : next_(std::move(next)), graph_(graph), syntax_(syntax) {}

  std::string word() {
    if (auto word = next_()) return *word;
    throw BadCommand(fmt::format("the input ends within `{}`", syntax_));
  }
  template <class Number>
  Number number(char const* what) {
    return number_in<Number>(word(), what);
  }
  /// The number that a word of the arguments is.
  template <class Number>
  Number number_in(std::string const& text, char const* what) const {
    Number value{};
    if (auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        error == std::errc{} && end == text.data() + text.size())
      return value;
    throw BadCommand(fmt::format("'{}' is not {}; the command is written `{}`", text, what, syntax_));
  }
  Index factor() { return index(graph_.num_factors(), "factor"); }
  /// The number of a variable of two states.
  Index variable() {
    Index const v = index(graph_.num_variables, "variable");
    if (graph_.states(v) != 2)
      throw BadCommand(
          fmt::format("variable {} has {} states; the protocol speaks of binary ones", v, graph_.states(v)));
    return v;
  }

 private:
  /// A number from 0 to count - 1.
  Index index(Index count, char const* what) {
    auto const value = number<std::int64_t>(fmt::format("the number of a {}", what).c_str());
    if (value < 0 || value >= count)
      throw BadCommand(fmt::format("there is no {} {}: they are 0 to {}", what, value, count - 1));
    return static_cast<Index>(value);
  }

  NextWord next_;
  HostFactorGraph const& graph_;
  char const* syntax_;
};

BpCommand read_bp(Arguments arguments) {
  BpCommand bp;
  bp.tolerance = arguments.number<double>("a tolerance");
  for (int* iterations : {&bp.least, &bp.most, &bp.history})
    *iterations = arguments.number<int>("a number of iterations");
  if (!(bp.tolerance > 0 && bp.tolerance < 1)) throw BadCommand("the tolerance must be above 0 and below 1");
  if (!(0 < bp.history && bp.history < bp.least && bp.least < bp.most))
    throw BadCommand("0 < histLength < minIters < maxIters is needed");
  return bp;
}

ObserveCommand read_observe(Arguments arguments) {
  Index const v = arguments.variable();
  auto const value = arguments.word();
  auto truth = value;
  for (char& c : truth) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (truth != "true" && truth != "false") throw BadCommand(fmt::format("'{}' is neither true nor false", value));
  return {Observation::hard(v, truth == "true"), fmt::format("O {} {}", v, value)};
}

ObserveCommand read_observe_softly(Arguments arguments) {
  Index const v = arguments.variable();
  auto const l0 = arguments.word(), l1 = arguments.word();
  auto const observation = Observation::soft(v, arguments.number_in<double>(l0, "a likelihood"),
                                             arguments.number_in<double>(l1, "a likelihood"));
  validate_likelihoods(observation);
  return {observation, fmt::format("OS {} {} {}", v, l0, l1)};
}

FactorBeliefCommand read_factor_belief(Arguments arguments) {
  Index const factor = arguments.factor();
  return {factor, arguments.number<std::uint64_t>("a state")};
}

}  // namespace

std::optional<std::string> CommandReader::next_word() {
  for (std::string word, line;;) {
    if (line_ >> word) return word;
    if (!std::getline(in_, line)) return {};
    line_ = std::istringstream(line);
  }
}

std::optional<ServeCommand> CommandReader::next() {
  auto const word = next_word();
  if (!word || *word == "exit" || *word == "BYE") return {};
  auto const written = [this](char const* syntax) { return Arguments([this] { return next_word(); }, graph_, syntax); };
  if (*word == "Q") return BeliefCommand{written("Q variable").variable()};
  if (*word == "FQ") return read_factor_belief(written("FQ factor state"));
  if (*word == "BP") return read_bp(written("BP tolerance minIters maxIters histLength"));
  if (*word == "O") return read_observe(written("O variable true|false"));
  if (*word == "OS") return read_observe_softly(written("OS variable l0 l1"));
  if (*word == "UC") return ReleaseCommand{written("UC variable").variable()};
  if (*word == "NL") return NewLineCommand{};
  throw BadCommand(fmt::format("there is no command '{}'; there are Q, FQ, BP, O, OS, UC, NL, and exit or BYE", *word));
}

}  // namespace hornbill::cli
