// Marginals of all states of a model's variables: how they are printed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <hornbill/graph/model.hpp>

namespace hornbill::cli {

/// The marginal of a variable.   \shape [states]
using MarginalOf = std::function<std::vector<double>(Index)>;

/// P(variable = state) of what is kept as StoredMarginals are.
class StateMarginals {
 public:
  /// Keeps references.
  StateMarginals(HostFactorGraph const& graph, StoredMarginals const& stored);

  /// \shape [states of the variable]
  std::vector<double> of(Index variable) const;
  std::vector<std::vector<double>> by_variable() const;

 private:
  HostFactorGraph const& graph_;
  StoredMarginals const& stored_;
  std::vector<Offset> offsets_;  // [V+1], into stored_.p_states; empty where P(variable = 1) alone is stored
};

std::vector<std::string> state_names(HostFactorGraph const& graph, Index variable);

/// The names in a model, where it has some: by variable, as marginals are.
nlohmann::json names_json(HostFactorGraph const& graph);

/// Prints the marginals of the first variables, and where to find the others.
/// \param options  that tell of the others
void print_first_marginals(HostFactorGraph const& graph, MarginalOf const& marginal_of, char const* options);

}  // namespace hornbill::cli
