// hornbill extract: from LLVM bitcode to points-to constraints.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hornbill/extract.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/constraint_file.hpp>

#include "commands.hpp"
#include "front_end.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct ExtractArguments {
  BitcodeArguments bitcode;
  std::string output, integers = "casts";
  bool json = false;
  std::size_t count = 10;
};

std::map<std::string, extract::Integers> const integers{
    {"none", extract::Integers::none}, {"casts", extract::Integers::casts}, {"all", extract::Integers::all}};

void print_notes(char const* title, std::vector<extract::Note> const& notes, std::size_t count) {
  if (notes.empty()) return;
  write_out("{} {}:\n", notes.size(), title);
  for (std::size_t i = 0; i < std::min(count, notes.size()); ++i)
    write_out("  {}{}{}\n", notes[i].place, notes[i].place.empty() ? "" : ": ", notes[i].what);
  if (notes.size() > count) write_out("  and {} more (--count, --json)\n", notes.size() - count);
}

/// The most frequent first.
std::vector<std::pair<std::string, std::int64_t>> by_number(std::map<std::string, std::int64_t> const& counts) {
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string, std::int64_t>::second);
  return sorted;
}

void print_counts(char const* title, std::map<std::string, std::int64_t> const& counts, std::size_t count) {
  if (counts.empty()) return;
  write_out("{} {}:\n", counts.size(), title);
  auto const sorted = by_number(counts);
  for (std::size_t i = 0; i < std::min(count, sorted.size()); ++i)
    write_out("  {:>8}  {}\n", sorted[i].second, sorted[i].first);
  if (sorted.size() > count) write_out("  and {} more (--count, --json)\n", sorted.size() - count);
}

nlohmann::json to_json(std::vector<extract::Note> const& notes) {
  auto list = nlohmann::json::array();
  for (auto const& [what, place] : notes) list.push_back({{"what", what}, {"place", place}});
  return list;
}

void run_extract(ExtractArguments const& a) {
  std::vector<NamedFile> read;
  a.bitcode.list(read);
  keep_apart(read, {{"-o", a.output}});
  if (!io::is_constraint_text(a.output) && !a.output.ends_with(".h5"))
    throw UsageError(fmt::format("-o {}: constraints are written to .h5 or .cons.txt", a.output));
  io::require_writable(a.output);
  auto const [system, report] = extract::extract(a.bitcode.files, a.bitcode.settled());
  io::write_constraints(system, a.output);
  if (a.json) {
    print_json({{"file", a.output},
                {"entry", report.is_library ? "library" : "program"},
                {"has_places", report.has_places},
                {"variables", system.num_variables},
                {"objects", system.num_objects()},
                {"constraints", system.num_constraints()},
                {"calls", system.calls.size()},
                {"instructions", report.instructions},
                {"unknown_externals", report.unknown_externals},
                {"ignored", to_json(report.ignored)},
                {"folded", to_json(report.folded)}});
    return;
  }
  write_out("{}: {}; as a {}\n", a.output, sizes_of(system), report.is_library ? "library" : "program");
  if (!report.has_places) write_out("  {}\n", without_places);
  print_counts("kinds of instructions", report.instructions, a.count);
  print_counts("functions outside that are not known, by calls (--externals)", report.unknown_externals, a.count);
  print_notes("instructions that are not followed", report.ignored, a.count);
  print_notes("objects that are folded (--max-bytes)", report.folded, a.count);
}

}  // namespace

void add_extract(CLI::App& app, int&) {
  auto* command = app.add_subcommand("extract", "Make points-to constraints of a program in LLVM bitcode");
  auto a = std::make_shared<ExtractArguments>();
  add_bitcode_options(*command, a->bitcode);
  command->add_option("-o,--output", a->output, "File to write: .h5 or .cons.txt")->required();
  command
      ->add_option("--integers", a->integers,
                   "Integers that may hold pointers: none; casts: those of a pointer's width; all")
      ->check(CLI::IsMember(names_of(integers)))
      ->capture_default_str();
  command
      ->add_option("--max-bytes", a->bitcode.options.max_bytes,
                   "Fold objects of more bytes: one byte stands for those at multiples of this behind it")
      ->check(CLI::Range(8, 1 << 24))
      ->capture_default_str();
  command->add_option("--count", a->count, "Print at most so many of a list; --json prints all")
      ->check(at_least(0))
      ->capture_default_str();
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      fmt::format("Bitcode of LLVM {} and older is read, best made by `clang -g -O1 -Xclang -disable-llvm-passes -c "
                  "-emit-llvm`. Examples:\n"
                  "  hornbill extract program.bc -o program.h5\n"
                  "  hornbill pointsto program.h5 --query main::argv --calls",
                  extract::llvm_version()));
  command->callback([a] {
    auto& options = a->bitcode.options;
    options.integers = integers.at(a->integers);
    options.unknown_bytes = std::min(options.unknown_bytes, options.max_bytes);
    run_extract(*a);
  });
}

}  // namespace hornbill::cli
