// Inference as BINGO's drivers ask for it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <hornbill/bp/inference.hpp>
#include <hornbill/bp/joint_beliefs.hpp>
#include <hornbill/graph/model.hpp>

#include "serve_commands.hpp"

namespace hornbill::cli {

/// What of a factor is looked at to see whether it moves: libDAI's causal inference (.causal_fg) takes the messages
/// into it (bp::movement), its plain one (.fg) the joint belief (bp::JointBeliefs).
enum class FactorLook { messages, joint_belief };

/// Beliefs as the extended libDAI's wrapper forms them: from uniform messages, with the observations so far, until
/// nothing moves by more than the tolerance, neither a variable's belief nor a factor; or, after the least number of
/// iterations, until so few are left that move as the number of iterations run allows. Then the mean of the last
/// beliefs counts.
class Believer {
 public:
  Believer(bp::Options const& options, HostFactorGraph const& graph, std::unique_ptr<bp::Inference> inference,
           FactorLook look)
      : options_(options), graph_(graph), inference_(std::move(inference)), look_(look), joint_beliefs_(graph) {}

  void observe(Observation const& observation);
  void release(Index variable);
  /// The share of variables and factors that had not converged; behind words, for a driver that expects a number, where
  /// observations were withdrawn because they contradict others.
  std::string run(BpCommand const& command);
  /// P(variable = 1), as of the last run.   \throws BadCommand before any
  double belief(Index variable) const;
  /// \param state  as libDAI numbers them: the variable of the smallest id changes fastest
  /// \throws BadCommand before any run and for a state that there is not
  double factor_belief(Index factor, std::uint64_t state);

 private:
  double propagate(BpCommand const& command);
  bool accelerates() const;
  bp::Movement movement(double tolerance, bool count_all);
  double share_of(bp::Movement const& moved) const;
  void withdraw(Index found_at);
  double finish(std::vector<double> beliefs, double moving);
  std::vector<double> mean() const;
  void require_run() const;

  bp::Options options_;
  HostFactorGraph const& graph_;
  std::unique_ptr<bp::Inference> inference_;
  FactorLook look_;
  bp::JointBeliefs joint_beliefs_;
  std::vector<double> beliefs_;   ///< of the last run
  std::vector<double> messages_;  ///< into factors, once they are asked for or, for joint beliefs, at the last look
  std::deque<std::vector<double>> history_;
  std::vector<Index> recent_;  ///< observed since the last run
  std::string withdrawn_;      ///< the observations of which the last run found that they contradict others
};

}  // namespace hornbill::cli
