// How reductions are laid out for the device: digits, and what threads do.
#include <algorithm>
#include <array>
#include <bit>
#include <compare>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include <hornbill/error.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {
namespace {

constexpr Index max_block_rows = 1024;                    // of a team
constexpr Index min_rows_low = 1024, min_over_low = 256;  // states of a low digit, where there are as many
// neighbouring cells that a lane reduces alone: its cache lines serve all of them
constexpr Offset cells_of_lane = 8;
constexpr Offset enough_lanes = 1 << 16;
constexpr Offset enough_blocks = 1024;  // for a device that runs teams of many lanes at once
constexpr Offset enough_host_blocks = 128;
constexpr Offset max_rounds = 8;           // of a block whose rows are shared
constexpr Offset max_highs = 16;           // states of the high digit that one block goes through
constexpr Index max_states_in_common = 5;  // of what is eliminated, for which a product of inputs stays in registers
constexpr std::ptrdiff_t max_apart = 2;

/// Variables in two digits: the fastest, of so many states or about the square root of all, and the others.
struct Digits {
  std::span<Index const> high, low;
  Index num_high = 1, num_low = 1;

  Digits(HostReductions const& host, std::span<Index const> variables, Index least) {
    double const all = host.states_of(variables);
    std::size_t split = variables.size();
    while (split > 0 && (num_low < least || static_cast<double>(num_low) * num_low < all / 16))
      num_low *= host.cardinality()[variables[--split]];
    high = variables.first(split);
    low = variables.subspan(split);
    for (Index v : high) num_high *= host.cardinality()[v];
  }
};

/// A digit in a table, slowest first: how many states there are, and how far apart. Where one goes on as the next does,
/// they are one. Not a vector, as there are millions.
class Dimensions {
 public:
  struct Dimension {
    Index states, stride;
    auto operator<=>(Dimension const&) const = default;
  };

