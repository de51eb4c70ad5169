// hornbill schedule: division of a schedule into batches.
#include <algorithm>
#include <memory>
#include <optional>

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/model.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct ScheduleArguments {
  std::string file, schedule = "seqfix", store, store_order, output;
  bool json = false, print = false;
};

void print_batches(bp::Batches const& batches) {
  for (Offset b = 0; b < batches.num_batches(); ++b) {
    auto const first = batches.edges.begin() + batches.offsets[b],
               last = batches.edges.begin() + batches.offsets[b + 1];
    write_out("batch {}: {}\n", b, fmt::join(first, last, " "));
  }
}

void require_usable_name(std::string const& name) {
  io::validate_name(name, "schedule");
  if (name == "auto" || bp::strategy_named(name))
    throw InputError(fmt::format("'{}' is the name of a built-in schedule; choose another", name));
}

void store(ScheduleArguments const& a, Model& model, bp::Batches const& batches) {
  if (batches.updates == bp::Updates::selected || batches.updates == bp::Updates::largest_first || batches.reshuffled)
    throw UsageError(
        fmt::format("'{}' is chosen anew in each iteration, so there are no batches to store", a.schedule));
  if (!a.store.empty()) {
    model.schedules[a.store] = {ScheduleKind::batches, batches.edges, batches.offsets, {}, {}};
  }
  if (!a.store_order.empty()) {
    if (batches.order.empty())
      throw UsageError(fmt::format("the schedule '{}' is no total order, so none can be stored", a.schedule));
    model.schedules[a.store_order] = {ScheduleKind::order, batches.order, {}, {}, {}};
  }
  std::string const target = a.output.empty() ? a.file : a.output;
  if (!io::is_hdf5(target)) throw UsageError(fmt::format("{} cannot hold schedules; give a .h5 file with -o", target));
  io::write_model(model, target);
}

void analyse(ScheduleArguments const& a) {
  if (!a.store.empty() && a.store == a.store_order)
    throw UsageError(fmt::format("--store and --store-order are both called '{}'", a.store));
  for (auto const* name : {&a.store, &a.store_order})
    if (!name->empty()) require_usable_name(*name);
  auto model = read_model(a.file);
  auto const strategy = find_strategy(a.schedule, model, a.file);
  std::optional<Kokkos::ScopeGuard> kokkos;  // only where it is needed: it asks for a device
  if (std::holds_alternative<bp::Chromatic>(strategy))
    kokkos.emplace(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const batches = bp::make_batches(model.graph, strategy);
  auto const statistics = bp::statistics(batches);
  if (a.json) {
    auto json = cli::to_json(statistics, batches.analysis_seconds);
    json["schedule"] = a.schedule;
    if (a.print) {
      json["batch_offsets"] = batches.offsets;
      json["batch_edges"] = batches.edges;
    }
    print_json(json);
  } else {
    write_out(
        "{} of {}\n  batches   {}\n  edges     {} of {}\n  sizes     smallest {}, median {}, largest {}\n  analysis  "
        "{}\n",
        a.schedule, a.file, statistics.num_batches, statistics.num_edges, model.graph.num_edges(), statistics.smallest,
        statistics.median, statistics.largest, human_seconds(batches.analysis_seconds));
    if (a.print) print_batches(batches);
  }
  if (!a.store.empty() || !a.store_order.empty()) store(a, model, batches);
}

}  // namespace

void add_schedule(CLI::App& app, int&) {
  auto* command =
      app.add_subcommand("schedule", "Divide an update schedule into the fewest batches, print and store it");
  auto a = std::make_shared<ScheduleArguments>();
  command->add_option("FILE", a->file, "Model")->required();
  command->add_option("--schedule", a->schedule, built_in_schedules() + ", or a schedule stored in FILE")
      ->capture_default_str();
  command->add_flag("--print", a->print, "Print every batch: edge ids");
  command->add_option("--store", a->store, "Store the batches in the file under this name")->check(not_empty());
  command->add_option("--store-order", a->store_order, "Store the total order in the file under this name")
      ->check(not_empty());
  command->add_option("-o,--output", a->output, "Store into this .h5 file instead of FILE");
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Edge ids are positions in graph/factor_variables: factor by factor, head first.\n"
      "--store rewrites the file, with all that inputs/FORMAT.md lists; datasets of your own in it are not kept: use "
      "-o.\n"
      "Schedules of your own are datasets in the .h5 file: see inputs/FORMAT.md, \"Models\".");
  command->callback([a] { analyse(*a); });
}

}  // namespace hornbill::cli
