#include <hornbill/circuit/circuit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {

char const* name_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::input: return "input";
    case NodeKind::product: return "product";
    case NodeKind::sum: break;
  }
  return "sum";
}

Index Circuit::vector_of(Index node) const {
  auto const behind = std::ranges::upper_bound(vectors, node, {}, &NodeVector::first);
  return static_cast<Index>(behind - vectors.begin()) - 1;
}

std::string Circuit::name_of_variable(Index variable) const {
  if (auto const v = static_cast<std::size_t>(variable); v < variable_names.size() && !variable_names[v].empty())
    return variable_names[v];
  return fmt::format("x{}", variable);
}

namespace {

/// Checks all of a circuit but its scopes and ties.
class StructureCheck {
 public:
  StructureCheck(Circuit const& circuit, std::string const& where) : circuit_(circuit), where_(where) {}

  void run() {
    if (circuit_.vectors.empty()) fail("the circuit has no nodes");
    if (circuit_.num_variables < 1) fail(fmt::format("the circuit has {} variables", circuit_.num_variables));
    if (!circuit_.variable_names.empty() && std::ssize(circuit_.variable_names) != circuit_.num_variables)
      fail(fmt::format("{} variables have {} names", circuit_.num_variables, circuit_.variable_names.size()));
    if (circuit_.num_variables > std::ssize(circuit_.inputs))
      fail(fmt::format("there are {} variables and {} vectors of inputs; each variable needs one",
                       circuit_.num_variables, circuit_.inputs.size()));
    Offset inputs = 0, factors = 0, blocks = 0;
    std::int64_t next = 0;
    for (auto const& vector : circuit_.vectors) {
      if (vector.size < 1 || vector.first != next)
        fail(fmt::format("a vector of {} {} nodes begins at node {}; the vector before it ends at node {}", vector.size,
                         name_of(vector.kind), vector.first, next));
      next += vector.size;
      if (next > std::numeric_limits<Index>::max())
        fail(fmt::format("there are more than {} nodes", std::numeric_limits<Index>::max()));
      switch (vector.kind) {
        case NodeKind::input: check_entries(vector, inputs, std::ssize(circuit_.inputs)); break;
        case NodeKind::product: check_entries(vector, factors, std::ssize(circuit_.factors)); break;
        case NodeKind::sum: check_entries(vector, blocks, std::ssize(circuit_.blocks)); break;
      }
    }
    if (inputs != std::ssize(circuit_.inputs) || factors != std::ssize(circuit_.factors) ||
        blocks != std::ssize(circuit_.blocks))
      fail("there are input distributions, factors or blocks of edges that belong to no vector");
    for (auto const& vector : circuit_.vectors) check_children(vector);
  }

 private:
  void check_entries(NodeVector const& vector, Offset& next, Offset count) {
    if (vector.begin != next || vector.end < vector.begin || vector.end > count)
      fail(
          fmt::format("the entries of the {} vector at node {} are {} to {}; those before it end at {}, and there are "
                      "{}",
                      name_of(vector.kind), vector.first, vector.begin, vector.end, next, count));
    next = vector.end;
    if (vector.kind == NodeKind::input && vector.end != vector.begin + 1)
      fail(fmt::format("the input vector at node {} has {} distributions; it needs one", vector.first,
                       vector.end - vector.begin));
    if (vector.end == vector.begin) fail(fmt::format("{} node {} has no children", name_of(vector.kind), vector.first));
  }

  void check_children(NodeVector const& vector) {
    switch (vector.kind) {
      case NodeKind::input: return check_input(vector, circuit_.input_of(vector));
      case NodeKind::product:
        for (auto f = vector.begin; f < vector.end; ++f)
          check_factor(vector, circuit_.factors[static_cast<std::size_t>(f)]);
        return;
      case NodeKind::sum: return check_blocks(vector);
    }
  }

  void check_input(NodeVector const& vector, InputDistributions const& input) {
    auto const node = fmt::format("input node {}", vector.first);
    if (static_cast<std::size_t>(input.kind) >= num_input_kinds)
      fail(fmt::format("{} is of kind {}; 0 to {} are known", node, static_cast<int>(input.kind), num_input_kinds - 1));
    if (input.variable < 0 || input.variable >= circuit_.num_variables)
      fail(
          fmt::format("{} is of variable {}; variables are 0 to {}", node, input.variable, circuit_.num_variables - 1));
    Index const least = !is_discrete(input.kind) ? 0 : input.kind == InputKind::categorical ? 1 : 2;
    bool const is_boolean = input.kind == InputKind::bernoulli || input.kind == InputKind::literal;
    if (input.num_categories < least || ((least == 0 || is_boolean) && input.num_categories != least))
      fail(fmt::format("{} is {} over {} categories; {} needs {}{}", node, name_of(input.kind), input.num_categories,
                       name_of(input.kind), least, is_boolean || least == 0 ? "" : " or more"));
    if (is_indicator(input.kind) &&
        (input.first_value < 0 || std::int64_t{input.first_value} + vector.size > input.num_categories))
      fail(fmt::format("{} and those behind it are 1 for the values {} to {}; the variable's are 0 to {}", node,
                       input.first_value, std::int64_t{input.first_value} + vector.size - 1, input.num_categories - 1));
    if (!(input.min_scale >= 0) || std::isinf(input.min_scale))
      fail(fmt::format("{} has a smallest scale of {}; it must be 0 or more", node, input.min_scale));
    auto const parameters = std::int64_t{vector.size} * num_parameters(input.kind, input.num_categories);
    if (input.parameter < 0 || input.parameter > circuit_.num_input_parameters - parameters)
      fail(fmt::format("{} has its parameters from {} on, {} of them; there are {}", node, input.parameter, parameters,
                       circuit_.num_input_parameters));
  }

