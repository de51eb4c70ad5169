#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/jtree/calibration.hpp>

#include "../elim/variable_order.hpp"

namespace hornbill::jtree {
namespace {

// of a node; more are gathered in groups, as each message out of a node reads all others
constexpr std::size_t max_links = 4;
constexpr std::size_t group_links = 3;
// a table of this part of a clique's cells, or less, is made for less than it saves
constexpr double small = 8;

/// Two nodes, and what they share; message[i] is the table that goes to node[i].
struct Link {
  std::array<Index, 2> node;
  std::vector<Index> separator;
  std::array<Index, 2> message{-1, -1};
};
struct Node {
  std::vector<Index> potentials;  // tables
  std::vector<Index> links;
};

class Planner {
 public:
  Planner(std::vector<Index> cardinality, JoinTree tree, PlanOptions const& options)
      : num_variables_(static_cast<Index>(cardinality.size())), has_sets_(options.num_sets > 1) {
    if (has_sets_) cardinality.push_back(options.num_sets);
    plan_.tree = std::move(tree);
    plan_.num_sets = options.num_sets;
    plan_.reductions = tables::HostReductions(std::move(cardinality));
    in_order_ = elim::VariableOrder(plan_.tree.order.variables, static_cast<std::size_t>(num_variables_));
    if (has_sets_) in_order_.append();
  }

  HostPlan make(std::vector<std::span<Index const>> const& scopes, PlanOptions const& options) {
    reserve(scopes.size());
    add_given(scopes);
    make_nodes();
    for (Index n = 0; n < std::ssize(nodes_); ++n) gather_links(n);
    send_messages();
    make_marginals();
    for (auto const& joint : options.joint) make_joint(joint);
    make_total();
    return std::move(plan_);
  }

 private:
  /// For what most trees need: each table with its evidence, two messages a link, each variable's marginal.
  void reserve(std::size_t num_scopes) {
    auto const variables = static_cast<std::size_t>(num_variables_), cliques = plan_.tree.cliques.size();
    std::size_t const reductions = num_scopes + 2 * cliques + variables;
    plan_.reductions.reserve(num_scopes + variables + reductions, reductions);
    nodes_.reserve(cliques);
    links_.reserve(cliques);
  }
  void add_given(std::vector<std::span<Index const>> const& scopes) {
    std::vector<Index> smallest(static_cast<std::size_t>(num_variables_), -1), without;
    for (auto const& scope : scopes) {
      Index const table = plan_.reductions.add_table(sorted(scope));
      if (scope.empty()) without.push_back(table);
      for (Index v : scope)
        if (smallest[v] < 0 || cells(table) < cells(smallest[v])) smallest[v] = table;
    }
    plan_.first_evidence = plan_.reductions.num_given();
    std::vector<std::vector<Index>> evidence(scopes.size());  // that joins each table
    for (Index v = 0; v < num_variables_; ++v) {
      Index const table =
          plan_.reductions.add_table(has_sets_ ? std::vector<Index>{v, num_variables_} : std::vector<Index>{v});
      if (smallest[v] >= 0)
        evidence[smallest[v]].push_back(table);
      else
        alone_.push_back(table);
    }
    for (Index t = 0; t < plan_.first_evidence; ++t) {
      if (scope_of(t).empty()) continue;
      evidence[t].push_back(t);
      potentials_.push_back(evidence[t].size() == 1 ? t : product(evidence[t], scope_of(t)));
    }
    totals_ = std::move(without);
  }

  void make_nodes() {
    auto const& tree = plan_.tree;
    nodes_.resize(tree.cliques.size());
    for (auto* list : {&potentials_, &alone_})
      for (Index t : *list) {
        Index const clique = tree.clique_of[scope_of(t).front()];
        if (auto const missing = first_missing(scope_of(t), tree.cliques[clique]))
          throw InputError(fmt::format("a table has the variables {} and {}, which no clique of the tree has both",
                                       scope_of(t).front(), *missing));
        nodes_[clique].potentials.push_back(t);
      }
    for (std::size_t c = 0; c < nodes_.size(); ++c) {
      // all messages of the clique use what is merged, so it may be as large
      double const cells = plan_.reductions.states_of(tree.cliques[c]);
      nodes_[c].potentials =
          tables::merge_for(plan_.reductions, std::move(nodes_[c].potentials), cells, cells, in_order_.places());
      if (tree.parent[c] >= 0) connect(static_cast<Index>(c), tree.parent[c], tree.separators[c]);
    }
  }

