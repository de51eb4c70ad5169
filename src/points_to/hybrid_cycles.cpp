#include "hybrid_cycles.hpp"

#include <algorithm>

#include "components.hpp"

namespace hornbill::points_to {
namespace {

using Pair = std::pair<Index, Index>;

/// Edges among contents of pointers, which come first, and variables, as sets flow along them.
class ContentGraph {
 public:
  explicit ContentGraph(HostPlan const& plan)
      : content_of_(plan.num_variables, none), number_of_(plan.num_variables, none) {
    add_contents(plan);
    if (num_contents() > 0) add_edges(plan);
  }
  Index num_contents() const { return static_cast<Index>(pointers_.size()); }
  Rows rows() const {
    return rows_of(num_contents() + static_cast<Index>(variables_.size()), [&](auto const& add) {
      for (auto const& [from, to] : edges_) add(from, to);
    });
  }
  bool is_content(Index node) const { return node < num_contents(); }
  Index pointer(Index content) const { return pointers_[content]; }
  Index variable(Index node) const { return variables_[node - num_contents()]; }

 private:
  static constexpr Index none = -1, is_loaded = -2;

  /// A cycle enters a content by a store and leaves it by a load.
  void add_contents(HostPlan const& plan) {
    for (auto const& c : plan.constraints)
      if (c.kind == ConstraintKind::load) content_of_[c.source] = is_loaded;
    for (auto const& c : plan.constraints) {
      if (c.kind != ConstraintKind::store || content_of_[c.destination] != is_loaded) continue;
      content_of_[c.destination] = num_contents();
      pointers_.push_back(c.destination);
    }
  }
  void add_edges(HostPlan const& plan) {
    for (auto const& c : plan.constraints) {
      if (c.kind == ConstraintKind::copy) edges_.emplace_back(number(c.source), number(c.destination));
      if (c.kind == ConstraintKind::load && content_of_[c.source] >= 0)
        edges_.emplace_back(content_of_[c.source], number(c.destination));
      if (c.kind == ConstraintKind::store && content_of_[c.destination] >= 0)
        edges_.emplace_back(number(c.source), content_of_[c.destination]);
    }
  }
  Index number(Index variable) {
    auto& number = number_of_[variable];
    if (number == none) {
      number = num_contents() + static_cast<Index>(variables_.size());
      variables_.push_back(variable);
    }
    return number;
  }

  HugePageVector<Index> content_of_, number_of_;  // of variables, and `none`
  std::vector<Index> pointers_, variables_;       // of contents, and of what follows them
  HugePageVector<Pair> edges_;
};

}  // namespace

std::vector<Pair> find_hybrid_cycles(HostPlan const& plan) {
  ContentGraph const graph(plan);
  Components components;
  std::vector<Pair> found;
  components.find(graph.rows(), graph.num_contents(), [&](Index component) {
    auto const members = components.members(component);
    auto const is_content = [&](Index node) { return graph.is_content(node); };
    if (members.size() < 2 || std::ranges::count_if(members, is_content) != 1) return;
    found.emplace_back(graph.pointer(*std::ranges::find_if(members, is_content)),
                       graph.variable(*std::ranges::find_if_not(members, is_content)));
  });
  return found;
}

}  // namespace hornbill::points_to
