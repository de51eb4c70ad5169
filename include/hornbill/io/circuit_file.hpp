/// \file
/// Files of probabilistic circuits and of samples (inputs/FORMAT.md, "Circuits").
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/samples.hpp>

namespace hornbill::io {

/// A circuit, and its parameters.
struct StoredCircuit {
  circuit::Circuit circuit;
  circuit::Parameters parameters;
  std::map<std::string, std::string> attributes{};  ///< that say where it comes from
};

/// Reads a circuit from `.h5`: of Hornbill's layout, or node by node (`node_type`, `child_ptr`, ...).
/// \throws InputError naming the file and the dataset or node; CapacityError
StoredCircuit read_circuit(std::string const& file);
/// Writes one to `.h5`, all of it or nothing.   \throws InputError
void write_circuit(StoredCircuit const& stored, std::string const& file);

/// Checks that a file to be written has the ending of a circuit.   \throws InputError
void require_ending_of_circuit(std::string const& file);

/// Whether an HDF5 file holds a circuit.   \throws InputError if it cannot be opened
bool holds_circuit(std::string const& file);

/// Reads samples: a text of numbers separated by commas, a sample a line, `?` or an empty field where a value is
/// missing; or the dataset `x` of an `.h5` file, whose missing values `x_missing` marks, and the likelihoods
/// `soft/VARIABLE`.
/// \throws InputError naming the file and the line or the sample; CapacityError
circuit::Samples read_samples(std::string const& file, circuit::Circuit const& circuit);

/// The same of a text.   \param file  that errors name
circuit::Samples parse_samples(std::string const& file, std::string_view text, circuit::Circuit const& circuit);

/// Reads weights of samples: a text with a number of at least 0 for each, a line each.
/// \param count  of samples
/// \throws InputError naming the file and the line
std::vector<double> read_weights(std::string const& file, Offset count);
/// The same of a text.
std::vector<double> parse_weights(std::string const& file, std::string_view text, Offset count);

/// What values samples of any variables may have: whole numbers from 0, or real ones.
enum class ValueType : std::uint8_t { whole, real };

/// Reads samples to make a circuit from, which says nothing of their variables yet: the first one has a value of each.
/// \throws InputError as read_samples() does
circuit::Samples read_any_samples(std::string const& file, ValueType type);
circuit::Samples parse_any_samples(std::string const& file, std::string_view text, ValueType type);

}  // namespace hornbill::io
