// hornbill circuit build network: what variable elimination computes, as a circuit.
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include <hornbill/circuit/network_circuit.hpp>
#include <hornbill/elim/elimination.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/circuit_file.hpp>
#include <hornbill/io/model.hpp>

#include "circuit.hpp"
#include "exact.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// \throws ContradictionError, InputError naming the file
circuit::NetworkCircuit circuit_of(ExactArguments const& a, Model const& model,
                                   tables::TableNetwork<double> const& network, elim::Order const& order) {
  try {
    return circuit::make_circuit(network, order.variables, model.graph.num_variables);
  } catch (circuit::ImpossibleNetworkError const&) {
    throw ContradictionError(fmt::format("{}: nothing is possible", a.file));
  } catch (InputError const& e) {
    throw InputError(a.file, "", e.what());
  }
}

void run_network(ExactArguments const& a) {
  keep_apart({{"FILE", a.file}, {"--order", a.order}}, {{"-o", a.output}});
  io::require_ending_of_circuit(a.output);
  io::require_writable(a.output);
  auto const model = io::read_model(a.file);
  auto const network = tables::to_tables(model.graph);
  auto const order = find_order(a, network.cardinality, elim::scopes_of(network), network.variable_names);
  auto made = planned(a, blame(a, order, network), [&] { return circuit_of(a, model, network, order); });
  auto const statistics = circuit::statistics_of(made.circuit);
  io::StoredCircuit const stored{std::move(made.circuit),
                                 std::move(made.parameters),
                                 {{"structure", "network"}, {"log_partition", fmt::format("{}", made.log_partition)}}};
  io::write_circuit(stored, a.output);
  if (a.json)
    return print_json({{"file", a.output},
                       {"structure", "network"},
                       {"variables", stored.circuit.num_variables},
                       {"inputs", statistics.inputs},
                       {"products", statistics.products},
                       {"sums", statistics.sums},
                       {"edges", statistics.product_edges + statistics.sum_edges},
                       {"parameters", statistics.parameters},
                       {"width", order.width},
                       {"log_partition", made.log_partition}});
  write_out("{}: {}, {}, width {}\n", a.output, counted(stored.circuit.num_variables, "variable"), sizes_of(statistics),
            order.width);
  if (std::abs(made.log_partition) > 1e-9)
    write_out("  its samples are as probable as assignments of {}, times {}\n", a.file,
              power_of_ten(-made.log_partition / std::log(10.0)));
}

}  // namespace

void add_circuit_network(CLI::App& build) {
  auto* command = build.add_subcommand(
      "network", "The distribution of a Bayesian network or a factor graph, by variable elimination");
  auto a = std::make_shared<ExactArguments>();
  a->takes_evidence = false;
  command->add_option("FILE", a->file, "Model: .uai, .bif, .fg, .causal_fg, .h5")->required();
  add_order_options(*command, *a);
  command->add_option("-o,--output", a->output, "Circuit to write: .h5")->required();
  command->add_flag("--json", a->json, "Print JSON");
  command->footer("Example: hornbill circuit build network alarm.bif -o alarm.h5");
  command->callback([a] { run_network(*a); });
}

}  // namespace hornbill::cli
