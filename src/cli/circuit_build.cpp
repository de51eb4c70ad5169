// hornbill circuit build: circuits of known structures, with random parameters or fitted ones.
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/structures.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/circuit_file.hpp>

#include "circuit.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using circuit::InputKind;

/// Options that structures share.
struct BuildArguments {
  std::string samples, output, kind = "categorical";
  circuit::InputChoice input{InputKind::categorical, 0};
  Index latents = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

std::map<std::string, InputKind> const kinds{{"categorical", InputKind::categorical},
                                             {"bernoulli", InputKind::bernoulli},
                                             {"binomial", InputKind::binomial},
                                             {"gaussian", InputKind::gaussian},
                                             {"logistic", InputKind::discretised_logistic}};

CLI::Validator finite_from_0() {
  return number_that([](double x) { return x >= 0 && x <= 1e100; }, "a number from 0 to 1e100");
}

/// Values of a variable that samples may have: more are hardly categories.
constexpr Index max_categories = 1 << 20;

constexpr char const* latents_help = "States of each latent variable";

void add_output(CLI::App& command, BuildArguments& a) {
  command.add_option("-o,--output", a.output, "Circuit to write: .h5")->required();
  command.add_option("--seed", a.seed, "Of the random choices")->capture_default_str();
  command.add_flag("--json", a.json, "Print JSON");
}

/// \param categories  of all variables, unless samples tell them
void add_input_options(CLI::App& command, BuildArguments& a, bool has_samples) {
  command.add_option("--inputs", a.kind, "Distributions of the variables")
      ->check(CLI::IsMember(names_of(kinds)))
      ->capture_default_str();
  auto* categories = command.add_option("--categories", a.input.num_categories,
                                        has_samples ? "Values of each variable (default: as many as the samples have)"
                                                    : "Values of each variable; a Gaussian needs none");
  categories->check(at_least(2));
  command.add_option("--min-scale", a.input.min_scale, "Smallest sigma of a Gaussian, or scale of a logistic")
      ->check(finite_from_0());
}

/// The distributions that are asked for.   \throws UsageError where their number of values is missing, or is of none
circuit::InputChoice choice_of(BuildArguments const& a, Index categories) {
  auto choice = a.input;
  choice.kind = kinds.at(a.kind);
  if (choice.num_categories == 0) choice.num_categories = categories;
  if (choice.kind == InputKind::gaussian) {
    if (a.input.num_categories > 0) throw UsageError("--categories: a Gaussian's values are real numbers");
    choice.num_categories = 0;
    if (choice.min_scale == 0) choice.min_scale = 1e-3;
  } else if (choice.kind == InputKind::bernoulli) {
    if (choice.num_categories > 2)
      throw UsageError(fmt::format("--inputs bernoulli: a variable has {} values, not 2", choice.num_categories));
    choice.num_categories = 2;
  } else if (choice.num_categories == 0) {
    throw UsageError(fmt::format("--inputs {} needs --categories", a.kind));
  }
  return choice;
}

void write_built(BuildArguments const& a, std::string const& structure, circuit::Circuit circuit,
                 circuit::Parameters parameters) {
  auto const statistics = circuit::statistics_of(circuit);
  io::StoredCircuit const stored{
      std::move(circuit), std::move(parameters), {{"structure", structure}, {"seed", std::to_string(a.seed)}}};
  io::write_circuit(stored, a.output);
  if (a.json)
    return print_json({{"file", a.output},
                       {"structure", structure},
                       {"variables", stored.circuit.num_variables},
                       {"inputs", statistics.inputs},
                       {"products", statistics.products},
                       {"sums", statistics.sums},
                       {"edges", statistics.product_edges + statistics.sum_edges},
                       {"parameters", statistics.parameters}});
  write_out("{}: {}, {}, {}\n", a.output, counted(stored.circuit.num_variables, "variable"), sizes_of(statistics),
            counted(statistics.parameters, "parameter"));
}

void write_random(BuildArguments const& a, std::string const& structure, circuit::Circuit circuit) {
  auto parameters = circuit::initial_parameters(circuit, a.seed);
  write_built(a, structure, std::move(circuit), std::move(parameters));
}

/// Samples, and how many values each variable has; 0 of real ones.
struct BuildSamples {
  circuit::Samples samples;
  std::vector<Index> categories;
};
BuildSamples read_build_samples(BuildArguments const& a, bool is_real) {
  keep_apart({{"SAMPLES", a.samples}}, {{"-o", a.output}});
  auto samples = io::read_any_samples(a.samples, is_real ? io::ValueType::real : io::ValueType::whole);
  if (samples.size() == 0) throw InputError(a.samples, "", "has no samples");
  std::vector<Index> categories(static_cast<std::size_t>(samples.num_variables));
  if (!is_real) categories = categories_of(samples);
  for (std::size_t v = 0; v < categories.size(); ++v)
    if (categories[v] > max_categories)
      throw InputError(a.samples, "",
                       fmt::format("variable x{} has the value {}; at most {} categories are possible", v,
                                   categories[v] - 1, max_categories));
  return {std::move(samples), std::move(categories)};
}

void add_hmm(CLI::App& build) {
  auto* command = build.add_subcommand("hmm", "A hidden Markov model of sequences");
  auto a = std::make_shared<BuildArguments>();
  auto steps = std::make_shared<Index>(0);
  auto is_inhomogeneous = std::make_shared<bool>(false);
  command->add_option("--steps", *steps, "Length of a sequence, a variable each")->required()->check(at_least(1));
  command->add_option("--states", a->latents, latents_help)->required()->check(at_least(1));
  add_input_options(*command, *a, false);
  command->add_flag("--inhomogeneous", *is_inhomogeneous, "Transitions and emissions of each step are its own");
  add_output(*command, *a);
  command->footer("Example: hornbill circuit build hmm --steps 32 --states 512 --categories 1000 -o hmm.h5");
  command->callback([=] {
    io::require_ending_of_circuit(a->output);
    io::require_writable(a->output);
    write_random(*a, "hmm",
                 make_circuit(circuit::HiddenMarkovModel{*steps, a->latents, choice_of(*a, 0), !*is_inhomogeneous}));
  });
}

void add_rat_spn(CLI::App& build) {
  auto* command = build.add_subcommand("rat-spn", "Random divisions of the variables, again and again");
  auto a = std::make_shared<BuildArguments>();
  auto network = std::make_shared<circuit::RandomTensorNetwork>();
  command->add_option("--variables", network->num_variables, "Variables")->required()->check(at_least(1));
  command->add_option("--latents", a->latents, "Nodes of each vector")->required()->check(at_least(1));
  command->add_option("--depth", network->depth, "How often variables are divided")->required()->check(at_least(0));
  command->add_option("--repetitions", network->num_repetitions, "Divisions of all variables, which the root mixes")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--parts", network->num_parts, "Into how many parts variables are divided")
      ->check(at_least(2))
      ->capture_default_str();
  add_input_options(*command, *a, false);
  add_output(*command, *a);
  command->footer(
      "Example: hornbill circuit build rat-spn --variables 784 --latents 64 --depth 5 --repetitions 2 --categories 256 "
      "-o rat.h5");
  command->callback([=] {
    io::require_ending_of_circuit(a->output);
    io::require_writable(a->output);
    network->num_latents = a->latents;
    network->input = choice_of(*a, 0);
    network->seed = a->seed;
    write_random(*a, "rat-spn", make_circuit(*network));
  });
}

void add_hclt(CLI::App& build) {
  auto* command = build.add_subcommand("hclt", "Latent variables in the Chow-Liu tree of samples");
  auto a = std::make_shared<BuildArguments>();
  auto options = std::make_shared<circuit::ChowLiuOptions>();
  auto has_latent_leaves = std::make_shared<bool>(false);
  command->add_option("SAMPLES", a->samples, "Samples: text or .h5")->required();
  command->add_option("--latents", a->latents, latents_help)->required()->check(at_least(1));
  add_input_options(*command, *a, true);
  command->add_flag("--latent-leaves", *has_latent_leaves, "Leaves of the tree have latent variables too");
  command->add_option("--bins", options->num_bins, "Values of a variable are put in at most so many bins for the tree")
      ->check(number_that([](double n) { return n >= 2 && n <= 254; }, "a number from 2 to 254"))
      ->capture_default_str();
  command->add_option("--tree-samples", options->max_samples, "Samples that the tree is made from, at most")
      ->check(at_least(1))
      ->capture_default_str();
  add_output(*command, *a);
  command->footer("Example: hornbill circuit build hclt train.csv --latents 64 -o hclt.h5");
  command->callback([=] {
    io::require_ending_of_circuit(a->output);
    io::require_writable(a->output);
    bool const is_real = kinds.at(a->kind) == InputKind::gaussian;
    auto const [samples, categories] = read_build_samples(*a, is_real);
    circuit::HiddenTree hidden{chow_liu_tree(samples, categories, *options), a->latents, {}, *has_latent_leaves};
    for (Index c : categories) hidden.inputs.push_back(choice_of(*a, c));
    for (std::size_t v = 0; v < categories.size(); ++v)
      if (categories[v] > hidden.inputs[v].num_categories)
        throw UsageError(fmt::format("--categories {}: variable x{} has the value {} in {}",
                                     hidden.inputs[v].num_categories, v, categories[v] - 1, a->samples));
    write_random(*a, "hclt", make_circuit(hidden));
  });
}

void add_chow_liu(CLI::App& build) {
  auto* command = build.add_subcommand("chow-liu", "The Chow-Liu tree of samples itself, fitted to them");
  auto a = std::make_shared<BuildArguments>();
  auto alpha = std::make_shared<double>(0.01);
  command->add_option("SAMPLES", a->samples, "Samples: text or .h5")->required();
  command->add_option("--pseudo-count", *alpha, "Is added to each count")
      ->check(finite_from_0())
      ->capture_default_str();
  add_output(*command, *a);
  command->footer("Example: hornbill circuit build chow-liu train.csv -o tree.h5");
  command->callback([=] {
    io::require_ending_of_circuit(a->output);
    io::require_writable(a->output);
    auto const [samples, categories] = read_build_samples(*a, false);
    auto fitted =
        fit_tree(chow_liu_tree(samples, categories, {.max_samples = samples.size()}), samples, categories, *alpha);
    write_built(*a, "chow-liu", std::move(fitted.circuit), std::move(fitted.parameters));
  });
}

}  // namespace

void add_circuit_build(CLI::App& circuit) {
  auto* command = circuit.add_subcommand("build", "Make a circuit of a known structure");
  command->require_subcommand(1);
  add_hmm(*command);
  add_hclt(*command);
  add_rat_spn(*command);
  add_chow_liu(*command);
  add_circuit_network(*command);
}

}  // namespace hornbill::cli
