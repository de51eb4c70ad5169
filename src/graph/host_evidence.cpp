#include <hornbill/graph/host_evidence.hpp>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill {
namespace {

bool rules_out(Observation const& o, Index state) {
  if (o.is_hard()) return o.value != state;
  return state < std::ssize(o.likelihoods) && o.likelihoods[state] == 0;
}

/// States that an observation says something of; the value of a hard one is among them.
Index states_in(Observation const& o) { return o.is_hard() ? o.value + 1 : static_cast<Index>(o.likelihoods.size()); }

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
    for (Index s = 0; s < std::max({Index{2}, states_in(one), states_in(other)}); ++s)
      if (rules_out(other, s) && !rules_out(one, s)) return false;
    return true;
  });
}

void validate_likelihoods(Observation const& o) {
  bool is_some_possible = false;
  for (double l : o.likelihoods) {
    if (!std::isgreaterequal(l, 0) || std::isinf(l))
      throw InputError(fmt::format("variable {}: likelihood {} is not a finite number of at least 0", o.variable, l));
    is_some_possible = is_some_possible || l > 0;
  }
  if (!is_some_possible) throw InputError(fmt::format("variable {}: all likelihoods are 0", o.variable));
}

void validate(Observation const& o, HostFactorGraph const& graph) {
  Index const v = o.variable;
  if (v < 0 || v >= graph.num_variables)
    throw InputError(
        fmt::format("evidence on variable {}, which is unknown: variables are 0 to {}", v, graph.num_variables - 1));
  if (o.is_hard()) {
    if (o.value >= graph.states(v))
      throw InputError(fmt::format("variable {} is given the value {}, but its values are 0 to {}", v, o.value,
                                   graph.states(v) - 1));
    return;
  }
  if (std::ssize(o.likelihoods) != graph.states(v))
    throw InputError(fmt::format("variable {} has {} states, so {} likelihoods are needed, not {}", v, graph.states(v),
                                 graph.states(v), o.likelihoods.size()));
  validate_likelihoods(o);
}

void validate(HostEvidence const& evidence, HostFactorGraph const& graph, std::string const& source) {
  for (std::size_t i = 0; i < evidence.size(); ++i) try {
      validate(evidence[i], graph);
    } catch (InputError const& e) {
      throw InputError(source, "", fmt::format("entry {}: {}", i, e.what()));
    }
}

}  // namespace hornbill
