/// \file
/// Elimination orders, and what elimination in such an order takes.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <hornbill/error.hpp>
#include <hornbill/types.hpp>

namespace hornbill::elim {

/// Which variable goes next.
enum class Heuristic {
  min_fill,    ///< that whose neighbours lack the fewest edges among each other
  min_degree,  ///< that of the fewest neighbours, those by elimination included
  min_width,   ///< that of the fewest neighbours in what is left of the graph as it was
  min_weight,  ///< that whose table, with all its neighbours, has the fewest cells
  degree,      ///< in ascending order of neighbours in the whole graph, as GpuBE orders
  /// as a depth-first search leaves them: in the pseudo-tree of such an order children and parents share a table
  depth_first
};

struct OrderOptions {
  Heuristic heuristic = Heuristic::min_fill;
  std::uint64_t seed = 1;  ///< of what decides between equals
  /// orders to make, of which the one with the fewest cells is taken; or the first, where it makes no variables
  /// neighbours that were not
  int tries = 1;
  /// of a table; an order that makes a larger one is given up
  double max_cells = std::numeric_limits<double>::infinity();
};

/// An elimination order, and what it costs.
struct Order {
  std::vector<Index> variables;  ///< [V], the first to be eliminated first
  int width = 0;                 ///< the most neighbours that a variable has when it is eliminated
  double total_cells = 0;        ///< of the tables over each variable and its neighbours, all added
  double largest_cells = 0;      ///< of the largest of these
  Index widest = -1;             ///< the variable of that one; -1 where there are no variables
};

/// What makes elimination in an order too wide.
struct Excess {
  int width = 0;         ///< of the order
  Index variable = -1;   ///< whose turn makes the largest table, over its neighbours then
  double cells = 0;      ///< of that one
  bool is_whole = true;  ///< otherwise the order was not made to its end, and these may be more
};

/// Each order that was tried makes a table of too many cells. Speaks of that which began with the mildest.
class TooWideError : public CapacityError {
 public:
  TooWideError(Excess const& excess, double max_cells);

  Excess excess;
  double max_cells = 0;  ///< of a table that are possible
};

/// Makes an order: of several tries, on all of the host's threads where Kokkos runs, the same on any number of them.
/// \param cardinality  states of each variable   \shape [V]
/// \param scopes  of the tables: their variables are neighbours
/// \throws InputError for a variable that there is not, or no tries
/// \throws TooWideError where all orders are given up
Order make_order(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes,
                 OrderOptions const& options = {});

/// What elimination in a given order costs.
/// \throws InputError unless each variable is in it once
/// \throws TooWideError
Order measure_order(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes,
                    std::vector<Index> variables, double max_cells = std::numeric_limits<double>::infinity());

/// Reads an order, the first variable to be eliminated first: by number or by name, separated by blanks or one a line;
/// `#` begins a comment.
/// \throws InputError naming the line of what is no variable, or is there twice
std::vector<Index> read_order(std::string const& file, std::span<std::string const> variable_names,
                              Index num_variables);

}  // namespace hornbill::elim
