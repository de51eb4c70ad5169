// hornbill lbp: what is asked for, and what comes out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hornbill/bp/report.hpp>
#include <hornbill/bp/run.hpp>
#include <hornbill/bp/schedule.hpp>
#include <hornbill/io/model.hpp>

namespace hornbill::cli {

struct LbpArguments {
  std::string file, schedule = "auto", backend, precision = "double", damping = "auto", output, top, name = "lbp", start;
  std::vector<std::string> evidence, each;
  std::optional<double> share;
  std::optional<std::uint64_t> seed;
  bp::Options options;
  std::size_t memory_limit = 0;
  int top_count = 10;
  bool json = false, store_messages = false;
};

/// What came out for one evidence set.
struct SetResult {
  std::string name;  ///< as --each gave it
  bp::Report report;
  std::vector<double> p_true;
};

struct Result {
  bp::BatchStatistics statistics;
  double analysis_seconds = 0, setup_seconds = 0;
  std::vector<SetResult> sets;
  io::StoredMessages messages;
};

/// Prints how the run went and the most probable variables of a query, as text or JSON.
void print_result(LbpArguments const& a, io::Model const& model, Result const& result, std::vector<Index> const& query);
/// Says on the error stream which variable an evidence set contradicts itself at.
void report_contradiction(LbpArguments const& a, io::Model const& model, SetResult const& set);
/// Under which marginals of a set are stored.
std::string stored_name(LbpArguments const& a, std::string const& set);
/// Writes the model with the marginals of each set.
void write_result(LbpArguments const& a, io::Model& model, Result const& result);
/// Of the set that fared worst.
int exit_code_of(LbpArguments const& a, Result const& result);

}  // namespace hornbill::cli
