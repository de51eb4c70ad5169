// Random networks of tables, and what all their assignments come to.
#pragma once

#include <random>
#include <vector>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/tables/semiring.hpp>
#include <hornbill/tables/table_network.hpp>

namespace hornbill::test {

/// Tables over up to three variables of one to four states; the last variable is in none, and one table has no
/// variable. Some entries are the semiring's zero.   \param value  makes an entry from a number in [0, 1)
template <class Semiring, class MakeValue>
tables::TableNetwork<typename Semiring::Value> random_network(unsigned seed, Index num_variables, Index num_tables,
                                                              MakeValue const& value) {
  std::mt19937 random(seed);
  auto const below = [&](Index n) { return static_cast<Index>(random() % static_cast<unsigned>(n)); };
  tables::TableNetwork<typename Semiring::Value> network;
  for (Index v = 0; v < num_variables; ++v) network.cardinality.push_back(1 + below(4));
  for (Index t = 0; t < num_tables; ++t) {
    tables::HostTable<typename Semiring::Value> table;
    std::size_t cells = 1;
    for (Index wanted = t == 0 ? 0 : 1 + below(3); wanted > 0; --wanted) {
      Index const v = below(num_variables - 1);
      if (std::find(table.scope.begin(), table.scope.end(), v) != table.scope.end()) continue;
      table.scope.push_back(v);
      cells *= static_cast<std::size_t>(network.cardinality[v]);
    }
    while (table.values.size() < cells)
      table.values.push_back(t > 0 && below(12) == 0 ? Semiring::zero()
                                                     : value(static_cast<double>(random() % 1000) / 1000));
    network.tables.push_back(std::move(table));
  }
  return network;
}

/// The sum, in the semiring, of all assignments' values.
template <class Semiring>
typename Semiring::Value enumerate(tables::TableNetwork<typename Semiring::Value> const& network) {
  auto sum = Semiring::zero();
  std::vector<Index> assignment(network.cardinality.size());
  for (bool more = true; more;) {
    sum = Semiring::add(sum, elim::value_of<Semiring>(network, assignment));
    more = false;
    for (std::size_t v = 0; v < assignment.size() && !more; ++v) {
      assignment[v] = (assignment[v] + 1) % network.cardinality[v];
      more = assignment[v] != 0;
    }
  }
  return sum;
}

}  // namespace hornbill::test
