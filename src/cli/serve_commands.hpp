// hornbill serve: the words that BINGO's drivers send.
#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <sstream>
#include <string>
#include <variant>

#include <hornbill/error.hpp>
#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::cli {

/// What a client asked for cannot be done; the answer says why.
class BadCommand : public Error {
 public:
  explicit BadCommand(std::string const& message) : Error(message) {}
};

/// BP tolerance minIters maxIters histLength
struct BpCommand {
  double tolerance = 0;
  int least = 0, most = 0, history = 0;
};
/// Q variable
struct BeliefCommand {
  Index variable = 0;
};
/// FQ factor state
struct FactorBeliefCommand {
  Index factor = 0;
  std::uint64_t state = 0;
};
/// O variable true|false, OS variable l0 l1
struct ObserveCommand {
  Observation observation;
  std::string echo;  ///< the command as it is written
};
/// UC variable
struct ReleaseCommand {
  Index variable = 0;
};
/// NL
struct NewLineCommand {};

using ServeCommand =
    std::variant<BpCommand, BeliefCommand, FactorBeliefCommand, ObserveCommand, ReleaseCommand, NewLineCommand>;

/// Commands in a stream of words, wherever its lines end: as libDAI's wrapper reads them.
class CommandReader {
 public:
  /// Keeps references.
  CommandReader(std::istream& in, HostFactorGraph const& graph) : in_(in), graph_(graph) {}

  /// The next command; none at the end of the input, and after exit or BYE.   \throws BadCommand, InputError
  std::optional<ServeCommand> next();
  /// Drops the rest of a line, of which a command could not be understood or done.
  void skip_line() { line_ = {}; }

 private:
  std::optional<std::string> next_word();

  std::istream& in_;
  HostFactorGraph const& graph_;
  std::istringstream line_;
};

}  // namespace hornbill::cli
