#include <hornbill/graph/host_evidence.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill {
namespace {

bool rules_out(Observation const& o, Index state) { return o.is_hard() ? o.value != state : o.likelihood[state] == 0; }

std::unordered_map<Index, Observation> by_variable(HostEvidence const& evidence) {
  std::unordered_map<Index, Observation> last;
  for (auto const& o : evidence) last.insert_or_assign(o.variable, o);
  return last;
}

}  // namespace

HostEvidence last_of_each_variable(HostEvidence const& evidence) {
  HostEvidence last;
  std::unordered_map<Index, std::size_t> place;
  for (auto const& o : evidence) {
    auto const [known, is_new] = place.try_emplace(o.variable, last.size());
    if (is_new)
      last.push_back(o);
    else
      last[known->second] = o;
  }
  return last;
}

bool rules_out_as_much(HostEvidence const& evidence, HostEvidence const& as) {
  auto const observed = by_variable(evidence), needed = by_variable(as);
  return std::all_of(needed.begin(), needed.end(), [&](auto const& entry) {
    auto const& [variable, other] = entry;
    auto const found = observed.find(variable);
    Observation const one = found != observed.end() ? found->second : Observation::soft(variable, 1, 1);
    if (one.is_hard() && other.is_hard()) return one.value == other.value;
    return (!rules_out(other, 0) || rules_out(one, 0)) && (!rules_out(other, 1) || rules_out(one, 1));
  });
}

void validate(HostEvidence const& evidence, HostFactorGraph const& graph, std::string const& source) {
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    auto const& [v, value, likelihood] = evidence[i];
    if (v < 0 || v >= graph.num_variables)
      throw InputError(source, "",
                       fmt::format("entry {} is evidence on variable {}, which is unknown: variables are 0 to {}", i, v,
                                   graph.num_variables - 1));
    if (evidence[i].is_hard()) {
      if (value >= graph.states(v))
        throw InputError(source, "",
                         fmt::format("entry {} gives variable {} the value {}, but its values are 0 to {}", i, v, value,
                                     graph.states(v) - 1));
      continue;
    }
    if (graph.states(v) != 2)
      throw InputError(source, "",
                       fmt::format("entry {} is soft evidence on variable {}, which has {} states; two are needed", i,
                                   v, graph.states(v)));
    for (double l : likelihood)
      if (!std::isgreaterequal(l, 0) || std::isinf(l))
        throw InputError(
            source, "",
            fmt::format("entry {} (variable {}): likelihood {} is not a finite number of at least 0", i, v, l));
    if (likelihood[0] == 0 && likelihood[1] == 0)
      throw InputError(source, "", fmt::format("entry {} (variable {}): both likelihoods are 0", i, v));
  }
}

}  // namespace hornbill
