// What commands that read bitcode share.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <hornbill/extract/extract.hpp>

#include "support.hpp"

namespace hornbill::cli {

inline constexpr char const* without_places =
    "without places in the source: the bitcode has no debug information; compile with -g";

struct BitcodeArguments {
  std::vector<std::string> files;
  bool is_program = false, is_library = false;
  extract::Options options;

  /// Adds the files that are read to a list.
  void list(std::vector<NamedFile>& read) const {
    for (auto const& file : files) read.push_back({"FILE", file});
    for (auto const& file : options.externals) read.push_back({"--externals", file});
  }
  /// Options as the flags say.
  extract::Options settled() const {
    auto settled = options;
    settled.entry = is_library   ? extract::Entry::library
                    : is_program ? extract::Entry::program
                                 : extract::Entry::automatic;
    return settled;
  }
};

/// Adds FILE, --program, --library and --externals.
inline void add_bitcode_options(CLI::App& command, BitcodeArguments& a) {
  command.add_option("FILE", a.files, "Bitcode (.bc) or its text (.ll); several files are linked")->required();
  auto* program =
      command.add_flag("--program", a.is_program, "Called from outside is main alone (default where there is a main)");
  command
      .add_flag("--library", a.is_library,
                "Called from outside are all functions that other programs see (default without main)")
      ->excludes(program);
  command.add_option("--externals", a.options.externals,
                     "Further functions outside: lines as in src/extract/externals.txt; later ones count");
}

}  // namespace hornbill::cli
