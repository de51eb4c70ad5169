// Which loads may read what a variable has from the start. Internal to src/alarms.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

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
  using At = std::pair<llvm::Function const*, Place>;

  Place place_of(llvm::Value const& pointer) const;
  bool sets(llvm::Instruction const& instruction, Place const& place);
  bool always_sets(llvm::Function const& function, Place const& place);
  bool is_set_before(llvm::Instruction const& instruction, Place const& place);
  bool is_set_before(llvm::Function const& function, Place const& place);

  MemoryEffects& effects_;
  std::map<At, bool> always_sets_, is_set_before_;
};

}  // namespace hornbill::alarms
