#include <cstdio>
#include <hornbill/hornbill.hpp>
namespace hb = hornbill;
int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  Kokkos::DefaultHostExecutionSpace exec;
  auto host = hb::io::read_model(argv[1]).graph;
  auto graph = hb::bp::to_device<double>(exec, host);
  auto evidence = hb::bp::Evidence(exec, host, graph);
  auto plan = hb::bp::make_plan(exec, host, hb::bp::SeqFix{});
  auto state = hb::bp::make_state(exec, graph, plan);
  auto report = hb::bp::run(exec, graph, evidence, plan, state);
  std::printf("converged %d, P(2) = %.3f\n", report.stop == hb::bp::Stop::converged,
              hb::bp::marginals(exec, graph, state)[2]);
}
