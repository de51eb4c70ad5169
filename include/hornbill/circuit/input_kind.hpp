/// \file
/// Kinds of input distributions.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hornbill/types.hpp>

namespace hornbill::circuit {

/// A distribution of one variable, and its parameters. The numbers are those of files.
enum class InputKind : std::uint8_t {
  categorical,           ///< P(x = c) = theta_c; num_categories parameters
  bernoulli,             ///< P(x = 1) = p; one parameter
  binomial,              ///< P(x = k) = (n over k) p^k (1 - p)^(n - k) of n = num_categories - 1 trials; one parameter
  gaussian,              ///< a density: mean and sigma
  discretised_logistic,  ///< P(x = c) = F(c + 1/2) - F(c - 1/2) with F(t) = 1 / (1 + exp(-(t - mean) / scale)), where
                         ///< the first and the last category have the tails; mean and scale
  indicator,             ///< 1 where x is the node's value, else 0; no parameter
  literal,               ///< the same of a Boolean variable
};
inline constexpr std::size_t num_input_kinds = 7;

/// The kind's name in messages, e.g. "categorical".
char const* name_of(InputKind kind);

/// How many parameters a node has.
Index num_parameters(InputKind kind, Index num_categories);

/// How many numbers learning takes from samples for a node: the flow of each category; or, of a Gaussian, the flow, and
/// the first and second moment with it.
Index num_statistics(InputKind kind, Index num_categories);

/// Whether values of the variable are 0 to num_categories - 1; else they are real numbers.
constexpr bool is_discrete(InputKind kind) { return kind != InputKind::gaussian; }
/// Whether nodes have a value of their own, and no parameters.
constexpr bool is_indicator(InputKind kind) { return kind == InputKind::indicator || kind == InputKind::literal; }
/// Whether the second of two parameters is a width.
constexpr bool has_scale(InputKind kind) {
  return kind == InputKind::gaussian || kind == InputKind::discretised_logistic;
}

}  // namespace hornbill::circuit
