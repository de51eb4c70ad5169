// How far facts of one node are from what comes from elsewhere. Internal to src/points_to.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "ranked_facts.hpp"

namespace hornbill::points_to {

/// Variables on a cycle of edges are one node, and get an object together. Which of them has it by which other one? A
/// variable's level is how many of the cycle's edges lead to it, 1 where a derivation needs none: found for all
/// variables of a node that get an object in a round, breadth first. Of a large node all objects are looked at that
/// have the object, and sets of them are bits; of a small one those alone that its loads and stores ask for.
class NodeLevels {
 public:
  explicit NodeLevels(RankedFacts& facts);
  /// \param round  that added the fact
  int level_of(Fact const& fact, int round);

 private:
  using Bits = std::vector<std::uint64_t>;
  using Levels = std::vector<Index>;  // of a node's variables, in their order; 0 where it is not known

  Levels levels_of(Index object, int round, Index root);
  bool is_first(Index variable);
  bool follows(Index variable);
  bool is_known(Index variable);
  void add_known();
  /// Whether a set has the object that is being looked at.
  bool has_object(SetId set);
  void add_content(Index variable);
  void add_store(Offset constraint);
  bool loads_from(Index pointer);
  bool is_stored_into(Index variable);
  static bool has(Bits const& bits, Index object) { return (bits[object / 64] >> object % 64 & 1) != 0; }

  RankedFacts& facts_;
  std::unordered_map<Index, std::vector<Offset>> stores_of_;  // by source
  std::map<std::tuple<Index, int, Index>, Levels> known_;     // by object, round and node
  // of the object and the round that are being looked at
  Index object_ = 0;
  int round_ = 0;
  Index root_ = 0;
  bool is_large_ = false;
  Bits contents_;                       // objects that have it, as far as that is known
  Bits targets_;                        // objects into which it is stored
  std::vector<bool> is_stored_;         // [sets] of pointers
  std::vector<std::uint32_t> answers_;  // [sets] of has_object(): twice the number of the question, and 1 for yes
  std::uint32_t question_ = 0;
  std::vector<Index> level_of_variable_;  // [variables] 0 where it is not known
};

}  // namespace hornbill::points_to
