/// \file
/// Synthetic derivation graphs: the shape of what Bayesian program analysis produces, at any size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill {

/// Sizes and shape of a derivation graph. One variable and one factor for each tuple (OR) and for each clause (AND).
struct GeneratorOptions {
  Index num_variables = 1000;       ///< tuples and clauses
  Offset num_edges = 3400;          ///< of the factor graph: a head for each factor, premises, and clauses of tuples
  Index num_alarms = 30;            ///< tuples that no clause uses
  Index num_true_alarms = 6;        ///< aimed at by the sampled truth
  int depth = 20;                   ///< longest derivation
  Index largest_body = 8;           ///< premises of a clause, unless the number of edges asks for more
  double rule_probability = 0.999;  ///< p of every clause AND(p, 0)
  bool names = true;                ///< name variables tuple_7, input_2, clause_5, alarm_3
  std::uint64_t seed = 1;
};

/// How to read "number of edges" in Table 1 of the FastLBP paper.
enum class EdgeReading {
  bayesian_network,  ///< premise -> clause and clause -> tuple; the factor graph has num_variables more
  factor_graph
};

/// The sizes of one of FastLBP's benchmarks: weblech, hedc, luindex, jspider, avrora, xalan, sunflow, ftp.
/// \throws InputError for another name, listing the known
GeneratorOptions options_like(std::string_view benchmark, EdgeReading reading = EdgeReading::bayesian_network);
/// The names that options_like() knows, by size.
std::vector<std::string> known_benchmarks();

/// A generated graph and its sampled truth.
struct GeneratedGraph {
  HostFactorGraph graph;
  std::vector<Index> alarms, true_alarms;
  /// Labels of n alarms by the truth, in a random order.
  HostEvidence labels(std::size_t n) const;
};

/// Generates a graph with exactly the sizes asked for. Disjunctions and uses of premises have heavy tails; ids are a
/// random permutation, and factors stand in the order of their heads, as in BINGO's files. The same options give the
/// same graph on every machine.
/// \throws InputError if the sizes do not fit together
GeneratedGraph generate(GeneratorOptions const& options);

}  // namespace hornbill