  void append(Dimension next) {
    if (size_ > 0 && all_[size_ - 1].stride == next.states * next.stride)
      all_[size_ - 1] = {all_[size_ - 1].states * next.states, next.stride};
    else if (size_ < most)
      all_[size_++] = next;
    else
      throw CapacityError("a reduction over more than 2^31 joint states is not possible");
  }
  std::size_t size() const { return size_; }
  Dimension const* begin() const { return all_.data(); }
  Dimension const* end() const { return all_.data() + size_; }
  Dimension const& front() const { return all_.front(); }
  bool operator<(Dimensions const& other) const {
    return std::lexicographical_compare(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr std::size_t most = 31;  // a digit's states are below 2^31, and each dimension has two or more
  std::array<Dimension, most> all_;
  std::size_t size_ = 0;
};

Dimensions dimensions_of(HostReductions const& host, Index table, std::span<Index const> digit) {
  Dimensions result;
  for (Index v : digit)
    if (Index const states = host.cardinality()[v]; states > 1)
      result.append({states, static_cast<Index>(host.stride(table, v))});
  return result;
}

/// Steps of digits, each kept once.
class Steps {
 public:
  explicit Steps(std::vector<Index>& steps) : steps_(steps) { small_.fill(-1); }
  Index begin_of(Dimensions const& dimensions) {
    auto* const small = small_place(dimensions);
    if (small && *small >= 0) return *small;
    auto const [known, is_new] = begins_.try_emplace(dimensions, static_cast<Index>(steps_.size()));
    if (is_new) append(dimensions);
    if (small) *small = known->second;
    return known->second;
  }

 private:
  static constexpr Index small_states = 8, small_stride = 64;

  /// Where those of no dimension, or a small one, are kept too: most are.
  Index* small_place(Dimensions const& dimensions) {
    if (dimensions.size() == 0) return &small_.back();
    auto const [states, stride] = dimensions.front();
    if (dimensions.size() > 1 || states >= small_states || stride >= small_stride) return nullptr;
    return &small_[static_cast<std::size_t>(states * small_stride + stride)];
  }

  void append(Dimensions const& dimensions) {
    std::vector<Index> made{0}, next;
    for (auto const& [states, stride] : dimensions) {
      next.clear();
      for (Index step : made)
        for (Index state = 0; state < states; ++state) next.push_back(step + state * stride);
      made.swap(next);
    }
    steps_.insert(steps_.end(), made.begin(), made.end());
    if (steps_.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
      throw CapacityError("tables of so many shapes need more than 2^31 - 1 steps");
  }

  std::vector<Index>& steps_;
  std::map<Dimensions, Index> begins_;
  std::array<Index, std::size_t{small_states} * small_stride + 1> small_;  // -1 where not known yet
};

std::ptrdiff_t inputs_without(HostReductions const& host, HostReduction const& reduction, Index v) {
  return std::count_if(reduction.inputs.begin(), reduction.inputs.end(),
                       [&](Index t) { return host.stride(t, v) == 0; });
}

/// How many lanes share a row: as many as read neighbouring cells, and more where there are too few rows.
Index log_lanes_of(HostReductions const& host, HostReduction const& reduction, ReductionTask const& task,
                   Index team_size) {
  if (reduction.inputs.empty()) return 0;
  Offset const over = Offset{task.over_high} * task.over_low, rows = Offset{task.rows_high} * task.rows_low;
  auto const cells = [&](Index t) { return host.tables()[t].cells; };
  auto const& scope = host.tables()[*std::max_element(reduction.inputs.begin(), reduction.inputs.end(),
                                                      [&](Index s, Index t) { return cells(s) < cells(t); })]
                          .scope;
  Offset run = 1;
  for (std::size_t i = scope.size(); i-- > 0 && std::find(reduction.eliminated.begin(), reduction.eliminated.end(),
                                                          scope[i]) != reduction.eliminated.end();)
    run *= host.cardinality()[scope[i]];
  Offset const lanes =
      std::max(std::min<Offset>(run / cells_of_lane, 32), std::min(enough_lanes / rows, over / cells_of_lane));
  return std::bit_width(static_cast<std::uint64_t>(std::clamp<Offset>(lanes, 1, std::min(team_size, task.over_low)))) -
         1;
}

/// Variables of the high digit, last those that most inputs lack: from one of their states to the next such an input is
/// read again.
std::vector<Index> reread_last(HostReductions const& host, HostReduction const& reduction,
                               std::span<Index const> high) {
  std::vector<Index> order(high.begin(), high.end());
  std::stable_sort(order.begin(), order.end(), [&](Index v, Index w) {
    return inputs_without(host, reduction, v) < inputs_without(host, reduction, w);
  });
  return order;
}

/// Whether states of what is eliminated are equally far apart in each input.
bool is_strided(HostReductions const& host, HostReduction const& reduction, Digits const& over) {
  return over.num_high == 1 && std::all_of(reduction.inputs.begin(), reduction.inputs.end(),
                                           [&](Index t) { return dimensions_of(host, t, over.low).size() <= 1; });
}

/// A reduction's inputs in the order in which they are multiplied.
struct Factors {
  std::vector<Index> inputs;
  Index num_apart = 0, run = 1;  ///< as ReductionTask's
};

/// Those last that lack the last variable of the high digit: for a run of its states, and of those before it that they
/// lack too, their product is the same.
Factors apart_first(HostReductions const& host, HostReduction const& reduction, std::vector<Index> const& high,
                    ReductionTask const& task) {
  Factors result{reduction.inputs};
  bool const can_keep = task.is_strided != 0 && task.over_low > 1 && task.over_low <= max_states_in_common;
  if (high.empty() || task.shifts >= 0 || task.log_lanes > 0 || !can_keep) return result;
  auto const lacks = [&](Index v) { return [&host, v](Index t) { return host.stride(t, v) == 0; }; };
  auto const common =
      std::stable_partition(result.inputs.begin(), result.inputs.end(), std::not_fn(lacks(high.back())));
  auto const num_apart = common - result.inputs.begin();
  if (common == result.inputs.end() || num_apart < 1 || num_apart > max_apart) return {reduction.inputs};
  result.num_apart = static_cast<Index>(num_apart);
  for (std::size_t i = high.size(); i-- > 0 && std::all_of(common, result.inputs.end(), lacks(high[i]));)
    result.run *= host.cardinality()[high[i]];
  return result;
}

/// As many states of the high digit as read something again, and leave enough teams; where there are runs, whole ones
/// or equal parts of one.
Index highs_of_block(HostReductions const& host, HostReduction const& reduction, ReductionTask const& task, Index run,
                     std::vector<Index> const& high, Offset blocks) {
  Offset states = 1;
  for (std::size_t i = high.size(); i-- > 0 && states < max_highs && inputs_without(host, reduction, high[i]) > 0;)
    states *= host.cardinality()[high[i]];
  Offset const parts = (run + max_highs - 1) / max_highs,
               most = parts > 1 ? (run + parts - 1) / parts : max_highs / run * run;
  return static_cast<Index>(
      std::clamp<Offset>(Offset{task.rows_high} * task.blocks_of_row / blocks, 1, std::min(states, most)));
}

ReductionTask make_task(HostReductions const& host, HostReduction const& reduction, Index team_size,
                        std::vector<ReductionInput>& inputs, Steps& steps) {
  auto const& output = host.tables()[reduction.output];
  Digits const rows(host, output.scope, min_rows_low), over(host, reduction.eliminated, min_over_low);
  ReductionTask task{.output = output.offset,
                     .table = reduction.output,
                     .num_inputs = static_cast<Index>(reduction.inputs.size()),
                     .rows_low = rows.num_low,
                     .rows_high = rows.num_high,
                     .over_low = over.num_low,
                     .over_high = over.num_high,
                     .shifts = reduction.shifts};
  task.log_lanes = log_lanes_of(host, reduction, task, team_size);
  task.block_rows = max_block_rows;
  if (task.log_lanes > 0) {
    Index const groups = team_size >> task.log_lanes;
    task.block_rows = groups * static_cast<Index>(std::clamp<Offset>(
                                   Offset{task.rows_high} * task.rows_low / (groups * enough_blocks), 1, max_rounds));
  }
  task.blocks_of_row = (task.rows_low + task.block_rows - 1) / task.block_rows;
  task.is_strided = is_strided(host, reduction, over);
  auto const high = reread_last(host, reduction, rows.high);
  task.output_high = steps.begin_of(dimensions_of(host, reduction.output, high));
  auto const factors = apart_first(host, reduction, high, task);
  if (task.log_lanes == 0)
    task.highs_of_block =
        highs_of_block(host, reduction, task, factors.run, high, team_size > 1 ? enough_blocks : enough_host_blocks);
  if (task.highs_of_block > 1) {
    task.run = factors.run;
    task.num_apart = factors.num_apart;
  }
  inputs.clear();
  for (Index t : factors.inputs) {
    auto const over_low = dimensions_of(host, t, over.low), row_low = dimensions_of(host, t, rows.low);
    inputs.push_back({.begin = host.tables()[t].offset,
                      .table = t,
                      .has_rows_in_order = row_low.size() == 0 || (row_low.size() == 1 && row_low.front().stride == 1),
                      .over_low = !task.is_strided       ? steps.begin_of(over_low)
                                  : over_low.size() == 0 ? 0
                                                         : over_low.front().stride,
                      .row_low = steps.begin_of(row_low),
                      .row_high = steps.begin_of(dimensions_of(host, t, high)),
                      .over_high = steps.begin_of(dimensions_of(host, t, over.high))});
  }
  return task;
}

}  // namespace

Index blocks_of(ReductionTask const& task) {
  return (task.rows_high + task.highs_of_block - 1) / task.highs_of_block * task.blocks_of_row;
}

std::size_t num_inputs(HostReductions const& reductions) {
  std::size_t count = 0;
  for (auto const& reduction : reductions.reductions()) count += reduction.inputs.size();
  return count;
}

std::vector<Index> lay_out(HostReductions const& reductions, Index team_size, std::span<ReductionTask> tasks,
                           std::span<ReductionInput> inputs) {
  std::vector<Index> all_steps;
  Steps steps(all_steps);
  std::vector<ReductionInput> of_task;
  std::size_t first = 0;
  for (std::size_t r = 0; r < tasks.size(); ++r) {
    tasks[r] = make_task(reductions, reductions.reductions()[r], team_size, of_task, steps);
    tasks[r].first_input = static_cast<Index>(first);
    std::ranges::copy(of_task, inputs.begin() + static_cast<std::ptrdiff_t>(first));
    first += of_task.size();
  }
  return all_steps;
}

/// Not by a layout that is thrown away: of a million variables it has a gigabyte.
std::size_t layout_bytes(HostReductions const& reductions, Index team_size) {
  std::vector<Index> all_steps;
  Steps steps(all_steps);
  std::vector<ReductionInput> inputs;
  std::size_t blocks = 0;
  for (auto const& reduction : reductions.reductions())
    blocks += static_cast<std::size_t>(blocks_of(make_task(reductions, reduction, team_size, inputs, steps)));
  return reductions.reductions().size() * (sizeof(ReductionTask) + sizeof(Index)) +
         num_inputs(reductions) * sizeof(ReductionInput) + all_steps.size() * sizeof(Index) +
         blocks * sizeof(BlockPlace);
}

}  // namespace hornbill::tables::detail
