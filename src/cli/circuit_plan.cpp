// How a circuit would be evaluated and trained: groups of sums, what does them, and the memory that all takes.
#include <map>
#include <string>
#include <type_traits>

#include <fmt/format.h>

#include <hornbill/backend/registry.hpp>

#include "circuit.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using nlohmann::json;

constexpr Offset entries_of_tile = Offset{circuit::tile_size} * circuit::tile_size;

/// Sums of one kernel.
struct KernelSums {
  Offset groups = 0, terms = 0, edges = 0, padding = 0;
};

/// Zeros that a group's kernel multiplies: matrix units do whole tiles.
Offset padding_of(circuit::SumGroup const& group, bool is_dense) {
  return is_dense ? group.terms * entries_of_tile - group.edges : 0;
}

char const* kernel_name(bool is_dense) { return is_dense ? "matrix units" : "edges by blocks"; }

json groups_of(circuit::HostPlan const& plan, Index layer, std::size_t& group) {
  auto result = json::array();
  auto const& of = plan.layers[static_cast<std::size_t>(layer)];
  bool const is_dense = plan.dense.is_dense(layer);
  for (; group < plan.groups.size() && plan.groups[group].begin < of.end; ++group) {
    auto const& sums = plan.groups[group];
    result.push_back({{"tiles", sums.end - sums.begin},
                      {"most_terms", sums.fan_in},
                      {"terms", sums.terms},
                      {"trimmed_terms", sums.padding()},
                      {"edges", sums.edges},
                      {"padding", padding_of(sums, is_dense)},
                      {"kernel", kernel_name(is_dense)}});
  }
  return result;
}

json layers_of(circuit::HostPlan const& plan) {
  auto result = json::array();
  std::size_t group = 0;
  for (Index l = 0; l < std::ssize(plan.layers); ++l) {
    auto const& layer = plan.layers[static_cast<std::size_t>(l)];
    if (layer.kind == circuit::NodeKind::product)
      result.push_back({{"kind", "products"}, {"tiles", layer.end - layer.begin}});
    else
      result.push_back({{"kind", "sums"}, {"tiles", layer.end - layer.begin}, {"groups", groups_of(plan, l, group)}});
  }
  return result;
}

/// Of all layers, by kernel.
json kernels_of(circuit::HostPlan const& plan) {
  std::map<std::string, KernelSums> kernels;
  std::size_t group = 0;
  for (Index l = 0; l < std::ssize(plan.layers); ++l) {
    bool const is_dense = plan.dense.is_dense(l);
    auto const& layer = plan.layers[static_cast<std::size_t>(l)];
    for (; layer.kind == circuit::NodeKind::sum && group < plan.groups.size() && plan.groups[group].begin < layer.end;
         ++group) {
      auto& sums = kernels[kernel_name(is_dense)];
      ++sums.groups;
      sums.terms += plan.groups[group].terms;
      sums.edges += plan.groups[group].edges;
      sums.padding += padding_of(plan.groups[group], is_dense);
    }
  }
  auto result = json::object();
  for (auto const& [name, sums] : kernels)
    result[name] = {
        {"groups", sums.groups}, {"tiles_of_edges", sums.terms}, {"edges", sums.edges}, {"padding", sums.padding}};
  return result;
}

json to_json(circuit::MemoryEstimate const& bytes) {
  json result{{"bytes_of_plan", bytes.plan},
              {"bytes_of_parameters", bytes.parameters},
              {"bytes_of_values", bytes.values},
              {"bytes_of_exact_pass", bytes.exact},
              {"bytes_at_peak", bytes.peak}};
  if (bytes.flows > 0) result["bytes_of_flows"] = bytes.flows;
  return result;
}

}  // namespace

json describe_plan(circuit::Circuit const& circuit, CircuitRun const& run) {
  auto const plan = plan_of(circuit, run);
  auto const laid_out = backend::visit_type(run.backend, [&]<class ExecutionSpace>(std::type_identity<ExecutionSpace>) {
    return circuit::lay_out<ExecutionSpace>(plan);
  });
  auto const flow_plan = circuit::make_flow_plan(laid_out);
  return visit_value(run, [&]<class Value>(Value) -> json {
    return {
        {"backend", run.backend},
        {"precision", name_of(run.precision)},
        {"batch_size", run.batch_size},
        {"plan",
         {{"seconds", plan.elapsed_seconds},
          {"layers", laid_out.layers.size()},
          {"groups", plan.groups.size()},
          {"tiles", plan.tiles.size()},
          {"terms", plan.terms.size()},
          {"segments", plan.segments.size()},
          {"stored_values", plan.num_rows},
          {"sums_by_kernel", kernels_of(laid_out)}}},
        {"evaluation", to_json(circuit::estimate<Value>(circuit, laid_out, run.batch_size))},
        {"training", to_json(circuit::estimate<Value>(circuit, laid_out, flow_plan, {.batch_size = run.batch_size}))},
        {"layers", layers_of(laid_out)}};
  });
}

void print_layers(json const& layers) {
  for (std::size_t l = 0; l < layers.size(); ++l) {
    auto const& layer = layers[l];
    write_out("  layer {}: {} of {}\n", l + 1, counted(layer["tiles"].get<Offset>(), "tile"),
              layer["kind"].get<std::string>());
    if (!layer.contains("groups")) continue;
    for (auto const& group : layer["groups"]) {
      auto const edges = group["edges"].get<Offset>(), padding = group["padding"].get<Offset>();
      write_out("    {} of at most {}: {}, {} of padding, {}\n", counted(group["tiles"].get<Offset>(), "tile"),
                counted(group["most_terms"].get<Offset>(), "term"), counted(edges, "edge"), padding,
                group["kernel"].get<std::string>());
    }
  }
}

}  // namespace hornbill::cli
