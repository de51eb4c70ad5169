/// \file
/// Update schedules for loopy belief propagation, and their division into batches.
///
/// An update of edge e = (a, j) computes the message from factor a to its j-th variable; it reads the values written to
/// a's other variables by other factors, N_E(e). A *batch* is a set of updates run at once: all read, then all write.
/// Batches run one after another; one pass over all of them is an iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/graph/stored_schedule.hpp>
#include <hornbill/types.hpp>

namespace hornbill::bp {

/// All messages from the previous iteration's values (libDAI: updates=PARALL).
struct Parall {};
/// One fixed total order; an update reads every value written before it (libDAI: updates=SEQFIX).
struct SeqFix {
  std::vector<Offset> order;  ///< edge ids; empty = file order, which gives libDAI's messages
};
/// Premises to conclusions, then back; see topological_order().
struct Topo {};
/// A few large batches, made by a colouring: to heads in ascending order of their factors' colours, then to bodies in
/// descending order. Factors of one colour do not conclude each other's premises; where they share a premise or a
/// conclusion, they read it at its old value. See colours_of_factors().
struct Chromatic {};
/// A fresh random order each iteration (libDAI: updates=SEQRND). Factors are shuffled, the messages out of one stay
/// together: of a factor of n variables they cost O(n) then, and O(n^2) if other factors' came between them.
struct SeqRnd {
  std::uint64_t seed = 1;
};
/// One message at a time, always that whose probability would change most (libDAI: updates=SEQMAX). As many updates as
/// there are messages are an iteration; each computes the messages anew that read it, so an iteration costs many of
/// SEQFIX's, and one thread runs it. It has not converged while a message waits that would change by the tolerance. For
/// comparison.
/// Source: Elidan et al. 2006
struct SeqMax {};
/// Residual belief propagation, in parallel: each round computes all messages, and a share of them takes its place.
/// Those that would change their variable's probability most; or, randomised, each by itself with that probability.
/// Source: Elidan et al. 2006; in parallel, Van der Merwe et al. 2019
struct Residual {
  double share = 0.25;  ///< in (0, 1]; without randomisation, at least that of the messages that are not settled yet
  bool randomised = false;
  std::uint64_t seed = 1;  ///< of the randomisation
};
/// A schedule of the user's own.
struct Custom {
  StoredSchedule schedule;
};
using Strategy = std::variant<Parall, SeqFix, Topo, Chromatic, SeqRnd, SeqMax, Residual, Custom>;

/// The strategy of a name, which is its own in lower case (`seqfix` is in file order); none for other names.
std::optional<Strategy> strategy_named(std::string_view name);
/// All of them.
std::vector<std::string_view> strategy_names();

/// What is done with the messages of a batch.
enum class Updates {
  in_turn,       ///< they take their places before the next batch is computed
  simultaneous,  ///< there is but one batch
  selected,      ///< there is but one batch, and some of it takes its place
  largest_first  ///< the same, and one message at a time takes its place
};

/// A schedule made ready to run: batches of edges.
struct Batches {
  std::vector<Offset> edges;       ///< edge ids grouped by batch, ascending within a batch
  std::vector<Offset> offsets{0};  ///< [B+1], into edges
  std::vector<Offset> order;       ///< the total order that the batches stand for; empty if there is none
  Updates updates = Updates::in_turn;
  Residual selection;                ///< of Updates::selected
  std::optional<SeqRnd> reshuffled;  ///< the order is the first of a series
  double analysis_seconds = 0;

