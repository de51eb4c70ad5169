// Elimination orders: several are made at once, and the best of them is taken.
#include <hornbill/elim/order.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include <hornbill/error.hpp>

#include "depth_first.hpp"
#include "primal_graph.hpp"
#include "score_queue.hpp"

namespace hornbill::elim {
namespace {

/// Why an order was given up: its first table that is too large.
struct TooLarge {
  int which = -1;  // of the orders
  double cells = 0;
};

/// The best order so far, of several that are made at once.
class Best {
 public:
  /// An order that comes to more cells is not the best.
  double min_cells() const { return min_cells_.load(std::memory_order_relaxed); }
  /// \param which  its number; of equal orders the first is the best, whichever was made first
  void offer(int which, Order order) {
    std::lock_guard const lock(mutex_);
    if (is_settled()) return;
    if (order_ && std::pair(order_->total_cells, which_) < std::pair(order.total_cells, which)) return;
    min_cells_ = order.total_cells;
    order_ = std::move(order);
    which_ = which;
  }
  /// An order without fill: others could have no smaller cliques, and need not be made.
  void settle(Order order) {
    std::lock_guard const lock(mutex_);
    order_ = std::move(order);
    min_cells_ = settled;
  }
  bool is_settled() const { return min_cells() == settled; }
  void give_up(TooLarge const& too_large) {
    std::lock_guard const lock(mutex_);
    auto const key = [](TooLarge const& t) { return std::pair(t.cells, t.which); };
    if (mildest_.which < 0 || key(too_large) < key(mildest_)) mildest_ = too_large;
  }
  void fail(std::exception_ptr failure) {
    std::lock_guard const lock(mutex_);
    failure_ = std::move(failure);
  }
  /// The best; none where all were given up.   \throws what one of them threw
  std::optional<Order> take() {
    if (failure_) std::rethrow_exception(failure_);
    return std::move(order_);
  }
  /// Of orders that were given up that whose first table too large is the smallest.
  int mildest() const { return mildest_.which; }

 private:
  static constexpr double settled = -1;
  std::mutex mutex_;
  std::atomic<double> min_cells_ = std::numeric_limits<double>::infinity();
  std::optional<Order> order_;
  int which_ = 0;
  TooLarge mildest_;
  std::exception_ptr failure_;
};

/// An order in the making: a variable after the other, and what each of them costs.
class Attempt {
 public:
  virtual ~Attempt() = default;
  /// \param graph  without the variables before   \param fills  whether the variable's elimination may make others
  /// neighbours   \return false where the order is given up
  virtual bool append(PrimalGraph const& graph, Index v, bool fills) = 0;
  virtual void finish() = 0;
};

/// To be the best order.
class Candidate : public Attempt {
 public:
  /// \param max_cells  of a table
  Candidate(Best& best, int which, double max_cells) : best_(best), which_(which), max_cells_(max_cells) {}

  /// Gives up where a table would be larger than it may be, or another order is better.
  bool append(PrimalGraph const& graph, Index v, bool fills) override {
    double const of_table = graph.table_cells(v), cells = graph.cells(v);
    if (of_table > max_cells_) {
      best_.give_up({which_, of_table});
      return false;
    }
    fills_ = fills_ || fills;
    order_.variables.push_back(v);
    order_.width = std::max(order_.width, static_cast<int>(graph.neighbours(v).size()));
    order_.total_cells += cells;
    if (cells > order_.largest_cells) {
      order_.largest_cells = cells;
      order_.widest = v;
    }
    return may_settle() || order_.total_cells <= best_.min_cells();
  }
  void finish() override {
    if (may_settle())
      best_.settle(std::move(order_));
    else
      best_.offer(which_, std::move(order_));
  }

 private:
  /// The first order goes on while it makes no variables neighbours, so that it depends on no thread whether it is the
  /// one that counts.
  bool may_settle() const { return which_ == 0 && !fills_; }

  Best& best_;
  int which_;
  double max_cells_;
  bool fills_ = false;
  Order order_;
};

/// To say how wide an order is that was given up.
class Measurement : public Attempt {
 public:
  /// \param max_cells  of a table that are possible
  explicit Measurement(double max_cells) : max_cells_(max_cells) {}

  /// Gives up where it would take long, but not before the first table that is too large: so far the order was made
  /// before.
  bool append(PrimalGraph const& graph, Index v, bool) override {
    auto const width = static_cast<int>(graph.neighbours(v).size());
    excess_.width = std::max(excess_.width, width);
    if (double const cells = graph.table_cells(v); cells > excess_.cells) {
      excess_.cells = cells;
      excess_.variable = v;
    }
    if (excess_.cells > max_cells_) work_ += std::pow(width, 3);
    return work_ <= max_work;
  }
  void finish() override { excess_.is_whole = true; }
  Excess const& excess() const { return excess_; }

