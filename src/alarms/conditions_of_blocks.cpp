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

void Conditions::for_each_way_out(llvm::BasicBlock const& block, Facts const& facts, AreEqual const& are_equal,
                                  VisitWay visit) const {
  auto const* terminator = block.getTerminator();
  auto const no_more = [](Facts&) {};
  if (auto const* branch = dyn_cast<llvm::BranchInst>(terminator); branch && branch->isConditional()) {
    auto const& condition = *branch->getCondition();
    if (auto const known = value_of(&condition, facts, are_equal))
      return visit(*branch->getSuccessor(known->isZero() ? 1 : 0), no_more);
    for (unsigned side : {0u, 1u})
      visit(*branch->getSuccessor(side), [&](Facts& further) { learn(&condition, side == 0, further); });
  } else if (auto const* choice = dyn_cast<llvm::SwitchInst>(terminator)) {
    auto const& number = *choice->getCondition();
    if (auto const known = value_of(&number, facts, are_equal)) {
      auto const is_it = [&](auto const& way) { return way.getCaseValue()->getValue() == *known; };
      auto const found = std::find_if(choice->case_begin(), choice->case_end(), is_it);
      return visit(found == choice->case_end() ? *choice->getDefaultDest() : *found->getCaseSuccessor(), no_more);
    }
    for (auto const& way : choice->cases())
      if (!excludes(&number, *way.getCaseValue(), facts, are_equal))
        visit(*way.getCaseSuccessor(),
              [&](Facts& further) { learn_value(&number, way.getCaseValue()->getValue(), further); });
    visit(*choice->getDefaultDest(), [&](Facts& further) { learn_default(*choice, further); });
  } else {
    for (auto const* next : llvm::successors(&block)) visit(*next, no_more);
  }
}

/// The facts that all edges between two blocks have.
std::optional<Facts> Conditions::facts_along(llvm::BasicBlock const& from, llvm::BasicBlock const& to,
                                             Facts const& facts, AreEqual const& are_equal) const {
  std::optional<Facts> common;
  for_each_way_out(from, facts, are_equal, [&](llvm::BasicBlock const& next, Learn learn) {
    if (&next != &to) return;
    auto further = facts;
    learn(further);
    if (!common)
      common = std::move(further);
    else
      std::erase_if(*common, [&](auto const& fact) { return std::ranges::find(further, fact) == further.end(); });
  });
  return common;
}

bool Conditions::take(llvm::BasicBlock const& from, llvm::BasicBlock const& to, AreEqual const& are_equal,
                      Facts& facts) const {
  auto along = facts_along(from, to, facts, are_equal);
  if (!along) return false;
  facts = std::move(*along);
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

/// A condition and whether it is true, where that is known.
using Truth = std::pair<llvm::Value const*, std::optional<bool>>;

/// The truth that a number was made of, as one that is kept in a variable is.
Truth truth_in(Truth truth) {
  if (auto const* narrow = dyn_cast<llvm::TruncInst>(truth.first); narrow && narrow->getType()->isIntegerTy(1))
    if (auto const* wide = dyn_cast<llvm::ZExtInst>(narrow->getOperand(0)); wide && wide->getSrcTy()->isIntegerTy(1))
      return {wide->getOperand(0), truth.second};
  auto const* test = dyn_cast<llvm::ICmpInst>(truth.first);
  auto const* zero = test && test->isEquality() ? dyn_cast<llvm::ConstantInt>(test->getOperand(1)) : nullptr;
  auto const* wide = zero && zero->isZero() ? dyn_cast<llvm::ZExtInst>(test->getOperand(0)) : nullptr;
  if (!wide || !wide->getSrcTy()->isIntegerTy(1)) return truth;
  bool const is_negated = test->getPredicate() == llvm::CmpInst::ICMP_EQ;
  return {wide->getOperand(0), truth.second ? std::optional(*truth.second != is_negated) : std::nullopt};
}

/// Of a phi of truths, the one way on which it has a value; none if there are more.
std::optional<unsigned> only_way_of(llvm::PHINode const& phi, bool truth) {
  std::optional<unsigned> only;
  for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
    auto const* constant = dyn_cast<llvm::ConstantInt>(phi.getIncomingValue(i));
    if (constant && constant->isOne() != truth) continue;
    if (only) return {};
    only = i;
  }
  return only;
}

}  // namespace

bool Conditions::is_decided_by(llvm::Value const& condition, std::optional<bool> truth, IsWanted const& is_wanted,
                               int depth) const {
  constexpr int deepest = 3;
  std::vector<Truth> work{{&condition, truth}};
  std::unordered_set<llvm::Value const*> seen;
  while (!work.empty()) {
    auto const [asked, is_true] = truth_in(work.back());
    work.pop_back();
    if (!seen.insert(asked).second) continue;
    if (is_wanted(*asked, is_true)) return true;
    if (auto const* phi = dyn_cast<llvm::PHINode>(asked); phi && is_true && phi->getType()->isIntegerTy(1)) {
      auto const way = depth < deepest ? only_way_of(*phi, *is_true) : std::nullopt;
      if (!way || tree_.dominates(phi->getParent(), phi->getIncomingBlock(*way))) continue;  // of the round before
      work.emplace_back(phi->getIncomingValue(*way), is_true);
      if (is_decided(*phi->getIncomingBlock(*way), is_wanted, depth + 1)) return true;
    }
    if (!is_and(asked) && !is_or(asked)) continue;
    auto const [left, right] = sides_of(asked);
    auto const of_sides = is_true && *is_true == is_and(asked) ? is_true : std::nullopt;
    work.insert(work.end(), {{left, of_sides}, {right, of_sides}});
  }
  return false;
}

bool Conditions::is_decided(llvm::BasicBlock const& block, IsWanted const& is_wanted, int depth) const {
  for (auto const* node = tree_.getNode(&block); node && node->getIDom(); node = node->getIDom()) {
    auto const* terminator = node->getIDom()->getBlock()->getTerminator();
    if (auto const* choice = dyn_cast<llvm::SwitchInst>(terminator);
        choice && node->getBlock()->getUniquePredecessor() && choice->getDefaultDest() != node->getBlock() &&
        is_wanted(*choice->getCondition(), true))
      return true;
    auto const* branch = dyn_cast<llvm::BranchInst>(terminator);
    if (!branch || !branch->isConditional() || !node->getBlock()->getSinglePredecessor()) continue;
    if (is_decided_by(*branch->getCondition(), branch->getSuccessor(0) == node->getBlock(), is_wanted, depth))
      return true;
  }
  return false;
}

/// What the end of the only block before another one says.
Facts const& Conditions::decided_before(llvm::BasicBlock const& block) const {
  auto const [at, is_new] = decided_before_.try_emplace(&block);
  auto const* before = is_new ? block.getUniquePredecessor() : nullptr;
  if (!before) return at->second;
  auto const is_open = [](auto const&, auto const&) { return std::optional<bool>(); };
  if (auto facts = facts_along(*before, block, {}, is_open)) at->second = std::move(*facts);
  return at->second;
}

std::optional<Facts> Conditions::decided_at(llvm::BasicBlock const& block, bool none_if_contradictory) const {
  Facts facts;
  for (auto const* node = tree_.getNode(&block); node && node->getIDom(); node = node->getIDom())
    if (!add(decided_before(*node->getBlock()), facts) && none_if_contradictory) return {};
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
