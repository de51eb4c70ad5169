// hornbill serve: what BINGO's drivers speak over pipes.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <deque>
#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <hornbill/bp/factor_belief.hpp>

#include "commands.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// What a client asked for cannot be done; the answer says why.
class BadCommand : public Error {
 public:
  explicit BadCommand(std::string const& message) : Error(message) {}
};

/// BP tolerance minIters maxIters histLength
struct BpCommand {
  double tolerance = 0;
  int least = 0, most = 0, history = 0;
};

/// Beliefs as the extended libDAI's wrapper forms them: from uniform messages, with the observations so far, until no
/// belief changes by more than the tolerance; or, after the least number of iterations, until so few are left that
/// change as the number of iterations run allows. Then the mean of the last beliefs counts.
class Believer {
 public:
  Believer(SolverArguments const& a, Model const& model, std::unique_ptr<bp::Inference> inference)
      : options_(a.options), model_(model), inference_(std::move(inference)) {}

  void observe(Observation const& o) {
    inference_->observe(o);
    recent_.push_back(o.variable);
  }
  void release(Index variable) {
    inference_->release(variable);
    std::erase(recent_, variable);
  }

  /// The share of variables that had not converged.
  double run(BpCommand const& command) {
    options_.tolerance = command.tolerance;
    history_.clear();
    messages_.clear();
    std::vector<double> before;
    bool cold = true;
    for (int done = 0;;) {
      bool const alone = done >= std::max(0, command.least - command.history);
      int const now = alone ? 1 : command.least - command.history;
      auto const report = step(now, cold);
      cold = false;
      done += now;
      auto beliefs = inference_->marginals();
      double const moving = before.empty() ? 1 : share_that_moved(before, beliefs, command.tolerance);
      if (alone) history_.push_back(beliefs);
      if (history_.size() > static_cast<std::size_t>(command.history)) history_.pop_front();
      before = std::move(beliefs);
      if (report.stop == bp::Stop::converged) return finish(before, 0);
      bool const enough =
          done >= command.least && moving <= static_cast<double>(done - command.least) / (command.most - command.least);
      if (enough || done > command.most) return finish(mean(), moving);
    }
  }

  double belief(Index variable) const {
    require_run();
    return beliefs_[variable];
  }
  double factor_belief(Index factor, std::uint64_t state) {
    require_run();
    // States are numbered as libDAI numbers them: the variable of the smallest id changes fastest.
    auto const variables = model_.graph.variables_of(factor);
    if (variables.size() < 64 && state >> variables.size() != 0)
      throw BadCommand(fmt::format("factor {} has {} variables, so its states are 0 to {}", factor, variables.size(),
                                   (std::uint64_t{1} << variables.size()) - 1));
    std::vector<std::size_t> by_id(variables.size());
    std::iota(by_id.begin(), by_id.end(), 0);
    std::sort(by_id.begin(), by_id.end(), [&](std::size_t x, std::size_t y) { return variables[x] < variables[y]; });
    std::vector<bool> values(variables.size());
    for (std::size_t i = 0; i < by_id.size() && i < 64; ++i) values[by_id[i]] = state >> i & 1;
    if (messages_.empty()) messages_ = inference_->variable_messages();  // a client asks for many factors
    return bp::factor_belief(model_.graph, factor, values, messages_);
  }

 private:
  /// Labels that contradict those before them are withdrawn, and said on the error stream.
  bp::Report step(int iterations, bool cold) {
    auto options = options_;
    options.max_iterations = iterations;
    options.warm_start = !cold;
    auto report = inference_->run(options);
    while (report.stop == bp::Stop::contradiction) {
      if (recent_.empty())
        throw BadCommand(fmt::format("the model contradicts itself at {}", model_.graph.name_of(report.contradiction)));
      fmt::print(stderr, "hornbill: the observation of {} contradicts those before it (found at {}); it is withdrawn\n",
                 model_.graph.name_of(recent_.back()), model_.graph.name_of(report.contradiction));
      inference_->release(recent_.back());
      recent_.pop_back();
      options.warm_start = false;
      report = inference_->run(options);
    }
    return report;
  }
  double finish(std::vector<double> beliefs, double moving) {
    beliefs_ = std::move(beliefs);
    recent_.clear();
    return moving;
  }
  std::vector<double> mean() const {
    std::vector<double> sum(history_.front().size());
    for (auto const& beliefs : history_)
      for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += beliefs[v];
    for (double& x : sum) x /= static_cast<double>(history_.size());
    return sum;
  }
  void require_run() const {
    if (beliefs_.empty()) throw BadCommand("there are no beliefs before a BP command");
  }

  bp::Options options_;
  Model const& model_;
  std::unique_ptr<bp::Inference> inference_;
  std::vector<double> beliefs_, messages_;  ///< of the last run; messages once they are asked for
  std::deque<std::vector<double>> history_;
  std::vector<Index> recent_;  ///< observed since the last run
};

