/// \file
/// A factor graph on the host: what readers make, writers take, and `to_device` copies.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill {

/// Kind of a factor. The values are those of the file format (`graph/factor_type`).
enum class FactorType : std::uint8_t {
  conjunction = 0,  ///< AND: P(head | all of the body) = p1, P(head | otherwise) = p2
  disjunction = 1,  ///< OR:  P(head | some of the body) = p1, P(head | otherwise) = p2
  table = 2         ///< a dense table of non-negative values over all its variables
};

/// Largest table of a factor of type `table`, in entries. Work and memory grow with it, and so exponentially with
/// arity.
inline constexpr Offset max_table_entries = Offset{1} << 20;

/// A factor graph in flat arrays.
///
/// Edge e is entry e of `factor_variables`: factor a owns edges `factor_offsets[a]` to `factor_offsets[a+1]`, its head
/// first. Horn factors (conjunction, disjunction) range over binary variables, value 1 = true; a body-less conjunction
/// is a prior. F factors, V variables, E edges.
struct HostFactorGraph {
  Index num_variables = 0;                            ///< V
  std::vector<FactorType> factor_type;                ///< [F]
  std::vector<Offset> factor_offsets{0};              ///< [F+1], into factor_variables
  std::vector<Index> factor_variables;                ///< [E], head first
  std::vector<double> p1, p2;                         ///< [F], in [0, 1]; not used by tables
  std::vector<Index> cardinality;                     ///< [V], or empty if all variables are binary
  std::vector<Offset> table_offsets;                  ///< [F+1], into table_values, or empty if there are no tables
  std::vector<double> table_values;                   ///< dense tables, last variable fastest
  std::vector<std::string> variable_names;            ///< [V], or empty
  std::vector<std::vector<std::string>> state_names;  ///< [V], one for each state, or empty

  Index num_factors() const { return static_cast<Index>(factor_type.size()); }
  Offset num_edges() const { return static_cast<Offset>(factor_variables.size()); }
  /// Entries of all factor-to-variable messages: one for each edge, and behind them one for each state of edges to
  /// variables of other than two states.
  Offset num_messages() const;
  Index states(Index variable) const { return cardinality.empty() ? 2 : cardinality[variable]; }
  /// Whether all variables have two states.
  bool is_binary() const;
  bool has_tables() const { return !table_offsets.empty(); }

  /// The variables of factor a, head first.
  std::span<Index const> variables_of(Index factor) const {
    return std::span(factor_variables)
        .subspan(factor_offsets[factor], factor_offsets[factor + 1] - factor_offsets[factor]);
  }
  /// The table of factor a; empty for Horn factors.
  std::span<double const> table_of(Index factor) const {
    if (!has_tables()) return {};
    return std::span(table_values).subspan(table_offsets[factor], table_offsets[factor + 1] - table_offsets[factor]);
  }
  /// The variable's name, or "variable <number>" where there are no names.
  std::string name_of(Index variable) const;
  /// The state's name, or its number where there are no names.
  std::string state_name(Index variable, Index state) const;
};

/// Checks all that kernels rely on: offsets, ids, no variable twice in a factor, parameters, tables.
/// \param source  how messages begin, e.g. the file's name
/// \throws InputError naming the dataset of the file format and the first bad entry
void validate(HostFactorGraph const& graph, std::string const& source = "factor graph");

/// For each variable the edges that touch it, in ascending order of edge id.
struct VariableEdges {
  std::vector<Offset> offsets;  ///< [V+1]
  std::vector<Offset> edges;    ///< [E]
};
VariableEdges edges_of_variables(HostFactorGraph const& graph);

/// The factor of each edge.   \shape [E]
std::vector<Index> factors_of_edges(HostFactorGraph const& graph);

/// Builds a HostFactorGraph factor by factor. Every call checks what it is given; `build` hands the graph over.
///
///     FactorGraphBuilder builder(3);
///     builder.add_prior(0, 0.9).add_prior(1, 0.8);
///     builder.add_conjunction(2, std::vector<Index>{0, 1}, 0.7);
///     HostFactorGraph graph = std::move(builder).build();
class FactorGraphBuilder {
 public:
  explicit FactorGraphBuilder(Index num_variables = 0);

  /// Adds a variable and returns its id. Cardinality other than 2 is for tables only.
  Index add_variable(std::string name = {}, Index cardinality = 2);
  /// P(variable = 1) = p, a conjunction without body.
  FactorGraphBuilder& add_prior(Index variable, double p);
  /// P(head | all of body) = p1, P(head | otherwise) = p2.   \throws InputError
  FactorGraphBuilder& add_conjunction(Index head, std::span<Index const> body, double p1 = 1, double p2 = 0);
  /// P(head | some of body) = p1, P(head | otherwise) = p2.   \throws InputError
  FactorGraphBuilder& add_disjunction(Index head, std::span<Index const> body, double p1 = 1, double p2 = 0);
  /// A dense table over `variables`, last variable fastest.   \throws InputError, CapacityError
  FactorGraphBuilder& add_table(std::span<Index const> variables, std::span<double const> values);

  Index num_variables() const { return graph_.num_variables; }
  HostFactorGraph build() &&;

 private:
  void add_edge(Index variable);
  void discard_unfinished_factor();
  void finish_factor(FactorType type, double p1, double p2);
  void add_factor(FactorType type, Index head, std::span<Index const> body, double p1, double p2);
  HostFactorGraph graph_;
  std::vector<Index> last_factor_of_;  // [V], to find a variable that is twice in one factor
};

}  // namespace hornbill
