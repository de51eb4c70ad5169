#include <hornbill/elim/dpop.hpp>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include <hornbill/error.hpp>

namespace hornbill::elim {

namespace {

/// Cells that an agent combines, about: of its largest table, at most as many as a number can tell.
double work_of(Index agent, std::vector<Index> const& separator, std::vector<Index> const& cardinality,
               int max_variables) {
  std::vector<Index> states{cardinality[agent]};
  for (Index w : separator) states.push_back(cardinality[w]);
  std::sort(states.begin() + 1, states.end(), std::greater<>());
  double cells = 1;
  for (std::size_t i = 0; i < states.size() && static_cast<int>(i) < max_variables; ++i)
    cells = std::min(cells * states[i], 1e30);
  return cells;
}

}  // namespace

std::vector<int> ranks_of_agents(PseudoTree const& tree, std::vector<Index> const& cardinality, int max_variables,
                                 int num_ranks) {
  if (tree.parent.size() != cardinality.size())
    throw ShapeError("variables of the pseudo-tree", cardinality.size(), tree.parent.size());
  auto const n = static_cast<Index>(cardinality.size());
  std::vector<double> work(cardinality.size());
  double left = 0;  // of this rank and later ones
  for (Index v = 0; v < n; ++v) left += work[v] = work_of(v, tree.separator[v], cardinality, max_variables);
  std::vector<int> rank(cardinality.size());
  double mine = 0;
  for (Index i = 0, r = 0; i < n; ++i) {
    Index const v = tree.order.variables[i];
    bool const has_enough = mine + work[v] / 2 > left / (num_ranks - r), others_need_theirs = n - i < num_ranks - r;
    if (mine > 0 && r + 1 < num_ranks && (has_enough || others_need_theirs)) {
      left -= mine;
      mine = 0;
      ++r;
    }
    mine += work[v];
    rank[v] = r;
  }
  return rank;
}

namespace detail {
namespace {

/// Takes numbers from a message, one after another.
class Reader {
 public:
  explicit Reader(std::vector<std::int64_t> const& numbers) : next_(numbers.begin()), end_(numbers.end()) {}
  std::int64_t number() {
    require(1);
    return *next_++;
  }
  double real() { return std::bit_cast<double>(number()); }
  Index index() { return static_cast<Index>(number()); }
  template <class T>
  std::vector<T> list() {
    auto const count = number();
    require(count);
    std::vector<T> result(next_, next_ + count);
    next_ += count;
    return result;
  }

 private:
  void require(std::int64_t count) const {
    if (count < 0 || count > end_ - next_) throw Error("a message between agents is shorter than it says");
  }

  std::vector<std::int64_t>::const_iterator next_, end_;
};

std::int64_t bits(double value) { return std::bit_cast<std::int64_t>(value); }

template <class T>
void append(std::vector<std::int64_t>& numbers, std::vector<T> const& list) {
  numbers.push_back(std::ssize(list));
  numbers.insert(numbers.end(), list.begin(), list.end());
}

}  // namespace

std::vector<std::int64_t> encode(UtilMessage const& message) {
  std::vector<std::int64_t> numbers{bits(message.clock), message.sum, std::ssize(message.tables)};
  for (auto const& [key, table] : message.tables) {
    numbers.push_back(key);
    append(numbers, table.scope);
    append(numbers, table.values);
  }
  return numbers;
}

UtilMessage decode_util(std::vector<std::int64_t> const& numbers) {
  Reader reader(numbers);
  UtilMessage message;
  message.clock = reader.real();
  message.sum = reader.number();
  message.tables.resize(static_cast<std::size_t>(reader.number()));
  for (auto& [key, table] : message.tables) {
    key = reader.index();
    table.scope = reader.list<Index>();
    table.values = reader.list<Cost>();
  }
  return message;
}

std::vector<std::int64_t> encode(ValueMessage const& message) {
  std::vector<std::int64_t> numbers{bits(message.clock)};
  append(numbers, message.states);
  return numbers;
}

ValueMessage decode_value(std::vector<std::int64_t> const& numbers) {
  Reader reader(numbers);
  ValueMessage message;
  message.clock = reader.real();
  message.states = reader.list<Index>();
  return message;
}

std::vector<std::int64_t> encode(Distributed const& part, std::vector<Index> const& own_agents) {
  std::vector<std::int64_t> numbers{part.value, part.is_exact, bits(part.simulated_seconds), bits(part.compute_seconds),
                                    part.largest_share};
  for (auto const* count : {&part.util, &part.value_messages})
    numbers.insert(numbers.end(), {bits(count->messages), bits(count->bytes), bits(count->largest_bytes)});
  std::vector<Index> states;
  for (Index v : own_agents) states.push_back(part.assignment[v]);
  append(numbers, own_agents);
  append(numbers, states);
  return numbers;
}

void add_part(Distributed& whole, std::vector<std::int64_t> const& numbers) {
  Reader reader(numbers);
  whole.value = tables::MinSum<Cost>::multiply(whole.value, reader.number());
  whole.is_exact = reader.number() != 0 && whole.is_exact;
  whole.simulated_seconds = std::max(whole.simulated_seconds, reader.real());
  whole.compute_seconds += reader.real();
  whole.largest_share = std::max(whole.largest_share, reader.index());
  for (auto* count : {&whole.util, &whole.value_messages}) {
    count->messages += reader.real();
    count->bytes += reader.real();
    count->largest_bytes = std::max(count->largest_bytes, reader.real());
  }
  auto const agents = reader.list<Index>(), states = reader.list<Index>();
  for (std::size_t i = 0; i < agents.size(); ++i) whole.assignment[agents[i]] = states[i];
}

LocalProblem make_local_problem(Index agent, std::vector<Index> const& cardinality, std::vector<Index> const& separator,
                                std::vector<AgentTable> const& tables, MiniBucketOptions const& options) {
  LocalProblem problem;
  problem.variables.push_back(agent);
  problem.variables.insert(problem.variables.end(), separator.begin(), separator.end());
  for (Index v : problem.variables) problem.cardinality.push_back(cardinality[v]);
  for (auto const& t : tables) {
    auto& scope = problem.scopes.emplace_back();
    auto at = problem.variables.begin();  // both are in the order of elimination
    for (Index v : t.table.scope) {
      at = std::find(at, problem.variables.end(), v);
      if (at == problem.variables.end())
        throw ShapeError("variables that an agent's tables share with its ancestors, at most", separator.size(),
                         t.table.scope.size());
      scope.push_back(static_cast<Index>(at - problem.variables.begin()));
    }
  }
  Order order;
  order.variables.resize(problem.variables.size());
  std::iota(order.variables.begin(), order.variables.end(), 0);
  problem.plan = make_partial_plan(problem.cardinality, {problem.scopes.begin(), problem.scopes.end()},
                                   std::move(order), 1, options);
  return problem;
}

}  // namespace detail
}  // namespace hornbill::elim
