#include <hornbill/circuit/node_lists.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

/// Checks sizes of arrays, and that children are before their parents and in another run.
class ListCheck {
 public:
  ListCheck(NodeLists const& nodes, std::string const& where) : nodes_(nodes), where_(where) {}

  void run() {
    auto const count = nodes_.kinds.size();
    if (count == 0) fail("the circuit has no nodes");
    if (count > static_cast<std::size_t>(std::numeric_limits<Index>::max())) fail("there are too many nodes");
    if (auto const inputs = std::ranges::count(nodes_.kinds, NodeKind::input); nodes_.num_variables > inputs)
      fail(fmt::format("there are {} variables and {} inputs; each variable needs one", nodes_.num_variables, inputs));
    require_size("child_offsets", count + 1, nodes_.child_offsets.size());
    require_size("parameters", nodes_.children.size(), nodes_.parameters.size());
    require_size("variables", count, nodes_.variables.size());
    require_size("rows", count, nodes_.rows.size());
    check_offsets("child offsets", nodes_.child_offsets, std::ssize(nodes_.children));
    check_offsets("offsets of runs", nodes_.run_offsets, static_cast<Offset>(count));
    for (std::size_t r = 0; r + 1 < nodes_.run_offsets.size(); ++r)
      for (auto n = nodes_.run_offsets[r]; n < nodes_.run_offsets[r + 1]; ++n) check_node(n, nodes_.run_offsets[r]);
  }

 private:
  void require_size(char const* name, std::size_t expected, std::size_t actual) {
    if (expected != actual) fail(fmt::format("{} has {} entries; {} are needed", name, actual, expected));
  }

  void check_offsets(char const* name, std::vector<Offset> const& offsets, Offset last) {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() != last)
      fail(fmt::format("{} do not go from 0 to {}", name, last));
    for (std::size_t i = 1; i < offsets.size(); ++i)
      if (offsets[i] < offsets[i - 1])
        fail(fmt::format("{}: entry {} decreases ({} -> {})", name, i, offsets[i - 1], offsets[i]));
  }

  void check_node(Offset n, Offset run) {
    auto const kind = nodes_.kinds[static_cast<std::size_t>(n)];
    if (kind != nodes_.kinds[static_cast<std::size_t>(run)])
      fail(fmt::format("the nodes {} and {} are in one run, but are of two kinds", run, n));
    auto const begin = nodes_.child_offsets[static_cast<std::size_t>(n)];
    auto const end = nodes_.child_offsets[static_cast<std::size_t>(n) + 1];
    if (kind == NodeKind::input) return check_input(n, end - begin);
    if (begin == end) fail(fmt::format("{} node {} has no children", name_of(kind), n));
    for (auto e = begin; e < end; ++e) {
      auto const child = nodes_.children[static_cast<std::size_t>(e)];
      if (child < 0 || child >= run)
        fail(
            fmt::format("node {} has the child {}, which is not in a run before it: a circuit has no cycle, and "
                        "children come before parents",
                        n, child));
      auto const parameter = nodes_.parameters[static_cast<std::size_t>(e)];
      if (kind == NodeKind::sum && (parameter < 0 || parameter >= std::ssize(nodes_.sum_parameters)))
        fail(fmt::format("edge {} of sum node {} has the parameter {}; there are {}", e - begin, n, parameter,
                         nodes_.sum_parameters.size()));
    }
  }

  void check_input(Offset n, Offset children) {
    auto const variable = nodes_.variables[static_cast<std::size_t>(n)], row = nodes_.rows[static_cast<std::size_t>(n)];
    auto const rows = nodes_.num_categories == 0 ? 0 : std::ssize(nodes_.categorical) / nodes_.num_categories;
    if (children > 0) fail(fmt::format("input node {} has {} children; inputs have none", n, children));
    if (variable < 0 || variable >= nodes_.num_variables)
      fail(
          fmt::format("input node {} is of variable {}; variables are 0 to {}", n, variable, nodes_.num_variables - 1));
    if (row < 0 || row >= rows)
      fail(fmt::format("input node {} has row {} of the categorical parameters; there are {}", n, row, rows));
  }

  [[noreturn]] void fail(std::string const& message) const { throw InputError(where_, "", message); }

  NodeLists const& nodes_;
  std::string const& where_;
};

/// A block whose parameters are not numbered yet.
struct Candidate {
  EdgeBlock block;
  std::vector<Offset> parameters;  ///< [rows, columns], of NodeLists
};

class Gatherer {
 public:
  explicit Gatherer(NodeLists const& nodes) : nodes_(nodes), scopes_(nodes.num_variables) {
    circuit_.num_variables = nodes.num_variables;
    circuit_.num_input_parameters = std::ssize(nodes.categorical);
    vector_of_.resize(nodes.kinds.size());
  }

