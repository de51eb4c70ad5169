// hornbill map: what its exact part and its bounds share.
#pragma once

#include <optional>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/tables/table_network.hpp>

#include "exact.hpp"

namespace hornbill::cli {

struct MapArguments : ExactArguments {
  std::optional<int> mini_buckets;
  std::optional<double> bound_gap;
  double time_limit = 0;  // seconds; 0: none
  bool match_moments = false;
  std::string partition_by = "size";
  bool count = false;  // the best assignments
};

/// A network under evidence: TableNetwork<double> or CostNetwork.
template <class Network>
struct Observed {
  Network network;
  HostEvidence evidence;
  std::optional<Network> given;  ///< without evidence, where there is some

  Network const& unobserved() const { return given ? *given : network; }
};

struct ObservedTables : Observed<tables::TableNetwork<double>> {
  Index num_variables = 0;  ///< of the model; the network's others are of wide factors
};
ObservedTables read_tables(ExactArguments const& a);

/// Says that nothing is possible, and which observations are to blame. Needs Kokkos.
/// \param what  is not possible, e.g. "no assignment"   \param answer  of --json, what is null in it
/// \throws ContradictionError
[[noreturn]] void fail_impossible(ExactArguments const& a, ObservedTables const& observed, std::string const& what,
                                  nlohmann::json answer);

/// An assignment of these has what was observed once it is complete().
using ObservedCosts = Observed<tables::CostNetwork>;
ObservedCosts read_costs(ExactArguments const& a);

/// The assignment of the model's own variables, with what was observed.
std::vector<Index> complete(HostEvidence const& evidence, Index num_variables, std::vector<Index> assignment);

/// A number of JSON that is written as it stands.
nlohmann::json number(std::string const& decimal);

/// Writes -o in the form of the UAI competitions.
void write_assignment(ExactArguments const& a, std::vector<Index> const& assignment);

/// Says that no assignment was found, and what that means for -o.
std::string none_found(ExactArguments const& a);

/// Bounds by mini-buckets, and the assignment that is one of them.   \return exit code
int bound_cost(MapArguments const& a);
int bound_probability(MapArguments const& a);

}  // namespace hornbill::cli
