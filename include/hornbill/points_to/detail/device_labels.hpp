/// \file
/// Labels of variables by many threads: sweeps over all that have none yet, by a thread each, until all have one.
///
/// A label is 0 for no targets, else the number of the variable that had it first, or that of an entry of the table of
/// operations, each plus 1 (these behind all variables). So a new label needs no counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/chunks.hpp>
#include <hornbill/points_to/detail/device_arrays.hpp>
#include <hornbill/points_to/detail/hash.hpp>
#include <hornbill/points_to/detail/labels.hpp>
#include <hornbill/points_to/plan.hpp>

namespace hornbill::points_to::detail {

/// What flows into a variable: an operation, and the variable (of an address the object) that it is applied to.
struct LabelInput {
  // those with offsets plus three times the offset
  enum Operation : std::uint32_t { address, copy, load, offset, any_offset, function_offset };
  std::uint32_t operation, source;

  KOKKOS_FUNCTION static LabelInput of(Constraint const& c) {
    constexpr std::uint32_t operations[] = {address, copy, load, 0, offset, any_offset, function_offset};
    auto const operation = operations[static_cast<std::size_t>(c.kind)] + 3 * static_cast<std::uint32_t>(c.offset);
    return {operation, static_cast<std::uint32_t>(c.source)};
  }
};

/// Which sources variables wait for.
enum class Awaited : std::uint32_t {
  all,
  copies  ///< within the core: other sources there count as unknown, also those that have labels by now
};

/// A thread sorts its variable's values, so where there are more, as in a hub, the variable gets a label of its own.
inline constexpr std::uint32_t most_values = 256;
inline constexpr std::uint32_t no_sweep = 0xffffffffu;

template <class MemorySpace>
struct LabelGraph {
  template <class T>
  using Array = Kokkos::View<T*, MemorySpace>;

  std::uint32_t num_variables = 0, num_objects = 0;
  Array<std::uint32_t> begin;  // [variables + 1], into inputs
  Array<std::uint32_t> next;   // [variables] the input that is waited for, later how many distinct values there are
  Array<LabelInput> inputs;
  Array<Label> values;              // [inputs] by variable, sorted
  Array<Label> labels;              // [variables]
  Array<std::uint32_t> sweep_of;    // [variables], the sweep that labelled each, or `no_sweep`
  Array<std::uint32_t> followers;   // [variables], inputs of variables without labels that each is the source of
  Array<std::uint8_t> is_core;      // [variables], on a cycle or between two
  Array<std::uint64_t> operations;  // a hash table: operations on labels, or on variables whose label is unknown
  Array<std::uint32_t> lists;       // a hash table: variables plus 1, by their values
  Kokkos::View<std::uint32_t, MemorySpace> appended;  // length of the list that a kernel writes

  KOKKOS_FUNCTION Label own_label(std::uint32_t variable) const { return variable + 1; }
  KOKKOS_FUNCTION bool is_labelled(std::uint32_t variable) const {
    return backend::read_shared(sweep_of(variable)) != no_sweep;
  }
  /// Whether it says that a variable contains itself.
  KOKKOS_FUNCTION static bool is_idle(std::uint32_t variable, LabelInput const& input) {
    return input.operation == LabelInput::copy && input.source == variable;
  }
  template <class Function>
  KOKKOS_FUNCTION void for_each_unlabelled_source(std::uint32_t variable, Function const& function) const {
    for (auto i = begin(variable); i < begin(variable + 1); ++i) {
      auto const input = inputs(i);
      if (input.operation != LabelInput::address && !is_idle(variable, input) && !is_labelled(input.source))
        function(input.source);
    }
  }
  /// Appends those items of a chunk of a list that something holds of to another list. The chunk is used up.
  template <class Holds>
  KOKKOS_FUNCTION void append_if(Array<std::uint32_t> const& to, Array<std::uint32_t> const& list, std::uint32_t count,
                                 std::size_t chunk, Holds const& holds) const {
    constexpr auto size = items_of_chunk<MemorySpace>;
    auto const begin = static_cast<std::uint32_t>(chunk) * size, end = Kokkos::min(begin + size, count);
    auto kept = begin;
    for (auto i = begin; i < end; ++i)
      if (auto const variable = list(i); holds(variable)) list(kept++) = variable;
    if (kept == begin) return;
    auto const at = Kokkos::atomic_fetch_add(&appended(), kept - begin);
    for (auto i = begin; i < kept; ++i) to(at + i - begin) = list(i);
  }
};

// --- rows of inputs ---

template <class MemorySpace>
struct CountInputs {
  LabelGraph<MemorySpace> g;
  Kokkos::View<Constraint const*, MemorySpace> constraints;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const& c = constraints(i);
    if (c.kind != ConstraintKind::store) Kokkos::atomic_inc(&g.next(c.destination));
  }
};

