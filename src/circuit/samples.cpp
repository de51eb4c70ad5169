#include <hornbill/circuit/samples.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {

bool is_value(double number, Index categories) {
  if (!std::isfinite(number)) return false;
  if (categories == 0) return true;
  double const behind = categories < 0 ? static_cast<double>(std::numeric_limits<Index>::max()) : categories;
  return number >= 0 && number < behind && number == std::floor(number);
}

std::string wanted_value(Index categories) {
  if (categories == 0) return "a number";
  return categories < 0 ? std::string("a whole number of at least 0")
                        : fmt::format("a whole number from 0 to {}", categories - 1);
}

std::vector<Index> categories_of(Samples const& samples) {
  std::vector<Index> categories(static_cast<std::size_t>(samples.num_variables), 2);
  for (Offset s = 0; s < samples.size(); ++s)
    for (Index v = 0; v < samples.num_variables; ++v)
      if (double const x = samples.value(s, v); !std::isnan(x))
        categories[static_cast<std::size_t>(v)] =
            std::max(categories[static_cast<std::size_t>(v)], static_cast<Index>(x) + 1);
  return categories;
}

Samples select_variables(Samples const& samples, std::vector<Index> const& variables) {
  Samples selected{static_cast<Index>(variables.size()), {}};
  for (Offset s = 0; s < samples.size(); ++s)
    for (Index v : variables) selected.values.push_back(samples.value(s, v));
  return selected;
}

namespace {

void check_soft(Circuit const& circuit, Samples const& samples, std::vector<Index> const& categories,
                std::string const& where) {
  std::vector<bool> is_named(categories.size());
  for (auto const& [variable, likelihoods] : samples.soft) {
    if (variable < 0 || variable >= circuit.num_variables)
      throw InputError(where, "",
                       fmt::format("there are likelihoods of variable {}; variables are 0 to {}", variable,
                                   circuit.num_variables - 1));
    auto const name = circuit.name_of_variable(variable);
    if (is_named[static_cast<std::size_t>(variable)])
      throw InputError(where, "", fmt::format("the likelihoods of variable {} are given twice", name));
    is_named[static_cast<std::size_t>(variable)] = true;
    auto const count = categories[static_cast<std::size_t>(variable)];
    if (count == 0)
      throw InputError(where, "", fmt::format("variable {} is a real number, which has no likelihoods by value", name));
    if (std::ssize(likelihoods) != samples.size() * count)
      throw InputError(where, "",
                       fmt::format("variable {} has {} likelihoods for {} samples of {} categories", name,
                                   likelihoods.size(), samples.size(), count));
    for (std::size_t i = 0; i < likelihoods.size(); ++i)
      if (!std::isfinite(likelihoods[i]) || likelihoods[i] < 0)
        throw InputError(where, "",
                         fmt::format("sample {}: the likelihood of {} = {} is {}; it must be a number of at least 0",
                                     i / static_cast<std::size_t>(count), name, i % static_cast<std::size_t>(count),
                                     likelihoods[i]));
  }
}

}  // namespace

void validate(Circuit const& circuit, Samples const& samples, std::string const& where) {
  if (samples.num_variables != circuit.num_variables)
    throw InputError(where, "",
                     fmt::format("samples have {} values; the circuit has {} variables", samples.num_variables,
                                 circuit.num_variables));
  auto const categories = variable_categories(circuit, where);
  for (Offset s = 0; s < samples.size(); ++s)
    for (Index v = 0; v < samples.num_variables; ++v) {
      double const value = samples.value(s, v);
      Index const count = categories[static_cast<std::size_t>(v)];
      if (!std::isnan(value) && !is_value(value, count))
        throw InputError(where, "",
                         fmt::format("sample {}: the value of {} is {}; it must be {}", s, circuit.name_of_variable(v),
                                     value, wanted_value(count)));
    }
  check_soft(circuit, samples, categories, where);
}

}  // namespace hornbill::circuit
