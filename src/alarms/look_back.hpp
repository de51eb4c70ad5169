// What ran before an instruction, in its function. Internal to src/alarms.
#pragma once

#include <cstddef>
#include <unordered_set>
#include <vector>

#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

namespace hornbill::alarms {

/// Calls ends(instruction) for those before one, the nearest first, along all ways back; one ends where it returns
/// true.
/// \param is_enough  whether the rest no longer matters, as `ends` may say
/// \return whether all ways ended so: none led to the function's beginning, nor were there too many blocks
template <class Ends>
bool look_back(llvm::Instruction const& from, Ends const& ends, bool const& is_enough) {
  constexpr std::size_t most_blocks = 200;
  std::unordered_set<llvm::BasicBlock const*> seen;
  std::vector<llvm::BasicBlock const*> work;
  bool is_at_beginning = false;
  auto const walk = [&](llvm::BasicBlock const* block, llvm::Instruction const* instruction) {
    for (; instruction; instruction = instruction->getPrevNode())
      if (ends(*instruction)) return;
    is_at_beginning = is_at_beginning || block->isEntryBlock();
    for (auto const* before : llvm::predecessors(block))
      if (seen.insert(before).second) work.push_back(before);
  };
  walk(from.getParent(), from.getPrevNode());
  while (!work.empty() && !is_enough && !is_at_beginning && seen.size() <= most_blocks) {
    auto const* block = work.back();
    work.pop_back();
    walk(block, block->getTerminator());
  }
  return work.empty() && !is_at_beginning;
}

}  // namespace hornbill::alarms
