#include "believer.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include <fmt/format.h>

#include <hornbill/bp/factor_belief.hpp>

namespace hornbill::cli {

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
  auto const variables = graph_.variables_of(factor);
  if (variables.size() < 64 && state >> variables.size() != 0)
    throw BadCommand(fmt::format("factor {} has {} variables, so its states are 0 to {}", factor, variables.size(),
                                 (std::uint64_t{1} << variables.size()) - 1));
  std::vector<std::size_t> by_id(variables.size());
  std::iota(by_id.begin(), by_id.end(), 0);
  std::sort(by_id.begin(), by_id.end(), [&](std::size_t x, std::size_t y) { return variables[x] < variables[y]; });
  std::vector<bool> values(variables.size());
  for (std::size_t i = 0; i < by_id.size() && i < 64; ++i) values[by_id[i]] = state >> i & 1;
  if (messages_.empty()) messages_ = inference_->variable_messages();  // a client asks for many factors
  return bp::factor_belief(graph_, factor, values, messages_);
}

double Believer::propagate(BpCommand const& command) {
  auto options = options_;
  options.tolerance = accelerates() ? command.tolerance : 0;
  messages_.clear();
  history_.clear();
  for (int done = 0;;) {
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
    auto const moved = inference_->movement(command.tolerance);
    if (report.stop == bp::Stop::converged || moved.largest <= command.tolerance)
      return finish(inference_->marginals(), 0);
    if (done > command.least - command.history) history_.push_back(inference_->marginals());
    if (history_.size() > static_cast<std::size_t>(command.history)) history_.pop_front();
    double const moving = share_of(moved);
    bool const enough =
        done > command.least && moving < static_cast<double>(done - command.least) / (command.most - command.least);
    if (enough || done > command.most) return finish(mean(), moving);
  }
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
