#include "conditions.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

bool is_of_conditions(llvm::Value const* value) {
  return isa<llvm::ICmpInst, llvm::ZExtInst, llvm::SExtInst, llvm::TruncInst, llvm::SelectInst>(value) ||
         isa<llvm::BinaryOperator>(value);
}

Facts::const_iterator fact_of(Facts const& facts, llvm::Value const* leader) {
  return std::ranges::lower_bound(facts, leader, std::less<>(), &Facts::value_type::first);
}

namespace {

/// The constant that a selection of truths has on a side; none if it is another selection.
llvm::ConstantInt const* truth_of(llvm::Value const* value, bool on_true_side) {
  auto const* select = dyn_cast<llvm::SelectInst>(value);
  if (!select || !select->getType()->isIntegerTy(1)) return nullptr;
  return dyn_cast<llvm::ConstantInt>(on_true_side ? select->getTrueValue() : select->getFalseValue());
}
bool is_operation(llvm::Value const* value, unsigned opcode) {
  auto const* operation = dyn_cast<llvm::BinaryOperator>(value);
  return operation && operation->getOpcode() == opcode;
}

}  // namespace

bool is_and(llvm::Value const* value) {
  auto const* otherwise = truth_of(value, false);
  return is_operation(value, llvm::Instruction::And) || (otherwise && otherwise->isZero());
}

bool is_or(llvm::Value const* value) {
  auto const* then = truth_of(value, true);
  return is_operation(value, llvm::Instruction::Or) || (then && then->isOne());
}

std::pair<llvm::Value const*, llvm::Value const*> sides_of(llvm::Value const* value) {
  auto const* user = llvm::cast<llvm::User>(value);
  if (auto const* select = dyn_cast<llvm::SelectInst>(value))
    return {select->getCondition(), is_and(value) ? select->getTrueValue() : select->getFalseValue()};
  return {user->getOperand(0), user->getOperand(1)};
}

Conditions::Conditions(LocalValues const& values)
    : values_(values), tree_(const_cast<llvm::Function&>(values.function())) {  // which does not change it
  for (auto const& block : values.function()) {
    auto const* terminator = block.getTerminator();
    std::unordered_set<llvm::Value const*> seen;
    if (auto const* branch = dyn_cast<llvm::BranchInst>(terminator); branch && branch->isConditional())
      count(branch->getCondition(), seen);
    else if (auto const* choice = dyn_cast<llvm::SwitchInst>(terminator)) {
      count(choice->getCondition(), seen);
      add_dispatchers(*choice);
    }
  }
  for (auto const& instruction : llvm::instructions(values.function())) {
    auto const* test = dyn_cast<llvm::ICmpInst>(&instruction);
    if (test && isa<llvm::PHINode>(test->getOperand(0)) && isa<llvm::ConstantPointerNull>(test->getOperand(1)))
      ++counts_[values_.leader_of(test)];
  }
  add_flags();
  add_tests_of_zero();
  add_tests_of_cases();
  add_orders();
  add_ranges();
  std::erase_if(counts_, [](auto const& count) { return count.second < 2; });
  add_dependents();
}

namespace {

/// Whether a number steps on in a loop, on some way through it: it has as many values as the loop has rounds.
bool is_counter(llvm::PHINode const& phi) {
  constexpr std::size_t most = 64;
  std::vector<std::pair<llvm::Value const*, bool>> work{{&phi, false}};  // and whether a step is on the way from there
  std::set<std::pair<llvm::Value const*, bool>> seen;
  while (!work.empty() && seen.size() < most) {
    auto const [value, has_step] = work.back();
    work.pop_back();
    if (!isa<llvm::PHINode, llvm::CastInst, llvm::BinaryOperator>(value) || !value->getType()->isIntegerTy()) continue;
    bool const is_step = has_step || isa<llvm::BinaryOperator>(value);
    for (auto const& operand : llvm::cast<llvm::User>(value)->operands()) {
      if (operand == &phi && is_step) return true;
      if (seen.insert({operand, is_step}).second) work.emplace_back(operand, is_step);
    }
  }
  return false;
}

}  // namespace

