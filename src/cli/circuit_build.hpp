// Options and steps that commands which build circuits have in common. Internal to `hornbill circuit build`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hornbill/circuit/block_sparsity.hpp>
#include <hornbill/circuit/structures.hpp>

#include "circuit.hpp"

namespace hornbill::cli {

/// Options that structures share.
struct BuildArguments {
  std::string samples, output, kind = "categorical";
  circuit::InputChoice input{circuit::InputKind::categorical, 0};
  Index latents = 0, band = -1;
  std::optional<Index> block_size;
  bool has_blocks = false;  ///< the structure is made of blocks, even if all edges are kept
  std::optional<double> kept_share;
  std::string listed_blocks;  ///< a file, or none
  std::uint64_t seed = 1;
  bool json = false;
};

/// The size of blocks, if none is given.
inline constexpr Index default_block_size = 32;
inline constexpr char const* latents_help = "States of each latent variable";

CLI::Validator finite_from_0();
void add_output(CLI::App& command, BuildArguments& a);
/// \param has_samples  which tell the values of all variables
void add_input_options(CLI::App& command, BuildArguments& a, bool has_samples);
/// Options that drop blocks of edges.
void add_sparsity_options(CLI::App& command, BuildArguments& a);
/// Options of trees that are made of samples.
void add_tree_options(CLI::App& command, circuit::ChowLiuOptions& options);

/// The distributions that are asked for.   \throws UsageError where their number of values is missing, or is of none
circuit::InputChoice choice_of(BuildArguments const& a, Index categories);

/// Samples, and how many values each variable has; 0 of real ones.
struct BuildSamples {
  circuit::Samples samples;
  std::vector<Index> categories;
};
BuildSamples read_build_samples(BuildArguments const& a);
/// Distributions of the samples' variables.   \throws UsageError where they have more values than are asked for
std::vector<circuit::InputChoice> choices_of(BuildArguments const& a, std::vector<Index> const& categories);

/// Fails before anything is computed for a file that cannot be written.   \throws UsageError of blocks without a use
void require_output(BuildArguments const& a);
/// Writes a circuit and says how large it is.
void write_built(BuildArguments const& a, std::string const& structure, circuit::Circuit circuit,
                 circuit::Parameters parameters);
/// The same with random parameters, and without the blocks of edges that are not kept.
void write_random(BuildArguments const& a, std::string const& structure, circuit::Circuit circuit);

}  // namespace hornbill::cli
