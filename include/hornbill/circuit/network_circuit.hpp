/// \file
/// Circuits of Bayesian networks, factor graphs, and any tables of probabilities.
#pragma once

#include <string>
#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/error.hpp>
#include <hornbill/tables/table_network.hpp>

namespace hornbill::circuit {

/// A network in which nothing is possible.
class ImpossibleNetworkError : public InputError {
 public:
  explicit ImpossibleNetworkError(std::string const& message) : InputError(message) {}
};

/// A circuit whose samples are as probable as the network's assignments are, beside all others.
struct NetworkCircuit {
  Circuit circuit;
  Parameters parameters;
  double log_partition = 0;  ///< ln of the sum of the network's products over all assignments
};

/// Makes a circuit of what variable elimination computes: a sum for each cell of the table that a variable leaves, over
/// the variable's states, of a product of the tables before. Its weights are normalised from the leaves on.
///
/// \param order         all variables, the first to be eliminated first
/// \param num_observed  the first so many variables are the circuit's; those behind them are summed out and have no input
/// \source Darwiche 2003; Chavira and Darwiche 2007: the trace of variable elimination
/// \cost nodes and edges as many as cells of elim::Order::total_cells
/// \throws InputError unless each variable is in the order once, for a negative entry, and if none is observed;
///                    ImpossibleNetworkError; CapacityError for a table of too many cells
NetworkCircuit make_circuit(tables::TableNetwork<double> const& network, std::vector<Index> const& order,
                            Index num_observed);

}  // namespace hornbill::circuit
