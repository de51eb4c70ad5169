// What all subcommands that infer share: the options of a solver, and evidence by name.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <hornbill/bp/host_plan.hpp>
#include <hornbill/bp/inference.hpp>
#include <hornbill/bp/run.hpp>
#include <hornbill/bp/schedule.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/tables/table_network.hpp>

namespace hornbill::cli {

struct SolverArguments {
  std::string file, schedule = "auto", backend, precision = "double", damping = "auto";
  std::optional<double> share;
  std::optional<std::uint64_t> seed;
  bp::Options options;
  std::size_t memory_limit = 0;
};

/// Adds the options of a solver, but for those of a single run's output.
void add_solver_options(CLI::App& command, SolverArguments& a);

/// Fills in what was left to defaults: the backend, and what --damping says.
void settle(SolverArguments& a);

/// The strategy of --schedule with --seed and --share, where it has them; and these as they are then, to be reported.
/// Needs Kokkos.
/// \param sets  how many evidence sets are run at once
bp::Strategy choose_strategy(SolverArguments& a, Model const& model, Index sets);

/// Whether a strategy cannot run several evidence sets at once.
bool runs_one_set_at_a_time(bp::Strategy const& strategy);

/// \throws CapacityError if the device has not enough memory, or --memory-limit does not allow it
void require_memory(SolverArguments const& a, HostFactorGraph const& graph, bp::HostPlan const& plan);

/// Inference on --backend with --precision.   \throws CapacityError as require_memory() does
std::unique_ptr<bp::Inference> make_inference(SolverArguments const& a, Model const& model,
                                              bp::Strategy const& strategy, bp::PlanOptions const& options);

/// The share of variables whose probability differs by more than the tolerance between two iterations.
double share_that_moved(std::vector<double> const& before, std::vector<double> const& after, double tolerance);

/// What may make a run converge that did not, in words.
std::string what_may_help(SolverArguments const& a, bp::Stop stop);

/// Reads a model, and prints what the reader warns of.   \throws InputError, CapacityError
Model read_model(std::string const& file);
/// The same of costs.
tables::CostNetwork read_cost_network(std::string const& file);

/// An evidence set of the model, or of a text file (.evid: of the UAI competitions); of a session of `hornbill rank`
/// the labels that contradict no others.
/// \throws InputError, also for a session of another model
HostEvidence read_evidence(std::string const& file, Model const& model, std::string const& source);

/// Several, one after another.
HostEvidence read_evidence(std::string const& file, Model const& model, std::vector<std::string> const& sources);

/// What --evidence gives, and with it each set of --each, where there are any.
std::vector<HostEvidence> read_evidence_sets(std::string const& file, Model const& model,
                                             std::vector<std::string> const& evidence,
                                             std::vector<std::string> const& each);

/// Under which name the marginals of an evidence set of --each are stored; of no such set, `name`.
std::string stored_name(std::string const& name, std::string const& set);
/// \throws UsageError where two sets of --each would be stored under one name
void require_names_apart(std::string const& name, std::vector<std::string> const& each);

/// The most probable variables of a query, most probable first; ties by number.
std::vector<Index> most_probable(std::vector<Index> query, std::vector<double> const& p_true, int count);

/// Of variables whose names begin with one place, file:line:column and a blank, the first.
std::vector<Index> first_of_places(std::vector<Index> const& variables, HostFactorGraph const& graph);

/// A query of the model, or `all` variables.   \throws InputError listing what there is
std::vector<Index> find_query(std::string const& file, Model const& model, std::string const& name);

/// One line that is overwritten, on a terminal only.
class Progress {
 public:
  /// \param what  is counted, and what is hoped to become small
  explicit Progress(int most, char const* what = "iterations, residual");
  ~Progress();
  void operator()(int done, double change);

 private:
  int max_;
  char const* what_;
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

/// Options with which a run shows its progress.
bp::Options with_progress(bp::Options options);

}  // namespace hornbill::cli
