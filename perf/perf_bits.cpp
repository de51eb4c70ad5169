// Hashes of the bits of all messages and marginals, by graph, evidence, schedule, backend, precision and run; one JSON
// object a line. A change that is to leave results as they are is held against the lines of the build before it
// (--against). Exits with 1 where bits differ that should not.
#include <array>
#include <bit>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>

#include "../tests/support/random_graphs.hpp"
#include "commit.hpp"
#include "graphs.hpp"

namespace hb = hornbill;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// FNV-1a over the bytes of numbers, lowest first. Both signs of zero count as one: which of them a message has may
/// depend on how its batch was run, and nothing else does.
class BitHash {
 public:
  void add(std::vector<double> const& numbers) {
    for (double const x : numbers)
      for (auto bits = std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x), byte = std::uint64_t{0}; byte < 8;
           ++byte, bits >>= 8)
        hash_ = (hash_ ^ (bits & 255)) * 0x100000001b3;
  }
  std::string text() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

struct Arguments {
  std::vector<std::string> graphs{"random:1",        "random:2", "random_tables:1",
                                  "random_tables:2", "hub:5000", "tables:500",
                                  "weblech",         "hedc",     "luindex"};
  std::vector<std::string> schedules, backends = hb::backend::names(), precisions{"double", "float"};
  std::string against, commit = HORNBILL_COMMIT;
};

/// A graph and the evidence that it is run with.
struct Case {
  hb::HostFactorGraph graph;
  std::map<std::string, hb::HostEvidence> evidence;
};

/// Observations that no graph of these contradicts: some variables are 0, others have likelihoods.
hb::HostEvidence harmless_evidence(hb::HostFactorGraph const& graph) {
  hb::HostEvidence evidence;
  for (hb::Index v = 0; v < graph.num_variables; v += 7) {
    if (graph.states(v) != 2) continue;
    evidence.push_back(v % 2 == 0 ? hb::Observation::hard(v, 0) : hb::Observation::soft(v, 0.3, 0.6));
  }
  return evidence;
}

/// A model file, with the evidence files beside it whose names begin alike and end in .ev and perhaps a number.
Case read_case(fs::path const& file) {
  Case c{hb::io::read_model(file.string()).graph, {{"none", {}}}};
  for (auto const& entry : fs::directory_iterator(file.parent_path().empty() ? "." : file.parent_path())) {
    auto const extension = entry.path().extension().string();
    if (entry.path().stem() == file.stem() && extension.starts_with(".ev") && extension != ".evid")
      c.evidence[extension.substr(1)] = hb::io::read_evidence_text(entry.path().string(), c.graph);
  }
  return c;
}

Case make_case(std::string const& name) {
  if (fs::path(name).has_extension()) return read_case(name);
  auto const colon = name.find(':');
  auto const seed = [&] {
    return colon == std::string::npos ? 1u : static_cast<unsigned>(std::stoul(name.substr(colon + 1)));
  };
  Case c;
  if (name.starts_with("random_tables"))
    c.graph = hb::test::random_graph(seed(), {.tables = 0.4, .max_states = 4});
  else if (name.starts_with("random"))
    c.graph = hb::test::random_graph(seed(), {.num_variables = 300, .num_factors = 120, .largest_body = 90});
  else if (std::isdigit(static_cast<unsigned char>(name[0])) || name.starts_with("hub") || name.starts_with("tables"))
    c.graph = hb::perf::graph_named(name);
  else {
    auto const generated = hb::generate(hb::options_like(name));
    c.graph = generated.graph;
    c.evidence["labels"] = generated.labels(10);
  }
  c.evidence["none"] = {};
  c.evidence["harmless"] = harmless_evidence(c.graph);
  return c;
}

/// As results of earlier commits have them: P(v = 0) of binary variables as 1 - P(v = 1).
std::vector<double> as_recorded(hb::HostFactorGraph const& graph, std::vector<double> p) {
  std::size_t first = 0;
  for (hb::Index v = 0; v < graph.num_variables; first += static_cast<std::size_t>(graph.states(v++)))
    if (graph.states(v) == 2) p[first] = 1 - p[first + 1];
  return p;
}

/// Hashes of a state's messages and marginals, of all its evidence sets.
template <class Exec, class Graph, class State>
json hashes(Exec const& exec, hb::HostFactorGraph const& host, Graph const& graph, State const& state) {
  BitHash messages, marginals;
  for (hb::Index set = 0; set < state.sets; ++set) {
    messages.add(hb::bp::factor_messages(exec, graph, state, set));
    marginals.add(as_recorded(host, hb::bp::state_marginals(exec, host, graph, state, set)));
  }
  return {{"messages", messages.text()}, {"marginals", marginals.text()}};
}

