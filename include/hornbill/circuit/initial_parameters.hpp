/// \file
/// Parameters to begin learning with.
#pragma once

#include <cstdint>

#include <hornbill/circuit/circuit.hpp>

namespace hornbill::circuit {

/// Random parameters, which follow from the circuit and the seed alone, on every machine.
///
/// Parameter i of a distribution is w_i over the sum of all its w, where w_i is a whole number from 2^21 to 2^24 that
/// is hashed from the seed and the number of the parameter: so a sum in any order is exact. A Bernoulli's or binomial's
/// p is from 1/8 to 7/8; a Gaussian has a mean from -1 to 1 and a sigma of 1; a logistic a mean among its categories
/// and a scale of an eighth of their number; both at least their smallest scale.
Parameters initial_parameters(Circuit const& circuit, std::uint64_t seed);

}  // namespace hornbill::circuit
