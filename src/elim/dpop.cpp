#include <hornbill/elim/dpop.hpp>

#include <bit>
#include <numeric>

#include <hornbill/error.hpp>

namespace hornbill::elim {

std::vector<int> ranks_of_agents(PseudoTree const& tree, std::vector<Index> const& cardinality, int num_ranks) {
  if (tree.parent.size() != cardinality.size()) throw ShapeError("variables of the pseudo-tree", cardinality.size(), tree.parent.size());
  std::vector<double> cells(cardinality.size());
  double all = 0, before = 0;
  for (std::size_t v = 0; v < cells.size(); ++v) {
    cells[v] = cardinality[v];
    for (Index w : tree.separator[v]) cells[v] *= cardinality[w];
    all += cells[v];
  }
  std::vector<int> rank(cells.size());
  for (Index v : tree.order.variables) {
    rank[v] = std::min(num_ranks - 1, static_cast<int>((before + cells[v] / 2) / all * num_ranks));
    before += cells[v];
  }
  return rank;
}

namespace detail {
namespace {

/// Takes numbers from a message, one after another.
class Reader {
 public:
  explicit Reader(std::vector<std::int64_t> const& numbers) : next_(numbers.begin()) {}
  std::int64_t number() { return *next_++; }
  double real() { return std::bit_cast<double>(number()); }
  Index index() { return static_cast<Index>(number()); }
  template <class T>
  std::vector<T> list() {
    auto const count = number();
    std::vector<T> result(next_, next_ + count);
    next_ += count;
    return result;
  }

 private:
  std::vector<std::int64_t>::const_iterator next_;
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
  std::vector<std::int64_t> numbers{part.value, part.is_exact, bits(part.simulated_seconds), bits(part.compute_seconds), part.largest_share};
  for (auto const* count : {&part.util, &part.value_messages}) numbers.insert(numbers.end(), {bits(count->messages), bits(count->bytes), bits(count->largest_bytes)});
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

LocalProblem make_local_problem(Index agent, std::vector<Index> const& cardinality, std::vector<Index> const& separator, std::vector<AgentTable> const& tables, MiniBucketOptions const& options) {
  LocalProblem problem;
  problem.variables.push_back(agent);
  problem.variables.insert(problem.variables.end(), separator.begin(), separator.end());
  for (Index v : problem.variables) problem.cardinality.push_back(cardinality[v]);
  for (auto const& t : tables) {
    auto& scope = problem.scopes.emplace_back();
    auto at = problem.variables.begin();  // both are in the order of elimination
    for (Index v : t.table.scope) {
      at = std::find(at, problem.variables.end(), v);
      scope.push_back(static_cast<Index>(at - problem.variables.begin()));
    }
  }
  Order order;
  order.variables.resize(problem.variables.size());
  std::iota(order.variables.begin(), order.variables.end(), 0);
  problem.plan = make_partial_plan(problem.cardinality, {problem.scopes.begin(), problem.scopes.end()}, std::move(order), 1, options);
  return problem;
}

}  // namespace detail
}  // namespace hornbill::elim