/// One line's words.
class Words {
 public:
  explicit Words(std::string const& line) {
    std::istringstream in(line);
    for (std::string word; in >> word;) words_.push_back(word);
  }
  bool empty() const { return words_.empty(); }
  std::string const& operator[](std::size_t i) const { return words_[i]; }
  void require(std::size_t count, char const* syntax) const {
    if (words_.size() != count) throw BadCommand(fmt::format("'{}' is written `{}`", words_[0], syntax));
  }
  template <class Number>
  Number number(std::size_t i, char const* what) const {
    Number value{};
    auto const& text = words_[i];
    if (auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        error == std::errc{} && end == text.data() + text.size())
      return value;
    throw BadCommand(fmt::format("'{}' is not {}", text, what));
  }
  /// A number from 0 to count - 1.
  Index index(std::size_t i, Index count, char const* what) const {
    auto const value = number<std::int64_t>(i, what);
    if (value < 0 || value >= count)
      throw BadCommand(fmt::format("there is no {} {}: they are 0 to {}", what, value, count - 1));
    return static_cast<Index>(value);
  }

 private:
  std::vector<std::string> words_;
};

BpCommand parse_bp(Words const& words) {
  words.require(5, "BP tolerance minIters maxIters histLength");
  BpCommand const bp{words.number<double>(1, "a tolerance"), words.number<int>(2, "a number of iterations"),
                     words.number<int>(3, "a number of iterations"), words.number<int>(4, "a number of iterations")};
  if (!(bp.tolerance > 0 && bp.tolerance < 1)) throw BadCommand("the tolerance must be above 0 and below 1");
  if (!(0 < bp.history && bp.history < bp.least && bp.least < bp.most))
    throw BadCommand("0 < histLength < minIters < maxIters is needed");
  return bp;
}

std::string answer(Words const& words, Believer& believer, HostFactorGraph const& graph) {
  auto const variable = [&] {
    Index const v = words.index(1, graph.num_variables, "variable");
    if (graph.states(v) != 2)
      throw BadCommand(
          fmt::format("variable {} has {} states; the protocol speaks of binary ones", v, graph.states(v)));
    return v;
  };
  auto const& command = words[0];
  if (command == "Q") {
    words.require(2, "Q variable");
    return fmt::format("{:g}", believer.belief(variable()));
  }
  if (command == "FQ") {
    words.require(3, "FQ factor state");
    return fmt::format("{:g}", believer.factor_belief(words.index(1, graph.num_factors(), "factor"),
                                                      words.number<std::uint64_t>(2, "a state")));
  }
  if (command == "BP") return fmt::format("{:g}", believer.run(parse_bp(words)));
  if (command == "O") {
    words.require(3, "O variable true|false");
    if (words[2] != "true" && words[2] != "false")
      throw BadCommand(fmt::format("'{}' is neither true nor false", words[2]));
    believer.observe(Observation::hard(variable(), words[2] == "true"));
    return fmt::format("O {} {}", words[1], words[2]);
  }
  if (command == "OS") {
    words.require(4, "OS variable l0 l1");
    believer.observe(Observation::soft(variable(), words.number<double>(2, "a likelihood"),
                                       words.number<double>(3, "a likelihood")));
    return fmt::format("OS {} {} {}", words[1], words[2], words[3]);
  }
  if (command == "UC") {
    words.require(2, "UC variable");
    believer.release(variable());
    return fmt::format("UC {}", words[1]);
  }
  if (command == "NL") return "";
  throw BadCommand(fmt::format("there is no command '{}'; there are Q, FQ, BP, O, OS, UC and NL", command));
}

void serve(SolverArguments& a) {
  std::signal(SIGPIPE, SIG_IGN);  // a client that goes away ends the session, quietly
  settle(a);
  auto const model = read_model(a.file);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const strategy = choose_strategy(a, model, 1);
  Believer believer(a, model, make_inference(a, model, strategy, {.local_update = false}));
  for (std::string line; std::getline(std::cin, line);) {
    Words const words(line);
    if (words.empty()) continue;
    std::string text;
    try {
      text = answer(words, believer, model.graph);
    } catch (Error const& e) {
      text = fmt::format("error: {}", e.what());
    }
    text += '\n';
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) return;
  }
}

}  // namespace

void add_serve(CLI::App& app, int&) {
  auto* command = app.add_subcommand("serve", "Answer BINGO's drivers over pipes");
  auto a = std::make_shared<SolverArguments>();
  a->schedule = "seqfix";
  a->damping = "0";
  command->add_option("MODEL", a->file, "Model: .fg, .causal_fg or .h5")->required();
  add_solver_options(*command, *a);
  command->footer(
      "A line in, a line out:\n"
      "  BP tolerance minIters maxIters histLength   infer, from uniform messages; answers the share that has not "
      "converged\n"
      "  Q variable                                  P(variable = 1), as of the last BP\n"
      "  FQ factor state                             the belief of a factor's state; the variable of least number "
      "changes fastest\n"
      "  O variable true|false                       observe, for the next BP\n"
      "  OS variable l0 l1                           observe softly, by likelihoods\n"
      "  UC variable                                 withdraw what was observed of it\n"
      "  NL                                          an empty line\n"
      "\n"
      "Inference ends where no belief changes by more than the tolerance; or after minIters, once the share that does "
      "is below\n"
      "(n - minIters) / (maxIters - minIters): then Q answers the mean of the last histLength iterations. --damping "
      "auto makes\n"
      "most runs converge that would end so; the default is libDAI's iteration. --iterations and --tolerance are not "
      "used.\n"
      "An observation that contradicts those before it is withdrawn, and said on the error stream. A bad command is "
      "answered by\n"
      "`error: ...`.\n"
      "\n"
      "With BINGO's driver.py: let wrapperExecutable be a script that runs `hornbill serve \"$1\"`.");
  command->callback([a] { serve(*a); });
}

}  // namespace hornbill::cli
