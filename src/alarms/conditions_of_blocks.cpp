// Conditions where a block begins: along an edge, by the branches before it, and by the way to it.
#include <algorithm>

#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>

#include "conditions.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

// --- edges ---

void Conditions::enter(llvm::BasicBlock const& from, llvm::BasicBlock const& to, AreEqual const& are_equal,
                       Facts& facts) const {
  std::vector<std::pair<llvm::Value const*, llvm::APInt>> numbers;
  for (auto const& phi : to.phis()) {
    auto const* incoming = values_.leader_of(phi.getIncomingValueForBlock(&from));
    if (phi.getType()->isIntegerTy() && counts_.contains(&phi))
      if (auto const number = value_of(incoming, facts, are_equal)) numbers.emplace_back(&phi, *number);
    if (!phi.getType()->isPointerTy()) continue;
    for (auto const* user : phi.users()) {
      auto const* test = dyn_cast<llvm::ICmpInst>(user);
      if (!test || !test->isEquality() || !isa<llvm::ConstantPointerNull>(test->getOperand(1))) continue;
      if (auto const is_null = are_equal(*incoming, *values_.leader_of(test->getOperand(1))))
        numbers.emplace_back(test,
                             llvm::APInt(1, *is_null == (test->getPredicate() == llvm::CmpInst::ICMP_EQ) ? 1 : 0));
    }
  }
  for (auto const& phi : to.phis()) forget(phi, facts);
  for (auto const& [value, number] : numbers) learn_value(value, number, facts);
}

bool Conditions::take(llvm::BasicBlock const& from, llvm::BasicBlock const& to, AreEqual const& are_equal,
                      Facts& facts) const {
  auto const* branch = dyn_cast<llvm::BranchInst>(from.getTerminator());
  if (branch && branch->isConditional() && branch->getSuccessor(0) != branch->getSuccessor(1)) {
    bool const is_true = branch->getSuccessor(0) == &to;
    auto const known = value_of(branch->getCondition(), facts, are_equal);
    if (known && known->isOne() != is_true) return false;
    learn(branch->getCondition(), is_true, facts);
  }
  enter(from, to, are_equal, facts);
  return true;
}

// --- branches before a block ---

namespace {

/// Adds facts to others; of a leader that has one, the first stays.   \return whether all agree
bool add(Facts const& further, Facts& facts) {
  bool all_agree = true;
  for (auto const& [leader, value] : further) {
    auto const at = fact_of(facts, leader);
    if (at == facts.end() || at->first != leader)
      facts.insert(at, {leader, value});
    else
      all_agree = all_agree && at->second == value;
  }
  return all_agree;
}

}  // namespace

bool Conditions::is_decided(llvm::BasicBlock const& block, IsWanted const& is_wanted) const {
  auto const* node = tree_.getNode(&block);
  for (; node && node->getIDom(); node = node->getIDom()) {
    auto const* terminator = node->getIDom()->getBlock()->getTerminator();
    if (auto const* choice = dyn_cast<llvm::SwitchInst>(terminator);
        choice && node->getBlock()->getUniquePredecessor() && choice->getDefaultDest() != node->getBlock() &&
        is_wanted(*choice->getCondition(), true))
      return true;
    auto const* branch = dyn_cast<llvm::BranchInst>(terminator);
    if (!branch || !branch->isConditional() || !node->getBlock()->getSinglePredecessor()) continue;
    std::vector<std::pair<llvm::Value const*, std::optional<bool>>> work{
        {branch->getCondition(), branch->getSuccessor(0) == node->getBlock()}};
    std::unordered_set<llvm::Value const*> seen;
    while (!work.empty()) {
      auto const [condition, truth] = work.back();
      work.pop_back();
      if (!seen.insert(condition).second) continue;
      if (is_wanted(*condition, truth)) return true;
      if (!is_and(condition) && !is_or(condition)) continue;
      auto const [left, right] = sides_of(condition);
      auto const of_sides = truth && *truth == is_and(condition) ? truth : std::nullopt;
      work.insert(work.end(), {{left, of_sides}, {right, of_sides}});
    }
  }
  return false;
}

std::optional<Facts> Conditions::decided_at(llvm::BasicBlock const& block, bool none_if_contradictory) const {
  Facts facts;
  auto const* node = tree_.getNode(&block);
  for (; node && node->getIDom(); node = node->getIDom()) {
    auto const* branch = dyn_cast<llvm::BranchInst>(node->getIDom()->getBlock()->getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    for (unsigned side : {0u, 1u})
      if (branch->getSuccessor(side) == node->getBlock() && node->getBlock()->getSinglePredecessor()) {
        Facts further;
        learn(branch->getCondition(), side == 0, further);
        if (!add(further, facts) && none_if_contradictory) return {};
      }
  }
  return facts;
}

// --- ways to a block ---

bool Conditions::has_numbers(llvm::BasicBlock const& block) const {
  return std::ranges::any_of(block.phis(), [&](llvm::PHINode const& phi) { return counts_.contains(&phi); });
}

void Conditions::forget_up_to(llvm::BasicBlock const& block, llvm::Instruction const* last, Facts& facts) const {
  for (auto const& instruction : block) {
    if (!isa<llvm::PHINode>(instruction)) forget(instruction, facts);
    if (&instruction == last) return;
  }
}

/// The blocks that end in one, each entered from the one before alone; up to the first that has numbers of its own on
/// each way. None if there is no such block near.
std::vector<llvm::BasicBlock const*> Conditions::chain_to(llvm::BasicBlock const& block) const {
  constexpr std::size_t most = 8;
  std::vector<llvm::BasicBlock const*> chain{&block};
  while (!has_numbers(*chain.back())) {
    auto const* before = chain.back()->getSinglePredecessor();
    if (!before || chain.size() == most) return {};
    chain.push_back(before);
  }
  return chain;
}

std::vector<Facts> Conditions::ways_to(llvm::BasicBlock const& block, llvm::Instruction const* behind,
                                       AreEqual const& are_equal, int depth) const {
  constexpr std::size_t most = 8;
  constexpr int deepest = 3;
  auto const decided = facts_at(block);
  auto const chain = chain_to(block);
  if (chain.empty() || depth == deepest || llvm::pred_size(chain.back()) > most) return {decided};
  std::vector<Facts> ways;
  for (auto const* from : llvm::predecessors(chain.back()))
    for (auto& facts : ways_to(*from, nullptr, are_equal, depth + 1)) {
      if (!take(*from, *chain.back(), are_equal, facts)) continue;
      for (auto const* passed : chain) forget_up_to(*passed, passed == &block ? behind : nullptr, facts);
      bool const is_possible = add(decided, facts);
      drop_dead(block, facts);
      if (is_possible && std::ranges::find(ways, facts) == ways.end()) ways.push_back(std::move(facts));
    }
  if (ways.empty() || ways.size() > most) return {decided};
  return ways;
}

}  // namespace hornbill::alarms
