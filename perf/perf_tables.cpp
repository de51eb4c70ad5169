// Time of exact inference by model, backend and precision: elimination and junction trees; one JSON object a line.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/atomic_file.hpp>

#include "commit.hpp"

namespace hb = hornbill;
using hb::tables::Cost;
using nlohmann::json;

namespace {

struct Arguments {
  std::vector<std::string> models, backends, precisions{"double"};
  std::string order = "min_fill", commit = HORNBILL_COMMIT, write_to;
  int repeats = 5, tries = 10;
  double max_bytes = 0;
};

double seconds_of(auto&& function) {
  auto const begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Median of repeated runs, after one that warms up.
double median_seconds(int repeats, auto&& function) {
  function();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) seconds.push_back(seconds_of(function));
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<std::size_t>(repeats / 2)];
}

/// Pairs of variables that a constraint is over.
/// \source Fioretto et al., Constraints 2018, section 8.1: random graphs of a density, scale-free graphs (each new node
/// to two, Barabasi and Albert), grids
std::vector<std::pair<hb::Index, hb::Index>> pairs_of(std::string const& kind, hb::Index n, double density,
                                                      std::mt19937_64& random) {
  std::set<std::pair<hb::Index, hb::Index>> pairs;
  auto const below = [&](hb::Index end) { return static_cast<hb::Index>(random() % static_cast<std::uint64_t>(end)); };
  auto const add = [&](hb::Index a, hb::Index b) {
    return a != b && pairs.emplace(std::min(a, b), std::max(a, b)).second;
  };
  if (kind == "random") {
    auto const wanted = static_cast<std::size_t>(density * n * (n - 1) / 2);
    for (hb::Index v = 1; v < n; ++v) add(v, below(v));  // connected
    while (pairs.size() < wanted) add(below(n), below(n));
  } else if (kind == "scale_free") {
    std::vector<hb::Index> ends{0, 1};
    add(0, 1);
    for (hb::Index v = 2; v < n; ++v)
      for (int links = 0; links < 2;)
        if (hb::Index const other = ends[random() % ends.size()]; add(v, other)) {
          ends.insert(ends.end(), {v, other});
          ++links;
        }
  } else if (kind == "grid") {
    auto const side = static_cast<hb::Index>(std::lround(std::sqrt(n)));
    for (hb::Index v = 0; v < side * side; ++v) {
      if (v % side + 1 < side) add(v, v + 1);
      if (v + side < side * side) add(v, v + side);
    }
  } else {
    throw hb::InputError("unknown kind of network " + kind);
  }
  return {pairs.begin(), pairs.end()};
}

/// kind,variables,states,density,seed: costs from 0 to 100.
hb::tables::CostNetwork generate(std::string const& text) {
  auto fields = CLI::detail::split(text, ',');
  fields.resize(5);
  auto const number = [&](std::size_t i, double otherwise) {
    return fields[i].empty() ? otherwise : std::stod(fields[i]);
  };
  auto const n = static_cast<hb::Index>(number(1, 20)), states = static_cast<hb::Index>(number(2, 2));
  std::mt19937_64 random(static_cast<std::uint64_t>(number(4, 1)));
  hb::tables::CostNetwork network;
  network.name = text;
  auto const pairs = pairs_of(fields[0], n, number(3, 0.3), random);
  for (auto const& [a, b] : pairs) {
    hb::tables::HostTable<Cost> table{{a, b}, {}};
    for (hb::Index i = 0; i < states * states; ++i) table.values.push_back(static_cast<Cost>(random() % 101));
    network.tables.push_back(std::move(table));
    while (network.num_variables() <= b) network.cardinality.push_back(states);
  }
  network.upper_bound = static_cast<Cost>(100 * pairs.size() + 1);
  return network;
}

/// In toulbar2's format, so that it can solve the same.
void write_wcsp(hb::tables::CostNetwork const& network, std::string const& file) {
  auto text = fmt::format("generated {} {} {} {}\n{}\n", network.num_variables(),
                          *std::max_element(network.cardinality.begin(), network.cardinality.end()),
                          network.tables.size(), network.upper_bound, fmt::join(network.cardinality, " "));
  for (auto const& table : network.tables) {
    text += fmt::format("{} {} 0 {}\n", table.scope.size(), fmt::join(table.scope, " "), table.values.size());
    auto const states = static_cast<std::size_t>(network.cardinality[table.scope[1]]);
    for (std::size_t i = 0; i < table.values.size(); ++i)
      text += fmt::format("{} {} {}\n", i / states, i % states, table.values[i]);
  }
  hb::io::write_atomically(file, text);
}

