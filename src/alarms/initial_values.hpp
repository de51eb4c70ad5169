// Which loads may read what a variable has from the start. Internal to src/alarms.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>

#include "memory_effects.hpp"

namespace hornbill::alarms {

class InitialValues {
 public:
  explicit InitialValues(MemoryEffects& effects) : effects_(effects) {}

  /// Whether a load may run before the program has stored where it reads. Of places that are no variable's it may.
  bool may_read_initial(llvm::LoadInst const& load);

 private:
  using Place = std::pair<llvm::Value const*, std::int64_t>;  // a variable, and bytes behind its beginning
  using Functions = std::unordered_set<llvm::Function const*>;
  /// Of a place: functions that may store there, or call one that does; of these, those that do on all ways to a
  /// return; and functions that may begin before a store.
  struct Setters {
    Functions may_set, always_set, begin_unset;
  };
  /// What matters of a function: stores to places, and calls of functions with a body, by block.
  struct Step {
    llvm::Instruction const* instruction;
    Place place;                                      // of a store
    MemoryEffects::Callees const* callees = nullptr;  // of a call
    bool is_end = false;                              // no way leads on from there
  };
  struct Block {
    std::vector<Step> steps;
    std::vector<std::size_t> next;
    bool is_return = false;  // and that is reached
  };
  using Outline = std::vector<Block>;
  /// What a function reaches from its beginning before a store.
  struct Reached {
    std::vector<llvm::CallBase const*> calls;
    std::vector<std::pair<std::size_t, llvm::Instruction const*>> blocks;  // and the store in each, or none
    bool is_return = false;
  };

  Place place_of(llvm::Value const& pointer) const;
  bool sets(Step const& step, Place const& place, Setters const& setters) const;
  Outline const& outline_of(llvm::Function const& function);
  Reached reached_unset(llvm::Function const& function, Place const& place, Setters const& setters);
  Setters const& setters_of(Place const& place);
  void find_setters(Place const& place, Setters& setters);
  void find_beginnings(Place const& place, Setters& setters);
  std::vector<llvm::Function const*> const& callees_of(llvm::Function const& function);

  MemoryEffects& effects_;
  std::map<Place, Setters> setters_;
  std::unordered_map<llvm::Function const*, std::vector<llvm::Function const*>> callees_;
  std::unordered_map<llvm::Function const*, Outline> outlines_;
};

}  // namespace hornbill::alarms