  Gathered gather() && {
    find_scopes();
    bool const is_split = some_inputs_overlap();
    for (std::size_t r = 0; r + 1 < nodes_.run_offsets.size(); ++r)
      for (auto n = nodes_.run_offsets[r]; n < nodes_.run_offsets[r + 1];) {
        auto const begin = n++;
        auto const kind = nodes_.kinds[static_cast<std::size_t>(begin)];
        while (n < nodes_.run_offsets[r + 1] && !(is_split && kind == NodeKind::input) && belong_together(begin, n))
          ++n;
        add_vector(static_cast<Index>(begin), static_cast<Index>(n - begin));
      }
    number_parameters();
    Gathered result{std::move(circuit_), {{}, nodes_.categorical}, std::move(parameter_of_)};
    for (Offset p : result.parameter_of)
      result.parameters.sum.push_back(nodes_.sum_parameters[static_cast<std::size_t>(p)]);
    return result;
  }

 private:
  std::span<Index const> children_of(Offset node) const {
    auto const begin = nodes_.child_offsets[static_cast<std::size_t>(node)];
    return std::span(nodes_.children)
        .subspan(static_cast<std::size_t>(begin),
                 static_cast<std::size_t>(nodes_.child_offsets[static_cast<std::size_t>(node) + 1] - begin));
  }

  void find_scopes() {
    for (std::size_t n = 0; n < nodes_.kinds.size(); ++n) {
      if (nodes_.kinds[n] == NodeKind::input) {
        scope_of_.push_back(scopes_.singleton(nodes_.variables[n]));
        continue;
      }
      auto const children = children_of(static_cast<Offset>(n));
      Index scope = scope_of_[static_cast<std::size_t>(children.front())];
      if (nodes_.kinds[n] == NodeKind::product)
        for (Index child : children) scope = scopes_.united(scope, scope_of_[static_cast<std::size_t>(child)]);
      scope_of_.push_back(scope);
    }
  }

  /// Whether nodes of a run are of one vector.
  bool belong_together(Offset first, Offset n) const {
    auto const of_first = children_of(first), of_n = children_of(n);
    auto const f = static_cast<std::size_t>(first), i = static_cast<std::size_t>(n);
    switch (nodes_.kinds[i]) {
      case NodeKind::input:
        return nodes_.variables[i] == nodes_.variables[f] && nodes_.rows[i] == nodes_.rows[i - 1] + 1;
      case NodeKind::product:
        return scope_of_[i] == scope_of_[f] && of_n.size() == of_first.size() &&
               std::equal(of_n.begin(), of_n.end(), of_first.begin(), [&](Index a, Index b) {
                 return vector_of_[static_cast<std::size_t>(a)] == vector_of_[static_cast<std::size_t>(b)];
               });
      case NodeKind::sum: break;
    }
    return scope_of_[i] == scope_of_[f];
  }

  /// Whether some vectors of inputs would have rows in common, but not all: then each node is a vector.
  bool some_inputs_overlap() const {
    std::vector<std::pair<Index, Index>> rows;  // first and count
    for (std::size_t r = 0; r + 1 < nodes_.run_offsets.size(); ++r)
      for (auto n = nodes_.run_offsets[r]; n < nodes_.run_offsets[r + 1];) {
        auto const begin = n++;
        if (nodes_.kinds[static_cast<std::size_t>(begin)] != NodeKind::input) break;
        while (n < nodes_.run_offsets[r + 1] && belong_together(begin, n)) ++n;
        rows.emplace_back(nodes_.rows[static_cast<std::size_t>(begin)], static_cast<Index>(n - begin));
      }
    std::sort(rows.begin(), rows.end());
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (rows[i] != rows[i - 1] && rows[i].first < rows[i - 1].first + rows[i - 1].second) return true;
    return false;
  }

  void add_vector(Index first, Index size) {
    auto const kind = nodes_.kinds[static_cast<std::size_t>(first)];
    Offset begin = 0, end = 0;
    switch (kind) {
      case NodeKind::input:
        begin = std::ssize(circuit_.inputs);
        circuit_.inputs.push_back({nodes_.variables[static_cast<std::size_t>(first)], InputKind::categorical,
                                   nodes_.num_categories, 0,
                                   Offset{nodes_.rows[static_cast<std::size_t>(first)]} * nodes_.num_categories});
        end = begin + 1;
        break;
      case NodeKind::product:
        begin = std::ssize(circuit_.factors);
        for (std::size_t f = 0; f < children_of(first).size(); ++f) add_factor(first, size, f);
        end = std::ssize(circuit_.factors);
        break;
      case NodeKind::sum:
        begin = std::ssize(candidates_);
        for (Index row = 0; row < size;) row = add_blocks(first, row, size);
        end = std::ssize(candidates_);
        break;
    }
    std::fill_n(vector_of_.begin() + first, size, circuit_.num_vectors());
    circuit_.vectors.push_back({kind, first, size, begin, end});
  }

  void add_factor(Index first, Index size, std::size_t f) {
    Index const child = children_of(first)[f];
    auto const has_step = [&](Index step) {
      for (Index i = 1; i < size; ++i)
        if (children_of(first + i)[f] != child + i * step) return false;
      return true;
    };
    if (has_step(1)) return circuit_.factors.push_back({child, 1});
    if (has_step(0)) return circuit_.factors.push_back({child, 0});
    circuit_.factors.push_back({child, 1, std::ssize(circuit_.factor_children)});
    for (Index i = 0; i < size; ++i) circuit_.factor_children.push_back(children_of(first + i)[f]);
  }