hb::elim::Order order_of(Arguments const& a, std::vector<hb::Index> const& cardinality,
                         std::vector<std::span<hb::Index const>> const& scopes) {
  return hb::elim::make_order(
      cardinality, scopes,
      {.heuristic = a.order == "min_weight" ? hb::elim::Heuristic::min_weight : hb::elim::Heuristic::min_fill,
       .tries = a.tries});
}

/// What a reduction reads and writes, each table once.
double bytes_of(hb::tables::HostReductions const& reductions, hb::tables::HostReduction const& reduction,
                std::size_t value_bytes) {
  auto cells = reductions.tables()[reduction.output].cells;
  for (hb::Index t : reduction.inputs) cells += reductions.tables()[t].cells;
  return static_cast<double>(cells) * static_cast<double>(value_bytes);
}

double combined_cells(hb::tables::HostReductions const& reductions, hb::tables::HostReduction const& reduction) {
  return static_cast<double>(reductions.tables()[reduction.output].cells) * reductions.states_of(reduction.eliminated);
}

/// The same of all reductions.
json counts_of(hb::tables::HostReductions const& reductions, std::size_t value_bytes) {
  double bytes = 0, cells = 0;
  for (auto const& reduction : reductions.reductions()) {
    bytes += bytes_of(reductions, reduction, value_bytes);
    cells += combined_cells(reductions, reduction);
  }
  return {{"bytes", bytes},
          {"combined_cells", cells},
          {"levels", reductions.num_levels()},
          {"reductions", reductions.reductions().size()},
          {"table_cells", reductions.num_cells()}};
}

/// Bytes read and written by a copy, a second.
template <class Exec>
double copy_bytes_per_second(Exec const& exec) {
  std::size_t const cells = std::size_t{1} << 27;
  using View = Kokkos::View<double*, typename Exec::memory_space>;
  View const from("hornbill::perf::from", cells), to("hornbill::perf::to", cells);
  return 2.0 * static_cast<double>(cells * sizeof(double)) / median_seconds(5, [&] {
           Kokkos::deep_copy(exec, to, from);
           exec.fence("hornbill: the copy is timed");
         });
}

/// The reduction that combines most, by itself: what it reads and writes a second.
template <class Semiring, class Exec>
json time_largest(Exec const& exec, Arguments const& a, hb::elim::Plan<typename Exec::memory_space> const& plan,
                  hb::elim::State<typename Semiring::Value, typename Exec::memory_space> const& state, double copy) {
  auto const& host = plan.host.reductions;
  auto const& all = host.reductions();
  auto const found = std::max_element(all.begin(), all.end(), [&](auto const& r, auto const& s) {
    return combined_cells(host, r) < combined_cells(host, s);
  });
  auto const largest = static_cast<hb::Index>(found - all.begin());
  double const bytes = bytes_of(host, *found, sizeof(typename Semiring::Value));
  auto const schedule = hb::tables::make_schedule(exec, host, plan.reductions, {largest});
  double const seconds = median_seconds(a.repeats, [&] {
    hb::tables::reduce<Semiring>(exec, plan.reductions, schedule, state.values);
    exec.fence("hornbill: the run is timed");
  });
  return {{"combined_cells", combined_cells(host, *found)},
          {"inputs", found->inputs.size()},
          {"bytes", bytes},
          {"seconds", seconds},
          {"share_of_copy", bytes / seconds / copy}};
}

