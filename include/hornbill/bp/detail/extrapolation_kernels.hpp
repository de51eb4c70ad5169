// Reduced rank extrapolation: see bp/acceleration.hpp.
#pragma once

#include <string>
#include <type_traits>

#include <hornbill/bp/acceleration.hpp>
#include <hornbill/bp/detail/fields.hpp>
#include <hornbill/bp/detail/policies.hpp>
#include <hornbill/bp/detail/selection.hpp>

namespace hornbill::bp::detail {

/// Before the first iteration of a window.
template <class F>
struct BeginWindow {
  F f;
  Extrapolation<typename F::Value, typename F::MemorySpace> e;
  static constexpr float least = 1e-6f;  // what hardly moves its variable is still to come to rest

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = f.item(i);
    auto const& set = item.fields;
    if (set.stopped()) return;
    for_each_entry(set, item.task, [&](Index message, Index slot) {
      auto const p = static_cast<float>(set.beliefs(slot));
      Offset const at = Offset{message} * f.sets + i % f.sets;
      e.previous(at) = set.messages(message);
      e.sensitivities(at) = Kokkos::fmax(least, p * (1 - p));
    });
  }
};

/// The change of each message in the iteration of that number.
template <class F>
struct KeepChanges {
  F f;
  Extrapolation<typename F::Value, typename F::MemorySpace> e;
  Index iteration;

  KOKKOS_FUNCTION void operator()(Index at) const {
    using Value = typename F::Value;
    auto const item = f.item(at);
    if (item.fields.stopped()) return;
    Value const now = item.fields.messages(item.task), before = e.previous(at);
    bool const moved = now != before && !Kokkos::isinf(now) && !Kokkos::isinf(before);
    e.changes(Offset{iteration} * static_cast<Offset>(e.previous.extent(0)) + at) =
        moved ? static_cast<float>(now - before) : 0.f;
    e.previous(at) = now;
  }
};

/// Pair (i, j), j <= i, of a triangle's pairs in order.
struct Pair {
  Index i, j;
  static KOKKOS_FUNCTION Pair at(Index p) {
    auto i = static_cast<Index>((Kokkos::sqrt(8.f * static_cast<float>(p) + 1.f) - 1.f) / 2);
    while ((i + 1) * (i + 2) / 2 <= p) ++i;
    while (i * (i + 1) / 2 > p) --i;
    return {i, p - i * (i + 1) / 2};
  }
};

template <class T, class ExecutionSpace>
using Scratch = Kokkos::View<T*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

/// Products of changes, weighted by sensitivity, summed over a slice of messages; one team a slice of a set.
template <class F>
struct SumProducts {
  F f;
  Extrapolation<typename F::Value, typename F::MemorySpace> e;
  Index window;

  static constexpr Index row = extrapolation_tile + 1;  // not a multiple of the number of memory banks
  template <class ExecutionSpace>
  static std::size_t scratch_bytes(Index window) {
    return Scratch<float, ExecutionSpace>::shmem_size(window * row);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const set = static_cast<Index>(member.league_rank()) % f.sets;
    if (f.of_set(set).stopped()) return;
    Scratch<float, typename Member::execution_space> const tile(member.team_scratch(0), window * row);
    auto const messages = static_cast<Offset>(e.previous.extent(0)) / f.sets;
    auto const slice = static_cast<Offset>(member.league_rank()) / f.sets,
               slices = static_cast<Offset>(member.league_size()) / f.sets;
    Offset const tiles = (messages + extrapolation_tile - 1) / extrapolation_tile;
    double* const sums = &e.products((slice * f.sets + set) * num_pairs(window));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, num_pairs(window)), [&](Index p) { sums[p] = 0; });
    for (Offset t = tiles * slice / slices; t < tiles * (slice + 1) / slices; ++t) {
      Offset const first = t * extrapolation_tile;
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, window * extrapolation_tile), [&](Index at) {
        Index const i = at / extrapolation_tile, k = at % extrapolation_tile;
        tile(i * row + k) = first + k < messages ? e.changes((i * messages + first + k) * f.sets + set) *
                                                       e.sensitivities((first + k) * f.sets + set)
                                                 : 0.f;
      });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, num_pairs(window)), [&](Index p) {
        Pair const pair = Pair::at(p);
        sums[p] += product(&tile(pair.i * row), &tile(pair.j * row));
      });
    }
  }

 private:
  /// Of two rows of a tile. Several sums, so that a CPU need not wait for one addition to begin the next.
  static KOKKOS_FUNCTION double product(float const* a, float const* b) {
    constexpr int width = 8;
    double sums[width] = {};
    for (Index k = 0; k < extrapolation_tile; k += width)
      for (int i = 0; i < width; ++i) sums[i] += static_cast<double>(a[k + i]) * static_cast<double>(b[k + i]);
    for (int i = 1; i < width; ++i) sums[0] += sums[i];
    return sums[0];
  }
};

