// hornbill circuit build: circuits of known structures, with random parameters or fitted ones.
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/structures.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/circuit_file.hpp>

#include "circuit_build.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using circuit::InputKind;

std::map<std::string, InputKind> const kinds{{"categorical", InputKind::categorical},
                                             {"bernoulli", InputKind::bernoulli},
                                             {"binomial", InputKind::binomial},
                                             {"gaussian", InputKind::gaussian},
                                             {"logistic", InputKind::discretised_logistic}};

/// Values of a variable that samples may have: more are hardly categories.
constexpr Index max_categories = 1 << 20;

/// Rows and columns of blocks, a pair in each line.
circuit::ListedBlocks read_listed_blocks(std::string const& file) {
  circuit::ListedBlocks list;
  auto const pairs = io::read_any_samples(file, io::ValueType::whole);
  if (pairs.num_variables != 2)
    throw InputError(file, "",
                     fmt::format("has {} numbers in a line; a block is its row and its column", pairs.num_variables));
  for (Offset i = 0; i < pairs.size(); ++i) {
    auto const number = [&](Index j) {
      double const x = pairs.value(i, j);
      if (x != x) throw InputError(file, "", fmt::format("block {}, counted from 0, lacks its row or column", i));
      return static_cast<Index>(x);
    };
    list.blocks.emplace_back(number(0), number(1));
  }
  return list;
}

circuit::Circuit with_kept_blocks(BuildArguments const& a, circuit::Circuit circuit) {
  Index const size = a.block_size.value_or(default_block_size);
  if (a.band >= 0) return keep_blocks(circuit, size, circuit::BandOfBlocks{a.band});
  if (a.kept_share.value_or(1) < 1) return keep_blocks(circuit, size, circuit::RandomBlocks{*a.kept_share, a.seed});
  if (a.listed_blocks.empty()) return circuit;
  auto const list = read_listed_blocks(a.listed_blocks);
  try {
    return keep_blocks(circuit, size, list);
  } catch (InputError const& e) {
    throw InputError(a.listed_blocks, "", e.what());
  }
}

}  // namespace

CLI::Validator finite_from_0() {
  return number_that([](double x) { return x >= 0 && x <= 1e100; }, "a number from 0 to 1e100");
}

void add_output(CLI::App& command, BuildArguments& a) {
  command.add_option("-o,--output", a.output, "Circuit to write: .h5")->required();
  command.add_option("--seed", a.seed, "Of the random choices")->capture_default_str();
  command.add_flag("--json", a.json, "Print JSON");
}

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

void add_sparsity_options(CLI::App& command, BuildArguments& a) {
  command
      .add_option("--block", a.block_size,
                  fmt::format("Sums of a block of edges, and children (default: {})", default_block_size))
      ->check(at_least(1));
  auto* share = command.add_option("--keep", a.kept_share, "Keep this share of the blocks, chosen at random")
                    ->check(number_that([](double x) { return x > 0 && x <= 1; }, "a number over 0, up to 1"));
  auto* band =
      command.add_option("--band", a.band, "Keep blocks at most so many from the diagonal")->check(at_least(0));
  command.add_option("--blocks", a.listed_blocks, "Keep the blocks of a file: a row and a column, from 0, in a line")
      ->excludes(share)
      ->excludes(band);
  share->excludes(band);
}

void add_tree_options(CLI::App& command, circuit::ChowLiuOptions& options) {
  command.add_option("--bins", options.num_bins, "Values of a variable are put in at most so many bins for the tree")
      ->check(number_that([](double n) { return n >= 2 && n <= 254; }, "a number from 2 to 254"))
      ->capture_default_str();
  command.add_option("--tree-samples", options.max_samples, "Samples that the tree is made from, at most")
      ->check(at_least(1))
      ->capture_default_str();
}

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
  circuit = with_kept_blocks(a, std::move(circuit));
  auto parameters = circuit::initial_parameters(circuit, a.seed);
  write_built(a, structure, std::move(circuit), std::move(parameters));
}

void require_output(BuildArguments const& a) {
  bool const drops_edges = a.band >= 0 || a.kept_share || !a.listed_blocks.empty();
  if (a.block_size && !a.has_blocks && !drops_edges)
    throw UsageError("--block: all blocks are kept; say which with --keep, --band or --blocks");
  keep_apart({{"SAMPLES", a.samples}, {"--blocks", a.listed_blocks}}, {{"-o", a.output}});
  io::require_ending_of_circuit(a.output);
  io::require_writable(a.output);
}

BuildSamples read_build_samples(BuildArguments const& a) {
  bool const is_real = kinds.at(a.kind) == InputKind::gaussian;
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

std::vector<circuit::InputChoice> choices_of(BuildArguments const& a, std::vector<Index> const& categories) {
  std::vector<circuit::InputChoice> choices;
  for (Index c : categories) choices.push_back(choice_of(a, c));
  for (std::size_t v = 0; v < categories.size(); ++v)
    if (categories[v] > choices[v].num_categories)
      throw UsageError(fmt::format("--categories {}: variable x{} has the value {} in {}", choices[v].num_categories, v,
                                   categories[v] - 1, a.samples));
  return choices;
}

namespace {

void add_hmm(CLI::App& build) {
  auto* command = build.add_subcommand("hmm", "A hidden Markov model of sequences");
  auto a = std::make_shared<BuildArguments>();
  auto steps = std::make_shared<Index>(0);
  auto is_inhomogeneous = std::make_shared<bool>(false);
  command->add_option("--steps", *steps, "Length of a sequence, a variable each")->required()->check(at_least(1));
  command->add_option("--states", a->latents, latents_help)->required()->check(at_least(1));
  add_input_options(*command, *a, false);
  command->add_flag("--inhomogeneous", *is_inhomogeneous, "Transitions and emissions of each step are its own");
  add_sparsity_options(*command, *a);
  add_output(*command, *a);
  command->footer("Example: hornbill circuit build hmm --steps 32 --states 512 --categories 1000 -o hmm.h5");
  command->callback([=] {
    require_output(*a);
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
  add_sparsity_options(*command, *a);
  add_output(*command, *a);
  command->footer(
      "Example: hornbill circuit build rat-spn --variables 784 --latents 64 --depth 5 --repetitions 2 --categories 256 "
      "-o rat.h5");
  command->callback([=] {
    require_output(*a);
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
  add_tree_options(*command, *options);
  add_sparsity_options(*command, *a);
  add_output(*command, *a);
  command->footer("Example: hornbill circuit build hclt train.csv --latents 64 -o hclt.h5");
  command->callback([=] {
    require_output(*a);
    auto const [samples, categories] = read_build_samples(*a);
    circuit::HiddenTree const hidden{chow_liu_tree(samples, categories, *options), a->latents,
                                     choices_of(*a, categories), *has_latent_leaves};
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
    require_output(*a);
    auto const [samples, categories] = read_build_samples(*a);
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
  add_circuit_grid(*command);
  add_chow_liu(*command);
  add_circuit_network(*command);
}

}  // namespace hornbill::cli
