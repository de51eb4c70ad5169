// Readers as fuzz targets: each takes any bytes, and may refuse them with an hornbill::Error, and with nothing else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hornbill::fuzz {

/// The memory of the machine that readers think they run on: what takes more is refused.
inline constexpr std::size_t machine_bytes = std::size_t{64} << 20;

/// Bytes, and a file that holds them.
struct Input {
  std::string const& file;
  std::string_view bytes;
};

/// Puts other bytes in the file of an input.
void put(std::string const& file, std::string_view bytes);

// Models.
void h5(Input const& input);
void h5_arrays(Input const& input);  ///< a sound file whose arrays are anything
void fg(Input const& input);
void causal_fg(Input const& input);
void uai(Input const& input);
void bif(Input const& input);
void wcsp(Input const& input);
void cfn(Input const& input);
// What belongs to models.
void evid(Input const& input);
void mar(Input const& input);  ///< .MAR, .PR, .MPE
void evidence(Input const& input);
void order(Input const& input);
void list(Input const& input);
void session(Input const& input);
void names(Input const& input);  ///< of variables, through the texts that hold them
void serve(Input const& input);
// Clauses.
void clauses(Input const& input);
void rules(Input const& input);
void alarms(Input const& input);
void datalog(Input const& input);
void reports(Input const& input);  ///< of other analysers
// Points-to constraints.
void constraints(Input const& input);     ///< all texts of them, with a 0 between two
void constraints_h5(Input const& input);  ///< a sound file whose arrays are anything
// Circuits and samples.
void circuit_h5(Input const& input);        ///< a sound file whose arrays are anything
void circuit_nodes_h5(Input const& input);  ///< the same, node by node
void checkpoint_h5(Input const& input);     ///< a sound circuit, and a training that is anything
void samples(Input const& input);
void samples_h5(Input const& input);

}  // namespace hornbill::fuzz
