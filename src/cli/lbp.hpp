// hornbill lbp: what is asked for, and what comes out.
#pragma once

#include <string>
#include <vector>

#include <hornbill/bp/report.hpp>
#include <hornbill/bp/schedule.hpp>
#include <hornbill/io/model.hpp>

#include "solver.hpp"

namespace hornbill::cli {

struct LbpArguments : SolverArguments {
  std::string output, top, name = "lbp", start;
  std::vector<std::string> evidence, each;
  int top_count = 10;
  bool is_by_place = false, json = false, store_messages = false;
};

/// Whether nothing else was asked for, so that marginals themselves are printed.
inline bool prints_marginals(LbpArguments const& a) { return a.output.empty() && a.top.empty(); }

/// What came out for one evidence set.
struct SetResult {
  std::string name;  ///< as --each gave it
  bp::Report report;
  StoredMarginals marginals;
};

struct Result {
  bp::BatchStatistics statistics;
  double analysis_seconds = 0, setup_seconds = 0;
  std::vector<SetResult> sets;
  StoredMessages messages;
};

/// Prints how the run went and the most probable variables of a query, as text or JSON.
void print_result(LbpArguments const& a, Model const& model, Result const& result, std::vector<Index> const& query);
/// Says on the error stream which variable an evidence set contradicts itself at.
void report_contradiction(LbpArguments const& a, Model const& model, SetResult const& set);
/// Writes the model with the marginals of each set.
void write_result(LbpArguments const& a, Model& model, Result const& result);
/// Of the set that fared worst.
int exit_code_of(LbpArguments const& a, Result const& result);

}  // namespace hornbill::cli
