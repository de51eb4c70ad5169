/// \file
/// Circuits given node by node and edge by edge, as other programs have them.
#pragma once

#include <string>
#include <vector>

#include <hornbill/circuit/circuit.hpp>

namespace hornbill::circuit {

/// Nodes and edges by themselves; children come before parents, the root is last.
struct NodeLists {
  Index num_variables = 0;
  std::vector<NodeKind> kinds;         ///< [nodes]
  std::vector<Offset> child_offsets;   ///< [nodes + 1]
  std::vector<Index> children;         ///< [edges]
  std::vector<Offset> parameters;      ///< [edges] of edges of sums, into sum_parameters; equal ones are tied
  std::vector<Index> variables, rows;  ///< [nodes] of inputs: the variable, and the row of `categorical`
  std::vector<Offset> run_offsets;     ///< [runs + 1] nodes of one kind, without edges among them
  std::vector<double> sum_parameters;  ///< linear
  Index num_categories = 0;            ///< of all variables
  std::vector<double> categorical;     ///< [rows, num_categories]
};

/// The same circuit in vectors and blocks.
struct Gathered {
  Circuit circuit;
  Parameters parameters;
  std::vector<Offset> parameter_of;  ///< [num_sum_parameters], into NodeLists::sum_parameters
};

/// Gathers nodes in vectors, as the runs say or in smaller ones, and edges in blocks. Nodes keep their numbers, and
/// input parameters theirs. Edges whose ties no block shares are blocks of their own.
/// \param where  begins the message, e.g. a file's name
/// \throws InputError naming the node, as validate() does
Gathered gather(NodeLists const& nodes, std::string const& where);

}  // namespace hornbill::circuit