  void check_factor(NodeVector const& vector, Factor const& factor) {
    if (factor.list < 0) {
      if (factor.step != 0 && factor.step != 1)
        fail(fmt::format("a factor of product node {} has a step of {}; 0 and 1 are known", vector.first, factor.step));
      return require_one_vector(vector, vector.first, factor.child, factor.step == 0 ? 1 : vector.size);
    }
    if (factor.list > std::ssize(circuit_.factor_children) - vector.size)
      fail(fmt::format("product node {} has its factors from entry {} on; there are {} entries for {} nodes",
                       vector.first, factor.list, circuit_.factor_children.size(), vector.size));
    Index const of_first = require_child(vector, vector.first, circuit_.factor_of(factor, 0));
    for (Index i = 1; i < vector.size; ++i)
      if (Index const child = circuit_.factor_of(factor, i); require_child(vector, vector.first + i, child) != of_first)
        fail(fmt::format("the factors {} and {} of product nodes {} and {} are in two vectors; divide their vector",
                         circuit_.factor_of(factor, 0), child, vector.first, vector.first + i));
  }

  void check_blocks(NodeVector const& vector) {
    auto const begin = circuit_.blocks.begin() + vector.begin, end = circuit_.blocks.begin() + vector.end;
    std::vector<std::int32_t> changes(static_cast<std::size_t>(vector.size) + 1);  // of blocks over a row
    for (auto block = begin; block != end; ++block) {
      if (block->rows < 1 || block->columns < 1 || block->sum < vector.first ||
          std::int64_t{block->sum} + block->rows > std::int64_t{vector.first} + vector.size)
        fail(fmt::format("a block of {} by {} edges begins at sum node {}; nodes of its vector are {} to {}",
                         block->rows, block->columns, block->sum, vector.first, vector.first + vector.size - 1));
      require_one_vector(vector, block->sum, block->child, block->columns);
      auto const parameters = std::int64_t{block->rows} * block->columns;
      if (block->parameter < 0 || block->parameter > circuit_.num_sum_parameters - parameters)
        fail(fmt::format("the edges of sum node {} have their parameters from {} on, {} of them; there are {}",
                         block->sum, block->parameter, parameters, circuit_.num_sum_parameters));
      ++changes[static_cast<std::size_t>(block->sum - vector.first)];
      --changes[static_cast<std::size_t>(block->sum - vector.first + block->rows)];
    }
    std::int32_t blocks = 0;
    for (Index i = 0; i < vector.size; ++i)
      if ((blocks += changes[static_cast<std::size_t>(i)]) == 0)
        fail(fmt::format("sum node {} has no children", vector.first + i));
  }

  /// Children child to child + count - 1 of a node.
  void require_one_vector(NodeVector const& vector, Index node, Index child, Index count) {
    Index const of_first = require_child(vector, node, child);
    if (count > vector.first - child) fail_on_order(node, vector.first);
    if (require_child(vector, node, child + count - 1) != of_first)
      fail(
          fmt::format("the children {} to {} of {} node {} are in several vectors; they need a block, or a factor, for "
                      "each",
                      child, child + count - 1, name_of(vector.kind), node));
  }

  /// \return the child's vector
  Index require_child(NodeVector const& vector, Index node, Index child) {
    if (child < 0 || child >= circuit_.num_nodes())
      fail(fmt::format("node {} has the child {}; nodes are 0 to {}", node, child, circuit_.num_nodes() - 1));
    if (child >= vector.first) fail_on_order(node, child);
    return circuit_.vector_of(child);
  }

  [[noreturn]] void fail_on_order(Index node, Index child) {
    fail(
        fmt::format("node {} has the child {}, which is not before it: a circuit has no cycle, and vectors of "
                    "children come before those of parents",
                    node, child));
  }
  [[noreturn]] void fail(std::string const& message) const { throw InputError(where_, "", message); }

  Circuit const& circuit_;
  std::string const& where_;
};

}  // namespace

void validate(Circuit const& circuit, std::string const& where) {
  StructureCheck(circuit, where).run();
  auto const scopes = find_scopes(circuit, where);
  if (Index const root = scopes.of_vector.back(); scopes.table.size(root) != circuit.num_variables) {
    Index v = 0;
    for (Index known : scopes.table.variables(root)) v += known == v ? 1 : 0;
    throw InputError(where, "",
                     fmt::format("the root does not depend on variable {} of {}: there is no input for it",
                                 circuit.name_of_variable(v), circuit.num_variables));
  }
  variable_categories(circuit, where);
  distribution_owners(circuit, where);
}

}  // namespace hornbill::circuit