template <class MemorySpace>
struct PlaceInputs {
  LabelGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::size_t variable, std::uint32_t& at, bool is_final) const {
    auto const count = g.next(variable);
    if (is_final) g.begin(variable) = g.next(variable) = at;
    at += count;
    if (is_final && variable + 1 == g.num_variables) g.begin(variable + 1) = at;
  }
};

template <class MemorySpace>
struct FillInputs {
  LabelGraph<MemorySpace> g;
  Kokkos::View<Constraint const*, MemorySpace> constraints;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const& c = constraints(i);
    if (c.kind == ConstraintKind::store) return;
    g.inputs(Kokkos::atomic_fetch_add(&g.next(c.destination), 1u)) = LabelInput::of(c);
  }
};

template <class MemorySpace>
struct BeginLabels {
  LabelGraph<MemorySpace> g;
  Kokkos::View<std::uint32_t*, MemorySpace> list;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    list(i) = static_cast<std::uint32_t>(i);
    g.next(i) = g.begin(i);
    g.sweep_of(i) = no_sweep;
    g.followers(i) = 0;
    g.is_core(i) = 0;
  }
};

// --- labels ---

/// Heapsort: rows may have thousands of values, and a thread has no memory of its own for them.
KOKKOS_INLINE_FUNCTION void sort_row(Label* row, std::uint32_t count) {
  auto const sift = [&](std::uint32_t at, std::uint32_t end) {
    for (auto child = 2 * at + 1; child < end; at = child, child = 2 * at + 1) {
      if (child + 1 < end && row[child] < row[child + 1]) ++child;
      if (row[child] <= row[at]) return;
      auto const above = row[at];
      row[at] = row[child];
      row[child] = above;
    }
  };
  for (auto i = count / 2; i-- > 0;) sift(i, count);
  for (auto end = count; end-- > 1;) {
    auto const largest = row[0];
    row[0] = row[end];
    row[end] = largest;
    sift(0, end);
  }
}
/// \return how many are left of a sorted row
KOKKOS_INLINE_FUNCTION std::uint32_t drop_repeated(Label* row, std::uint32_t count) {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < count; ++i)
    if (i == 0 || row[i] != row[i - 1]) row[kept++] = row[i];
  return kept;
}

/// Labels the variables of a list whose sources allow it, and appends the others to a second list.
template <class MemorySpace>
struct LabelVariables {
  LabelGraph<MemorySpace> g;
  Awaited awaited;
  std::uint32_t sweep;  ///< its number: labels of earlier ones are seen, so that the same are made in each run
  Kokkos::View<std::uint32_t*, MemorySpace> list, left;
  std::uint32_t count;

  KOKKOS_FUNCTION void operator()(std::size_t chunk) const {
    g.append_if(left, list, count, chunk, [&](std::uint32_t variable) { return !try_label(variable); });
  }
  KOKKOS_FUNCTION bool try_label(std::uint32_t variable) const {
    if (g.is_labelled(variable)) return true;
    if (!is_ready(variable)) return false;
    g.labels(variable) = label(variable);
    backend::write_shared(g.sweep_of(variable), sweep);
    return true;
  }
  /// What stores write into an object is not known, so it waits for nothing.
  KOKKOS_FUNCTION bool is_ready(std::uint32_t variable) const {
    if (variable < g.num_objects) return true;
    for (auto& i = g.next(variable); i < g.begin(variable + 1); ++i)
      if (waits_for(variable, g.inputs(i))) return false;
    return true;
  }
  KOKKOS_FUNCTION bool waits_for(std::uint32_t variable, LabelInput const& input) const {
    if (input.operation == LabelInput::address || g.is_idle(variable, input) || is_unknown(input)) return false;
    return backend::read_shared(g.sweep_of(input.source)) >= sweep;
  }
  /// Whether a source counts as unknown even if it has a label by now.
  KOKKOS_FUNCTION bool is_unknown(LabelInput const& input) const {
    return awaited == Awaited::copies && input.operation != LabelInput::copy && g.is_core(input.source) != 0;
  }