constexpr hb::bp::Acceleration never{.after = -1};
/// Runs from a cold start, by name. A tolerance that no residual is below makes a run take all its iterations and yet
/// accelerate.
std::map<std::string, hb::bp::Options> const cold_runs{
    {"plain", {.max_iterations = 8, .tolerance = 0, .acceleration = never, .warm_start = false}},
    {"damped", {.max_iterations = 8, .tolerance = 0, .damping = 0.3, .acceleration = never, .warm_start = false}},
    {"accelerated", {.max_iterations = 70, .tolerance = 1e-300, .warm_start = false}}};

template <class Value, class Exec>
class Runs {
 public:
  Runs(Exec const& exec, hb::HostFactorGraph const& host, hb::bp::Strategy const& strategy,
       hb::HostEvidence const& observed)
      : exec_(exec),
        host_(host),
        batches_(hb::bp::make_batches(host, strategy)),
        observed_(observed),
        graph_(hb::bp::to_device<Value>(exec, host)) {}

  /// Calls report(run, hashes) for each run.
  void each(std::function<void(std::string const&, json const&)> const& report) {
    for (auto const& [name, options] : cold_runs) report(name, cold(options, hb::bp::Execution::automatic));
    if (!batches_.order.empty() && !batches_.reshuffled) {
      report("batched", cold(cold_runs.at("plain"), hb::bp::Execution::batched));
      report("sequential", cold(cold_runs.at("plain"), hb::bp::Execution::sequential));
    }
    report("local", local());
    if (batches_.updates == hb::bp::Updates::in_turn || batches_.updates == hb::bp::Updates::simultaneous)
      for (auto const& [name, options] : cold_runs) report("sets_" + name, sets(options));
  }

 private:
  hb::bp::Plan<typename Exec::memory_space> plan(hb::bp::PlanOptions const& options) const {
    return hb::bp::make_plan(exec_, hb::bp::lay_out<Exec>(host_, batches_, options));
  }

  json cold(hb::bp::Options const& options, hb::bp::Execution execution) const {
    hb::bp::Evidence evidence(exec_, host_, graph_);
    evidence.observe(observed_);
    evidence.commit(exec_);
    auto const p = plan({.execution = execution});
    auto state = hb::bp::make_state(exec_, graph_, p);
    hb::bp::run(exec_, graph_, evidence, p, state, options);
    return hashes(exec_, host_, graph_, state);
  }

  /// To rest, then on with one observation more, which local update begins with.
  json local() const {
    hb::bp::Evidence evidence(exec_, host_, graph_);
    evidence.observe(observed_);
    evidence.commit(exec_);
    auto const p = plan({});
    auto state = hb::bp::make_state(exec_, graph_, p);
    hb::bp::Options const options{.max_iterations = 200, .tolerance = 1e-4};
    hb::bp::run(exec_, graph_, evidence, p, state, options);
    evidence.observe(one_more());
    evidence.commit(exec_);
    hb::bp::run(exec_, graph_, evidence, p, state, options);
    return hashes(exec_, host_, graph_, state);
  }

  json sets(hb::bp::Options const& options) const {
    auto more = observed_;
    more.push_back(one_more());
    hb::bp::EvidenceSets const evidence(exec_, host_, graph_, {observed_, {}, more});
    auto const p = plan({.sets = 3});
    auto state = hb::bp::make_state(exec_, graph_, p);
    hb::bp::run(exec_, graph_, evidence, p, state, options);
    return hashes(exec_, host_, graph_, state);
  }

  /// Of the first variable that is not observed, and has two states if any such variable does.
  hb::Observation one_more() const {
    std::set<hb::Index> known;
    for (auto const& o : observed_) known.insert(o.variable);
    for (hb::Index v = 0; v < host_.num_variables; ++v)
      if (!known.contains(v) && host_.states(v) == 2) return hb::Observation::soft(v, 0.4, 0.5);
    return hb::Observation::hard(0, 0);
  }

  Exec exec_;
  hb::HostFactorGraph const& host_;
  hb::bp::Batches batches_;
  hb::HostEvidence observed_;
  hb::bp::FactorGraph<Value, typename Exec::memory_space> graph_;
};

/// The fields that say what was run; two lines with the same are to have the same hashes.
std::string identity(json const& line) {
  std::string all;
  for (auto const* field : {"graph", "evidence", "schedule", "backend", "precision", "run"})
    all += (all.empty() ? "" : " ") + line.at(field).get<std::string>();
  return all;
}
std::array<std::string, 2> hashes_of(json const& line) {
  return {line.at("messages").get<std::string>(), line.at("marginals").get<std::string>()};
}

