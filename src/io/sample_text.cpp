// Samples as text: numbers separated by commas.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/circuit_file.hpp>
#include <hornbill/io/text_file.hpp>

#include "number.hpp"

namespace hornbill::io {
namespace {

using circuit::Circuit, circuit::Samples;

/// Fields of a line, without the blanks around them.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t at = 0; at <= line.size();) {
    auto const end = std::min(line.find(',', at), line.size());
    fields.push_back(trimmed(line.substr(at, end - at)));
    at = end + 1;
  }
  return fields;
}

bool is_missing(std::string_view field) { return field.empty() || field == "?"; }

/// Whether a line holds names of columns: there is no number in it, nor a missing value.
bool is_header(std::vector<std::string_view> const& fields) {
  return std::ranges::none_of(fields, [](std::string_view field) {
    return is_missing(field) || parse_number<double>(field).state != Parsed<double>::State::no_number;
  });
}

class SampleParser {
 public:
  explicit SampleParser(Circuit const& circuit)
      : circuit_(circuit), categories_(circuit::variable_categories(circuit, "the circuit")) {
    samples_.num_variables = circuit.num_variables;
  }

  void add_line(std::string_view line, int number) {
    auto const content = trimmed(line);
    auto const fields = fields_of(content);
    if (content.empty() && circuit_.num_variables > 1) return;
    if (number == 1 && is_header(fields)) return;
    if (std::ssize(fields) != circuit_.num_variables)
      throw InputError(
          fmt::format("has {} values; the circuit has {} variables", fields.size(), circuit_.num_variables));
    for (std::size_t v = 0; v < fields.size(); ++v)
      samples_.values.push_back(value_of(fields[v], static_cast<Index>(v)));
  }

  Samples samples() && { return std::move(samples_); }

 private:
  double value_of(std::string_view field, Index variable) const {
    if (is_missing(field)) return circuit::missing;
    Index const categories = categories_[static_cast<std::size_t>(variable)];
    auto const parsed = parse_number<double>(field);
    bool const is_number = parsed.state == Parsed<double>::State::good && std::isfinite(parsed.value);
    bool const is_value = is_number && (categories == 0 || (parsed.value >= 0 && parsed.value < categories &&
                                                            parsed.value == std::floor(parsed.value)));
    if (is_value) return parsed.value;
    throw InputError(fmt::format(
        "the value of {} is '{}'; it must be {}, or `?` where it is missing", circuit_.name_of_variable(variable),
        field, categories == 0 ? std::string("a number") : fmt::format("a whole number from 0 to {}", categories - 1)));
  }

  Circuit const& circuit_;
  std::vector<Index> categories_;
  Samples samples_;
};

}  // namespace

Samples parse_samples(std::string const& file, std::string_view text, Circuit const& circuit) {
  SampleParser parser(circuit);
  for_each_line(file, text, [&](std::string_view line, int number) { parser.add_line(line, number); });
  return std::move(parser).samples();
}

}  // namespace hornbill::io
