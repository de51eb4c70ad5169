#include "exact.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>

#include <fmt/format.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/tables/detail/inputs.hpp>
#include <hornbill/tables/detail/slice_transfer.hpp>

#include "support.hpp"

namespace hornbill::cli {
namespace {

constexpr std::array heuristics{
    std::pair{"min_fill", elim::Heuristic::min_fill},   std::pair{"min_degree", elim::Heuristic::min_degree},
    std::pair{"min_width", elim::Heuristic::min_width}, std::pair{"min_weight", elim::Heuristic::min_weight},
    std::pair{"degree", elim::Heuristic::degree},       std::pair{"depth_first", elim::Heuristic::depth_first}};

std::string heuristic_names() {
  std::vector<std::string> names;
  for (auto const& [name, heuristic] : heuristics) names.emplace_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// What is worth a try where tables are too large: other orders only where they are not hopelessly so.
/// \param excess  how many times as large as they may be
std::string remedies(ExactArguments const& a, double excess) {
  constexpr double max_excess_orders_save = 1e6;
  constexpr int many_tries = 200;
  std::vector<std::string> may_help;
  if (excess < max_excess_orders_save && (a.order != "min_weight" || a.options.tries < many_tries))
    may_help.push_back(fmt::format("--order min_weight --tries {}", std::max(many_tries, a.options.tries)));
  if (a.takes_evidence) may_help.push_back("evidence");
  auto const others = fmt::format("{}", fmt::join(may_help, " or "));
  return others.empty()
             ? a.where_too_wide
             : fmt::format("{} may help{}{}", others, a.where_too_wide.empty() ? "" : "; ", a.where_too_wide);
}

void require_at_most(std::size_t usable, std::size_t needed, std::string const& who, std::string const& blame) {
  if (needed > usable)
    throw CapacityError(fmt::format("{} needs {}, and {} are available. {}", who,
                                    human_bytes(static_cast<double>(needed)), human_bytes(static_cast<double>(usable)),
                                    blame));
}

[[noreturn]] void fail_too_wide(ExactArguments const& a, std::string const& order, elim::TooWideError const& e,
                                std::vector<std::string> const& variable_names) {
  auto const& [width, variable, cells, is_whole] = e.excess;
  auto const v = static_cast<std::size_t>(variable);
  auto const name =
      v < variable_names.size() && !variable_names[v].empty() ? variable_names[v] : fmt::format("variable {}", v);
  auto const why = fmt::format(
      "{}: elimination is too wide: {} has a width of {}{}, and the table that {} makes {:.3g} cells; {:.10g} are "
      "possible",
      a.file, order, is_whole ? "" : "at least ", width, name, cells, e.max_cells);
  auto const remedy = remedies(a, cells / e.max_cells);
  throw CapacityError(remedy.empty() ? why : fmt::format("{}; {}", why, remedy));
}

}  // namespace

void add_order_options(CLI::App& command, ExactArguments& a) {
  auto const tries_orders = [&a](std::string const&) { a.tries_orders = true; };
  command
      .add_option(
          "--order", a.order,
          "Which variable is eliminated next: min_fill, min_degree, min_width, min_weight (the smallest table), degree "
          "(once, as GpuBE), depth_first (whose tree has only edges of the graph), or a file that lists all by number "
          "or name, separated by blanks or one a line, the first to go first (# begins a comment)")
      ->capture_default_str();
  command.add_option("--tries", a.options.tries, "Orders to make, of which the one with the fewest cells is taken")
      ->check(at_least(1))
      ->each(tries_orders)
      ->capture_default_str();
  command.add_option("--seed", a.options.seed, "Of what decides between equals in an order")
      ->check(at_least(0))
      ->each(tries_orders)
      ->capture_default_str();
}

void add_exact_options(CLI::App& command, ExactArguments& a, std::string const& files, std::string const& output) {
  command.add_option("FILE", a.file, files)->required();
  command
      .add_option("--evidence", a.evidence,
                  "An evidence set of FILE, or a text file, as for lbp, or .evid of the UAI competitions; may be given "
                  "several times")
      ->allow_extra_args(false)
      ->option_text("SET");
  add_order_options(command, a);
  command
      .add_option("--backend", a.backend,
                  "Where to run: " + fmt::format("{}", fmt::join(backend::names(), ", ")) + " (default: the last)")
      ->check(known_backend());
  add_bytes_option(command, "--memory-limit", a.memory_limit,
                   "Bytes that may be used, e.g. 4G (default: all that is free)");
  command.add_option("-o,--output", a.output, output)->check(not_empty());
  command.add_flag("--json", a.json, "Print JSON");
}

void settle(ExactArguments& a, std::vector<std::string> const& more_evidence) {
  if (a.backend.empty()) a.backend = backend::names().back();
  std::vector<NamedFile> read{{"FILE", a.file}, {"--order", a.order}};
  for (auto const& source : a.evidence) read.push_back({"--evidence", source});
  for (auto const& source : more_evidence) read.push_back({"--each", source});
  keep_apart(read, {{"--output", a.output}});
  if (!a.output.empty()) io::require_writable(a.output);
}

elim::Order find_order(ExactArguments const& a, std::vector<Index> const& cardinality,
                       std::vector<std::span<Index const>> const& scopes,
                       std::vector<std::string> const& variable_names, double max_cells) {
  auto options = a.options;
  options.max_cells = max_cells;
  for (auto const& [name, heuristic] : heuristics)
    if (a.order == name) {
      options.heuristic = heuristic;
      try {
        return elim::make_order(cardinality, scopes, options);
      } catch (elim::TooWideError const& e) {
        fail_too_wide(
            a, options.tries == 1 ? "the order that was tried" : fmt::format("the mildest of {} orders", options.tries),
            e, variable_names);
      }
    }
  if (!std::filesystem::exists(a.order))
    throw InputError(
        fmt::format("--order {} is neither a file nor a heuristic; there are {}", a.order, heuristic_names()));
  if (a.tries_orders) throw UsageError(fmt::format("--tries and --seed are for heuristics; {} is one order", a.order));
  auto variables = elim::read_order(a.order, variable_names, static_cast<Index>(cardinality.size()));
  try {
    return elim::measure_order(cardinality, scopes, std::move(variables), max_cells);
  } catch (InputError const& e) {
    throw InputError(fmt::format("{}: {}", a.order, e.what()));
  } catch (elim::TooWideError const& e) {
    fail_too_wide(a, "the order of " + a.order, e, variable_names);
  }
}

std::size_t usable_bytes(ExactArguments const& a) {
  std::size_t const available = backend::available_bytes(a.backend);
  return a.memory_limit > 0 ? std::min(available, a.memory_limit) : available;
}

std::string blame(ExactArguments const& a, elim::Order const& order, std::string const& widest) {
  auto const why = fmt::format("The width is {}, at {}, where {:.3g} cells are combined", order.width, widest,
                               order.largest_cells),
             remedy = remedies(a, 1);
  return remedy.empty() ? why : fmt::format("{}; {}", why, remedy);
}

void require_bytes(ExactArguments const& a, std::size_t needed, std::string const& task, std::string const& blame) {
  require_at_most(usable_bytes(a), needed, fmt::format("{} on backend {}: {}", a.file, a.backend, task), blame);
}

namespace {

bool runs_on_host(ExactArguments const& a) {
  return backend::visit(a.backend, []<class Exec>(Exec const&) { return tables::detail::runs_on_host<Exec>; });
}

/// What tables may take where they go through the device in slices if they need more: some is left to what the driver
/// takes for itself.
std::size_t device_bytes(ExactArguments const& a) {
  std::size_t const free = backend::available_bytes(a.backend), usable = runs_on_host(a) ? free : free - free / 16;
  return a.device_memory > 0 ? std::min(a.device_memory, usable) : usable;
}

}  // namespace

bool fit_on_device(ExactArguments const& a, std::size_t table_bytes) {
  return table_bytes <= std::min(usable_bytes(a), device_bytes(a));
}

std::size_t slice_bytes(ExactArguments const& a, std::size_t table_bytes, std::string const& task,
                        std::string const& blame) {
  if (fit_on_device(a, table_bytes)) return 0;
  std::size_t const of_host = backend::available_bytes(backend::names().front());  // the host's comes first
  bool const has_slices = !runs_on_host(a) || a.device_memory > 0;
  // two buffers
  std::size_t const bytes = has_slices ? device_bytes(a) : 0,
                    beside = runs_on_host(a) ? std::min(bytes, table_bytes)
                                             : std::min(tables::detail::transfer_bytes, 2 * table_bytes);
  require_at_most(a.memory_limit > 0 ? std::min(of_host, a.memory_limit) : of_host, table_bytes + beside,
                  fmt::format("{} on backend {}: {}", a.file, a.backend, task), blame);
  return bytes;
}

void add_slice_options(CLI::App& command, ExactArguments& a) {
  add_bytes_option(command, "--device-memory", a.device_memory,
                   "Bytes of the device that may be used (default: nearly all that is free); tables that need more "
                   "stay in the host's memory, and go through in slices");
}

std::string power_of_ten(double exponent) {
  return std::abs(exponent) < 1e-12 ? "1" : fmt::format("10^{:.12g}", exponent);
}

std::string slices_text(std::size_t slice_bytes, double slices) {
  return slice_bytes == 0
             ? ""
             : fmt::format(", through {} in {:.0f} slices", human_bytes(static_cast<double>(slice_bytes)), slices);
}

nlohmann::json order_json(ExactArguments const& a, elim::Order const& order, std::size_t table_bytes) {
  return {{"file", a.file},
          {"backend", a.backend},
          {"order", a.order},
          {"width", order.width},
          {"total_cells", order.total_cells},
          {"largest_cells", order.largest_cells},
          {"table_bytes", table_bytes}};
}

}  // namespace hornbill::cli
