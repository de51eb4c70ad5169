// How far facts of one node are from what comes from elsewhere. Internal to src/points_to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
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

  /// Of a node's variables.
  class Levels {
   public:
    Index of(Index variable) const {
      if (members_.size() == 1) return 1;
      return levels_[static_cast<std::size_t>(std::ranges::lower_bound(members_, variable) - members_.begin())];
    }

   private:
    friend class NodeLevels;
    std::span<Index const> members_;  // ascending
    std::vector<Index> levels_;       // none of a single one
  };
  /// Of a fact's node.   \param round  that added the fact
  Levels const& of(Fact const& fact, int round);

 private:
  using Bits = std::vector<std::uint64_t>;
  /// Values by the sets that they depend on, each set's together.
  using BySet = std::vector<std::pair<SetId, Index>>;
  /// What a node gets objects by in a round, whatever the object.
  struct Inputs {
    bool is_large = false;
    BySet copies;                       // variables that are copies of others, by the sets that come from elsewhere
    std::vector<Index> loaded, others;  // variables that loads or stores add to; or addresses or offsets
    BySet contents;                     // of a large node: objects, by what they have from elsewhere
    BySet stores;                       // and sets of pointers through which is stored, by what is stored
  };

  Inputs const& inputs_of(int round, Index root);
  void add_inputs(Index variable, Inputs& inputs);
  std::vector<Index> find_levels(Index object, int round, Index root);
  std::vector<Index> first_level(Inputs const& inputs);
  bool is_given(Index variable);
  bool needs_level(Index variable) {
    return level_of_variable_[variable] == 0 && facts_.root(round_, variable) == root_ &&
           !has_object(facts_.set(round_ - 1, variable));
  }
  /// What a variable has that does not come by the node's own edges in the round.
  SetId from_elsewhere(Index variable) const {
    return facts_.set(facts_.root(round_, variable) == root_ ? round_ - 1 : round_, variable);
  }
  bool is_known(Index variable) { return has_object(from_elsewhere(variable)); }
  /// Calls function(value) for those whose sets have the object.
  template <class Function>
  void for_each_with_object(BySet const& values, Function const& function);
  std::vector<Index> next_level(std::vector<Index> const& last, std::vector<Index>& loaded);
  bool is_loaded_or_stored(Index variable);
  void add_known(Inputs const& inputs);
  void add_known(Index variable);
  /// Whether a set has the object that is being looked at.
  bool has_object(SetId set);
  void add_content(Index variable);
  void add_targets(SetId targets);
  bool loads_from(Index pointer);
  bool is_stored_into(Index variable);
  static bool has(Bits const& bits, Index object) { return (bits[object / 64] >> object % 64 & 1) != 0; }

  RankedFacts& facts_;
  ConstraintRows stores_of_;                               // by source
  std::map<std::pair<int, Index>, Inputs> inputs_;         // by round and node
  std::map<std::tuple<Index, int, Index>, Levels> known_;  // by object, round and node
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
