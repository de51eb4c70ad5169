// Where a pointer of a function goes, along its paths. Internal to src/alarms.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "conditions.hpp"
#include "local_values.hpp"
#include "memory_effects.hpp"
#include "names.hpp"

namespace hornbill::alarms {

/// An operand of an instruction.
struct Use {
  llvm::Instruction const* instruction = nullptr;
  unsigned operand = 0;

  llvm::Value const* value() const { return instruction->getOperand(operand); }
  auto operator<=>(Use const&) const = default;
};

/// Whether there must be memory at the operand.
bool is_dereference(Use const& use, MemoryEffects const& effects);
/// Whether a function outside ends the life of the memory at the operand.
bool is_free(Use const& use, MemoryEffects const& effects);

/// A pointer, and from where on it is followed.
struct Journey {
  llvm::Instruction const* behind = nullptr;  ///< or along an edge, or from the function's beginning
  llvm::BasicBlock const *edge_from = nullptr, *edge_to = nullptr;
  std::vector<llvm::Value const*> names;  ///< values that are the pointer
  llvm::Value const* place = nullptr;     ///< it is so many bytes behind where this pointer is to
  std::int64_t bytes = 0;
  bool is_null = false;                      ///< it is null; or else it is not
  std::optional<Use> trigger;                ///< only what is behind this use of it counts
  llvm::CallBase const* freed_in = nullptr;  ///< or behind this call, if it is in a place then
  Address freed_place{};
  bool is_freed = false;                     ///< a path ends where it is used, or freed
  std::vector<llvm::Value const*> not_null;  ///< further pointers behind the trigger
  std::optional<Use> end;                    ///< paths end there
  bool is_left_enough = false;               ///< the rest does not matter once it is left in memory
  bool is_overwritten = false;               ///< memory no longer has it behind a store that may be there
};

/// Memory that holds a pointer where a function returns (no call), or calls another one.
struct LeftIn {
  llvm::CallBase const* call = nullptr;
  Address place{};
  llvm::Value const* pointer = nullptr;  ///< to the place; none if no value is

  auto operator<=>(LeftIn const&) const = default;
};

struct Stops {
  std::vector<Use> uses;  ///< each once
  std::vector<LeftIn> left_in;
  bool is_left = false;             ///< in memory that others may read, or under a name that is not known here
  bool has_returned = false;        ///< whether a path leads to the function's end
  bool may_be_overwritten = false;  ///< whether a store before the trigger may be where memory holds it
};

/// Adds elements that are not there.
template <class Element>
void merge(std::vector<Element> const& from, std::vector<Element>& to) {
  for (auto const& element : from)
    if (std::ranges::find(to, element) == to.end()) to.push_back(element);
}

/// Follows a pointer under its names: values and places of memory that hold it. Paths on which branches contradict each
/// other, or what the pointer is, are left out. A path ends where a null pointer is dereferenced, and where freed
/// memory is.
class Tracker {
 public:
  Tracker(llvm::Function const& function, MemoryEffects& effects);

  Stops follow(Journey const& journey);
  LocalValues const& values() const { return values_; }
  /// Whether branches whose conditions are constant lead there.
  bool is_reachable(llvm::BasicBlock const& block);
  /// Whether the branches before it do not contradict each other, besides.
  bool is_possible(llvm::BasicBlock const& block) { return is_reachable(block) && conditions_.is_possible(block); }
  /// Whether a branch that decides that a block is reached has a condition of a kind.
  bool is_decided(llvm::BasicBlock const& block, Conditions::IsWanted const& is_wanted) const {
    return conditions_.is_decided(block, is_wanted);
  }
  bool is_before(llvm::Instruction const& first, llvm::Instruction const& then) const {
    return conditions_.is_before(first, then);
  }
  /// What a condition is where a block begins, by the branches before it.
  std::optional<llvm::APInt> decided_at(llvm::BasicBlock const& block, llvm::Value const& condition) const;
  /// Whether the function never returns where a call gives constants to its parameters.
  bool ends_with(llvm::CallBase const& call);
  /// Whether a block that is reachable may lead to one of its successors.
  bool may_go(llvm::BasicBlock const& from, llvm::BasicBlock const& to) const;

