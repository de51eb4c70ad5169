#include <hornbill/graph/generate.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "random.hpp"

namespace hornbill {
namespace {

struct Benchmark {
  char const* name;
  Index num_variables;
  Offset table_edges;  // FastLBP, Table 1
  Index alarms, true_alarms;
};
constexpr Benchmark benchmarks[] = {{"weblech", 696, 1655, 30, 6},        {"hedc", 5347, 14231, 152, 12},
                                    {"luindex", 11857, 29237, 940, 14},   {"jspider", 25162, 74201, 257, 9},
                                    {"avrora", 36091, 100789, 978, 29},   {"xalan", 51820, 146334, 1870, 10},
                                    {"sunflow", 156695, 431497, 958, 97}, {"ftp", 211175, 476915, 522, 75}};

/// A derivation graph before its nodes get their ids. Tuples 0 to num_inputs-1 are inputs; clause i < num_inputs
/// derives input i and has no body.
class Derivations {
 public:
  Derivations(GeneratorOptions const& o) : options_(o), random_(o.seed) {
    choose_sizes();
    assign_levels();
    choose_alarms();
    choose_heads();
    choose_body_sizes();
    choose_premises();
    use_unused_tuples();
  }

  GeneratedGraph take() {
    std::vector<Index> id(options_.num_variables);  // tuples, then clauses
    std::iota(id.begin(), id.end(), 0);
    random_.shuffle(id);
    GeneratedGraph result;
    result.graph = build(id);
    auto const truth = sample_truth();
    for (Index t : alarms_) {
      result.alarms.push_back(id[t]);
      if (truth[t]) result.true_alarms.push_back(id[t]);
    }
    return result;
  }

 private:
  Index num_derived() const { return num_tuples_ - num_inputs_; }
  Index num_rules() const { return num_clauses_ - num_inputs_; }

  void choose_sizes() {
    // Shares as in the graphs of FastLBP's Table 5: a little more clauses than tuples, a fifth of the tuples inputs.
    num_tuples_ = static_cast<Index>(std::lround(0.42 * options_.num_variables));
    num_clauses_ = options_.num_variables - num_tuples_;
    num_inputs_ = std::max<Index>(1, static_cast<Index>(std::lround(0.2 * num_tuples_)));
    num_premises_ = options_.num_edges - options_.num_variables - num_clauses_;
    depth_ = std::max(1, std::min<int>(options_.depth, num_derived() / 2));
    Offset const fewest = options_.num_variables + num_clauses_ + num_rules();
    if (num_tuples_ < 3 || num_derived() < 1 || options_.num_edges < fewest)
      throw InputError(fmt::format("{} variables need at least {} edges (and 8 variables), but {} edges are asked for",
                                   options_.num_variables, fewest, options_.num_edges));
    if (!std::isgreaterequal(options_.rule_probability, 0) || !std::islessequal(options_.rule_probability, 1))
      throw InputError(fmt::format("the rule probability {} is not in [0, 1]", options_.rule_probability));
  }

  void assign_levels() {
    level_.assign(num_tuples_, 0);
    for (Index t = num_inputs_; t < num_tuples_; ++t)  // every level gets at least two
      level_[t] =
          t - num_inputs_ < 2 * depth_ ? 1 + (t - num_inputs_) % depth_ : 1 + static_cast<int>(random_.below(depth_));
  }

  void choose_alarms() {
    // The first tuple of each level stays a premise, so that every level can derive the next.
    std::vector<Index> candidates(num_tuples_ - std::min(num_tuples_, num_inputs_ + depth_));
    std::iota(candidates.begin(), candidates.end(), num_inputs_ + depth_);
    random_.shuffle(candidates);
    std::stable_partition(candidates.begin(), candidates.end(), [&](Index t) { return 2 * level_[t] > depth_; });
    auto const wanted = static_cast<std::size_t>(std::max<Index>(options_.num_alarms, 0));
    if (wanted > candidates.size())
      throw InputError(
          fmt::format("{} alarms are asked for, but only {} tuples can be alarms", wanted, candidates.size()));
    alarms_.assign(candidates.begin(), candidates.begin() + wanted);
    std::sort(alarms_.begin(), alarms_.end());
    is_alarm_.assign(num_tuples_, 0);
    for (Index t : alarms_) is_alarm_[t] = 1;
    premises_by_level_.resize(depth_ + 1);
    for (Index t = 0; t < num_tuples_; ++t)
      if (!is_alarm_[t]) premises_by_level_[level_[t]].push_back(t);
    // Sorted by level, tuples of lower level are a prefix.
    for (auto const& level : premises_by_level_) {
      usable_.insert(usable_.end(), level.begin(), level.end());
      usable_below_.push_back(usable_.size());
    }
  }