  KOKKOS_FUNCTION Label label(std::uint32_t variable) const {
    auto const begin = g.begin(variable);
    if (variable < g.num_objects || g.begin(variable + 1) - begin > most_values) return g.own_label(variable);
    std::uint32_t count = 0;
    for (auto i = begin; i < g.begin(variable + 1); ++i)
      if (auto const value = value_of(variable, g.inputs(i)); value != no_targets) g.values(begin + count++) = value;
    if (count == 0) return no_targets;
    auto* const row = &g.values(begin);
    if (count > 1) {
      sort_row(row, count);
      count = drop_repeated(row, count);
    }
    return count == 1 ? row[0] : label_of_list(variable, row, count);
  }
  KOKKOS_FUNCTION Label value_of(std::uint32_t variable, LabelInput const& input) const {
    if (g.is_idle(variable, input)) return no_targets;
    if (input.operation == LabelInput::address || is_unknown(input))
      return label_of_operation(input.operation, false, input.source);
    auto const label = g.labels(input.source);
    if (label == no_targets || input.operation == LabelInput::copy) return label;
    return label_of_operation(input.operation, true, label);
  }
  KOKKOS_FUNCTION Label label_of_operation(std::uint32_t operation, bool on_label, std::uint32_t operand) const {
    auto const key = (std::uint64_t{2 * operation + (on_label ? 1u : 0u)} << 32 | operand) + 1;
    auto const mask = g.operations.extent(0) - 1;
    for (auto at = mixed(key * 0x9e3779b97f4a7c15u) & mask;; at = (at + 1) & mask) {
      auto found = backend::read_shared(g.operations(at));
      if (found == 0) found = Kokkos::atomic_compare_exchange(&g.operations(at), std::uint64_t{0}, key);
      if (found == 0 || found == key) return g.num_variables + 1 + static_cast<Label>(at);
    }
  }
  /// That of the first variable with the same values.
  KOKKOS_FUNCTION Label label_of_list(std::uint32_t variable, Label const* row, std::uint32_t count) const {
    std::uint64_t hash = 0;
    for (std::uint32_t i = 0; i < count; ++i) hash += hash_of_word(row[i], 0);
    g.next(variable) = count;
    backend::order_memory();  // who finds this variable in the table reads its values
    auto const mask = g.lists.extent(0) - 1;
    for (auto at = mixed(hash) & mask;; at = (at + 1) & mask) {
      auto found = backend::read_shared(g.lists(at));
      if (found == 0) found = Kokkos::atomic_compare_exchange(&g.lists(at), 0u, variable + 1);
      if (found == 0) return g.own_label(variable);
      backend::order_memory();
      if (has_values(found - 1, row, count)) return g.own_label(found - 1);
    }
  }
  KOKKOS_FUNCTION bool has_values(std::uint32_t variable, Label const* row, std::uint32_t count) const {
    if (backend::read_shared(g.next(variable)) != count) return false;
    auto const* const values = &g.values(g.begin(variable));
    for (std::uint32_t i = 0; i < count; ++i)
      if (backend::read_shared(values[i]) != row[i]) return false;
    return true;
  }
};

/// Variables get labels from the host.
template <class MemorySpace>
struct SetLabels {
  LabelGraph<MemorySpace> g;
  std::uint32_t sweep;
  Kokkos::View<std::uint32_t*, MemorySpace> variables, labels;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    g.labels(variables(i)) = labels(i);
    g.sweep_of(variables(i)) = sweep;
  }
};

// --- the core: what is left and does not lead to ends ---

/// Counts followers of sources of the variables of a list.
template <class MemorySpace>
struct CountFollowers {
  LabelGraph<MemorySpace> g;
  Kokkos::View<std::uint32_t*, MemorySpace> list;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    g.for_each_unlabelled_source(list(i), [&](std::uint32_t source) { Kokkos::atomic_inc(&g.followers(source)); });
  }
};

/// Appends variables of a list that have followers, or those that have none.
template <class MemorySpace>
struct SelectByFollowers {
  LabelGraph<MemorySpace> g;
  Kokkos::View<std::uint32_t*, MemorySpace> list, selected;
  std::uint32_t count;
  bool has_followers;

  KOKKOS_FUNCTION void operator()(std::size_t chunk) const {
    g.append_if(selected, list, count, chunk,
                [&](std::uint32_t variable) { return (g.followers(variable) != 0) == has_followers; });
  }
};

/// Takes ends away: sources that have no other followers are the next ends, behind them in the list.
template <class MemorySpace>
struct TakeEnds {
  LabelGraph<MemorySpace> g;
  Kokkos::View<std::uint32_t*, MemorySpace> list;
  std::uint32_t begin;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    g.for_each_unlabelled_source(list(begin + i), [&](std::uint32_t source) {
      if (Kokkos::atomic_fetch_sub(&g.followers(source), 1u) == 1)
        list(Kokkos::atomic_fetch_add(&g.appended(), 1u)) = source;
    });
  }
};

