// hornbill serve: what BINGO's drivers speak over pipes.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include "believer.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// Words of the input, wherever its lines end: as libDAI's wrapper reads them.
class Input {
 public:
  /// The next word; none at the end of the input.
  std::optional<std::string> next() {
    for (std::string word, line;;) {
      if (line_ >> word) return word;
      if (!std::getline(std::cin, line)) return {};
      line_ = std::istringstream(line);
    }
  }
  /// Drops what is left of a line that cannot be understood.
  void skip_line() { line_ = {}; }

 private:
  std::istringstream line_;
};

/// The arguments of one command, read as they are asked for.
class Arguments {
 public:
  Arguments(Input& input, char const* syntax) : input_(input), syntax_(syntax) {}

  std::string word() {
    if (auto word = input_.next()) return *word;
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
  /// A number from 0 to count - 1.
  Index index(Index count, char const* what) {
    auto const value = number<std::int64_t>(fmt::format("the number of a {}", what).c_str());
    if (value < 0 || value >= count)
      throw BadCommand(fmt::format("there is no {} {}: they are 0 to {}", what, value, count - 1));
    return static_cast<Index>(value);
  }
  /// The number of a variable of two states.
  Index variable(HostFactorGraph const& graph) {
    Index const v = index(graph.num_variables, "variable");
    if (graph.states(v) != 2)
      throw BadCommand(
          fmt::format("variable {} has {} states; the protocol speaks of binary ones", v, graph.states(v)));
    return v;
  }

 private:
  Input& input_;
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

std::string observe(Arguments arguments, Believer& believer, HostFactorGraph const& graph) {
  Index const v = arguments.variable(graph);
  auto const value = arguments.word(), truth = CLI::detail::to_lower(value);
  if (truth != "true" && truth != "false") throw BadCommand(fmt::format("'{}' is neither true nor false", value));
  believer.observe(Observation::hard(v, truth == "true"));
  return fmt::format("O {} {}", v, value);  // echoed as it is written
}

std::string observe_softly(Arguments arguments, Believer& believer, HostFactorGraph const& graph) {
  Index const v = arguments.variable(graph);
  auto const l0 = arguments.word(), l1 = arguments.word();  // echoed as they are written
  believer.observe(Observation::soft(v, arguments.number_in<double>(l0, "a likelihood"),
                                     arguments.number_in<double>(l1, "a likelihood")));
  return fmt::format("OS {} {} {}", v, l0, l1);
}

std::string factor_belief(Arguments arguments, Believer& believer, HostFactorGraph const& graph) {
  Index const factor = arguments.index(graph.num_factors(), "factor");
  return fmt::format("{:g}", believer.factor_belief(factor, arguments.number<std::uint64_t>("a state")));
}

std::string answer(std::string const& command, Input& input, Believer& believer, HostFactorGraph const& graph) {
  if (command == "Q") return fmt::format("{:g}", believer.belief(Arguments(input, "Q variable").variable(graph)));
  if (command == "FQ") return factor_belief({input, "FQ factor state"}, believer, graph);
  if (command == "BP") return believer.run(read_bp({input, "BP tolerance minIters maxIters histLength"}));
  if (command == "O") return observe({input, "O variable true|false"}, believer, graph);
  if (command == "OS") return observe_softly({input, "OS variable l0 l1"}, believer, graph);
  if (command == "UC") {
    Index const v = Arguments(input, "UC variable").variable(graph);
    believer.release(v);
    return fmt::format("UC {}", v);
  }
  if (command == "NL") return "";
  throw BadCommand(
      fmt::format("there is no command '{}'; there are Q, FQ, BP, O, OS, UC, NL, and exit or BYE", command));
}

/// False if the client has gone away.
bool send(std::string const& text) {
  try {
    write_out("{}\n", text);
    flush_output();
    return true;
  } catch (OutputError const& e) {
    if (e.has_no_reader) return false;
    throw;
  }
}

void serve(SolverArguments& a) {
  std::signal(SIGPIPE, SIG_IGN);  // a client that goes away ends the session, quietly
  settle(a);
  auto const model = read_model(a.file);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const strategy = choose_strategy(a, model, 1);
  auto const look = a.file.ends_with(".fg") ? FactorLook::joint_belief : FactorLook::messages;
  Believer believer(a.options, model.graph, make_inference(a, model, strategy, {.local_update = false}), look);
  Input input;
  while (auto const command = input.next()) {
    if (*command == "exit" || *command == "BYE") return;
    std::string text;
    try {
      text = answer(*command, input, believer, model.graph);
    } catch (Error const& e) {
      input.skip_line();
      text = fmt::format("error: {}", e.what());
    }
    if (!send(text)) return;
  }
}

/// Takes the arguments that wrappers of other projects take, so that scripts need not be changed, and says that they
/// mean nothing here.
void add_options_of_other_wrappers(CLI::App& command) {
  auto const ignore = [](std::string const& name, char const* why) {
    fmt::print(stderr, "hornbill: serve does not use {}: {}\n", name, why);
  };
  auto* const group = command.add_option_group("Of other wrappers", "Taken, and not used");
  group->add_option_function<std::string>(
      "SEED",
      [ignore](std::string const& text) {
        bool const is_seed = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        if (!is_seed && text != "jtree")
          throw CLI::ValidationError(text, "is neither a seed nor `jtree`, which other wrappers take");
        ignore(text, is_seed ? "nothing is left to chance" : "it propagates; `hornbill marginals` is exact");
      },
      "A seed, or jtree");
  group->add_flag_callback("--no-history", [ignore] { ignore("--no-history", "BP says how long the history is"); });
  group->add_flag_callback("--auto", [ignore] { ignore("--auto", "the driver asks"); });
  group->add_option_function<int>("--manual", [ignore](int) { ignore("--manual", "the driver asks"); });
}

}  // namespace

void add_serve(CLI::App& app, int&) {
  auto* command = app.add_subcommand("serve", "Answer BINGO's drivers over pipes");
  auto a = std::make_shared<SolverArguments>();
  a->schedule = "seqfix";
  a->damping = "0";
  command->add_option("MODEL", a->file, "Model: .fg, .causal_fg or .h5")->required();
  add_solver_options(*command, *a);
  add_options_of_other_wrappers(*command);
  command->footer(
      "Words in, a line out for each command; exit, BYE or the end of the input ends it:\n"
      "  BP tolerance minIters maxIters histLength   infer, from uniform messages; answers the share that has not\n"
      "                                              converged\n"
      "  Q variable                                  P(variable = 1), as of the last BP\n"
      "  FQ factor state                             the belief of a factor's state; the variable of least number\n"
      "                                              changes fastest\n"
      "  O variable true|false                       observe, for the next BP\n"
      "  OS variable l0 l1                           observe softly, by likelihoods\n"
      "  UC variable                                 withdraw what was observed of it\n"
      "  NL                                          an empty line\n"
      "\n"
      "Inference ends where neither a variable nor a factor moves by more than the tolerance; or after minIters,\n"
      "once the share of those that do is below (n - minIters) / (maxIters - minIters): then Q answers the mean of\n"
      "the last histLength iterations. A variable moves as its belief does, a factor as the messages into it do; of\n"
      "a .fg, as its joint belief does. This is the extended libDAI's iteration; --damping auto makes most runs\n"
      "converge that would swing. --iterations and --tolerance are not used.\n"
      "An observation that contradicts those before it is withdrawn: BP answers `contradiction: ...`, which is no\n"
      "number. A bad command is answered by `error: ...`.\n"
      "\n"
      "With BINGO's driver.py: let wrapperExecutable be a script that runs `hornbill serve \"$@\"`.");
  command->callback([a] { serve(*a); });
}

}  // namespace hornbill::cli
