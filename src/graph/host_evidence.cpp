#include <hornbill/graph/host_evidence.hpp>

#include <cmath>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill {

void validate(HostEvidence const& evidence, HostFactorGraph const& graph, std::string const& source) {
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    auto const& [v, value, likelihood] = evidence[i];
    if (v < 0 || v >= graph.num_variables)
      throw InputError(source, "", fmt::format("entry {} is evidence on variable {}, which is unknown: variables are 0 to {}",
                                               i, v, graph.num_variables - 1));
    if (evidence[i].is_hard()) {
      if (value >= graph.states(v))
        throw InputError(source, "", fmt::format("entry {} gives variable {} the value {}, but its values are 0 to {}", i, v,
                                                 value, graph.states(v) - 1));
      continue;
    }
    if (graph.states(v) != 2)
      throw InputError(source, "", fmt::format("entry {} is soft evidence on variable {}, which has {} states; two are needed",
                                               i, v, graph.states(v)));
    for (double l : likelihood)
      if (!std::isgreaterequal(l, 0) || std::isinf(l))
        throw InputError(source, "", fmt::format("entry {} (variable {}): likelihood {} is not a finite number of at least 0",
                                                 i, v, l));
    if (likelihood[0] == 0 && likelihood[1] == 0)
      throw InputError(source, "", fmt::format("entry {} (variable {}): both likelihoods are 0", i, v));
  }
}

}  // namespace hornbill
