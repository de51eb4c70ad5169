#include "labels.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include <hornbill/io/text_formats.hpp>

#include "number.hpp"

namespace hornbill::io {
namespace {

/// Each once, ascending.
std::vector<Index> labels_in_use(std::vector<Index> const& labels) {
  std::vector<Index> used;
  Index const largest = labels.empty() ? -1 : *std::max_element(labels.begin(), labels.end());
  if (static_cast<std::size_t>(largest) / 8 < labels.size() + 1) {  // few gaps
    std::vector<bool> occurs(static_cast<std::size_t>(largest + 1));
    for (Index label : labels) occurs[label] = true;
    for (Index label = 0; label <= largest; ++label)
      if (occurs[label]) used.push_back(label);
    return used;
  }
  used = labels;
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

/// The label that a name is; -1 if it is none.
Index label_in(std::string const& name) {
  auto const [state, label] = parse_number<Index>(name);
  bool const is_label = state == Parsed<Index>::State::good && label <= largest_label && std::to_string(label) == name;
  return is_label ? label : -1;
}

/// The labels that all names are, ascending; none if they are not.
std::vector<Index> named_labels(HostFactorGraph const& graph) {
  std::vector<Index> labels;
  for (auto const& name : graph.variable_names) labels.push_back(label_in(name));
  bool const are_labels = !labels.empty() && labels.front() >= 0 &&
                          std::ranges::adjacent_find(labels, std::greater_equal<>()) == labels.end();
  return are_labels ? labels : std::vector<Index>();
}

}  // namespace

void number_variables(HostFactorGraph& graph) {
  auto const labels = labels_in_use(graph.factor_variables);
  graph.num_variables = static_cast<Index>(labels.size());
  if (labels.empty() || labels.back() == graph.num_variables - 1) return;
  for (Index& variable : graph.factor_variables)
    variable = static_cast<Index>(std::lower_bound(labels.begin(), labels.end(), variable) - labels.begin());
  for (Index label : labels) graph.variable_names.push_back(std::to_string(label));
}

bool has_labels_for_names(HostFactorGraph const& graph) { return !named_labels(graph).empty(); }

std::vector<Index> labels_of(HostFactorGraph const& graph) {
  auto labels = named_labels(graph);
  if (!labels.empty()) return labels;
  labels.resize(graph.num_variables);
  std::iota(labels.begin(), labels.end(), 0);
  return labels;
}

}  // namespace hornbill::io