 private:
  bool ends_within(llvm::BasicBlock const& block) const;
  std::unordered_set<llvm::BasicBlock const*> reached(Facts const& facts) const;
  struct State {
    llvm::BasicBlock const* block = nullptr;
    NameBits alive = 0;  // names that are the pointer, a bit for each
    bool is_triggered = true;
    Facts facts;

    bool operator==(State const&) const = default;
  };
  struct StateHash {
    std::size_t operator()(State const& state) const;
  };
  // --- names ---
  /// The names of what is within so many bytes of a place, where it goes to another one.
  template <class Move>
  NameBits moved_names(Address const& from, std::int64_t bytes, State const& state, Move const& move);
  bool has_part(llvm::Value const& structure, State const& state) const;
  bool is_alive(llvm::Value const* value, State const& state);
  bool is_behind(llvm::Value const* value);
  void set(llvm::Value const* value, bool is_alive, State& state);
  std::optional<bool> are_equal(llvm::Value const& one, llvm::Value const& other, State const& state);
  void forget_places(llvm::Value const& base, State& state);

  // --- paths ---
  NameBits phi_places(llvm::BasicBlock const& from, llvm::BasicBlock const& to, State const& state);
  Stops walk_all(Journey const& journey, bool has_facts);
  bool has_stopped() const { return !uses_.empty() || !left_in_.empty(); }
  void begin(Journey const& journey);
  void begin_on(Journey const& journey, llvm::BasicBlock const& block, State state);
  void walk(State state);
  void walk_behind(State state, llvm::Instruction const* from);
  bool may_matter(llvm::Instruction const& instruction) const;
  std::vector<llvm::Instruction const*> const& steps_of(llvm::BasicBlock const& block);
  bool step(llvm::Instruction const& instruction, State& state);
  bool step_load(llvm::LoadInst const& load, State& state);
  bool step_store(llvm::StoreInst const& store, State& state);
  bool step_call(llvm::CallBase const& call, State& state);
  void step_structure(llvm::Instruction const& instruction, State& state);
  NameBits copied_names(llvm::AnyMemTransferInst const& copy, State const& state);
  void drop_overwritten(llvm::StoreInst const& store, State& state);
  void drop_freed(llvm::CallBase const& call, State& state);
  bool may_change(llvm::Instruction const& instruction, Name const& name) const;
  void drop_changed(llvm::Instruction const& instruction, State& state);
  bool use(Use const& use, State& state);
  void leave(llvm::BasicBlock const& block, State const& state);
  void go(llvm::BasicBlock const& from, llvm::BasicBlock const& to, State state);
  Facts joint_facts(State const& state);
  void leave_in_memory(llvm::CallBase const* call, State const& state);

  MemoryEffects& effects_;
  LocalValues values_;
  Conditions conditions_;
  std::unordered_set<llvm::BasicBlock const*> reachable_;  // none before it is asked for
  std::unordered_map<llvm::BasicBlock const*, std::vector<llvm::Instruction const*>> steps_;  // where paths went
  std::optional<bool> may_end_;  // within some block; none before it is asked for
  // of a journey
  Journey const* journey_ = nullptr;
  Names names_;
  NameBits behind_ = 0;  // names that may be of a place behind the one that the pointer is to
  std::vector<State> work_;
  bool has_facts_ = true;
  std::unordered_set<State, StateHash> seen_;
  std::unordered_map<llvm::BasicBlock const*, int> visits_;
  std::unordered_map<State, NameBits, StateHash> joined_;  // names on any of many paths; of states without names
  struct JointWays {
    int by_flags = 0, by_dispatchers = 0;
  };
  std::unordered_map<llvm::BasicBlock const*, JointWays> joint_ways_;
  std::set<Use> uses_;
  std::set<LeftIn> left_in_;
  Stops stops_;
};

}  // namespace hornbill::alarms
