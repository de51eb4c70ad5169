// Sound HDF5 files, with checksums, whose arrays are anything: what validation is for. Bytes changed at random would
// hardly ever get past the checksums.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include <hornbill/error.hpp>
#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>

#include "arrays.hpp"
#include "io/hdf5.hpp"
#include "targets.hpp"

namespace hornbill::fuzz {
namespace {

// A sound model: an AND, an OR and a table over four variables, one of three states.
std::pair<char const*, Integers> const integers[] = {{"/graph/factor_type", {0, 1, 2}},
                                                     {"/graph/factor_offsets", {0, 1, 4, 6}},
                                                     {"/graph/factor_variables", {0, 1, 0, 2, 2, 3}},
                                                     {"/graph/cardinality", {2, 2, 2, 3}},
                                                     {"/graph/table_offsets", {0, 0, 0, 6}},
                                                     {"/schedules/order/edges", {3, 1, 2}},
                                                     {"/schedules/partial/before", {0, 1}},
                                                     {"/schedules/partial/after", {5, 3}},
                                                     {"/schedules/batches/edges", {3, 1, 2}},
                                                     {"/schedules/batches/batch_offsets", {0, 2, 3}},
                                                     {"/schedules/batches/before", {3}},
                                                     {"/schedules/batches/after", {2}},
                                                     {"/evidence/hard/variable", {0, 3}},
                                                     {"/evidence/hard/value", {1, 2}},
                                                     {"/evidence/mixed/variable", {0, 3, 1}},
                                                     {"/evidence/mixed/value", {-1, -1, 0}},
                                                     {"/evidence_of_messages/lbp/variable", {2}},
                                                     {"/evidence_of_messages/lbp/value", {0}},
                                                     {"/queries/alarms", {2, 1}},
                                                     {"/rules/offsets", {0, 1, 1, 3}},
                                                     {"/rules/of_factors", {0, 1, 0}}};
std::pair<char const*, Numbers> const numbers[] = {{"/graph/p1", {0.5, 1, 0}},
                                                   {"/graph/p2", {0, 0.25, 0}},
                                                   {"/graph/table_values", {1, 0, 0.5, 2, 1e-300, 1}},
                                                   {"/evidence/mixed/likelihood", {0.5, 1, 0.25, 0, 1}},
                                                   {"/marginals/lbp", {0.5, 1, 0, 0.1}},
                                                   {"/state_marginals/lbp", {0.5, 0.5, 0, 1, 1, 0, 0.8, 0.1, 0.1}},
                                                   {"/messages/lbp", {0, 1, -1, 0, 3, 0, 0, -1, -2}},
                                                   {"/rules/probabilities", {0.5, 1}}};
std::pair<char const*, Strings> const strings[] = {
    {"/graph/variable_names", {"a", "b", "c", "d"}},
    {"/graph/state_names", {"0", "1", "0", "1", "no", "yes", "x", "y", "z"}},
    {"/rules/names", {"R1", "R2"}}};

// Sound constraints over an object of two fields, a function and two pointers, with their solution.
std::pair<char const*, Integers> const integers_of_constraints[] = {{"/constraints/kind", {0, 1, 2, 3, 4, 5}},
                                                                    {"/constraints/source", {0, 4, 4, 5, 4, 4}},
                                                                    {"/constraints/destination", {4, 5, 5, 4, 5, 5}},
                                                                    {"/constraints/offset", {0, 0, 0, 0, 1, 0}},
                                                                    {"/constraints/place", {0, -1, 1, 0, 1, -1}},
                                                                    {"/objects/size", {2, 1, 2, 1}},
                                                                    {"/objects/functions", {2}},
                                                                    {"/calls/pointer", {5, 4}},
                                                                    {"/calls/place", {-1, 1}},
                                                                    {"/points_to/set_of_variable", {2, 0, 0, 0, 1, 2}},
                                                                    {"/points_to/set_offsets", {0, 0, 1, 3}},
                                                                    {"/points_to/set_objects", {0, 0, 1}},
                                                                    {"/points_to/representative", {0, 1, 1, 1, 4, 0}},
                                                                    {"/objects/bytes_to_end", {12, 8, 2, 1}},
                                                                    {"/objects/period", {8, 8, 0, 0}}};
std::pair<char const*, Strings> const strings_of_constraints[] = {{"/variable_names", {"a", "", "f", "", "p", "q"}},
                                                                  {"/places", {"a.c:1", "a.c:2"}}};

void write_attributes(FuzzedDataProvider& in, io::hdf5::Writer& out) {
  std::vector<std::int64_t> numbers{2, 4};
  spoil(in, numbers);
  numbers.resize(2);
  out.write_attribute("/", "hornbill_format", numbers[0]);
  out.make_group("/graph");
  out.write_attribute("/graph", "num_variables", numbers[1]);
  char const* kinds[] = {"order", "partial_order", "batches", "other"};
  for (auto const* name : {"order", "partial", "batches"}) {
    auto const path = "/schedules/" + std::string(name);
    out.make_group(path);
    std::string const usual = name == std::string("partial") ? "partial_order" : name;
    out.write_attribute(path, "kind", in.ConsumeIntegralInRange<int>(0, 7) == 0 ? in.PickValueInArray(kinds) : usual);
  }
}

}  // namespace

void h5_arrays(Input const& input) {
  FuzzedDataProvider in(reinterpret_cast<std::uint8_t const*>(input.bytes.data()), input.bytes.size());
  io::hdf5::Writer out(input.file);
  write_attributes(in, out);
  write_arrays(in, out, integers, numbers, strings);
  put(input.file, out.image());
  auto const model = io::read_hdf5(input.file);
  validate(model.graph);
  for (auto const& [name, evidence] : model.evidence) validate(evidence, model.graph, name);
}

namespace {

/// The same file for the same input, but for the fingerprint.
std::string constraints_image(Input const& input, std::int64_t fingerprint) {
  FuzzedDataProvider in(reinterpret_cast<std::uint8_t const*>(input.bytes.data()), input.bytes.size());
  io::hdf5::Writer out(input.file);
  std::vector<std::int64_t> numbers{2, 6};
  spoil(in, numbers);
  numbers.resize(2);
  out.write_attribute("/", "hornbill_format", numbers[0]);
  out.make_group("/constraints");
  out.write_attribute("/constraints", "num_variables", numbers[1]);
  write_arrays(in, out, integers_of_constraints, {}, strings_of_constraints);
  out.make_group("/points_to");
  if (in.ConsumeIntegralInRange<int>(0, 15) > 0) out.write_attribute("/points_to", "fingerprint", fingerprint);
  out.make_group("/objects");
  if (in.ConsumeBool()) out.write_attribute("/objects", "outside", in.ConsumeIntegralInRange<std::int64_t>(-1, 5));
  return out.image();
}

/// That of the file as it is, so that solutions are read whatever their constraints are; 0 if it cannot be read.
std::int64_t fingerprint_of(std::string const& file) try {
  auto const system = io::read_constraints(file);
  io::hdf5::Reader const in(file);
  points_to::Solution solution;
  solution.set_of_variable = in.read<Index>("/points_to/set_of_variable");
  solution.set_offsets = in.read<Offset>("/points_to/set_offsets");
  solution.set_objects = in.read<Index>("/points_to/set_objects");
  return static_cast<std::int64_t>(points_to::fingerprint(solution, system));
} catch (Error const&) {
  return 0;
}

}  // namespace

void constraints_h5(Input const& input) {
  put(input.file, constraints_image(input, 0));
  put(input.file, constraints_image(input, fingerprint_of(input.file)));
  auto const points_to = io::read_points_to(input.file);
  points_to::validate(points_to.constraints, input.file);
  if (!points_to.solution) return;
  points_to::validate(*points_to.solution, points_to.constraints, input.file);
  for (Index v = 0; v < points_to.constraints.num_variables; ++v)
    objects_with_outside(*points_to.solution, points_to.constraints, v);
}

}  // namespace hornbill::fuzz