  void connect(Index a, Index b, std::vector<Index> separator) {
    nodes_[a].links.push_back(static_cast<Index>(links_.size()));
    nodes_[b].links.push_back(static_cast<Index>(links_.size()));
    links_.push_back({{a, b}, std::move(separator)});
  }

  /// Puts nodes between a node of many links and those at their other ends.
  void gather_links(Index n) {
    while (nodes_[n].links.size() > max_links) {
      auto links = std::exchange(nodes_[n].links, {});
      std::stable_sort(links.begin(), links.end(), [&](Index a, Index b) {
        auto const &s = links_[a].separator, &t = links_[b].separator;
        return std::lexicographical_compare(s.begin(), s.end(), t.begin(), t.end(), std::cref(in_order_));
      });
      for (std::size_t begin = 0; begin < links.size(); begin += group_links) {
        std::size_t const end = std::min(begin + group_links, links.size());
        if (end - begin == 1) {
          nodes_[n].links.push_back(links[begin]);
          continue;
        }
        auto const between = static_cast<Index>(nodes_.size());
        nodes_.emplace_back();
        std::vector<Index> shared;
        for (std::size_t i = begin; i < end; ++i) {
          auto& link = links_[links[i]];
          link.node[link.node[0] == n ? 0 : 1] = between;
          nodes_[between].links.push_back(links[i]);
          shared = in_order_.united(shared, link.separator);
        }
        connect(n, between, std::move(shared));
      }
    }
  }

  /// All messages, those to the root first.
  void send_messages() {
    std::vector<Index> order, to_parent(nodes_.size(), -1);  // links
    std::vector<bool> seen(nodes_.size());
    for (Index root = 0; root < std::ssize(nodes_); ++root) {
      if (seen[root]) continue;
      seen[root] = true;
      order.push_back(root);
      for (auto next = order.size() - 1; next < order.size(); ++next)
        for (Index l : nodes_[order[next]].links) {
          Index const other = links_[l].node[links_[l].node[0] == order[next] ? 1 : 0];
          if (seen[other]) continue;
          seen[other] = true;
          to_parent[other] = l;
          order.push_back(other);
        }
    }
    for (auto n = order.rbegin(); n != order.rend(); ++n)
      if (to_parent[*n] >= 0) send(*n, to_parent[*n]);
    for (Index n : order)
      for (Index l : nodes_[n].links)
        if (l != to_parent[n]) send(n, l);
  }

  void send(Index from, Index link) {
    auto inputs = inputs_of(from, link);
    auto const all = scope_of_all(inputs);
    std::vector<Index> kept, eliminated;
    for (Index v : all) (is_kept(v, links_[link].separator) ? kept : eliminated).push_back(v);
    links_[link].message[links_[link].node[0] == from ? 1 : 0] =
        plan_.reductions.add_reduction(std::move(inputs), std::move(kept), std::move(eliminated));
  }

  /// A node's tables, and the messages to it but that along one link.
  std::vector<Index> inputs_of(Index n, Index but = -1) const {
    auto inputs = nodes_[n].potentials;
    for (Index l : nodes_[n].links)
      if (l != but) inputs.push_back(links_[l].message[links_[l].node[0] == n ? 0 : 1]);
    return inputs;
  }

  void make_marginals() {
    std::vector<Index> link_of(static_cast<std::size_t>(num_variables_), -1);
    std::vector<double> separator_cells;
    for (std::size_t l = 0; l < links_.size(); ++l) {
      separator_cells.push_back(plan_.reductions.states_of(links_[l].separator));
      for (Index v : links_[l].separator)
        if (link_of[v] < 0 || separator_cells[l] < separator_cells[link_of[v]]) link_of[v] = static_cast<Index>(l);
    }
    plan_.marginals.assign(static_cast<std::size_t>(num_variables_), -1);
    std::vector<std::vector<Index>> own(plan_.tree.cliques.size());  // variables of one clique alone
    for (Index v = 0; v < num_variables_; ++v)
      if (link_of[v] < 0)
        own[plan_.tree.clique_of[v]].push_back(v);
      else
        plan_.marginals[v] = marginal_of({links_[link_of[v]].message.begin(), links_[link_of[v]].message.end()}, {v});
    for (std::size_t c = 0; c < own.size(); ++c) {
      auto inputs = inputs_of(static_cast<Index>(c));
      if (own[c].size() > 1 &&
          plan_.reductions.states_of(own[c]) <= plan_.reductions.states_of(plan_.tree.cliques[c]) / small)
        inputs = {marginal_of(inputs, sorted(own[c]))};
      for (Index v : own[c]) plan_.marginals[v] = marginal_of(inputs, {v});
    }
  }

