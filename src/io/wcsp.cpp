#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <hornbill/io/cost_network_file.hpp>

#include "table_factor.hpp"

namespace hornbill::io {
namespace {

using tables::Cost;

class WcspReader {
 public:
  explicit WcspReader(std::string const& file) : in_(file), room_(file, 2 * sizeof(Cost)) {}

  tables::CostNetwork read() {
    network_.name = in_.require("the problem's name");
    auto const num_variables = read_num_variables();
    auto const largest_domain = in_.require_count("the largest domain size", 0, largest_domain_read);
    auto const num_functions = in_.require_count("the number of cost functions", 0, std::numeric_limits<Index>::max());
    network_.upper_bound = in_.require_count("the upper bound", 0, std::numeric_limits<Cost>::max());
    for (std::int64_t v = 0; v < num_variables; ++v) network_.cardinality.push_back(read_domain(largest_domain));
    for (std::int64_t f = 0; f < num_functions; ++f) read_function(f);
    if (auto const extra = in_.next())
      in_.fail(fmt::format("'{}' follows the last of {} cost functions", *extra, num_functions));
    network_.upper_bound = std::min(network_.upper_bound, tables::infinite_cost);
    return std::move(network_);
  }

 private:
  static constexpr std::int64_t largest_domain_read = 1 << 20;

  std::int64_t read_num_variables() {
    auto const token = in_.require("the number of variables");
    if (token.find_first_not_of("-+.0123456789eE") != std::string_view::npos)
      in_.fail(
          fmt::format("'{}' follows the problem's name, {}, where the number of variables is needed: a name is one "
                      "word, without blanks",
                      token, network_.name));
    auto const count = in_.parse<std::int64_t>(token, "the number of variables");
    if (count < 0 || count > largest_variable_id())
      in_.fail(fmt::format("the number of variables is {}; 0 to {} are possible", count, largest_variable_id()));
    return count;
  }

  Index read_domain(std::int64_t largest) {
    auto const size = in_.require_number<std::int64_t>("a domain size");
    if (size < 0) in_.fail(fmt::format("the domain size {} stands for an interval; intervals are not read", size));
    if (size == 0 || size > largest)
      in_.fail(
          fmt::format("a domain size is {}; 1 to {}, the largest that the header allows, are possible", size, largest));
    return static_cast<Index>(size);
  }

  void read_function(std::int64_t number) {
    auto const arity = in_.require_number<std::int64_t>("the number of variables of a cost function");
    if (arity < -max_variables || arity > max_variables)
      in_.fail(fmt::format("cost function {} has {} variables; at most {} are read", number, magnitude(arity),
                           max_variables));
    tables::HostTable<Cost> table;
    table.scope = read_scope(in_, std::abs(arity), network_.num_variables());
    auto const default_cost = in_.require_number<Cost>("the default cost");
    if (default_cost == -1)
      in_.fail(
          fmt::format("cost function {} is '{}', in intension: such functions, global ones among them, are not read; "
                      "write it out as tuples",
                      number, in_.require("its keyword")));
    std::vector<Index> states;
    for (Index v : table.scope) states.push_back(network_.cardinality[v]);
    auto const entries = room_.take(states, [&](std::string const& message) { in_.fail(message); });
    auto const listed = in_.require_number<std::int64_t>("the number of tuples");
    if (listed < 0) {
      if (listed < -std::ssize(shared_))
        in_.fail(fmt::format("shared cost function {} is used, and {} were defined before", magnitude(listed),
                             shared_.size()));
      table.values = costs_for(states, shared_[static_cast<std::size_t>(-listed - 1)], -listed);
    } else {
      table.values.assign(static_cast<std::size_t>(entries), checked(default_cost));
      for (std::int64_t i = 0; i < listed; ++i) read_tuple(table, states);
    }
    if (arity < 0) shared_.push_back({states, table.values});
    require_sum(table.values);
    network_.tables.push_back(std::move(table));
  }

  void read_tuple(tables::HostTable<Cost>& table, std::vector<Index> const& states) {
    std::size_t cell = 0;
    for (Index s : states)
      cell = cell * static_cast<std::size_t>(s) +
             static_cast<std::size_t>(in_.require_count("a value of a tuple", 0, s - 1));
    table.values[cell] = checked(in_.require_number<Cost>("a cost"));
  }

  /// Of any number, also of the least, whose negative is none.
  static std::uint64_t magnitude(std::int64_t number) {
    auto const bits = static_cast<std::uint64_t>(number);
    return number < 0 ? 0 - bits : bits;
  }

  /// A function that was marked as shared.
  struct Shared {
    std::vector<Index> states;
    std::vector<Cost> costs;
  };
  /// Its costs, for variables of as many states.
  std::vector<Cost> const& costs_for(std::vector<Index> const& states, Shared const& shared,
                                     std::int64_t number) const {
    if (shared.states != states)
      in_.fail(fmt::format("shared cost function {} is over variables of other domain sizes", number));
    return shared.costs;
  }

  Cost checked(Cost cost) const {
    if (cost < 0)
      in_.fail(
          fmt::format("the cost {} is negative; add as much to all costs of this function, and to the upper bound "
                      "(.cfn takes negative costs)",
                      cost));
    if (cost >= network_.upper_bound) return tables::infinite_cost;
    if (cost >= tables::infinite_cost / 4)
      in_.fail(fmt::format("the cost {} is too large; a lower upper bound makes it forbidden", cost));
    return cost;
  }

  /// Costs that may be added up must stay far from what stands for infinity.
  void require_sum(std::vector<Cost> const& costs) {
    double most = 0;
    for (Cost cost : costs)
      if (cost < tables::infinite_cost) most = std::max(most, static_cast<double>(cost));
    max_sum_ += most;
    if (max_sum_ > static_cast<double>(tables::infinite_cost / 4))
      in_.fail(
          fmt::format("costs may add up to {:.3g}; sums of up to {:.3g} are possible: a lower upper bound makes what "
                      "costs more forbidden",
                      max_sum_, static_cast<double>(tables::infinite_cost / 4)));
  }

  static constexpr std::int64_t max_variables = 64;

  TokenReader in_;
  TableRoom room_;
  tables::CostNetwork network_;
  double max_sum_ = 0;          // of finite costs
  std::vector<Shared> shared_;  // number 1 is the first
};

}  // namespace

tables::CostNetwork read_wcsp(std::string const& file) { return WcspReader(file).read(); }

}  // namespace hornbill::io
