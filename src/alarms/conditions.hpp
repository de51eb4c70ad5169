// What is known of a function's numbers along a path. Internal to src/alarms.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include "live_facts.hpp"
#include "local_values.hpp"

namespace hornbill::alarms {

/// Leaders and the values that they have; in ascending order, so that equal lists are equal knowledge.
using Facts = std::vector<std::pair<llvm::Value const*, llvm::APInt>>;

/// Where the fact of a leader is, or would be.
Facts::const_iterator fact_of(Facts const& facts, llvm::Value const* leader);

constexpr int deepest_condition = 12;  ///< operands of operands that are asked what an expression is
/// Whether operands may decide what an expression is, and facts of them are so asked.
bool is_of_conditions(llvm::Value const* value);
/// Whether a value is an `and`, or a selection that stands for one: both sides follow where it is true.
bool is_and(llvm::Value const* value);
/// The same of `or`, whose sides follow where it is false.
bool is_or(llvm::Value const* value);
/// The operands of either.
std::pair<llvm::Value const*, llvm::Value const*> sides_of(llvm::Value const* value);

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
  bool may_forget(llvm::Instruction const& instruction) const { return dependents_.contains(&instruction); }
  /// Numbers that phis of a block get along an edge, and comparisons of its pointers with null.
  void enter(llvm::BasicBlock const& from, llvm::BasicBlock const& to, AreEqual const& are_equal, Facts& facts) const;
  /// Adds what an edge says to facts.
  using Learn = llvm::function_ref<void(Facts& facts)>;
  using VisitWay = llvm::function_ref<void(llvm::BasicBlock const& next, Learn learn)>;
  /// Calls visit(next, learn) for each edge that a block may leave by.
  void for_each_way_out(llvm::BasicBlock const& block, Facts const& facts, AreEqual const& are_equal,
                        VisitWay visit) const;
  /// The same as `enter`, and what the branch says that leads there.   \return whether it may lead there
  bool take(llvm::BasicBlock const& from, llvm::BasicBlock const& to, AreEqual const& are_equal, Facts& facts) const;
  /// Leaves facts that may be asked behind the phis of a block.
  void drop_dead(llvm::BasicBlock const& block, Facts& facts) const;
  /// Numbers that step on in loops have a value for each round, which would be a way of its own; but for zero, by which
  /// something is known not to have been counted.
  void forget_counters(Facts& facts) const;
  /// Of facts, those of numbers that a switch dispatches by, such as where a cleanup goes on; or of all that are set to
  /// constants, and do not step on.
  Facts dispatching(Facts const& facts) const;
  Facts flags(Facts const& facts) const;
  /// Whether a branch that was taken before a block begins has such a condition, or one that is made of it; or is by
  /// one of a number's values. Of what a condition is made of, the truth may not be known.
  using IsWanted = std::function<bool(llvm::Value const& condition, std::optional<bool> truth)>;
  bool is_decided(llvm::BasicBlock const& block, IsWanted const& is_wanted, int depth = 0) const;
  /// Whether an instruction has run whenever another one runs.
  bool is_before(llvm::Instruction const& first, llvm::Instruction const& then) const {
    return tree_.dominates(&first, &then);
  }
  /// What branches have decided where a block begins.
  Facts facts_at(llvm::BasicBlock const& block) const { return *decided_at(block, false); }
  /// The same by the way on which the block, or one that it alone follows, was entered: numbers that it has on one way
  /// only. One where ways are many, or say nothing.
  /// \param behind  an instruction of the block that has run, or none
  std::vector<Facts> ways_to(llvm::BasicBlock const& block, llvm::Instruction const* behind, AreEqual const& are_equal,
                             int depth = 0) const;
  /// Whether they do not contradict each other.
  bool is_possible(llvm::BasicBlock const& block) const { return decided_at(block, true).has_value(); }

 private:
  /// Whether a test has found that a number is not what a case of a switch is for.
  bool excludes(llvm::Value const* number, llvm::ConstantInt const& value, Facts const& facts,
                AreEqual const& are_equal) const;
  /// A switch that has gone its default way: the number is none of its cases.
  void learn_default(llvm::SwitchInst const& choice, Facts& facts) const;
  bool is_decided_by(llvm::Value const& condition, std::optional<bool> truth, IsWanted const& is_wanted,
                     int depth) const;
  std::optional<Facts> facts_along(llvm::BasicBlock const& from, llvm::BasicBlock const& to, Facts const& facts,
                                   AreEqual const& are_equal) const;
  Facts const& decided_before(llvm::BasicBlock const& block) const;
  std::optional<Facts> decided_at(llvm::BasicBlock const& block, bool none_if_contradictory) const;
  std::vector<llvm::BasicBlock const*> chain_to(llvm::BasicBlock const& block) const;
  bool has_numbers(llvm::BasicBlock const& block) const;
  void forget_up_to(llvm::BasicBlock const& block, llvm::Instruction const* last, Facts& facts) const;
  void count(llvm::Value const* condition, std::unordered_set<llvm::Value const*>& seen);
  void add_dispatchers(llvm::SwitchInst const& choice);
  void add_flags();
  void add_tests_of_zero();
  void add_tests_of_cases();
  void add_orders();
  std::optional<bool> is_at_end(llvm::Value const& leader, Facts const& facts, AreEqual const& are_equal,
                                int depth) const;
  void add_ranges();
  /// Whether a test is true, by what others have found of its number.
  std::optional<bool> by_ranges(llvm::ICmpInst const& leader, Facts const& facts) const;
  void add_dependents();

  LocalValues const& values_;
  llvm::DominatorTree tree_;
  std::unordered_map<llvm::Value const*, int> counts_;  // of branches that a leader may decide
  std::unordered_set<llvm::Value const*> dispatchers_;  // phis
  std::unordered_set<llvm::Value const*> flags_;        // phis of constants
  std::unordered_set<llvm::Value const*> counters_;     // phis that step on in loops
  std::unordered_map<llvm::Value const*, std::vector<llvm::ICmpInst const*>> tests_of_zero_;  // of leaders
  Dependents cases_;   // of numbers that a switch dispatches by: equalities with constants
  Dependents orders_;  // of equalities with a number up to which a loop counts: the tests by which it goes on
  Dependents ranges_;  // of tests of a number with constants: the others of the same number
  Dependents dependents_;
  mutable std::unique_ptr<LiveFacts> live_;                                    // none before it is asked for
  mutable std::unordered_map<llvm::BasicBlock const*, Facts> decided_before_;  // where it was asked for
};

}  // namespace hornbill::alarms