/// Numbers that decide branches, and others that they are computed from: phis of constants are known along a path.
void Conditions::add_flags() {
  constexpr std::size_t most = 64;
  for (auto const& [leader, count] : counts_) {
    std::vector<llvm::Value const*> work{leader};
    std::unordered_set<llvm::Value const*> seen;
    bool has_constant = false;
    while (!work.empty() && seen.size() < most) {
      auto const* value = values_.leader_of(work.back());
      work.pop_back();
      has_constant = has_constant || isa<llvm::ConstantInt>(value);
      auto const* phi = dyn_cast<llvm::PHINode>(value);
      bool const is_computed = phi || is_of_conditions(value);
      if (phi && is_counter(*phi)) counters_.insert(phi);
      if (!is_computed || !value->getType()->isIntegerTy() || !seen.insert(value).second) continue;
      for (auto const& operand : llvm::cast<llvm::User>(value)->operands()) work.push_back(operand);
    }
    if (has_constant)
      std::ranges::copy_if(seen, std::inserter(flags_, flags_.end()),
                           [](auto const* value) { return isa<llvm::PHINode>(value); });
  }
  for (auto const* phi : flags_) counts_[phi] += 2;
}

/// Equalities of call's arguments with zero.
void Conditions::add_tests_of_zero() {
  std::unordered_set<llvm::Value const*> arguments;
  for (auto const& instruction : llvm::instructions(values_.function()))
    if (auto const* call = dyn_cast<llvm::CallBase>(&instruction); call && call->getType()->isPointerTy())
      for (auto const& argument : call->args())
        if (argument->getType()->isIntegerTy()) arguments.insert(values_.leader_of(argument));
  for (auto const& instruction : llvm::instructions(values_.function())) {
    auto const* test = dyn_cast<llvm::ICmpInst>(&instruction);
    auto const* number = test ? dyn_cast<llvm::ConstantInt>(test->getOperand(1)) : nullptr;
    if (!number || !number->isZero() || !test->isEquality()) continue;
    auto const* argument = values_.leader_of(test->getOperand(0));
    if (!arguments.contains(argument)) continue;
    tests_of_zero_[argument].push_back(test);
    counts_[values_.leader_of(test)] += 2;
  }
}

void Conditions::add_tests_of_cases() {
  std::unordered_set<llvm::Value const*> numbers;
  for (auto const& block : values_.function())
    if (auto const* choice = dyn_cast<llvm::SwitchInst>(block.getTerminator()))
      numbers.insert(values_.leader_of(choice->getCondition()));
  if (numbers.empty()) return;
  for (auto const& instruction : llvm::instructions(values_.function())) {
    auto const* test = dyn_cast<llvm::ICmpInst>(&instruction);
    if (!test || !test->isEquality() || !isa<llvm::ConstantInt>(test->getOperand(1))) continue;
    auto const* number = values_.leader_of(test->getOperand(0));
    if (!numbers.contains(number)) continue;
    cases_[number].push_back(test);
    counts_[values_.leader_of(test)] += 2;
    ++counts_[number];
  }
}

bool Conditions::excludes(llvm::Value const* number, llvm::ConstantInt const& value, Facts const& facts,
                          AreEqual const& are_equal) const {
  auto const tests = cases_.find(values_.leader_of(number));
  return tests != cases_.end() && std::ranges::any_of(tests->second, [&](llvm::Value const* related) {
           auto const* test = llvm::cast<llvm::ICmpInst>(related);
           auto const known = test->getOperand(1) == &value ? value_of(test, facts, are_equal) : std::nullopt;
           return known && known->isOne() != (test->getPredicate() == llvm::CmpInst::ICMP_EQ);
         });
}