  void choose_heads() {
    head_.resize(num_clauses_);
    std::iota(head_.begin(), head_.begin() + num_inputs_ + num_derived(), 0);  // one clause for each tuple
    // The rest go where the rest went before, more often than not: the tail of the disjunctions' widths is a power law.
    for (Index c = num_tuples_; c < num_clauses_; ++c)
      head_[c] = c > num_tuples_ && random_.uniform() < 0.6
                     ? head_[num_tuples_ + random_.below(c - num_tuples_)]
                     : num_inputs_ + static_cast<Index>(random_.below(num_derived()));
  }

  Index largest_body(Index clause, Index limit) const {
    return static_cast<Index>(std::min<std::size_t>(limit, usable_below_[level_[head_[clause]] - 1]));
  }

  void choose_body_sizes() {
    body_.resize(num_clauses_);
    std::vector<Index> size(num_clauses_, 1), open;
    Offset extra = num_premises_ - num_rules();
    for (Index limit = std::max<Index>(options_.largest_body, 1); extra > 0; limit *= 2) {
      open.clear();
      for (Index c = num_inputs_; c < num_clauses_; ++c)
        if (size[c] < largest_body(c, limit)) open.push_back(c);
      if (open.empty() && limit > num_tuples_)
        throw InputError(
            fmt::format("{} edges are too many for {} variables", options_.num_edges, options_.num_variables));
      for (; extra > 0 && !open.empty(); --extra) {
        std::size_t const i = random_.below(open.size());
        Index const c = open[i];
        if (++size[c] == largest_body(c, limit)) {
          open[i] = open.back();
          open.pop_back();
        }
      }
    }
    for (Index c = num_inputs_; c < num_clauses_; ++c) body_[c].reserve(size[c]);
    body_size_ = std::move(size);
  }

  void choose_premises() {
    uses_.assign(num_tuples_, 0);
    std::vector<Index> used;  // a tuple as often as it was used: drawing from it favours hubs
    for (Index c = num_inputs_; c < num_clauses_; ++c) {
      int const level = level_[head_[c]];
      std::size_t const usable = usable_below_[level - 1];
      add_premise(c, random_.of(premises_by_level_[level - 1]), used);
      for (int tries = 0; static_cast<Index>(body_[c].size()) < body_size_[c]; ++tries) {
        bool const popular = tries < 20 && !used.empty() && random_.uniform() < 0.78;
        Index t = popular ? random_.of(used) : usable_[random_.below(usable)];
        if (tries > 200) t = first_unused_by(c, usable);
        if (level_[t] < level && !contains(body_[c], t)) add_premise(c, t, used);
      }
    }
  }

  static bool contains(std::vector<Index> const& items, Index item) {
    return std::find(items.begin(), items.end(), item) != items.end();
  }

  Index first_unused_by(Index clause, std::size_t usable) const {
    for (std::size_t i = 0; i < usable; ++i)
      if (!contains(body_[clause], usable_[i])) return usable_[i];
    return usable_[0];
  }

  void add_premise(Index clause, Index tuple, std::vector<Index>& used) {
    body_[clause].push_back(tuple);
    used.push_back(tuple);
    ++uses_[tuple];
  }

  /// Tuples that are neither alarms nor premises take the place of one that is used several times.
  void use_unused_tuples() {
    for (Index t = 0; t < num_tuples_; ++t) {
      if (is_alarm_[t] || uses_[t] > 0) continue;
      for (int tries = 0; tries < 200; ++tries) {
        Index const c = num_inputs_ + static_cast<Index>(random_.below(num_rules()));
        if (body_[c].size() < 2 || level_[head_[c]] <= level_[t]) continue;
        Index& premise = body_[c][1 + random_.below(body_[c].size() - 1)];
        if (uses_[premise] < 2) continue;
        --uses_[premise];
        ++uses_[premise = t];
        break;
      }
    }
  }

  HostFactorGraph build(std::vector<Index> const& id) const {
    std::vector<std::vector<Index>> clauses_of(num_tuples_);
    for (Index c = 0; c < num_clauses_; ++c) clauses_of[head_[c]].push_back(c);
    std::vector<Index> node_of(options_.num_variables);
    for (Index node = 0; node < options_.num_variables; ++node) node_of[id[node]] = node;

    HostFactorGraph graph;
    graph.num_variables = options_.num_variables;
    graph.factor_variables.reserve(options_.num_edges);
    for (Index v = 0; v < options_.num_variables; ++v) {
      Index const node = node_of[v];
      graph.factor_variables.push_back(v);
      bool const is_tuple = node < num_tuples_;
      auto const& body = is_tuple ? clauses_of[node] : body_[node - num_tuples_];
      for (Index b : body) graph.factor_variables.push_back(id[is_tuple ? num_tuples_ + b : b]);
      graph.factor_type.push_back(is_tuple ? FactorType::disjunction : FactorType::conjunction);
      graph.p1.push_back(is_tuple ? 1 : options_.rule_probability);
      graph.p2.push_back(is_tuple || !body.empty() ? 0 : options_.rule_probability);
      graph.factor_offsets.push_back(graph.num_edges());
      if (options_.names) graph.variable_names.push_back(name_of(node));
    }
    return graph;
  }