template <class Semiring, class Exec>
json time_elimination(Exec const& exec, Arguments const& a,
                      hb::tables::TableNetwork<typename Semiring::Value> const& network, double copy) {
  using Value = typename Semiring::Value;
  auto const scopes = hb::elim::scopes_of(network);
  hb::elim::HostPlan host;
  double const order_seconds = seconds_of(
      [&] { host = hb::elim::make_plan(network.cardinality, scopes, order_of(a, network.cardinality, scopes)); });
  json result{{"engine", "elimination"},
              {"width", host.order.width},
              {"total_cells", host.order.total_cells},
              {"order_seconds", order_seconds}};
  result.update(counts_of(host.reductions, sizeof(Value)));
  if (a.max_bytes > 0 && static_cast<double>(hb::tables::bytes_needed<Value>(host.reductions)) > a.max_bytes)
    return result.update({{"error", "too large"}}), result;
  double const setup_seconds = seconds_of([&] {
    auto const plan = hb::elim::make_plan(exec, host);
    hb::elim::load(exec, network, plan, hb::elim::make_state<Value>(exec, plan));
  });
  auto const plan = hb::elim::make_plan(exec, host);
  auto const state = hb::elim::make_state<Value>(exec, plan);
  hb::elim::load(exec, network, plan, state);
  double const reduce_seconds = median_seconds(a.repeats, [&] {
    hb::tables::reduce<Semiring>(exec, plan.reductions, plan.schedule, state.values);
    exec.fence("hornbill: the run is timed");
  });
  double const seconds = median_seconds(a.repeats, [&] {
    hb::elim::run<Semiring>(exec, plan, state);
    exec.fence("hornbill: the run is timed");
  });
  auto const found = hb::elim::result_of<Semiring>(exec, plan, state);
  result.update({{"setup_seconds", setup_seconds},
                 {"reduce_seconds", reduce_seconds},
                 {"seconds", seconds},
                 {"bytes_per_second", result["bytes"].get<double>() / reduce_seconds}});
  if (!host.reductions.reductions().empty())
    result["largest_bucket"] = time_largest<Semiring>(exec, a, plan, state, copy);
  if constexpr (Semiring::scales)
    result.update({{"is_in_range", found.is_in_range}, {"log10_value", hb::elim::log10_of(found)}});
  else
    result["value"] = found.value;
  return result;
}

/// All messages and all marginals, with evidence that changes each time.
template <class Semiring, class Exec>
json time_junction_tree(Exec const& exec, Arguments const& a,
                        hb::tables::TableNetwork<typename Semiring::Value> const& network) {
  using Value = typename Semiring::Value;
  auto const scopes = hb::elim::scopes_of(network);
  hb::jtree::HostPlan host;
  double const order_seconds = seconds_of([&] {
    host = hb::jtree::make_plan(
        network.cardinality, scopes,
        hb::jtree::make_join_tree(network.cardinality, scopes, order_of(a, network.cardinality, scopes)));
  });
  json result{{"engine", Semiring::scales ? "junction tree" : "junction tree in logarithms"},
              {"width", host.tree.order.width},
              {"total_cells", host.tree.order.total_cells},
              {"cliques", host.tree.cliques.size()},
              {"order_seconds", order_seconds}};
  result.update(counts_of(host.reductions, sizeof(Value)));
  if (a.max_bytes > 0 && static_cast<double>(hb::tables::bytes_needed<Value>(host.reductions)) > a.max_bytes)
    return result.update({{"error", "too large"}}), result;
  double const setup_seconds =
      seconds_of([&] { hb::jtree::make_state<Semiring>(exec, hb::jtree::make_plan(exec, host), network); });
  auto const plan = hb::jtree::make_plan(exec, host);
  auto state = hb::jtree::make_state<Semiring>(exec, plan, network);
  Kokkos::View<Value*, typename Exec::memory_space> const p("hornbill::perf::marginals",
                                                            static_cast<std::size_t>(plan.marginal_offsets.back()));
  double const seconds = median_seconds(a.repeats, [&] {
    std::fill(state.is_current.begin(), state.is_current.end(), false);
    hb::jtree::calibrate(exec, plan, state);
    hb::jtree::marginals(exec, plan, state, p);
    exec.fence("hornbill: the run is timed");
  });
  hb::Index const last = network.num_variables() - 1;
  int turn = 0;
  double const update_seconds = median_seconds(a.repeats, [&] {  // one variable observed, and its neighbour asked about
    std::vector<hb::HostEvidence> const sets{{hb::Observation::hard(last, turn++ % network.cardinality[last])}};
    hb::jtree::observe(exec, plan, state, sets);
    std::vector<hb::Index> const wanted{last > 0 ? last - 1 : last};
    hb::jtree::calibrate_for(exec, plan, state, wanted);
    exec.fence("hornbill: the run is timed");
  });
  hb::jtree::observe(exec, plan, state, std::vector<hb::HostEvidence>(1));
  hb::jtree::calibrate(exec, plan, state);
  result.update({{"setup_seconds", setup_seconds},
                 {"seconds", seconds},
                 {"update_seconds", update_seconds},
                 {"bytes_per_second", result["bytes"].get<double>() / seconds},
                 {"is_in_range", hb::jtree::is_in_range(exec, plan, state)},
                 {"log10_value", hb::jtree::log_partition(exec, plan, state).front() / std::log(10.0)}});
  return result;
}