/// Lines of an earlier build, and how the new ones compare.
class Comparison {
 public:
  explicit Comparison(std::string const& file) {
    if (file.empty()) return;
    std::ifstream in(file);
    if (!in) throw hb::InputError(file + ": cannot be read");
    wanted_ = true;
    for (std::string text; std::getline(in, text);) {
      auto const line = json::parse(text);
      earlier_[identity(line)] = hashes_of(line);
    }
  }
  void add(json const& line) {
    auto const before = earlier_.find(identity(line));
    if (before == earlier_.end()) return;
    ++compared_;
    if (before->second != hashes_of(line)) differing_.push_back(identity(line));
  }
  /// Says on standard error what differs. Return whether all is as it was, and something was compared.
  bool holds() const {
    if (!wanted_) return true;
    for (auto const& what : differing_) fmt::print(stderr, "other bits: {}\n", what);
    fmt::print(stderr, "{} of {} compared runs have other bits\n", differing_.size(), compared_);
    return compared_ > 0 && differing_.empty();
  }

 private:
  bool wanted_ = false;
  std::map<std::string, std::array<std::string, 2>> earlier_;
  std::vector<std::string> differing_;
  int compared_ = 0;
};

/// Runs that must have the same bits: on Serial and OpenMP, and of a total order, however its batches are run.
class SameBits {
 public:
  void add(json const& line) {
    auto what = line;
    if (what.at("backend") == "openmp") what["backend"] = "serial";
    if (what.at("run") == "batched" || what.at("run") == "sequential") what["run"] = "plain";
    auto const [first, is_new] = first_.try_emplace(identity(what), hashes_of(line));
    if (!is_new && first->second != hashes_of(line)) broken_.push_back(identity(line));
  }
  bool holds() const {
    for (auto const& what : broken_) fmt::print(stderr, "not the bits of the same run elsewhere: {}\n", what);
    return broken_.empty();
  }

 private:
  std::map<std::string, std::array<std::string, 2>> first_;
  std::vector<std::string> broken_;
};

/// SEQMAX computes every message anew that reads a new one: minutes on graphs that other schedules take in seconds.
bool takes_too_long(std::string const& schedule, hb::HostFactorGraph const& graph) {
  return schedule == "seqmax" && graph.num_edges() > 1000;
}

void run_case(std::string const& name, Arguments const& a, std::function<void(json const&)> const& print) {
  auto const c = make_case(name);
  for (auto const& [set, observed] : c.evidence)
    for (auto const& schedule : a.schedules) {
      if (takes_too_long(schedule, c.graph)) continue;
      auto const strategy = hb::bp::strategy_named(schedule);
      if (!strategy) throw hb::InputError("unknown schedule " + schedule);
      for (auto const& backend : a.backends)
        for (auto const& precision : a.precisions) {
          json line{{"case", "bits"},     {"graph", fs::path(name).filename().string()},
                    {"evidence", set},    {"schedule", schedule},
                    {"backend", backend}, {"precision", precision},
                    {"commit", a.commit}};
          auto const report = [&](std::string const& run, json const& hashes) {
            line["run"] = run;
            line.update(hashes);
            print(line);
          };
          hb::backend::visit(backend, [&](auto const& exec) {
            using Exec = std::decay_t<decltype(exec)>;
            if (precision == "float")
              Runs<float, Exec>(exec, c.graph, *strategy, observed).each(report);
            else
              Runs<double, Exec>(exec, c.graph, *strategy, observed).each(report);
          });
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  for (auto const name : hb::bp::strategy_names()) a.schedules.emplace_back(name);
  CLI::App app{"Hashes the bits of belief propagation's messages and marginals; one JSON object a line"};
  app.add_option("graphs", a.graphs,
                 "Model files (with the evidence files beside them), benchmarks of the FastLBP paper, random:SEED, "
                 "random_tables:SEED, hub:N, tables:N")
      ->capture_default_str();
  app.add_option("--schedules", a.schedules, fmt::format("{}", fmt::join(hb::bp::strategy_names(), ", ")))
      ->delimiter(',');
  app.add_option("--backends", a.backends, "Backends of this build")->delimiter(',');
  app.add_option("--precisions", a.precisions, "double, float")->delimiter(',');
  app.add_option("--against", a.against,
                 "Lines of an earlier build on the same kind of machine: exit with 1 where bits differ, or nothing can "
                 "be compared")
      ->check(CLI::ExistingFile);
  app.add_option("--commit", a.commit, "The commit that was built, where it cannot be asked");
  CLI11_PARSE(app, argc, argv);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  try {
    Comparison comparison(a.against);
    SameBits same;
    for (auto const& graph : a.graphs)
      run_case(graph, a, [&](json const& line) {
        fmt::print("{}\n", line.dump());
        comparison.add(line);
        same.add(line);
      });
    bool const holds = comparison.holds();
    return same.holds() && holds ? 0 : 1;
  } catch (std::exception const& e) {
    fmt::print(stderr, "perf_bits: {}\n", e.what());
    return 2;
  }
}