void Conditions::learn_default(llvm::SwitchInst const& choice, Facts& facts) const {
  auto const tests = cases_.find(values_.leader_of(choice.getCondition()));
  if (tests == cases_.end()) return;
  for (auto const* related : tests->second) {
    auto const* test = llvm::cast<llvm::ICmpInst>(related);
    bool const is_case =
        std::ranges::any_of(choice.cases(), [&](auto const& way) { return way.getCaseValue() == test->getOperand(1); });
    if (is_case) learn(test, test->getPredicate() == llvm::CmpInst::ICMP_NE, facts);
  }
}

/// Tests by which a loop goes on while a number that it steps by one is less than another one.
void Conditions::add_orders() {
  std::map<std::pair<llvm::Value const*, llvm::Value const*>, std::vector<llvm::Value const*>> orders;
  auto const sides = [&](llvm::ICmpInst const& test) {
    return std::pair(values_.leader_of(test.getOperand(0)), values_.leader_of(test.getOperand(1)));
  };
  auto const steps_by_one = [](llvm::Value const* value) {
    auto const* phi = dyn_cast<llvm::PHINode>(value);
    return phi && std::ranges::any_of(phi->incoming_values(), [&](auto const& incoming) {
             auto const* step = dyn_cast<llvm::BinaryOperator>(incoming);
             auto const* by = step ? dyn_cast<llvm::ConstantInt>(step->getOperand(1)) : nullptr;
             return by && by->isOne() && step->getOpcode() == llvm::Instruction::Add && step->getOperand(0) == phi;
           });
  };
  for (auto const& instruction : llvm::instructions(values_.function()))
    if (auto const* test = dyn_cast<llvm::ICmpInst>(&instruction);
        test && (test->getPredicate() == llvm::CmpInst::ICMP_SLT || test->getPredicate() == llvm::CmpInst::ICMP_ULT) &&
        steps_by_one(values_.leader_of(test->getOperand(0))))
      orders[sides(*test)].push_back(test);
  for (auto const& instruction : llvm::instructions(values_.function())) {
    auto const* test = dyn_cast<llvm::ICmpInst>(&instruction);
    auto const found = test && test->isEquality() ? orders.find(sides(*test)) : orders.end();
    if (found == orders.end()) continue;
    orders_[values_.leader_of(test)] = found->second;
    ++counts_[values_.leader_of(test)];
    for (auto const* order : found->second) counts_[values_.leader_of(order)] += 2;
  }
}

/// Whether both sides of an equality are equal, since the loop that counts up to there has ended. It is taken for
/// granted that it began below, and has no other steps.
std::optional<bool> Conditions::is_at_end(llvm::Value const& leader, Facts const& facts, AreEqual const& are_equal,
                                          int depth) const {
  auto const orders = orders_.find(&leader);
  if (orders == orders_.end()) return {};
  for (auto const* order : orders->second)
    if (auto const goes_on = value_of(order, facts, are_equal, depth + 1)) return goes_on->isZero();
  return {};
}

/// Tests of one number with constants. Equalities say nothing of each other that the number itself would not.
void Conditions::add_ranges() {
  constexpr std::size_t most = 8;
  std::map<std::pair<llvm::Value const*, llvm::Type*>, std::vector<llvm::ICmpInst const*>>
      tests_of;  // and of its width
  for (auto const& instruction : llvm::instructions(values_.function())) {
    auto const* test = dyn_cast<llvm::ICmpInst>(values_.leader_of(&instruction));
    if (!test || !isa<llvm::ConstantInt>(test->getOperand(1)) || !counts_.contains(test)) continue;
    auto const* number = test->getOperand(0);
    if (number->getType()->isIntegerTy(1)) continue;  // whose leader may be its contrary
    auto& tests = tests_of[{values_.leader_of(number), number->getType()}];
    if (std::ranges::find(tests, test) == tests.end()) tests.push_back(test);
  }
  for (auto const& [number, tests] : tests_of)
    for (auto const* test : tests) {
      if (tests.size() > most) break;
      for (auto const* other : tests)
        if (other != test && !(test->isEquality() && other->isEquality())) ranges_[test].push_back(other);
      if (ranges_.contains(test)) ++counts_[test];
    }
}