  /// Blocks of a node and of those behind it that have the same children.   \return the row behind them
  Index add_blocks(Index first, Index row, Index size) {
    auto const children = children_of(first + row);
    Index end = row + 1;
    while (end < size && std::ranges::equal(children, children_of(first + end))) ++end;
    for (std::size_t c = 0; c < children.size();) {
      auto const begin = c++;
      while (c < children.size() && children[c] == children[c - 1] + 1 &&
             vector_of_[static_cast<std::size_t>(children[c])] == vector_of_[static_cast<std::size_t>(children[begin])])
        ++c;
      Candidate candidate{{first + row, children[begin], end - row, static_cast<Index>(c - begin), -1}, {}};
      for (Index r = row; r < end; ++r) {
        auto const edge = nodes_.child_offsets[static_cast<std::size_t>(first + r)] + static_cast<Offset>(begin);
        candidate.parameters.insert(candidate.parameters.end(), nodes_.parameters.begin() + edge,
                                    nodes_.parameters.begin() + edge + static_cast<Offset>(c - begin));
      }
      candidates_.push_back(std::move(candidate));
    }
    return end;
  }

  /// Numbers parameters, block after block: equal blocks have the same numbers, and where edges are tied in other
  /// ways, each is a block.
  void number_parameters() {
    auto const class_of = classes_of_blocks();
    std::vector<Offset> uses(nodes_.sum_parameters.size());
    std::vector<Offset> size_of_class(candidates_.size());
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      ++size_of_class[class_of[c]];
      for (Offset p : candidates_[c].parameters) ++uses[static_cast<std::size_t>(p)];
    }
    std::vector<Offset> first_of_class(candidates_.size(), -1);
    std::vector<Offset> number_of_single(nodes_.sum_parameters.size(), -1);
    std::vector<Offset> block_offsets{0};  // of candidates
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      auto const& candidate = candidates_[c];
      auto& first = first_of_class[class_of[c]];
      if (std::ranges::all_of(candidate.parameters, [&](Offset p) {
            return uses[static_cast<std::size_t>(p)] == size_of_class[class_of[c]];
          })) {
        if (first < 0) {
          first = std::ssize(parameter_of_);
          parameter_of_.insert(parameter_of_.end(), candidate.parameters.begin(), candidate.parameters.end());
        }
        circuit_.blocks.push_back(candidate.block);
        circuit_.blocks.back().parameter = first;
      } else {
        add_single_edges(candidate, number_of_single);
      }
      block_offsets.push_back(std::ssize(circuit_.blocks));
    }
    for (auto& vector : circuit_.vectors)
      if (vector.kind == NodeKind::sum) {
        vector.begin = block_offsets[static_cast<std::size_t>(vector.begin)];
        vector.end = block_offsets[static_cast<std::size_t>(vector.end)];
      }
    circuit_.num_sum_parameters = std::ssize(parameter_of_);
  }

  void add_single_edges(Candidate const& candidate, std::vector<Offset>& number_of) {
    auto const& block = candidate.block;
    for (std::size_t e = 0; e < candidate.parameters.size(); ++e) {
      auto& number = number_of[static_cast<std::size_t>(candidate.parameters[e])];
      if (number < 0) {
        number = std::ssize(parameter_of_);
        parameter_of_.push_back(candidate.parameters[e]);
      }
      circuit_.blocks.push_back({block.sum + static_cast<Index>(e) / block.columns,
                                 block.child + static_cast<Index>(e) % block.columns, 1, 1, number});
    }
  }

  /// The first candidate with the same parameters, in as many rows.   \shape [candidates]
  std::vector<std::size_t> classes_of_blocks() const {
    std::unordered_multimap<std::uint64_t, std::size_t> by_hash;
    std::vector<std::size_t> result;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
      auto const& candidate = candidates_[c];
      auto hash = static_cast<std::uint64_t>(candidate.block.rows);
      for (Offset p : candidate.parameters)
        hash = (hash ^ static_cast<std::uint64_t>(p)) * 0x9e3779b97f4a7c15u ^ hash >> 29;
      auto known = c;
      auto const [begin, end] = by_hash.equal_range(hash);
      for (auto it = begin; it != end; ++it)
        if (candidates_[it->second].block.rows == candidate.block.rows &&
            candidates_[it->second].parameters == candidate.parameters)
          known = it->second;
      if (known == c) by_hash.emplace(hash, c);
      result.push_back(known);
    }
    return result;
  }

  NodeLists const& nodes_;
  ScopeTable scopes_;
  std::vector<Index> scope_of_, vector_of_;  ///< [nodes]
  std::vector<Candidate> candidates_;
  std::vector<Offset> parameter_of_;
  Circuit circuit_;
};

}  // namespace

Gathered gather(NodeLists const& nodes, std::string const& where) {
  ListCheck(nodes, where).run();
  auto result = Gatherer(nodes).gather();
  validate(result.circuit, where);
  validate(result.circuit, result.parameters, where);
  return result;
}

}  // namespace hornbill::circuit
