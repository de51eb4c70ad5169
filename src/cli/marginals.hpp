// hornbill marginals: what is asked for, and what comes out.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <hornbill/io/model.hpp>
#include <hornbill/tables/table_network.hpp>

#include "conflict.hpp"
#include "exact.hpp"

namespace hornbill::cli {

struct MarginalsArguments : ExactArguments {
  std::vector<std::string> each, joint;
  std::string top, against, name = "exact", precision = "double";
  int top_count = 10;
  bool exact = true;
};

/// What is to be propagated: what all sets observe alike is cut out of the tables.
struct MarginalsProblem {
  tables::TableNetwork<double> network;
  HostEvidence cut;
  std::vector<HostEvidence> sets;
  Index num_variables = 0;                ///< of the model; the network's others are of wide factors
  std::vector<std::vector<Index>> joint;  ///< variables as --joint lists them
  std::vector<Index> query;               ///< of --top
  /// of --against: by variable and state, of stored ones P(variable = 1) alone
  std::vector<std::vector<double>> others;
};

struct MarginalsOfSet {
  std::string name;                        ///< of --each
  std::vector<std::vector<double>> p;      ///< by variable and state
  std::vector<std::vector<double>> joint;  ///< as MarginalsProblem::joint, the last variable fastest
  double log_z = 0;
  std::optional<Conflict> conflict;  ///< where nothing is possible
  /// that it took: float, double, or logarithms (in double) where products of the sets that ran together leave the
  /// range of numbers
  std::string arithmetic;

  bool is_possible() const { return std::isfinite(log_z); }
};

struct MarginalsResult {
  elim::Order order;
  std::size_t num_cliques = 0, table_bytes = 0;
  Index sets_at_once = 1;
  std::size_t slice_bytes = 0;  ///< of the device, where tables go through it in slices; else 0
  double slices = 0;
  std::vector<MarginalsOfSet> sets;
  std::string device;
  double order_seconds = 0, plan_seconds = 0, setup_seconds = 0, seconds = 0;
};

/// "road.bif, wet.txt".
inline std::string label_of(MarginalsArguments const& a, MarginalsOfSet const& set) {
  return set.name.empty() ? a.file : a.file + ", " + set.name;
}

/// Cells of a joint marginal, with all states of the model.   \throws CapacityError for too many
std::size_t cells_of_joint(HostFactorGraph const& graph, std::vector<Index> const& joint);

/// Calls visit(cell, states of the variables) for all cells of a joint marginal but those that were not observed.
template <class Visit>
void for_each_possible_cell(MarginalsProblem const& problem, HostFactorGraph const& graph,
                            std::vector<Index> const& joint, Visit const& visit) {
  std::vector<Index> states(joint.size());
  std::vector<bool> is_observed(joint.size());
  for (std::size_t i = 0; i < joint.size(); ++i)
    for (auto const& o : problem.cut)
      if (o.variable == joint[i]) {
        states[i] = o.value;
        is_observed[i] = true;
      }
  for (bool more = true; more;) {
    std::size_t cell = 0;
    for (std::size_t i = 0; i < joint.size(); ++i)
      cell = cell * static_cast<std::size_t>(graph.states(joint[i])) + static_cast<std::size_t>(states[i]);
    visit(cell, states);
    more = false;
    for (std::size_t i = joint.size(); i-- > 0 && !more;)
      if (!is_observed[i]) {
        states[i] = (states[i] + 1) % graph.states(joint[i]);
        more = states[i] != 0;
      }
  }
}

/// Propagates all evidence sets.   \throws CapacityError
MarginalsResult find_marginals(MarginalsArguments const& a, Model const& model, MarginalsProblem const& problem);

/// What --against names, as MarginalsProblem::others.   \throws InputError
std::vector<std::vector<double>> read_others(MarginalsArguments const& a, Model const& model);

void print_text(MarginalsArguments const& a, Model const& model, MarginalsProblem const& problem,
                MarginalsResult const& r);
void print_json(MarginalsArguments const& a, Model const& model, MarginalsProblem const& problem,
                MarginalsResult const& r);
/// Writes -o: of sets that are possible.
void write_marginals(MarginalsArguments const& a, Model& model, MarginalsResult const& r);

}  // namespace hornbill::cli