std::optional<bool> Conditions::by_ranges(llvm::ICmpInst const& leader, Facts const& facts) const {
  auto const tests = ranges_.find(&leader);
  if (tests == ranges_.end()) return {};
  auto const range_of = [](llvm::ICmpInst const& test, bool truth) {
    return llvm::ConstantRange::makeExactICmpRegion(truth ? test.getPredicate() : test.getInversePredicate(),
                                                    llvm::cast<llvm::ConstantInt>(test.getOperand(1))->getValue());
  };
  auto const asked = range_of(leader, true);
  auto known = llvm::ConstantRange::getFull(asked.getBitWidth());
  for (auto const* test : tests->second)
    if (auto const fact = fact_of(facts, test); fact != facts.end() && fact->first == test)
      std::ignore = known =  // a class that nvcc wants used
          known.intersectWith(range_of(*llvm::cast<llvm::ICmpInst>(test), fact->second.isOne()));
  if (asked.contains(known)) return true;
  if (asked.intersectWith(known).isEmptySet()) return false;
  return {};
}

void Conditions::learn_sizes(llvm::CallBase const& call, Facts& facts) const {
  for (auto const& argument : call.args())
    if (auto const tests = tests_of_zero_.find(values_.leader_of(argument)); tests != tests_of_zero_.end())
      for (auto const* test : tests->second) learn(test, test->getPredicate() == llvm::CmpInst::ICMP_NE, facts);
}

/// Phis of constants, and of such phis.
void Conditions::add_dispatchers(llvm::SwitchInst const& choice) {
  auto const* first = dyn_cast<llvm::PHINode>(choice.getCondition());
  if (!first || first->getParent() != choice.getParent()) return;
  std::vector<llvm::Value const*> work{first};
  while (!work.empty()) {
    auto const* phi = dyn_cast<llvm::PHINode>(work.back());
    work.pop_back();
    if (phi && dispatchers_.insert(phi).second) work.insert(work.end(), phi->value_op_begin(), phi->value_op_end());
  }
  for (auto const* phi : dispatchers_) counts_[phi] += 2;  // each is to be known
}

Facts Conditions::dispatching(Facts const& facts) const {
  Facts kept;
  std::ranges::copy_if(facts, std::back_inserter(kept),
                       [&](auto const& fact) { return dispatchers_.contains(fact.first); });
  return kept;
}

Facts Conditions::flags(Facts const& facts) const {
  Facts kept;
  std::ranges::copy_if(facts, std::back_inserter(kept), [&](auto const& fact) {
    return dispatchers_.contains(fact.first) || (flags_.contains(fact.first) && !counters_.contains(fact.first));
  });
  return kept;
}

void Conditions::count(llvm::Value const* condition, std::unordered_set<llvm::Value const*>& seen) {
  constexpr std::size_t most = 32;
  auto const* leader = values_.leader_of(condition);
  if (isa<llvm::Constant>(leader) || seen.size() > most || !seen.insert(leader).second) return;
  if (leader->getType()->isIntegerTy()) ++counts_[leader];
  if (is_of_conditions(leader))
    for (auto const& operand : llvm::cast<llvm::User>(leader)->operands()) count(operand, seen);
}

/// Of values that are there anew, facts that are then of the past.
void Conditions::add_dependents() {
  for (auto const& [leader, count] : counts_) {
    std::vector<llvm::Value const*> work{leader};
    std::unordered_set<llvm::Value const*> seen;
    while (!work.empty()) {
      auto const* value = work.back();
      work.pop_back();
      if (!isa<llvm::Instruction>(value) || !seen.insert(value).second) continue;
      if (!is_of_conditions(value)) dependents_[value].push_back(leader);
      if (!is_of_conditions(value) && !isa<llvm::GetElementPtrInst>(value)) continue;
      for (auto const& operand : llvm::cast<llvm::User>(value)->operands()) work.push_back(values_.leader_of(operand));
    }
  }
}

