// Bitcode that records which object each access meets.
#pragma once

#include <string>
#include <vector>

#include <hornbill/extract/extract.hpp>
#include <hornbill/points_to/constraints.hpp>

namespace hornbill::observe {

/// A load, a store, a copy of memory, or a call through a pointer.
struct Site {
  Index pointer;     ///< the variable of its address; -1 where that points to nothing
  std::string what;  ///< e.g. "load at file.c:7:3 in main"
};

struct Instrumented {
  points_to::ConstraintSystem constraints;
  std::vector<Site> sites;
};

/// Extracts constraints of a program, and writes the program as bitcode that calls the recorder.
/// \throws InputError as extract::extract() does, and if the file cannot be written
Instrumented instrument(std::vector<std::string> const& files, extract::Options const& options,
                        std::string const& output);

}  // namespace hornbill::observe