template <class MemorySpace>
struct SetCore {
  LabelGraph<MemorySpace> g;
  Kokkos::View<std::uint32_t*, MemorySpace> list;

  KOKKOS_FUNCTION void operator()(std::size_t i) const { g.is_core(list(i)) = 1; }
};

// --- on the host ---

/// Labels by all threads of an execution space. A label stands for a list of values (HVN), not for their union.
template <class ExecutionSpace>
class DeviceLabeller {
 public:
  DeviceLabeller(ExecutionSpace const& exec, ConstraintSystem const& system, std::vector<Constraint> const& constraints,
                 bool collapses_cycles)
      : exec_(exec), constraints_(constraints), collapses_cycles_(collapses_cycles) {
    labels_.node_of.resize(static_cast<std::size_t>(system.num_variables));
    std::iota(labels_.node_of.begin(), labels_.node_of.end(), 0);
    allocate(system);
    make_rows();
  }

  /// \return nothing if chains of variables are too long for sweeps
  std::optional<Labels> label() {
    auto num_left = label_list(Awaited::all, all_, g_.num_variables);
    if (num_left > 0) {
      auto const num_core = find_core(num_left);
      auto const left_of_core = label_core(num_core);
      num_left = left_of_core + label_list(Awaited::all, behind_core_, num_left - num_core);
    }
    if (num_left > 0) return std::nullopt;
    labels_.of_variable.resize(labels_.node_of.size());
    Kokkos::deep_copy(exec_, Kokkos::View<Label*, Kokkos::HostSpace>(labels_.of_variable.data(), g_.num_variables),
                      g_.labels);
    exec_.fence("hornbill::points_to: labels are on the host");
    return std::move(labels_);
  }

 private:
  using Memory = typename ExecutionSpace::memory_space;
  template <class T>
  using Array = Kokkos::View<T*, Memory>;
  using List = Array<std::uint32_t>;

  /// Each costs a launch and a look of the host, and a look at all that is left. Programs seen so far have up to 168.
  static constexpr std::uint32_t most_levels = 512;

  template <class Functor>
  void for_each(char const* name, std::size_t count, Functor const& functor) {
    Kokkos::parallel_for(profiler_name(name),
                         Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, static_cast<std::int64_t>(count)), functor);
  }
  template <class Functor>
  void for_each_chunk(char const* name, std::size_t count, Functor const& functor) {
    for_each(name, num_chunks<Memory>(count), functor);
  }
  std::uint32_t num_appended() {
    std::uint32_t count;
    Kokkos::deep_copy(exec_, Kokkos::View<std::uint32_t, Kokkos::HostSpace>(&count), g_.appended);
    exec_.fence("hornbill::points_to: a list is written");
    return count;
  }

  void allocate(ConstraintSystem const& system);
  void make_rows();
  bool goes_deeper() { return ++num_levels_ < most_levels; }
  std::uint32_t label_list(Awaited awaited, List& list, std::uint32_t count);
  std::uint32_t find_core(std::uint32_t count);
  std::uint32_t label_core(std::uint32_t count);
  void label_cycles(std::uint32_t count);

  ExecutionSpace exec_;
  std::vector<Constraint> const& constraints_;
  bool collapses_cycles_;
  Labels labels_;
  LabelGraph<Memory> g_;
  List all_, left_, behind_core_;  // [variables]
  std::uint32_t num_levels_ = 0;
};

template <class ExecutionSpace>
void DeviceLabeller<ExecutionSpace>::allocate(ConstraintSystem const& system) {
  std::size_t num_inputs = 0, num_operations = 0;
  for (auto const& c : constraints_) {
    num_inputs += c.kind != ConstraintKind::store ? 1 : 0;
    num_operations += c.kind != ConstraintKind::store && c.kind != ConstraintKind::copy ? 1 : 0;
  }
  auto const n = static_cast<std::size_t>(system.num_variables);
  g_.num_variables = static_cast<std::uint32_t>(n);
  g_.num_objects = static_cast<std::uint32_t>(system.num_objects());
  g_.begin = zeros<std::uint32_t>(exec_, "begin", n + 1);
  g_.next = zeros<std::uint32_t>(exec_, "next", n);
  g_.inputs = array<LabelInput>(exec_, "inputs", num_inputs);
  g_.values = array<Label>(exec_, "values", num_inputs);
  g_.labels = array<Label>(exec_, "labels", n);
  g_.sweep_of = array<std::uint32_t>(exec_, "sweep_of", n);
  g_.followers = array<std::uint32_t>(exec_, "followers", n);
  g_.is_core = array<std::uint8_t>(exec_, "is_core", n);
  g_.operations = zeros<std::uint64_t>(exec_, "operations", index_size_for(num_operations));
  g_.lists = zeros<std::uint32_t>(exec_, "lists", index_size_for(num_inputs / 2));  // each of two or more
  g_.appended = decltype(g_.appended)(Kokkos::view_alloc(exec_, profiler_name("appended")));
  all_ = array<std::uint32_t>(exec_, "all", n);
  left_ = array<std::uint32_t>(exec_, "left", n);
  behind_core_ = array<std::uint32_t>(exec_, "behind_core", n);
}

