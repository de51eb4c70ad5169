// Marginals and messages that other programs computed. The small ones are in inputs/golden; those beside the checkout
// are extra.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/hygiene.hpp"
#include "support/solver.hpp"

using namespace hornbill;
namespace fs = std::filesystem;
using test::Solver;

namespace {

std::string const golden = HORNBILL_SOURCE_DIR "/inputs/golden/horn/";
std::string const real_graphs = HORNBILL_SOURCE_DIR "/../shared/data/horn/";
constexpr double tolerated = 1e-9;

/// Rows of numbers, without comments.
std::vector<std::vector<double>> parse_table(std::istream& in) {
  std::vector<std::vector<double>> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    rows.emplace_back();
    for (double x; words >> x;) rows.back().push_back(x);
  }
  return rows;
}

std::vector<std::vector<double>> read_table(std::string const& file) {
  std::ifstream in(file);
  REQUIRE_MESSAGE(in, file);
  return parse_table(in);
}

/// Unpacks `file`.xz to a temporary file and returns its name.
std::string unpack(std::string const& file, std::string const& folder) {
  std::string const target = folder + "/" + fs::path(file).filename().string();
  REQUIRE(std::system(fmt::format("xz -dc '{}.xz' > '{}'", file, target).c_str()) == 0);
  return target;
}

std::vector<double> column(std::vector<std::vector<double>> const& rows, std::size_t i) {
  std::vector<double> result(rows.size());
  for (auto const& row : rows) result[static_cast<std::size_t>(row[0])] = row.at(i);
  return result;
}

bp::Strategy strategy_of(std::string const& name) {
  return name == "PARALL" ? bp::Strategy(bp::Parall{}) : bp::Strategy(bp::SeqFix{});
}

/// Runs to each of the iteration counts and compares with that column.
template <class T>
void compare_columns(HostFactorGraph const& graph, std::string const& schedule, HostEvidence const& evidence,
                     std::vector<std::vector<double>> const& expected, std::vector<int> const& counts,
                     std::string const& what) {
  Solver<T> solver(graph, strategy_of(schedule), evidence);
  int done = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] < 0) continue;  // not to be compared
    CHECK(solver.iterate(counts[i] - done).contradiction == -1);
    done = counts[i];
    test::check_close(solver.marginals(), column(expected, i + 1), tolerated,
                      fmt::format("{} after {} iterations", what, done));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("golden: libDAI's marginals of tiny graphs", T, HORNBILL_DOUBLE_CELLS) {
  for (std::string name : {"fig2", "loop13"}) {
    auto const graph = io::read_model(golden + name + ".causal_fg").graph;
    for (std::string schedule : {"PARALL", "SEQFIX"})
      compare_columns<T>(graph, schedule, {}, read_table(golden + name + "." + schedule + ".none.txt"),
                         {1, 2, 3, 10, 200}, name + " " + schedule);
  }
  // Evidence on inner variables: libDAI's clamp differs in the first iterations and agrees at the fixed point.
  auto const graph = io::read_model(golden + "loop13.causal_fg").graph;
  auto const evidence = io::read_evidence_text(golden + "loop13.ev", graph);
  for (std::string schedule : {"PARALL", "SEQFIX"})
    compare_columns<T>(graph, schedule, evidence, read_table(golden + "loop13." + schedule + ".ev.txt"),
                       {-1, -1, -1, -1, 200}, "loop13.ev " + schedule);
}

TEST_CASE_TEMPLATE("golden: libDAI's messages of a tiny graph", T, HORNBILL_DOUBLE_CELLS) {
  auto const graph = io::read_model(golden + "loop13.causal_fg").graph;
  Solver<T> solver(graph, bp::SeqFix{});
  int done = 0;
  for (auto const& row : read_table(golden + "loop13.SEQFIX.none.msgs")) {
    if (static_cast<Index>(row[1]) >= graph.num_factors()) continue;  // libDAI adds a factor at headless variables
    if (static_cast<int>(row[0]) > done) {
      solver.iterate(static_cast<int>(row[0]) - done);
      done = static_cast<int>(row[0]);
    }
    auto const messages = solver.messages();
    auto const variables = graph.variables_of(static_cast<Index>(row[1]));
    auto const position = std::find(variables.begin(), variables.end(), static_cast<Index>(row[2])) - variables.begin();
    double const l = messages[graph.factor_offsets[static_cast<Index>(row[1])] + position];
    CHECK(1 / (1 + std::exp(-l)) == doctest::Approx(row[4]).epsilon(tolerated));
  }
  CHECK(done == 200);
}

TEST_CASE_TEMPLATE("golden: a derivation graph with and without evidence, against 80-bit arithmetic", T,
                   HORNBILL_DOUBLE_CELLS) {
  auto const graph = io::read_model(golden + "weblech.causal_fg").graph;
  for (auto [schedule, evidence] :
       {std::pair{"SEQFIX", "none"}, {"SEQFIX", "ev10"}, {"SEQFIX", "ev50"}, {"PARALL", "ev10"}}) {
    HostEvidence const observed = std::string(evidence) == "none"
                                      ? HostEvidence{}
                                      : io::read_evidence_text(golden + "weblech." + evidence, graph);
    compare_columns<T>(graph, schedule, observed,
                       read_table(fmt::format("{}weblech.{}.{}.txt", golden, schedule, evidence)), {1, 5, 20, 200},
                       fmt::format("weblech {} {}", schedule, evidence));
  }
}