void print(Arguments const& a, std::string const& model, std::string const& backend, std::string const& values,
           json result, double copy) {
  result.update({{"model", std::filesystem::path(model).filename().string()},
                 {"backend", backend},
                 {"device", hb::backend::describe(backend)},
                 {"values", values},
                 {"order", a.order},
                 {"copy_bytes_per_second", copy},
                 {"commit", a.commit}});
  if (result.contains("bytes_per_second")) result["share_of_copy"] = result["bytes_per_second"].get<double>() / copy;
  fmt::print("{}\n", result.dump());
  std::fflush(stdout);
}

void time_model(Arguments const& a, std::string const& model, std::string const& backend) {
  hb::backend::visit(backend, [&](auto const& exec) {
    double const copy = copy_bytes_per_second(exec);
    bool const is_cost_file = hb::io::is_cost_network(model);
    if (is_cost_file || model.find('.') == std::string::npos || model.find(',') != std::string::npos) {
      auto const network = is_cost_file ? hb::io::read_cost_network(model) : generate(model);
      print(a, model, backend, "int64", time_elimination<hb::tables::MinSum<Cost>>(exec, a, network, copy), copy);
      if (auto const narrow = hb::tables::narrowed(network))
        print(a, model, backend, "int32",
              time_elimination<hb::tables::MinSum<hb::tables::NarrowCost>>(exec, a, *narrow, copy), copy);
      return;
    }
    auto const network = hb::tables::to_tables(hb::io::read_model(model).graph);
    for (auto const& precision : a.precisions) {
      auto const both = [&]<class Value>(Value) {
        auto const tables = hb::tables::converted<Value>(network);
        print(a, model, backend, precision, time_elimination<hb::tables::SumProduct<Value>>(exec, a, tables, copy),
              copy);
        print(a, model, backend, precision, time_junction_tree<hb::tables::SumProduct<Value>>(exec, a, tables), copy);
        if constexpr (sizeof(Value) == sizeof(double))
          print(a, model, backend, precision, time_junction_tree<hb::tables::LogSumExp<Value>>(exec, a, tables), copy);
      };
      if (precision == "float")
        both(float{});
      else
        both(double{});
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app{"Times exact inference"};
  app.add_option("models", a.models,
                 "Files (.wcsp, .cfn, .uai, .bif, .h5), or networks to generate: "
                 "random|scale_free|grid,variables[,states[,density[,seed]]]")
      ->required();
  app.add_option("--backends", a.backends, "Default: all");
  app.add_option("--precisions", a.precisions, "Of probabilities: double, float")
      ->check(CLI::IsMember({"double", "float"}));
  app.add_option("--order", a.order, "min_fill or min_weight")->check(CLI::IsMember({"min_fill", "min_weight"}));
  app.add_option("--tries", a.tries, "Orders to make");
  app.add_option("--repeats", a.repeats, "Runs, of which the median counts")->check(CLI::Range(1, 1000));
  app.add_option("--most-bytes", a.max_bytes, "Models that take more are left out");
  app.add_option("--write-wcsp", a.write_to, "Write generated networks to this folder, and time nothing");
  app.add_option("--commit", a.commit, "Of the build, where git does not tell");
  CLI11_PARSE(app, argc, argv);
  if (!a.write_to.empty()) try {
      for (auto const& model : a.models) write_wcsp(generate(model), a.write_to + "/" + model + ".wcsp");
      return 0;
    } catch (hb::Error const& e) {
      fmt::print(stderr, "perf_tables: {}\n", e.what());
      return 3;
    }
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  if (a.backends.empty()) a.backends = hb::backend::names();
  for (auto const& model : a.models)
    for (auto const& backend : a.backends) try {
        time_model(a, model, backend);
      } catch (hb::Error const& e) {
        fmt::print("{}\n", json{{"model", model}, {"backend", backend}, {"error", e.what()}}.dump());
      }
}
