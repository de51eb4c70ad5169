// What is known of a function's numbers along a path. Internal to src/alarms.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llvm/ADT/APInt.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include "local_values.hpp"

namespace hornbill::alarms {

/// Leaders and the values that they have; in ascending order, so that equal lists are equal knowledge.
using Facts = std::vector<std::pair<llvm::Value const*, llvm::APInt>>;

/// Says how branches go. Only facts that decide a second branch are kept.
class Conditions {
 public:
  explicit Conditions(LocalValues const& values);

  /// Whether two pointers, or a pointer and null, are equal, where that is known; of leaders.
  using AreEqual = std::function<std::optional<bool>(llvm::Value const& one, llvm::Value const& other)>;

  std::optional<llvm::APInt> value_of(llvm::Value const* value, Facts const& facts, AreEqual const& are_equal,
                                      int depth = 0) const;
  void learn(llvm::Value const* condition, bool is_true, Facts& facts) const;
  void learn_value(llvm::Value const* value, llvm::APInt const& known, Facts& facts, int depth = 0) const;
  /// A function outside that returned null was not asked for nothing: comparisons of its arguments with zero.
  void learn_sizes(llvm::CallBase const& call, Facts& facts) const;
  /// A value is there anew: what was known of the last one, and of what depends on it, is not known of this one.
  void forget(llvm::Instruction const& instruction, Facts& facts) const;
  /// Numbers that phis of a block get along an edge, and comparisons of its pointers with null.
  void enter(llvm::BasicBlock const& from, llvm::BasicBlock const& to, AreEqual const& are_equal, Facts& facts) const;
  /// Numbers that step on in loops have a value for each round, which would be a way of its own.
  void forget_counters(Facts& facts) const;
  /// Of facts, those of numbers that a switch dispatches by, such as where a cleanup goes on.
  Facts dispatching(Facts const& facts) const;
  /// Whether a branch that was taken before a block begins has such a condition, or one that is made of it; or is by
  /// one of a number's values. Of what a condition is made of, the truth may not be known.
  using IsWanted = std::function<bool(llvm::Value const& condition, std::optional<bool> truth)>;
  bool is_decided(llvm::BasicBlock const& block, IsWanted const& is_wanted) const;
  /// Whether an instruction has run whenever another one runs.
  bool is_before(llvm::Instruction const& first, llvm::Instruction const& then) const {
    return tree_.dominates(&first, &then);
  }
  /// What branches have decided where a block begins.
  Facts facts_at(llvm::BasicBlock const& block) const { return *decided_at(block, false); }
  /// Whether they do not contradict each other.
  bool is_possible(llvm::BasicBlock const& block) const { return decided_at(block, true).has_value(); }

 private:
  std::optional<Facts> decided_at(llvm::BasicBlock const& block, bool none_if_contradictory) const;
  void count(llvm::Value const* condition, std::unordered_set<llvm::Value const*>& seen);
  void add_dispatchers(llvm::SwitchInst const& choice);
  void add_flags();
  void add_tests_of_zero();
  void add_dependents();

  LocalValues const& values_;
  llvm::DominatorTree tree_;
  std::unordered_map<llvm::Value const*, int> counts_;  // of branches that a leader may decide
  std::unordered_set<llvm::Value const*> dispatchers_;  // phis
  std::unordered_set<llvm::Value const*> counters_;     // phis that step on in loops
  std::unordered_map<llvm::Value const*, std::vector<llvm::ICmpInst const*>> tests_of_zero_;  // of leaders
  std::unordered_map<llvm::Value const*, std::vector<llvm::Value const*>> dependents_;
};

}  // namespace hornbill::alarms
