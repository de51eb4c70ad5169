// hornbill rank: what was said of alarms, kept in a file as it is said.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hornbill/analysis/ranking.hpp>
#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/io/names.hpp>

namespace hornbill::cli {

/// One alarm that was looked at, and how the round stood before it was labelled.
struct Round {
  Index variable = 0;
  analysis::Label label = analysis::Label::none;
  double confidence = 0;
  std::int64_t inversions = -1;  ///< -1 where the truth is not known
  double unconverged = 0;        ///< the share of variables whose probability had not settled
  double seconds = 0;            ///< of inference and ranking
  int iterations = 0;
  bool contradicts = false;  ///< no evidence: it contradicts the labels before it
};

/// A file to which each round is appended, and is on the disk before the next begins. With an empty name nothing is
/// kept.
///
/// A line each: `"name" true|false`, then behind `#` the round as JSON; `# unknown` lines hold no evidence, and `#
/// contradicts` lines name labels that turned out to contradict others. So a session without contradictions is an
/// evidence file. A variable without a name, and any variable in sessions of earlier versions, is given by its number.
class Session {
 public:
  /// Opens a session, or begins one. A last line that was cut off, since the program was killed while it wrote, is
  /// removed.
  /// \throws InputError if it is of another model, in use, another kind of file, or cannot be read or written
  Session(std::string file, HostFactorGraph const& graph);
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

  /// What a session holds as evidence, without labels that contradict others, and with what else was written into it;
  /// nothing if the text is no session.
  /// \param file  that the text was read from
  /// \throws InputError for a session of another model, or a line that is no evidence
  static std::optional<HostEvidence> parse_evidence(std::string const& text, std::string const& file,
                                                    HostFactorGraph const& graph);

  std::vector<Round> const& rounds() const { return rounds_; }
  void append(Round const& round);
  /// Marks the label of a variable as no evidence.
  void mark_contradiction(Index variable);

 private:
  /// Closes the file, and so gives up its lock, also where reading fails.
  struct Descriptor {
    int number = -1;
    Descriptor() = default;
    Descriptor(Descriptor const&) = delete;
    Descriptor& operator=(Descriptor const&) = delete;
    ~Descriptor();
  };

  void read();
  void begin();
  void take(std::string_view line);
  void write(std::string const& line);

  std::string file_;
  HostFactorGraph const& graph_;
  std::optional<io::VariableNames> names_;  ///< where something is kept
  std::vector<Round> rounds_;
  Descriptor descriptor_;
};

}  // namespace hornbill::cli