/// The coefficients, by one team a set; and less of a step where a run does not come nearer.
template <class F>
struct Extrapolate {
  using Value = typename F::Value;
  F f;
  Extrapolation<Value, typename F::MemorySpace> e;
  Index window, slices;
  int patience;
  Value first_damping;

  static constexpr double ridge = 1e-10, nearer = 0.9, less = 0.7, least = 0.1;
  static constexpr Index longest_pause = 8;
  template <class ExecutionSpace>
  static std::size_t scratch_bytes(Index window) {
    return Scratch<double, ExecutionSpace>::shmem_size(window * (window + 1));
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const set = static_cast<Index>(member.league_rank());
    if (f.of_set(set).stopped()) return;
    Scratch<double, typename Member::execution_space> const scratch(member.team_scratch(0), window * (window + 1));
    auto matrix = [&](Index i, Index j) -> double& { return scratch(i * (window + 1) + j); };  // and the right side, 1
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, num_pairs(window)), [&](Index p) {
      Pair const pair = Pair::at(p);
      double sum = 0;
      for (Index s = 0; s < slices; ++s) sum += e.products((Offset{s} * f.sets + set) * num_pairs(window) + p);
      matrix(pair.i, pair.j) = matrix(pair.j, pair.i) = sum;
    });
    member.team_barrier();
    scale(member, matrix, set);
    eliminate(member, matrix);
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      substitute(matrix);
      auto& control = f.of_set(set).control();
      bool const found = to_coefficients(matrix, set), pausing = pauses(control);
      if (!found) control.extrapolated = 0;
      if (!found || pausing)
        for (Index i = 0; i < window; ++i) coefficient(i, set) = 0;
      damp_more_if_stalled(control);
    });
  }

 private:
  KOKKOS_FUNCTION double& coefficient(Index i, Index set) const { return e.coefficients(i * f.sets + set); }
  /// To a diagonal of 1, as changes differ by orders of magnitude. The scales, and the right side, are kept in the last
  /// column.
  template <class Member, class Matrix>
  KOKKOS_FUNCTION void scale(Member const& member, Matrix const& matrix, Index set) const {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, window), [&](Index i) {
      double const square = matrix(i, i);
      matrix(i, window) = square > 0 ? 1 / Kokkos::sqrt(square) : 0;
    });
    member.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, window * window), [&](Index at) {
      Index const i = at / window, j = at % window;
      matrix(i, j) = matrix(i, j) * matrix(i, window) * matrix(j, window) + (i == j ? ridge : 0.0);
    });
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, window),
                         [&](Index i) { coefficient(i, set) = matrix(i, window); });
    member.team_barrier();
  }
  /// Gaussian elimination, a row a thread; the matrix is positive definite.
  template <class Member, class Matrix>
  KOKKOS_FUNCTION void eliminate(Member const& member, Matrix const& matrix) const {
    for (Index k = 0; k < window; ++k) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, k + 1, window), [&](Index i) {
        double const factor = matrix(i, k) / matrix(k, k);
        for (Index j = k + 1; j <= window; ++j) matrix(i, j) -= factor * matrix(k, j);
      });
      member.team_barrier();
    }
  }
  template <class Matrix>
  KOKKOS_FUNCTION void substitute(Matrix const& matrix) const {
    for (Index i = window - 1; i >= 0; --i) {
      double x = matrix(i, window);
      for (Index j = i + 1; j < window; ++j) x -= matrix(i, j) * matrix(j, window);
      matrix(i, window) = x / matrix(i, i);
    }
  }
  /// From the solution y, scaled: gamma = y / sum(y); coefficient i is the sum of gamma_j, j < i. False where there is
  /// none.
  template <class Matrix>
  KOKKOS_FUNCTION bool to_coefficients(Matrix const& matrix, Index set) const {
    double total = 0;
    for (Index i = 0; i < window; ++i) total += matrix(i, window) *= coefficient(i, set);
    double before = 0;
    for (Index i = 0; i < window; ++i) {
      double const gamma = matrix(i, window) / total;
      coefficient(i, set) = before;
      before += gamma;
    }
    return Kokkos::isfinite(before);
  }
  /// Whether this cycle ends without an extrapolation, because others have failed.
  KOKKOS_FUNCTION bool pauses(Control<Value>& c) const {
    if (c.extrapolated && c.careful) {
      bool const failed = c.residual > c.previous_residual;
      c.last_pause =
          failed ? Kokkos::min(Index{longest_pause}, Kokkos::max(Index{1}, 2 * c.last_pause)) : c.last_pause / 2;
      if (failed) c.pause = c.last_pause;
    }
    c.previous_residual = c.residual;
    c.extrapolated = c.pause == 0;
    if (c.pause > 0) --c.pause;
    return !c.extrapolated;
  }
  /// Smaller steps where a run comes no nearer; after the smallest the first again, now careful, then careless, in
  /// turns.
  KOKKOS_FUNCTION void damp_more_if_stalled(Control<Value>& c) const {
    if (static_cast<double>(c.residual) < nearer * static_cast<double>(c.lowest_residual)) {
      c.lowest_residual = c.residual;
      c.stalled = 0;
    } else if (++c.stalled >= patience) {
      double const share = less * (1 - static_cast<double>(c.damping));
      bool const anew = share < least;
      c.damping = anew ? first_damping : static_cast<Value>(1 - share);
      if (anew) c.careful = !c.careful;
      c.pause = c.last_pause = 0;
      c.lowest_residual = c.residual;
      c.stalled = 0;
    }
  }
};

