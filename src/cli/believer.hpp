// Inference as BINGO's drivers ask for it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <hornbill/bp/inference.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/model.hpp>

namespace hornbill::cli {

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

/// Beliefs as the extended libDAI's wrapper forms them: from uniform messages, with the observations so far, until
/// nothing moves by more than the tolerance, neither a belief nor the messages into a factor (bp::movement); or, after
/// the least number of iterations, until so few are left that move as the number of iterations run allows. Then the
/// mean of the last beliefs counts.
class Believer {
 public:
  Believer(bp::Options const& options, HostFactorGraph const& graph, std::unique_ptr<bp::Inference> inference)
      : options_(options), graph_(graph), inference_(std::move(inference)) {}

  void observe(Observation const& observation);
  void release(Index variable);
  /// The share of variables and factors that had not converged; behind words, for a driver that expects a number, where
  /// observations were withdrawn because they contradict others.
  std::string run(BpCommand const& command);
  /// P(variable = 1), as of the last run.   \throws BadCommand before any
  double belief(Index variable) const;
  /// \param state  as libDAI numbers them: the variable of the smallest id changes fastest
  /// \throws BadCommand before any run and for a state that there is not   \throws InputError for a table
  double factor_belief(Index factor, std::uint64_t state);

 private:
  double propagate(BpCommand const& command);
  bool accelerates() const;
  double share_of(bp::Movement const& moved) const;
  void withdraw(Index found_at);
  double finish(std::vector<double> beliefs, double moving);
  std::vector<double> mean() const;
  void require_run() const;

  bp::Options options_;
  HostFactorGraph const& graph_;
  std::unique_ptr<bp::Inference> inference_;
  std::vector<double> beliefs_, messages_;  ///< of the last run; messages once they are asked for
  std::deque<std::vector<double>> history_;
  std::vector<Index> recent_;  ///< observed since the last run
  std::string withdrawn_;      ///< the observations of which the last run found that they contradict others
};

}  // namespace hornbill::cli
