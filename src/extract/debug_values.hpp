// Variables of the source that values are. Internal to src/extract and src/alarms.
#pragma once

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

namespace hornbill::extract {

/// Calls visit(value, variable) for each value that a variable of the source has somewhere; not of variables that the
/// compiler adds, such as the size of an array.
template <class Visit>
void for_each_debug_value(llvm::Function const& function, Visit const& visit) {
  auto const visit_own = [&](llvm::Value const* value, llvm::DILocalVariable const* variable) {
    if (!variable->isArtificial() || variable->isParameter()) visit(value, variable);
  };
  for (auto const& instruction : llvm::instructions(function)) {
    if (auto const* debug = llvm::dyn_cast<llvm::DbgValueInst>(&instruction);
        debug && debug->getNumVariableLocationOps() == 1)
      visit_own(debug->getVariableLocationOp(0), debug->getVariable());
#if LLVM_VERSION_MAJOR >= 19
    for (llvm::DbgVariableRecord& record : llvm::filterDbgVars(instruction.getDbgRecordRange()))
      if (record.isDbgValue() && record.getNumVariableLocationOps() == 1)
        visit_own(record.getVariableLocationOp(0), record.getVariable());
#endif
  }
}

}  // namespace hornbill::extract