std::optional<llvm::APInt> Conditions::value_of(llvm::Value const* value, Facts const& facts, AreEqual const& are_equal,
                                                int depth) const {
  auto const [leader, is_negated] = values_.condition_of(value);
  if (auto const* constant = dyn_cast<llvm::ConstantInt>(leader)) return constant->getValue();
  if (auto const found = fact_of(facts, leader); found != facts.end() && found->first == leader)
    return is_negated ? ~found->second : found->second;
  if (!is_of_conditions(leader) || depth == deepest_condition) return {};
  auto const operand = [&](unsigned i) {
    return value_of(llvm::cast<llvm::User>(leader)->getOperand(i), facts, are_equal, depth + 1);
  };
  if (auto const* comparison = dyn_cast<llvm::ICmpInst>(leader)) {
    auto const said = [negated = is_negated](bool is_so) { return llvm::APInt(1, is_so != negated ? 1 : 0); };
    auto const* left = values_.leader_of(comparison->getOperand(0));
    auto const* right = values_.leader_of(comparison->getOperand(1));
    if (left->getType()->isPointerTy()) {
      if (!comparison->isEquality()) return {};
      auto const chosen = [&](llvm::Value const* pointer) {
        auto const* choice = dyn_cast<llvm::SelectInst>(pointer);
        auto const condition =
            choice ? value_of(choice->getCondition(), facts, are_equal, depth + 1) : std::optional<llvm::APInt>();
        if (!condition) return pointer;
        return values_.leader_of(condition->isZero() ? choice->getFalseValue() : choice->getTrueValue());
      };
      auto const equal = are_equal(*chosen(left), *chosen(right));
      if (!equal) return {};
      return said(*equal == (comparison->getPredicate() == llvm::CmpInst::ICMP_EQ));
    }
    auto const a = operand(0), b = operand(1);
    if (!a || !b || a->getBitWidth() != b->getBitWidth()) {
      if (auto const truth = by_ranges(*comparison, facts)) return said(*truth);
      auto const is_equal =
          comparison->isEquality() ? is_at_end(*comparison, facts, are_equal, depth) : std::optional<bool>();
      if (!is_equal) return {};
      return said(*is_equal == (comparison->getPredicate() == llvm::CmpInst::ICMP_EQ));
    }
    return said(llvm::ICmpInst::compare(*a, *b, comparison->getPredicate()));
  }
  if (is_and(leader) || is_or(leader)) {
    auto const [left, right] = sides_of(leader);
    auto const a = value_of(left, facts, are_equal, depth + 1), b = value_of(right, facts, are_equal, depth + 1);
    bool const is_conjunction = is_and(leader);
    for (auto const& side : {a, b})
      if (side && side->getBitWidth() == 1 && (is_conjunction ? side->isZero() : side->isOne())) return *side;
    if (a && b) return is_conjunction ? *a & *b : *a | *b;
    return {};
  }
  if (auto const* select = dyn_cast<llvm::SelectInst>(leader)) {
    auto const condition = value_of(select->getCondition(), facts, are_equal, depth + 1);
    if (!condition) return {};
    return value_of(condition->isZero() ? select->getFalseValue() : select->getTrueValue(), facts, are_equal,
                    depth + 1);
  }
  auto const a = operand(0);
  if (!a) return {};
  auto const width = leader->getType()->isIntegerTy() ? leader->getType()->getIntegerBitWidth() : 0;
  if (isa<llvm::ZExtInst>(leader)) return a->zext(width);
  if (isa<llvm::SExtInst>(leader)) return a->sext(width);
  if (isa<llvm::TruncInst>(leader)) return a->trunc(width);
  auto const b = operand(1);
  if (!b) return {};
  switch (llvm::cast<llvm::BinaryOperator>(leader)->getOpcode()) {
    case llvm::Instruction::Add: return *a + *b;
    case llvm::Instruction::Sub: return *a - *b;
    case llvm::Instruction::Xor: return *a ^ *b;
    default: return {};
  }
}

