// Samples as text: numbers separated by commas.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <utility>

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

/// Whether a field could be a column's name: it has a letter, and is no word for a number or for none.
bool is_name(std::string_view field) {
  constexpr std::string_view others[] = {"na",  "n/a",  "nan",      "null", "nil",  "none",
                                         "inf", "-inf", "infinity", "true", "false"};
  std::string lower(field);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  bool const has_letter = std::ranges::any_of(lower, [](unsigned char c) { return std::isalpha(c) || c >= 0x80; });
  return has_letter && std::ranges::find(others, lower) == std::end(others) &&
         parse_number<double>(field).state == Parsed<double>::State::no_number;
}

/// Whether a line holds names of columns, each another one.
bool is_header(std::vector<std::string_view> fields) {
  if (!std::ranges::all_of(fields, is_name)) return false;
  std::ranges::sort(fields);
  return std::ranges::adjacent_find(fields) == fields.end();
}

/// What columns must hold.
struct SampleColumns {
  std::function<std::string(Index)> name;  ///< of a variable
  std::vector<Index> categories;           ///< [variables], 0 of real values; none where any number of columns will do
  Index of_others = 0;                     ///< categories where there are none; -1: whole numbers from 0
};

class SampleParser {
 public:
  explicit SampleParser(SampleColumns columns) : columns_(std::move(columns)) {
    samples_.num_variables = static_cast<Index>(columns_.categories.size());
  }

  void add_line(std::string_view line, int number) {
    auto const content = trimmed(line);
    auto const fields = fields_of(content);
    if (content.empty() && samples_.num_variables != 1) return;
    if (number == 1 && is_header(fields)) return;
    if (samples_.num_variables == 0) samples_.num_variables = static_cast<Index>(fields.size());
    if (std::ssize(fields) != samples_.num_variables)
      throw InputError(
          fmt::format("has {} values; {} {}", fields.size(),
                      columns_.categories.empty() ? "the lines before have" : "the circuit's variables are",
                      samples_.num_variables));
    for (std::size_t v = 0; v < fields.size(); ++v)
      samples_.values.push_back(value_of(fields[v], static_cast<Index>(v)));
  }

  Samples samples() && { return std::move(samples_); }

 private:
  double value_of(std::string_view field, Index variable) const {
    if (is_missing(field)) return circuit::missing;
    Index const categories =
        columns_.categories.empty() ? columns_.of_others : columns_.categories[static_cast<std::size_t>(variable)];
    auto const parsed = parse_number<double>(field);
    bool const is_number = parsed.state == Parsed<double>::State::good && std::isfinite(parsed.value);
    if (is_number && circuit::is_value(parsed.value, categories)) return parsed.value;
    throw InputError(fmt::format("the value of {} is '{}'; it must be {}, or `?` where it is missing",
                                 columns_.name(variable), field, circuit::wanted_value(categories)));
  }

  SampleColumns columns_;
  Samples samples_;
};

Samples parse_with(std::string const& file, std::string_view text, SampleColumns columns) {
  SampleParser parser(std::move(columns));
  for_each_line(file, text, [&](std::string_view line, int number) { parser.add_line(line, number); });
  return std::move(parser).samples();
}

}  // namespace

Samples parse_samples(std::string const& file, std::string_view text, Circuit const& circuit) {
  return parse_with(file, text,
                    {[&](Index variable) { return circuit.name_of_variable(variable); },
                     circuit::variable_categories(circuit, "the circuit")});
}

Samples parse_any_samples(std::string const& file, std::string_view text, ValueType type) {
  return parse_with(
      file, text, {[](Index variable) { return fmt::format("x{}", variable); }, {}, type == ValueType::real ? 0 : -1});
}

std::vector<double> parse_weights(std::string const& file, std::string_view text, Offset count) {
  std::vector<double> weights;
  for_each_line(file, text, [&](std::string_view line, int) {
    auto const field = trimmed(line);
    auto const parsed = parse_number<double>(field);
    bool const is_good =
        parsed.state == Parsed<double>::State::good && std::isfinite(parsed.value) && parsed.value >= 0;
    if (!is_good) throw InputError(fmt::format("is '{}'; a weight must be a number of at least 0", field));
    weights.push_back(parsed.value);
  });
  if (std::ssize(weights) != count)
    throw InputError(file, "", fmt::format("has {} weights; there are {} samples", weights.size(), count));
  return weights;
}

std::vector<double> read_weights(std::string const& file, Offset count) {
  return parse_weights(file, read_text(file), count);
}

}  // namespace hornbill::io
