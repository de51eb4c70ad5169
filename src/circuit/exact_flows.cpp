#include <hornbill/circuit/detail/exact_flows.hpp>

#include <algorithm>

namespace hornbill::circuit::detail {

ExactFlows::ExactFlows(Circuit const& circuit, Parameters const& parameters)
    : circuit_(circuit), parameters_(parameters), sum_(parameters.sum.size()) {}

void ExactFlows::run(std::vector<Scaled> const& values, std::size_t width, std::size_t sample, double weight) {
  auto const value = [&](Index node) { return values[static_cast<std::size_t>(node) * width + sample]; };
  nodes_.assign(static_cast<std::size_t>(circuit_.num_nodes()), 0);
  nodes_.back() = 1;
  for (auto vector = circuit_.vectors.rbegin(); vector != circuit_.vectors.rend(); ++vector) {
    if (vector->kind == NodeKind::product)
      for (auto const& factor : circuit_.factors_of(*vector))
        for (Index i = 0; i < vector->size; ++i)
          nodes_[static_cast<std::size_t>(circuit_.factor_of(factor, i))] +=
              nodes_[static_cast<std::size_t>(vector->first + i)];
    if (vector->kind != NodeKind::sum) continue;
    for (auto const& block : circuit_.blocks_of(*vector))
      for (Index r = 0; r < block.rows; ++r) {
        double const flow = nodes_[static_cast<std::size_t>(block.sum + r)];
        Scaled const of_sum = value(block.sum + r);
        if (flow == 0 || of_sum.mantissa == 0) continue;
        for (Index c = 0; c < block.columns; ++c) {
          Scaled const of_child = value(block.child + c);
          if (of_child.mantissa == 0) continue;
          auto const parameter = static_cast<std::size_t>(block.parameter + Offset{r} * block.columns + c);
          // by the parameter first: the quotient alone may be too large
          Scaled const edge = product(scaled(parameters_.sum[parameter]), of_child);
          if (edge.mantissa == 0) continue;
          double const of_edge = flow * (edge.mantissa / of_sum.mantissa) *
                                 power_of_two<double>(std::min<Exponent>(edge.exponent - of_sum.exponent, 1));
          nodes_[static_cast<std::size_t>(block.child + c)] += of_edge;
          sum_[parameter] += weight * of_edge;
        }
      }
  }
}

InputNodeRows input_nodes(Circuit const& circuit, HostPlan const& plan) {
  InputNodeRows result;
  for (auto const& vector : circuit.vectors)
    for (Index i = 0; vector.kind == NodeKind::input && i < vector.size; ++i) {
      result.nodes.push_back(vector.first + i);
      result.rows.push_back(plan.row_of_node[static_cast<std::size_t>(vector.first + i)]);
    }
  return result;
}

}  // namespace hornbill::circuit::detail