void Conditions::learn_value(llvm::Value const* value, llvm::APInt const& known, Facts& facts, int depth) const {
  auto const [leader, is_negated] = values_.condition_of(value);
  if (isa<llvm::Constant>(leader) || depth == deepest_condition) return;
  auto const own = is_negated ? ~known : known;
  if (counts_.contains(leader)) {
    auto const at = fact_of(facts, leader);
    if (at != facts.end() && at->first == leader)
      std::ignore = facts[static_cast<std::size_t>(at - facts.begin())].second = own;  // a class that nvcc wants used
    else
      facts.insert(at, {leader, own});
  }
  if (auto const* wide = dyn_cast<llvm::ZExtInst>(leader))
    return learn_value(wide->getOperand(0), own.trunc(wide->getSrcTy()->getIntegerBitWidth()), facts, depth + 1);
  if (own.getBitWidth() != 1) return;
  bool const is_true = own.isOne();
  if ((is_and(leader) && is_true) || (is_or(leader) && !is_true)) {
    auto const [left, right] = sides_of(leader);
    learn_value(left, own, facts, depth + 1);
    learn_value(right, own, facts, depth + 1);
  } else if (auto const* comparison = dyn_cast<llvm::ICmpInst>(leader)) {
    auto const* constant = dyn_cast<llvm::ConstantInt>(comparison->getOperand(1));
    auto const* operand = comparison->getOperand(0);
    bool const is_equal = comparison->isEquality() && is_true == (comparison->getPredicate() == llvm::CmpInst::ICMP_EQ);
    if (!constant || !comparison->isEquality()) return;
    if (is_equal) return learn_value(operand, constant->getValue(), facts, depth + 1);
    if (constant->isZero() && isa<llvm::ZExtInst>(operand) &&
        llvm::cast<llvm::ZExtInst>(operand)->getSrcTy()->isIntegerTy(1))
      learn_value(llvm::cast<llvm::ZExtInst>(operand)->getOperand(0), llvm::APInt(1, 1), facts, depth + 1);
  } else if (auto const* operation = dyn_cast<llvm::BinaryOperator>(leader);
             operation && operation->getOpcode() == llvm::Instruction::Xor) {
    if (auto const* constant = dyn_cast<llvm::ConstantInt>(operation->getOperand(1)))
      learn_value(operation->getOperand(0), own ^ constant->getValue(), facts, depth + 1);
  } else if (isa<llvm::TruncInst>(leader)) {
    auto const* narrow = llvm::cast<llvm::TruncInst>(leader);
    if (auto const* wide = dyn_cast<llvm::ZExtInst>(values_.leader_of(narrow->getOperand(0)));
        wide && wide->getSrcTy()->isIntegerTy(1))
      learn_value(wide->getOperand(0), own, facts, depth + 1);
  }
}

void Conditions::learn(llvm::Value const* condition, bool is_true, Facts& facts) const {
  learn_value(condition, llvm::APInt(1, is_true ? 1 : 0), facts);
}

void Conditions::forget(llvm::Instruction const& instruction, Facts& facts) const {
  if (facts.empty()) return;
  auto const found = dependents_.find(&instruction);
  if (found == dependents_.end()) return;
  for (auto const* leader : found->second) {
    auto const at = fact_of(facts, leader);
    if (at != facts.end() && at->first == leader) facts.erase(at);
  }
}

void Conditions::drop_dead(llvm::BasicBlock const& block, Facts& facts) const {
  if (facts.empty()) return;
  if (!live_) {
    std::vector<llvm::Value const*> leaders;
    for (auto const& [leader, count] : counts_) leaders.push_back(leader);
    Dependents related;
    for (auto const* some : {&cases_, &orders_, &ranges_})
      for (auto const& [value, tests] : *some) {
        auto& asked = related[value];
        asked.insert(asked.end(), tests.begin(), tests.end());
      }
    live_ = std::make_unique<LiveFacts>(values_, leaders, dependents_, std::move(related));
  }
  std::erase_if(facts, [&](auto const& fact) { return !live_->is_live(*fact.first, block); });
}

void Conditions::forget_counters(Facts& facts) const {
  std::erase_if(facts, [&](auto const& fact) { return !fact.second.isZero() && counters_.contains(fact.first); });
}

}  // namespace hornbill::alarms
