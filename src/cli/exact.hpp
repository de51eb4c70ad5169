// What the subcommands of exact inference share: elimination orders, and memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/elim/order.hpp>
#include <hornbill/error.hpp>
#include <hornbill/tables/table_network.hpp>

#include "support.hpp"

namespace hornbill::cli {

struct ExactArguments {
  std::string file, order = "min_fill", backend, output;
  std::vector<std::string> evidence;
  elim::OrderOptions options{.tries = 10};
  bool takes_evidence = true;     // else dpop, whose agents know none
  bool tries_orders = false;      // --tries or --seed was given
  std::size_t memory_limit = 0;   // 0: what is free
  std::size_t device_memory = 0;  // likewise; where tables can go through in slices
  std::string where_too_wide;     // what else there is: "--mini-buckets bounds the best"
  bool json = false;
};

/// Adds FILE and the options of all that eliminate.
/// \param files  that are read   \param output  what -o writes
void add_exact_options(CLI::App& command, ExactArguments& a, std::string const& files, std::string const& output);

/// Adds the options of the order alone.
void add_order_options(CLI::App& command, ExactArguments& a);

/// Fills in what was left to defaults, and checks that no file is written that is read.
/// \throws UsageError, InputError
void settle(ExactArguments& a, std::vector<std::string> const& more_evidence = {});

/// The order that --order names, or gives as a file.   \param max_cells  of a table that it makes
/// \throws InputError, CapacityError
elim::Order find_order(ExactArguments const& a, std::vector<Index> const& cardinality,
                       std::vector<std::span<Index const>> const& scopes,
                       std::vector<std::string> const& variable_names,
                       double max_cells = static_cast<double>(tables::max_table_cells));

/// Bytes that may be used: what the device has left, or less where --memory-limit says so.   \units bytes
std::size_t usable_bytes(ExactArguments const& a);

/// Says which width is to blame, and what may help.
std::string blame(ExactArguments const& a, elim::Order const& order, std::string const& widest);
template <class Value>
std::string blame(ExactArguments const& a, elim::Order const& order, tables::TableNetwork<Value> const& network) {
  return blame(a, order, order.widest < 0 ? "no variable" : network.name_of(order.widest));
}

/// What `make` returns.   \throws CapacityError where it does, naming the file and what is to blame
template <class Make>
auto planned(ExactArguments const& a, std::string const& to_blame, Make const& make) {
  try {
    return make();
  } catch (CapacityError const& e) {
    throw CapacityError(a.file + ": " + e.what() + ". " + to_blame);
  }
}

/// \throws CapacityError where more is needed than is there   \param task  that needs it, e.g. "elimination"
void require_bytes(ExactArguments const& a, std::size_t needed, std::string const& task, std::string const& blame);

/// A plan, and where its tables are to be.
template <class HostPlan>
struct Prepared {
  HostPlan plan;
  std::size_t table_bytes = 0;
  std::size_t slice_bytes = 0;  ///< of the device, where tables go through it in slices; else 0
};

/// Whether tables can be on the device all at once.
bool fit_on_device(ExactArguments const& a, std::size_t table_bytes);

/// Where they cannot: how much of the device their slices may take, they being in the host's memory; else 0.
/// \units bytes
/// \throws CapacityError where they do not fit there either
std::size_t slice_bytes(ExactArguments const& a, std::size_t table_bytes, std::string const& task,
                        std::string const& blame);

/// Adds the option of what goes through a device in slices.
void add_slice_options(CLI::App& command, ExactArguments& a);

/// "10^-3.25"; but for rounding 1: "1".
std::string power_of_ten(double exponent);

/// ", through 2 GiB in 7 slices", or nothing where tables are on the device all at once.
std::string slices_text(std::size_t slice_bytes, double slices);

/// "smoke = yes, lung = no": of some variables, or all where they are few.
template <class Value>
std::string describe_assignment(ExactArguments const& a, tables::TableNetwork<Value> const& network,
                                std::vector<Index> const& assignment) {
  constexpr Index most = 10;
  auto const count = static_cast<Index>(assignment.size());
  std::vector<std::string> words;
  for (Index v = 0; v < std::min(most, count); ++v)
    words.push_back(fmt::format("{} = {}", network.name_of(v), network.state_name(v, assignment[v])));
  if (count > most)
    words.push_back(fmt::format("and {} more{}", count - most, a.output.empty() ? " (-o FILE writes all)" : ""));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// An assignment, and the names of its variables and of their states, where there are some.
template <class Value>
nlohmann::json assignment_json(tables::TableNetwork<Value> const& network, std::vector<Index> const& assignment) {
  nlohmann::json json{{"assignment", assignment}};
  for (Index v = 0; v < static_cast<Index>(assignment.size()); ++v) {
    if (!network.variable_names.empty()) json["names"].push_back(network.name_of(v));
    if (!network.state_names.empty()) json["assigned_states"].push_back(network.state_name(v, assignment[v]));
  }
  return json;
}

/// What is known of any such run.
nlohmann::json order_json(ExactArguments const& a, elim::Order const& order, std::size_t table_bytes);

}  // namespace hornbill::cli