  std::string name_of(Index node) const {
    if (node >= num_tuples_) return fmt::format("clause_{}", node - num_tuples_);
    return fmt::format("{}_{}", is_alarm_[node] ? "alarm" : node < num_inputs_ ? "input" : "tuple", node);
  }

  std::vector<char> derive(std::vector<double> const& luck, double failing) const {
    std::vector<Index> by_level(num_clauses_);
    std::iota(by_level.begin(), by_level.end(), 0);
    std::stable_sort(by_level.begin(), by_level.end(),
                     [&](Index a, Index b) { return level_[head_[a]] < level_[head_[b]]; });
    std::vector<char> holds(num_tuples_, 0);
    for (Index c : by_level)
      if (luck[c] >= failing && std::all_of(body_[c].begin(), body_[c].end(), [&](Index t) { return holds[t]; }))
        holds[head_[c]] = 1;
    return holds;
  }

  /// A world of the model: clauses fail with a probability chosen so that about as many alarms are true as are wanted.
  /// One failing clause can decide many alarms, so the best of several worlds is taken.
  std::vector<char> sample_truth() {
    std::vector<char> best;
    std::int64_t best_miss = -1;
    for (int world = 0; world < 10 && best_miss != 0; ++world) {
      std::vector<double> luck(num_clauses_);
      for (double& l : luck) l = random_.uniform();
      double low = 0, high = 1;
      for (int step = 0; step < 20; ++step) {
        double const middle = (low + high) / 2;
        auto const holds = derive(luck, middle);
        auto const true_alarms = std::count_if(alarms_.begin(), alarms_.end(), [&](Index t) { return holds[t]; });
        (true_alarms > options_.num_true_alarms ? low : high) = middle;
        auto const miss =
            std::abs(true_alarms - options_.num_true_alarms) + (true_alarms == 0 ? options_.num_alarms : 0);
        if (best_miss < 0 || miss < best_miss) {
          best_miss = miss;
          best = holds;
        }
      }
    }
    return best;
  }

  GeneratorOptions options_;
  Random random_;
  Index num_tuples_ = 0, num_clauses_ = 0, num_inputs_ = 0;
  Offset num_premises_ = 0;
  int depth_ = 1;
  std::vector<int> level_;  // of tuples
  std::vector<Index> alarms_, head_, body_size_, uses_;
  std::vector<char> is_alarm_;
  std::vector<std::vector<Index>> premises_by_level_, body_;
  std::vector<Index> usable_;              // tuples that may be premises, by level
  std::vector<std::size_t> usable_below_;  // [level]: how many of them are of this level or below
};

}  // namespace

GeneratorOptions options_like(std::string_view benchmark, EdgeReading reading) {
  for (auto const& b : benchmarks) {
    if (b.name != benchmark) continue;
    GeneratorOptions options;
    options.num_variables = b.num_variables;
    options.num_edges = b.table_edges + (reading == EdgeReading::bayesian_network ? b.num_variables : 0);
    options.num_alarms = b.alarms;
    options.num_true_alarms = b.true_alarms;
    return options;
  }
  throw InputError(
      fmt::format("'{}' is no known benchmark; known are {}", benchmark, fmt::join(known_benchmarks(), ", ")));
}

std::vector<std::string> known_benchmarks() {
  std::vector<std::string> names;
  for (auto const& b : benchmarks) names.emplace_back(b.name);
  return names;
}

GeneratedGraph generate(GeneratorOptions const& options) { return Derivations(options).take(); }

HostEvidence GeneratedGraph::labels(std::size_t n) const {
  std::vector<Index> order = alarms;
  Random(static_cast<std::uint64_t>(alarms.size())).shuffle(order);
  if (order.size() > n) order.resize(n);
  HostEvidence evidence;
  for (Index alarm : order)
    evidence.push_back(
        Observation::hard(alarm, std::find(true_alarms.begin(), true_alarms.end(), alarm) != true_alarms.end()));
  return evidence;
}

}  // namespace hornbill