TEST_CASE_TEMPLATE(
    "golden: acceleration brings every schedule to SEQFIX's fixed point, where PARALL by itself swings for ever", T,
    HORNBILL_DOUBLE_CELLS) {
  test::LabelsUnwatched const unwatched;  // of Kokkos Kernels, which colours for CHROMATIC
  auto const graph = io::read_model(golden + "weblech.causal_fg").graph;
  for (std::string evidence : {"ev10", "ev50"}) {
    auto const observed = io::read_evidence_text(golden + "weblech." + evidence, graph);
    bp::Options options{.max_iterations = 5000, .tolerance = 1e-8, .acceleration = {.after = -1}};
    Solver<T> seqfix(graph, bp::SeqFix{}, observed), swinging(graph, bp::Parall{}, observed);
    REQUIRE(seqfix.run(options).stop == bp::Stop::converged);
    auto const swing = swinging.run(options);
    CHECK(swing.stop == bp::Stop::iteration_limit);
    CHECK(swing.residual > 0.9);
    options = {.max_iterations = 1000, .tolerance = 1e-8};
    for (auto const name : {"parall", "chromatic", "topo"}) {
      Solver<T> accelerated(graph, *bp::strategy_named(name), observed);
      REQUIRE_MESSAGE(accelerated.run(options).stop == bp::Stop::converged, name, " ", evidence);
      test::check_close(accelerated.marginals(), seqfix.marginals(), 1e-6, fmt::format("{} {}", name, evidence));
      CHECK_MESSAGE(accelerated.run(options).iterations <= 20, name, " goes on from where it ended");
    }
  }
}

TEST_CASE_TEMPLATE("golden: acceleration pauses where extrapolations fail", T, HORNBILL_DOUBLE_CELLS) {
  auto const graph = io::read_model(golden + "weblech-fgn.causal_fg").graph;
  auto const observed = io::read_evidence_text(golden + "weblech-fgn.ev10", graph);
  Solver<T> damped(graph, bp::SeqFix{}, observed), accelerated(graph, bp::SeqFix{}, observed);
  REQUIRE(damped.run({.tolerance = 1e-8, .damping = 0.5, .acceleration = {.after = -1}}).stop == bp::Stop::converged);
  // an extrapolation every cycle: not in 10,000 iterations
  REQUIRE(accelerated.run({.tolerance = 1e-8}).stop == bp::Stop::converged);
  test::check_close(accelerated.marginals(), damped.marginals(), 1e-6, "acceleration");
}

TEST_CASE_TEMPLATE("extra: all reference marginals of Horn graphs" * doctest::skip(!fs::exists(real_graphs)), T,
                   HORNBILL_DOUBLE_CELLS) {
  std::string const folder = (fs::temp_directory_path() / fmt::format("hornbill_extra_{}", ::getpid())).string();
  fs::create_directories(folder);
  // Where libDAI and 80-bit arithmetic agree after 200 iterations, so must we; elsewhere the iteration is chaotic.
  std::map<std::string, double> agreement;
  std::ifstream lines(real_graphs + "agreement.txt");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string graph, schedule, evidence, vs, ld;
    double columns[4] = {1, 1, 1, 1};
    if (words >> graph >> schedule >> evidence >> vs >> ld && ld == "ld:")
      if (words >> columns[0] >> columns[1] >> columns[2] >> columns[3])
        agreement[graph + schedule + evidence] = columns[3];
  }
  REQUIRE(agreement.size() > 20);
  int compared_late = 0;
  for (std::string name : {"weblech", "hedc", "weblech-fgn"}) {
    auto const graph = io::read_model(unpack(real_graphs + "graphs/" + name + ".causal_fg", folder)).graph;
    for (std::string schedule : {"PARALL", "SEQFIX"})
      for (std::string evidence : {"none", "ev10", "ev50"}) {
        auto const observed = evidence == "none"
                                  ? HostEvidence{}
                                  : io::read_evidence_text(real_graphs + "graphs/" + name + "." + evidence, graph);
        std::ifstream in(
            unpack(real_graphs + "marginals/longdouble/" + name + "." + schedule + "." + evidence + ".txt", folder));
        auto const agreed = agreement.find(name + schedule + evidence);
        bool const late = agreed != agreement.end() && agreed->second < tolerated;
        compared_late += late;
        compare_columns<T>(graph, schedule, observed, parse_table(in), {1, 5, 20, late ? 200 : -1},
                           name + " " + schedule + " " + evidence);
      }
  }
  CHECK(compared_late > 10);
  fs::remove_all(folder);
}

TEST_CASE("extra: libDAI's tables are recognised as the Horn factors they came from" *
          doctest::skip(!fs::exists(real_graphs))) {
  std::string const folder = (fs::temp_directory_path() / fmt::format("hornbill_fg_{}", ::getpid())).string();
  fs::create_directories(folder);
  for (std::string name : {"weblech", "weblech-fgn"}) {
    auto const horn = io::read_model(unpack(real_graphs + "graphs/" + name + ".causal_fg", folder)).graph;
    auto const dense = io::read_model(unpack(real_graphs + "graphs/" + name + ".fg", folder)).graph;
    CHECK(dense.table_values.empty());
    CHECK(dense.num_edges() == horn.num_edges());
    using T = test::Cell<test::AnyHost, double>;
    Solver<T> a(horn, bp::SeqFix{}), b(dense, bp::SeqFix{});
    a.iterate(30);
    b.iterate(30);
    test::check_close(b.marginals(), a.marginals(), 1e-12, name);
  }
  fs::remove_all(folder);
}