 private:
  static constexpr double max_work = 1e8;  // each pair of neighbours may have as many in common: a second or so
  double max_cells_, work_ = 0;
  Excess excess_{.is_whole = false};
};

/// Whether the elimination of a variable may make others neighbours.
bool may_fill(PrimalGraph const& graph, Index v) { return graph.neighbours(v).size() > 1; }

/// In an order that is known.
void follow(Attempt& attempt, PrimalGraph graph, std::vector<Index> const& variables) {
  for (Index v : variables) {
    if (!attempt.append(graph, v, may_fill(graph, v))) return;
    graph.eliminate(v);
  }
  attempt.finish();
}

double score(PrimalGraph& graph, Index v, Heuristic heuristic) {
  switch (heuristic) {
    case Heuristic::min_fill: return graph.fill(v);
    case Heuristic::min_weight: return graph.cells(v);
    default: return static_cast<double>(graph.neighbours(v).size());
  }
}

ScoreQueue queue_of(PrimalGraph& graph, Heuristic heuristic, std::uint64_t seed) {
  return {graph.num_variables(), [&](Index v) { return score(graph, v, heuristic); }, seed};
}

/// Greedily, always the variable of the least score in the graph that elimination makes.
void go_greedily(Attempt& attempt, PrimalGraph graph, Heuristic heuristic, std::uint64_t seed) {
  auto queue = queue_of(graph, heuristic, seed);
  FillChanges changes(graph.num_variables());
  while (!queue.is_empty()) {
    Index const v = queue.pop();
    bool const fills = heuristic == Heuristic::min_fill ? queue.score_of(v) > 0 : may_fill(graph, v);
    if (!attempt.append(graph, v, fills)) return;
    if (heuristic == Heuristic::min_fill) {
      graph.eliminate(v, changes);
      changes.take([&](Index w, double change) {
        if (w != v) queue.set_score(w, queue.score_of(w) + change);
      });
    } else {
      auto const around = graph.neighbours(v);
      graph.eliminate(v);
      for (Index w : around) queue.set_score(w, score(graph, w, heuristic));
    }
  }
  attempt.finish();
}

/// Ascending by neighbours, in what is left of the graph as it was (min_width) or in the whole graph (degree).
std::vector<Index> by_neighbours(PrimalGraph graph, Heuristic heuristic, std::uint64_t seed) {
  auto queue = queue_of(graph, heuristic, seed);
  std::vector<Index> order;
  while (!queue.is_empty()) {
    Index const v = queue.pop();
    order.push_back(v);
    if (heuristic == Heuristic::degree) continue;
    auto const around = graph.neighbours(v);
    graph.eliminate(v, false);
    for (Index w : around) queue.set_score(w, score(graph, w, heuristic));
  }
  return order;
}

void make(Attempt& attempt, PrimalGraph const& graph, Heuristic heuristic, std::uint64_t seed) {
  switch (heuristic) {
    case Heuristic::depth_first: return follow(attempt, graph, depth_first_order(graph, graph.num_variables(), seed));
    case Heuristic::min_width:
    case Heuristic::degree: return follow(attempt, graph, by_neighbours(graph, heuristic, seed));
    default: return go_greedily(attempt, graph, heuristic, seed);
  }
}

/// Calls body(i) for each i below count: on all of the host's threads, where Kokkos runs.
template <class Body>
void for_each_at_once(int count, Body const& body) {
  if (count > 1 && Kokkos::is_initialized()) {
    using Policy = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;
    Kokkos::parallel_for("hornbill::elim::make_order", Policy(0, count).set_chunk_size(1), [&](int i) { body(i); });
    Kokkos::DefaultHostExecutionSpace().fence("hornbill: orders are compared by the host");
  } else {
    for (int i = 0; i < count; ++i) body(i);
  }
}

}  // namespace

TooWideError::TooWideError(Excess const& its_excess, double possible)
    : CapacityError(fmt::format("elimination is too wide: the width is {}{}, and the table that variable {} makes has "
                                "{:.3g} cells; {:.10g} are possible",
                                its_excess.is_whole ? "" : "at least ", its_excess.width, its_excess.variable,
                                its_excess.cells, possible)),
      excess(its_excess),
      max_cells(possible) {}

Order make_order(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes,
                 OrderOptions const& options) {
  if (options.tries < 1) throw InputError(fmt::format("{} tries make no elimination order", options.tries));
  PrimalGraph const graph(cardinality, scopes);
  std::mt19937_64 random(options.seed);
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < options.tries; ++i) seeds.push_back(random());
  Best best;
  for_each_at_once(options.tries, [&](int i) {
    if (best.is_settled()) return;
    try {
      Candidate candidate(best, i, options.max_cells);
      make(candidate, graph, options.heuristic, seeds[i]);
    } catch (...) {  // must not leave a thread
      best.fail(std::current_exception());
    }
  });
  if (auto order = best.take()) return std::move(*order);
  Measurement measurement(options.max_cells);
  make(measurement, graph, options.heuristic, seeds[best.mildest()]);
  throw TooWideError(measurement.excess(), options.max_cells);
}

Order measure_order(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes,
                    std::vector<Index> variables, double max_cells) {
  std::vector<bool> seen(cardinality.size());
  for (Index v : variables) {
    if (v < 0 || static_cast<std::size_t>(v) >= seen.size())
      throw InputError(
          fmt::format("the elimination order has the variable {}; variables are 0 to {}", v, std::ssize(seen) - 1));
    if (seen[v]) throw InputError(fmt::format("the elimination order has the variable {} twice", v));
    seen[v] = true;
  }
  if (variables.size() != seen.size())
    throw InputError(fmt::format("the elimination order lacks the variable {}",
                                 std::find(seen.begin(), seen.end(), false) - seen.begin()));
  Best best;
  PrimalGraph const graph(cardinality, scopes);
  Candidate candidate(best, 0, max_cells);
  follow(candidate, graph, variables);
  if (auto order = best.take()) return std::move(*order);
  Measurement measurement(max_cells);
  follow(measurement, graph, variables);
  throw TooWideError(measurement.excess(), max_cells);
}

}  // namespace hornbill::elim
