// hornbill serve: what BINGO's drivers speak over pipes.
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <variant>

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <hornbill/detail/overload.hpp>

#include "believer.hpp"
#include "commands.hpp"
#include "output.hpp"
#include "serve_commands.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

std::string answer(ServeCommand const& command, Believer& believer) {
  return std::visit(
      detail::Overload{
          [&](BpCommand const& bp) { return believer.run(bp); },
          [&](BeliefCommand const& q) { return fmt::format("{:g}", believer.belief(q.variable)); },
          [&](FactorBeliefCommand const& q) { return fmt::format("{:g}", believer.factor_belief(q.factor, q.state)); },
          [&](ObserveCommand const& o) {
            believer.observe(o.observation);
            return o.echo;
          },
          [&](ReleaseCommand const& uc) {
            believer.release(uc.variable);
            return fmt::format("UC {}", uc.variable);
          },
          [&](NewLineCommand) { return std::string(); }},
      command);
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
  CommandReader commands(std::cin, model.graph);
  for (;;) {
    std::string text;
    try {
      auto const command = commands.next();
      if (!command) return;
      text = answer(*command, believer);
    } catch (Error const& e) {
      commands.skip_line();
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