  void make_joint(std::vector<Index> const& variables) {
    auto const scope = sorted(variables);
    for (std::size_t i = 0; i < scope.size(); ++i)
      if (i > 0 && scope[i] == scope[i - 1])
        throw InputError(
            fmt::format("a joint marginal is over variables from 0 to {}, none twice", num_variables_ - 1));
    if (scope.empty()) throw InputError("a joint marginal is over one variable or more");
    Index const clique = plan_.tree.clique_of[scope.front()];
    if (auto const missing = first_missing(scope, plan_.tree.cliques[clique]))
      throw InputError(fmt::format("no clique has both the variables {} and {}, whose joint marginal is wanted",
                                   scope.front(), *missing));
    plan_.joints.push_back(marginal_of(inputs_of(clique), scope));
  }

  /// The product over connected parts, of a marginal of a variable of each.
  void make_total() {
    auto const root_of = roots();
    std::vector<bool> seen(plan_.tree.cliques.size());
    for (Index v = 0; v < num_variables_; ++v) {
      Index const root = root_of[plan_.tree.clique_of[v]];
      if (seen[root]) continue;
      seen[root] = true;
      totals_.push_back(marginal_of({plan_.marginals[v]}, {}));
    }
    plan_.total =
        marginal_of(tables::merge_small(plan_.reductions, std::move(totals_), plan_.num_sets, in_order_.places()), {});
  }

  /// Of each clique.
  std::vector<Index> roots() const {
    std::vector<Index> root(plan_.tree.cliques.size(), -1), path;
    for (std::size_t c = 0; c < root.size(); ++c) {
      Index at = static_cast<Index>(c);
      for (; root[at] < 0 && plan_.tree.parent[at] >= 0; at = plan_.tree.parent[at]) path.push_back(at);
      Index const end = root[at] < 0 ? at : root[at];
      root[at] = end;
      for (Index passed : path) root[passed] = end;
      path.clear();
    }
    return root;
  }

  Index marginal_of(std::vector<Index> inputs, std::vector<Index> scope) {
    std::vector<Index> kept, eliminated;
    for (Index v : scope_of_all(inputs)) (is_kept(v, scope) ? kept : eliminated).push_back(v);
    if (has_sets_ && (kept.empty() || kept.back() != num_variables_)) kept.push_back(num_variables_);
    return plan_.reductions.add_reduction(std::move(inputs), std::move(kept), std::move(eliminated));
  }
  Index product(std::vector<Index> inputs, std::vector<Index> scope) {
    if (has_sets_) scope.push_back(num_variables_);
    return plan_.reductions.add_reduction(std::move(inputs), std::move(scope), {});
  }

  std::vector<Index> sorted(std::span<Index const> variables) const {
    for (Index v : variables)
      if (v < 0 || v >= num_variables_)
        throw InputError(fmt::format("a table has the variable {}; variables are 0 to {}", v, num_variables_ - 1));
    return in_order_.sorted(variables);
  }
  std::vector<Index> scope_of_all(std::vector<Index> const& tables) const {
    std::vector<Index> result;
    for (Index t : tables) result = in_order_.united(result, scope_of(t));
    return result;
  }
  /// Of variables in order, one that is not among others; but for the evidence sets.
  std::optional<Index> first_missing(std::vector<Index> const& variables, std::vector<Index> const& others) const {
    for (Index v : variables)
      if (v < num_variables_ && !in_order_.contains(others, v)) return v;
    return std::nullopt;
  }
  bool is_kept(Index v, std::vector<Index> const& scope) const {
    return v == num_variables_ || in_order_.contains(scope, v);
  }
  std::vector<Index> const& scope_of(Index table) const { return plan_.reductions.tables()[table].scope; }
  Offset cells(Index table) const { return plan_.reductions.tables()[table].cells; }

  HostPlan plan_;
  Index num_variables_;
  bool has_sets_;
  elim::VariableOrder in_order_;
  std::vector<Index> potentials_, alone_;  // tables with their evidence; evidence of what is in no table
  std::vector<Index> totals_;              // tables without variables: given, and of each part
  std::vector<Node> nodes_;                // the cliques first
  std::vector<Link> links_;
};

}  // namespace

HostPlan make_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                   JoinTree tree, PlanOptions const& options) {
  if (tree.order.variables.size() != cardinality.size())
    throw ShapeError("variables of the junction tree", cardinality.size(), tree.order.variables.size());
  if (options.num_sets < 1) throw InputError(fmt::format("{} evidence sets cannot be propagated", options.num_sets));
  return Planner(cardinality, std::move(tree), options).make(scopes, options);
}

}  // namespace hornbill::jtree
