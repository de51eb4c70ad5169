#include <hornbill/circuit/samples.hpp>

#include <cmath>

#include <fmt/format.h>

#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

/// "a value", or "the values 0 to 4", of a variable.
std::string wanted(Index categories) {
  return categories == 0 ? std::string("a number") : fmt::format("a whole number from 0 to {}", categories - 1);
}

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
      if (std::isnan(value)) continue;
      Index const count = categories[static_cast<std::size_t>(v)];
      if (count > 0 ? std::isinf(value) || value < 0 || value >= count || value != std::floor(value)
                    : std::isinf(value))
        throw InputError(where, "",
                         fmt::format("sample {}: the value of {} is {}; it must be {}", s, circuit.name_of_variable(v),
                                     value, wanted(count)));
    }
  check_soft(circuit, samples, categories, where);
}

}  // namespace hornbill::circuit