/// m <- m - sum_i coefficient_i u_i, where that is not too far.
template <class F>
struct MoveMessages {
  F f;
  Extrapolation<typename F::Value, typename F::MemorySpace> e;
  Index window;
  static constexpr double farthest = 2;  // log-odds

  KOKKOS_FUNCTION void operator()(Index at) const {
    using Value = typename F::Value;
    auto const item = f.item(at);
    Value const now = item.fields.messages(item.task);
    if (item.fields.stopped() || Kokkos::isinf(now)) return;
    auto const entries = static_cast<Offset>(e.previous.extent(0));
    double back = 0;
    for (Index i = 1; i < window; ++i)
      back += e.coefficients(i * f.sets + at % f.sets) * static_cast<double>(e.changes(i * entries + at));
    item.fields.messages(item.task) =
        limit_to_grid(now - static_cast<Value>(Kokkos::fmax(-farthest, Kokkos::fmin(farthest, back))));
  }
};

template <class ExecutionSpace, class Value, class MemorySpace>
void make_once(ExecutionSpace const& exec, Extrapolation<Value, MemorySpace>& e, std::size_t messages, Index window,
               Index sets) {
  auto make = [&](auto& view, char const* label, std::size_t size) {
    if (view.extent(0) == size) return;
    view = {};
    view = std::decay_t<decltype(view)>(Kokkos::view_alloc(exec, std::string("hornbill::bp::") + label), size);
  };
  make(e.previous, "previous", messages * sets);
  make(e.sensitivities, "sensitivities", messages * sets);
  make(e.changes, "changes", messages * sets * window);
  make(e.products, "products", static_cast<std::size_t>(num_slices(messages)) * num_pairs(window) * sets);
  make(e.coefficients, "coefficients", static_cast<std::size_t>(window) * sets);
}

template <class F>
using ExtrapolationOf = Extrapolation<typename F::Value, typename F::MemorySpace>;

template <class Launcher, class F>
void begin_window(Launcher& launcher, F const& f, ExtrapolationOf<F> const& e) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  launcher.parallel_for("hornbill::bp::begin_window", items<ExecutionSpace>(launcher.exec, f, f.graph.num_edges()),
                        BeginWindow<F>{f, e});
}

template <class Launcher, class F>
void keep_changes(Launcher& launcher, F const& f, ExtrapolationOf<F> const& e, Index iteration) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  launcher.parallel_for("hornbill::bp::keep_changes", items<ExecutionSpace>(launcher.exec, f, f.graph.num_messages()),
                        KeepChanges<F>{f, e, iteration});
}

/// Moves messages; sums and beliefs are to be formed anew.
template <class Launcher, class F>
void extrapolate(Launcher& launcher, F const& f, ExtrapolationOf<F> const& e, bp::Acceleration const& a,
                 double first_damping) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  using Teams = BoundedTeams<ExecutionSpace, tuning.team_size>;
  Index const messages = f.graph.num_messages(), slices = num_slices(messages), window = a.window;
  auto teams = [&](Index count, std::size_t scratch) {
    return Teams(launcher.exec, count, tuning.team_size).set_scratch_size(0, Kokkos::PerTeam(scratch));
  };
  launcher.parallel_for("hornbill::bp::sum_products",
                        teams(slices * f.sets, SumProducts<F>::template scratch_bytes<ExecutionSpace>(window)),
                        SumProducts<F>{f, e, window});
  launcher.parallel_for(
      "hornbill::bp::extrapolate", teams(f.sets, Extrapolate<F>::template scratch_bytes<ExecutionSpace>(window)),
      Extrapolate<F>{f, e, window, slices, a.patience, static_cast<typename F::Value>(first_damping)});
  launcher.parallel_for("hornbill::bp::move_messages", items<ExecutionSpace>(launcher.exec, f, messages),
                        MoveMessages<F>{f, e, window});
}

}  // namespace hornbill::bp::detail
