// Chow-Liu trees.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <hornbill/circuit/structures.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

using Bin = std::uint8_t;
constexpr Bin no_bin = std::numeric_limits<Bin>::max();

/// Values of each variable in bins, variable by variable.
class BinnedSamples {
 public:
  BinnedSamples(Samples const& samples, std::vector<Index> const& num_categories, ChowLiuOptions const& options)
      : num_samples_(static_cast<std::size_t>(std::min(samples.size(), options.max_samples))) {
    for (std::size_t v = 0; v < num_categories.size(); ++v) {
      std::vector<double> values;
      for (std::size_t s = 0; s < num_samples_; ++s)
        values.push_back(samples.value(static_cast<Offset>(s) * samples.size() / static_cast<Offset>(num_samples_),
                                       static_cast<Index>(v)));
      Index const categories = num_categories[v];
      num_bins_.push_back(categories == 0 ? options.num_bins : std::min(categories, options.num_bins));
      if (categories == 0)
        add_ranks(values, options.num_bins);
      else
        for (double x : values)
          bins_.push_back(
              x == x
                  ? static_cast<Bin>(categories <= options.num_bins ? x : std::floor(x * options.num_bins / categories))
                  : no_bin);
    }
  }

  std::size_t num_variables() const { return num_bins_.size(); }

  /// \units nats
  double mutual_information(std::size_t a, std::size_t b) {
    auto const bins_a = static_cast<std::size_t>(num_bins_[a]), bins_b = static_cast<std::size_t>(num_bins_[b]);
    counts_.assign(bins_a * bins_b, 0);
    auto const *of_a = bins_.data() + a * num_samples_, *of_b = bins_.data() + b * num_samples_;
    double total = 0;
    for (std::size_t s = 0; s < num_samples_; ++s)
      if (of_a[s] != no_bin && of_b[s] != no_bin) ++counts_[of_a[s] * bins_b + of_b[s]], ++total;
    std::vector<double> sums_a(bins_a), sums_b(bins_b);
    for (std::size_t i = 0; i < counts_.size(); ++i) sums_a[i / bins_b] += counts_[i], sums_b[i % bins_b] += counts_[i];
    double information = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0)
        information += counts_[i] / total * std::log(counts_[i] * total / (sums_a[i / bins_b] * sums_b[i % bins_b]));
    return information;
  }

 private:
  /// Real values in bins of about as many samples each.
  void add_ranks(std::vector<double> const& values, Index num_bins) {
    std::vector<double> sorted;
    for (double x : values)
      if (x == x) sorted.push_back(x);
    std::sort(sorted.begin(), sorted.end());
    for (double x : values) {
      auto const rank = x == x ? std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin() : 0;
      bins_.push_back(x == x ? static_cast<Bin>(rank * num_bins / std::ssize(sorted)) : no_bin);
    }
  }

  std::size_t num_samples_;
  std::vector<Index> num_bins_;
  std::vector<Bin> bins_;  ///< [num_variables, num_samples]
  std::vector<double> counts_;
};

/// Neighbours in the tree of largest weight (Prim's algorithm: each variable is compared with all once).
std::vector<std::vector<Index>> heaviest_tree(BinnedSamples& samples) {
  auto const count = samples.num_variables();
  std::vector<std::vector<Index>> neighbours(count);
  std::vector<double> weight(count, -1);
  std::vector<std::size_t> nearest(count, 0);
  std::vector<bool> is_in(count);
  for (std::size_t last = 0, size = 1; size < count; ++size) {
    is_in[last] = true;
    std::size_t next = count;
    for (std::size_t v = 0; v < count; ++v) {
      if (is_in[v]) continue;
      if (double const w = samples.mutual_information(last, v); w > weight[v]) weight[v] = w, nearest[v] = last;
      if (next == count || weight[v] > weight[next]) next = v;
    }
    neighbours[next].push_back(static_cast<Index>(nearest[next]));
    neighbours[nearest[next]].push_back(static_cast<Index>(next));
    last = next;
  }
  return neighbours;
}

/// Parents of all, as seen from a root, in the order of their distance.
std::vector<Index> walk_from(std::vector<std::vector<Index>> const& neighbours, Index root, std::vector<Index>& order) {
  std::vector<Index> parents(neighbours.size(), -1);
  order.assign(1, root);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (Index next : neighbours[static_cast<std::size_t>(order[i])])
      if (next != parents[static_cast<std::size_t>(order[i])]) {
        parents[static_cast<std::size_t>(next)] = order[i];
        order.push_back(next);
      }
  return parents;
}

}  // namespace

VariableTree chow_liu_tree(Samples const& samples, std::vector<Index> const& num_categories,
                           ChowLiuOptions const& options) {
  if (samples.size() == 0) throw InputError("there are no samples to make a tree from");
  if (num_categories.size() != static_cast<std::size_t>(samples.num_variables))
    throw ShapeError("num_categories", static_cast<std::size_t>(samples.num_variables), num_categories.size());
  if (options.num_bins < 2 || options.num_bins >= no_bin)
    throw InputError(fmt::format("{} bins were asked for; 2 to {} are possible", options.num_bins, no_bin - 1));
  if (options.max_samples < 1) throw InputError("at least one sample must be looked at");
  BinnedSamples binned(samples, num_categories, options);
  auto const neighbours = heaviest_tree(binned);
  // The middle of the longest path, which is between the farthest from any and the farthest from that.
  std::vector<Index> order;
  walk_from(neighbours, 0, order);
  auto const back = walk_from(neighbours, order.back(), order);
  std::vector<Index> path{order.back()};
  while (back[static_cast<std::size_t>(path.back())] >= 0) path.push_back(back[static_cast<std::size_t>(path.back())]);
  return {walk_from(neighbours, path[path.size() / 2], order)};
}

}  // namespace hornbill::circuit
