#include "believer.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include <fmt/format.h>

#include <hornbill/bp/factor_belief.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::cli {
namespace {

/// The states of a factor's variables, of which libDAI's number of a combination counts that of the smallest id
/// fastest.
std::vector<Index> states_of(HostFactorGraph const& graph, Index factor, std::uint64_t const number) {
  auto const variables = graph.variables_of(factor);
  std::vector<std::size_t> by_id(variables.size());
  std::iota(by_id.begin(), by_id.end(), 0);
  std::sort(by_id.begin(), by_id.end(), [&](std::size_t x, std::size_t y) { return variables[x] < variables[y]; });
  std::vector<Index> result(variables.size());
  std::uint64_t rest = number, combinations = 1;
  for (std::size_t i : by_id) {
    auto const states = static_cast<std::uint64_t>(graph.states(variables[i]));
    result[i] = static_cast<Index>(rest % states);
    rest /= states;
    combinations *= states;
  }
  if (rest != 0)
    throw BadCommand(fmt::format("factor {} has {} variables, so its states are 0 to {}", factor, variables.size(),
                                 combinations - 1));
  return result;
}

}  // namespace

void Believer::observe(Observation const& observation) {
  inference_->observe(observation);
  recent_.push_back(observation.variable);
}

void Believer::release(Index variable) {
  inference_->release(variable);
  std::erase(recent_, variable);
}

std::string Believer::run(BpCommand const& command) {
  withdrawn_.clear();
  double const share = propagate(command);
  return withdrawn_.empty() ? fmt::format("{:g}", share)
                            : fmt::format("contradiction: {}; {:g} has not converged", withdrawn_, share);
}

double Believer::belief(Index variable) const {
  require_run();
  return beliefs_[variable];
}

double Believer::factor_belief(Index factor, std::uint64_t state) {
  require_run();
  auto const states = states_of(graph_, factor, state);
  if (messages_.empty()) messages_ = inference_->variable_messages();  // a client asks for many factors
  if (!is_table(graph_.factor_type[factor]))
    return bp::factor_belief(graph_, factor, {states.begin(), states.end()}, messages_);
  std::size_t entry = 0;
  for (std::size_t i = 0; i < states.size(); ++i)
    entry = entry * graph_.states(graph_.variables_of(factor)[i]) + states[i];
  return joint_beliefs_.of(factor, messages_)[entry];
}

double Believer::propagate(BpCommand const& command) {
  auto options = options_;
  options.tolerance = accelerates() ? command.tolerance : 0;
  history_.clear();
  for (int done = 0;;) {
    if (done == 0) messages_.assign(look_ == FactorLook::joint_belief ? graph_.num_messages() : 0, 0);  // uniform
    // Each iteration is looked at, so that the last is the one that libDAI ends with.
    options.max_iterations = accelerates() ? std::max(1, command.least - command.history - done) : 1;
    options.warm_start = done > 0;
    auto const report = inference_->run(options);
    if (report.stop == bp::Stop::contradiction) {  // from the beginning, without the last observation
      withdraw(report.contradiction);
      done = 0;
      history_.clear();
      continue;
    }
    done += options.max_iterations;
    auto const moved = movement(command.tolerance, done > command.least);
    if (report.stop == bp::Stop::converged || moved.variables + moved.factors == 0)
      return finish(inference_->marginals(), 0);
    if (done > command.least - command.history) history_.push_back(inference_->marginals());
    if (history_.size() > static_cast<std::size_t>(command.history)) history_.pop_front();
    double const moving = share_of(moved);
    bool const enough =
        done > command.least && moving < static_cast<double>(done - command.least) / (command.most - command.least);
    if (enough || done > command.most) return finish(mean(), moving);
  }
}

/// Since the last look. \param count_all  otherwise factors need not be counted where a variable moves
bp::Movement Believer::movement(double tolerance, bool count_all) {
  auto moved = inference_->movement(tolerance);
  if (look_ == FactorLook::messages) return moved;
  auto messages = inference_->variable_messages();
  if (count_all || moved.variables == 0)
    moved.factors = joint_beliefs_.movement(messages_, messages, tolerance).factors;
  messages_ = std::move(messages);
  return moved;
}

/// Then the iterations are not libDAI's, and beliefs alone say whether they have converged.
bool Believer::accelerates() const { return options_.acceleration.after >= 0 && options_.damping == 0; }

double Believer::share_of(bp::Movement const& moved) const {
  double const elements = static_cast<double>(graph_.num_variables) + graph_.num_factors();
  return (static_cast<double>(moved.variables) + moved.factors) / elements;
}

/// The last label contradicts those before it.
void Believer::withdraw(Index found_at) {
  if (recent_.empty()) throw BadCommand(fmt::format("the model contradicts itself at {}", graph_.name_of(found_at)));
  auto const text = fmt::format("the observation of {} contradicts those before it (found at {}) and is withdrawn",
                                graph_.name_of(recent_.back()), graph_.name_of(found_at));
  fmt::print(stderr, "hornbill: {}\n", text);
  withdrawn_ += (withdrawn_.empty() ? "" : "; ") + text;
  inference_->release(recent_.back());
  recent_.pop_back();
}

double Believer::finish(std::vector<double> beliefs, double moving) {
  beliefs_ = std::move(beliefs);
  recent_.clear();
  return moving;
}

std::vector<double> Believer::mean() const {
  std::vector<double> sum(history_.front().size());
  for (auto const& beliefs : history_)
    for (std::size_t v = 0; v < sum.size(); ++v) sum[v] += beliefs[v];
  for (double& x : sum) x /= static_cast<double>(history_.size());
  return sum;
}

void Believer::require_run() const {
  if (beliefs_.empty()) throw BadCommand("there are no beliefs before a BP command");
}

}  // namespace hornbill::cli
