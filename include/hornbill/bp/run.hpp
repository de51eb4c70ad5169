/// \file
/// Loopy belief propagation: running a plan, and reading the marginals.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/bp/acceleration.hpp>
#include <hornbill/bp/evidence.hpp>
#include <hornbill/bp/evidence_sets.hpp>
#include <hornbill/bp/factor_graph.hpp>
#include <hornbill/bp/plan.hpp>
#include <hornbill/bp/report.hpp>
#include <hornbill/bp/state.hpp>

namespace hornbill::bp {

/// When to stop, and how to update.
struct Options {
  int max_iterations = 10000;
  /// Stop when the residual, the largest change of any marginal over an iteration (but see run()), is below this; 0 =
  /// never.
  double tolerance = 1e-6;
  double time_limit = std::numeric_limits<double>::infinity();  ///< \units seconds
  double damping = 0;              ///< in [0, 1): log-odds become damping * old + (1 - damping) * new, as in libDAI
  Acceleration acceleration = {};  ///< of what has not converged. Not with a `damping`, or without a tolerance to reach
  bool warm_start = true;          ///< go on from the state's messages, where a run has left any
  int check_every = 0;  ///< iterations between judgements of the residual, at most 64; 0 = the backend's choice
  /// Called whenever the host looks, after one or several judgements, with the iterations run and the residual.
  std::function<void(int iterations, double residual)> progress = nullptr;
};

/// Runs belief propagation until it converges or meets a limit. Waits for `exec`.
///
/// With damping, marginals change little only because steps are short, so the residual is their largest change divided
/// by 1 - damping. RESIDUAL and SEQMAX leave most messages as they are: there it is the largest change of any marginal
/// *or* of what any one message, had it been updated, would change: its own probability, or (RESIDUAL) that of its
/// variable.
///
/// Where a state goes on with the same Evidence, whatever has been added to it since, a *local update* comes first
/// (PlanOptions::local_update): factors around the changes are updated, then those around variables that move by more
/// than a tenth of the tolerance, until none do. One iteration of all then judges, and is the only one if nothing was
/// overlooked. Where too much moves, iterations take over. Not if hard evidence was changed or withdrawn, with a
/// `damping`, or without a tolerance to reach.
///
/// Messages are equations 8 and 9 of hornbill/bp/README.md in log-odds; none is ever NaN, and exact zeros stay exact.
/// Evidence must be committed. Contradictory evidence ends the run with Stop::contradiction and the variable, and the
/// state's next run starts cold.
/// \throws InputError for options out of range
/// \determinism bitwise for each backend, whatever the schedule's division into batches
template <class ExecutionSpace, class Value, class MemorySpace>
Report run(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
           Evidence<Value, MemorySpace> const& evidence, Plan<MemorySpace> const& plan,
           State<Value, MemorySpace>& state, Options const& options = {});

/// The same of several evidence sets at once, which the plan must be made for (PlanOptions::sets). Each has a report,
/// and is left alone once it has converged. A single contradiction makes the next run of them all start cold.
/// \shape [sets]
/// \throws ShapeError if plan, state and evidence are not for the same number of sets
template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<Report> run(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                        EvidenceSets<Value, MemorySpace> const& evidence, Plan<MemorySpace> const& plan,
                        State<Value, MemorySpace>& state, Options const& options = {});

/// P(variable = 1) of every variable, from the last run; of one evidence set.   \shape [V]   Waits for `exec`.
/// \throws InputError for a set that the state does not have
template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> marginals(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                              State<Value, MemorySpace> const& state, Index set = 0);

/// log(P(variable = 1) / P(variable = 0)) of every binary variable, from the last run; of one evidence set. These tell
/// apart what probabilities of 0 and 1 do not.
/// \shape [V]   Waits for `exec`.
/// \throws InputError for a set that the state does not have
template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> log_odds(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                             State<Value, MemorySpace> const& state, Index set = 0);

/// The same of one variable, in every evidence set.   \shape [S]   Waits for `exec`.
/// \throws InputError for a variable that the graph does not have
template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> log_odds_of_variable(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                         State<Value, MemorySpace> const& state, Index variable);

/// P(variable = state) of every state of every variable, one variable after another; of one evidence set.
/// \shape [sum of cardinalities]   Waits for `exec`.   \throws InputError for a set that the state does not have
template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> state_marginals(ExecutionSpace const& exec, HostFactorGraph const& host,
                                    FactorGraph<Value, MemorySpace> const& graph,
                                    State<Value, MemorySpace> const& state, Index set = 0);

/// Factor-to-variable messages as log-odds, by edge; of one evidence set. Where there are variables of other than two
/// states, their edges' entries say nothing, and behind all edges' come log-values for the states of each of theirs.
/// \shape [E], or more: HostFactorGraph::num_messages()   Waits for `exec`.
/// \throws InputError for a set that the state does not have
template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                    State<Value, MemorySpace> const& state, Index set = 0);

/// Variable-to-factor messages as log-odds, by edge, and behind them log-values of states, as factor_messages() has
/// them. Log-values are up to a constant for each edge.
/// \shape [E], or more: HostFactorGraph::num_messages()   Waits for `exec`.
/// \throws ShapeError for a state of several evidence sets
template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> variable_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                      Evidence<Value, MemorySpace> const& evidence,
                                      State<Value, MemorySpace> const& state);

/// Puts what factor_messages() gave into a state, for all its evidence sets, so that its next run starts from them;
/// what they say with certainty, that run forgets. Where a run with acceleration made them, let the next begin with it
/// too (Acceleration::after = 0).
/// \throws ShapeError if they are not as many as the state's   \throws InputError for NaN
template <class ExecutionSpace, class Value, class MemorySpace>
void set_factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                         std::vector<double> const& log_odds, State<Value, MemorySpace>& state);

/// The same of messages from a run with this evidence: the next run with it keeps what they say with certainty, and a
/// local update knows what has been added to the evidence since. Also of messages from a run with less evidence
/// (`rules_out_as_much`), but then there is no local update, as there is none with EvidenceSets.
/// \param of_sets  those of each evidence set
/// \tparam AnyEvidence  Evidence, or EvidenceSets, of which each rules out as much as its messages follow from
/// \throws ShapeError, InputError as above
template <class ExecutionSpace, class Value, class MemorySpace, class AnyEvidence>
void set_factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                         std::vector<std::vector<double>> const& of_sets, AnyEvidence const& evidence,
                         State<Value, MemorySpace>& state);

/// Messages that say nothing where these are certain.
inline std::vector<double> without_certainty(std::vector<double> log_odds) {
  for (double& l : log_odds)
    if (std::isinf(l)) l = 0;
  return log_odds;
}

}  // namespace hornbill::bp

#include <hornbill/bp/detail/run.hpp>