  Offset num_batches() const { return static_cast<Offset>(offsets.size()) - 1; }
};

/// Divides a schedule into the fewest batches that give its messages.
///
/// For a total order the batched run computes the very messages of the sequential run.
/// \throws InputError for a schedule that does not fit the graph: see validate(); for a share outside (0, 1]; for
/// Chromatic if Kokkos is not initialised
/// \cost near linear in the number of edges for orders that keep a factor's edges together; linear in the sum of
/// squared factor degrees for other total orders; for partial orders see levels_of_partial_order()
Batches make_batches(HostFactorGraph const& graph, Strategy const& strategy);

/// The order of one iteration of SEQRND.
std::vector<Offset> random_order(HostFactorGraph const& graph, SeqRnd const& random, int iteration);

/// The batch of each edge of a total order:
///
///     level(e) = max( 1 + max{ level(e') : e' before e, e' in N_E(e) },    e reads what e' wrote
///                         max{ level(e') : e' before e, e in N_E(e') } )   e' reads the old e
///
/// and 0 where both are empty. No division into batches has fewer.
/// \param order  edge ids, none twice
/// \return [E]; -1 for edges that are not in the order
/// \source hornbill/bp/README.md, equation 13; FastLBP, Algorithm 3, never gives fewer batches
std::vector<Index> levels_of_order(HostFactorGraph const& graph, std::vector<Offset> const& order);

/// The batch of each edge under a strict partial order, where only true dependences bind:
/// level(e) = 1 + max{ level(e') : e' precedes e, e' in N_E(e) }, or 0. Precedence is transitive.
/// \return [E]   \throws InputError if the order has a cycle, naming an edge on it
/// \cost a search back from each edge, pruned by the levels found: quadratic for long chains of pairs. Give a total
/// order as an order
std::vector<Index> levels_of_partial_order(HostFactorGraph const& graph, std::vector<Offset> const& before,
                                           std::vector<Offset> const& after,
                                           std::string const& source = "partial order");

/// Batches that contradict a partial order: `before` precedes `after`, but is in a later batch, or in the same one and
/// read.
struct OrderViolation {
  Offset before, after;
};

/// \param batch_of  [E], -1 for edges in no batch
/// \return the violation with the lowest edges in the order's own sequence, if any
/// \throws InputError if the order has a cycle
std::optional<OrderViolation> find_order_violation(HostFactorGraph const& graph, std::vector<Offset> const& before,
                                                   std::vector<Offset> const& after,
                                                   std::vector<Offset> const& batch_of, std::string const& source);

/// A total order of all edges, premises to conclusions and then back.
///
/// Trees that hang off the cyclic part of the graph are collected from their leaves first and distributed to them last,
/// so that on a forest one iteration is exact, with any evidence. Between the two, messages to heads follow a
/// topological order of the derivation graph and messages to bodies its reverse. Where the derivations themselves are
/// cyclic, the lowest-numbered factor of the rest goes first.
std::vector<Offset> topological_order(HostFactorGraph const& graph);

/// A colour for each factor, such that no two of which one concludes a premise of the other have the same. A table both
/// concludes and uses its variables. Hubs, where conflicts would be more than 16 a neighbour, are left out: many
/// factors that conclude one variable and many that use it may share a colour, and read the old value.
///
/// Kokkos Kernels' greedy colouring on one thread, so that every run gives the same. Derivation graphs, where clauses
/// and disjunctions alternate, need about as many colours as their shortest odd cycle asks for: two or three.
/// \return [F], from 0
/// \throws InputError if Kokkos is not initialised
/// \cost linear in edges, but for the colouring itself
std::vector<Index> colours_of_factors(HostFactorGraph const& graph);

/// The batch of each edge under CHROMATIC, of C colours: c for the message to the head of a factor of colour c, 2C - 1
/// - c for those to its body.
/// \return [E]
std::vector<Index> levels_of_colouring(HostFactorGraph const& graph, std::vector<Index> const& colours);

/// Checks edge ids, duplicates, batch offsets; that a partial order has no cycle; and, for `batches` with `before` and
/// `after`, that no batch violates that order, directly or through other edges: no edge may be in an earlier batch than
/// one that precedes it, nor in the same batch as one that precedes it and that it reads.
/// \throws InputError naming the schedule's dataset and the entry
void validate(StoredSchedule const& schedule, HostFactorGraph const& graph, std::string const& source);

/// Figures worth printing for any schedule.
struct BatchStatistics {
  Offset num_batches = 0, num_edges = 0;
  Offset smallest = 0, median = 0, largest = 0;  ///< batch sizes in edges
};
BatchStatistics statistics(Batches const& batches);

}  // namespace hornbill::bp