template <class ExecutionSpace>
void DeviceLabeller<ExecutionSpace>::make_rows() {
  auto const constraints = copied(exec_, "constraints", constraints_);
  for_each("count_inputs", constraints_.size(), CountInputs<Memory>{g_, constraints});
  Kokkos::parallel_scan(profiler_name("place_inputs"), Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, g_.num_variables),
                        PlaceInputs<Memory>{g_});
  for_each("fill_inputs", constraints_.size(), FillInputs<Memory>{g_, constraints});
  for_each("begin_labels", g_.num_variables, BeginLabels<Memory>{g_, all_});
}

/// Labels variables of a list until none is ready.   \return how many are left in the list
template <class ExecutionSpace>
std::uint32_t DeviceLabeller<ExecutionSpace>::label_list(Awaited awaited, List& list, std::uint32_t count) {
  while (count > 0 && goes_deeper()) {
    Kokkos::deep_copy(exec_, g_.appended, 0u);
    for_each_chunk("label", count, LabelVariables<Memory>{g_, awaited, num_levels_, list, left_, count});
    std::swap(list, left_);
    if (auto const num_left = num_appended(); num_left == count)
      break;
    else
      count = num_left;
  }
  return count;
}

/// What is left depends on cycles. The core remains in the list of all; what only follows it goes to another.
template <class ExecutionSpace>
std::uint32_t DeviceLabeller<ExecutionSpace>::find_core(std::uint32_t count) {
  for_each("count_followers", count, CountFollowers<Memory>{g_, all_});
  Kokkos::deep_copy(exec_, left_, all_);
  Kokkos::deep_copy(exec_, g_.appended, 0u);
  for_each_chunk("find_ends", count, SelectByFollowers<Memory>{g_, left_, behind_core_, count, false});
  for (std::uint32_t begin = 0, end = num_appended(); begin < end && goes_deeper();
       begin = std::exchange(end, num_appended()))
    for_each("take_ends", end - begin, TakeEnds<Memory>{g_, behind_core_, begin});
  Kokkos::deep_copy(exec_, g_.appended, 0u);
  for_each_chunk("find_core", count, SelectByFollowers<Memory>{g_, all_, left_, count, true});
  std::swap(all_, left_);
  auto const num_core = num_appended();
  for_each("set_core", num_core, SetCore<Memory>{g_, all_});
  return num_core;
}

/// Copies among the variables of the core, but for cycles of them, lead from one that is labelled to the next.
/// \return how many are left
template <class ExecutionSpace>
std::uint32_t DeviceLabeller<ExecutionSpace>::label_core(std::uint32_t count) {
  count = label_list(Awaited::copies, all_, count);
  if (count == 0) return 0;
  label_cycles(count);
  return label_list(Awaited::copies, all_, count);
}

/// Cycles of copies are few, and small: the host finds them.
template <class ExecutionSpace>
void DeviceLabeller<ExecutionSpace>::label_cycles(std::uint32_t count) {
  std::vector<std::uint32_t> variables(count);
  Kokkos::deep_copy(exec_, Kokkos::View<std::uint32_t*, Kokkos::HostSpace>(variables.data(), count),
                    Kokkos::subview(all_, Kokkos::pair<std::size_t, std::size_t>(0, count)));
  exec_.fence("hornbill::points_to: the rest is on the host");
  auto const on_cycles = find_copy_cycles(variables, constraints_, labels_.node_of);
  std::vector<std::uint32_t> labels;
  for (auto const variable : on_cycles) {
    auto& node = labels_.node_of[variable];
    if (!collapses_cycles_) node = static_cast<Index>(variable);
    labels.push_back(g_.own_label(static_cast<std::uint32_t>(node)));
  }
  for_each("set_labels", on_cycles.size(),
           SetLabels<Memory>{g_, num_levels_, copied(exec_, "variables_on_cycles", on_cycles),
                             copied(exec_, "labels_of_cycles", labels)});
  exec_.fence("hornbill::points_to: labels of cycles are on the device");
}

}  // namespace hornbill::points_to::detail
