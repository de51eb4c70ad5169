#include <algorithm>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "relations.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

ProgramFacts::ProgramFacts(extract::Program const& program, points_to::Solution const& solution,
                           std::vector<Report> const& reports)
    : program_(program),
      solution_(solution),
      effects_(program, solution),
      names_(program.constraints(), program.bitcode(), expressions_),
      first_(points_to::first_fields(program.constraints())),
      reports_(reports),
      order_(effects_),
      data_flow_(*this),
      initial_values_(effects_) {
  effects_.set_endings(
      [this](llvm::Function const& function, llvm::CallBase const& call) { return tracker(function).ends_with(call); });
}

points_to::detail::ObjectFields ProgramFacts::fields() const {
  auto const& system = program_.constraints();
  return {first_.data(), system.object_sizes.data(), system.bytes_to_end.data(), system.object_periods.data(),
          system.is_function.data()};
}

Tracker& ProgramFacts::tracker(llvm::Function const& function) {
  auto& tracker = trackers_[&function];
  if (!tracker) tracker = std::make_unique<Tracker>(function, effects_);
  return *tracker;
}

// --- null ---

/// Whether a pointer is to null, or to a place behind it.
bool ProgramFacts::is_null(llvm::Value const& value, Tracker& tracker) {
  return value.getType()->isPointerTy() && isa<llvm::ConstantPointerNull>(tracker.values().base_of(&value));
}

bool ProgramFacts::may_return_null(llvm::CallBase const& call) const {
  auto const* effects = extract::effects_of(call, effects_.bitcode().externals());
  return effects && std::ranges::any_of(*effects, [](extract::ExternalEffect const& effect) {
           return effect.returns_a(extract::ExternalValue::Kind::null);
         });
}

void ProgramFacts::add_nulls(llvm::Instruction const& instruction, std::vector<Origin>& nulls) {
  auto& tracker = this->tracker(*instruction.getFunction());
  auto const add_if_null = [&](unsigned operand) {
    if (is_null(*instruction.getOperand(operand), tracker)) nulls.push_back({&instruction, static_cast<int>(operand)});
  };
  auto const add_if_dereferenced = [&](unsigned operand) {
    if (is_dereference({&instruction, operand}, effects_)) add_if_null(operand);
  };
  if (auto const* phi = dyn_cast<llvm::PHINode>(&instruction)) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      if (tracker.is_possible(*phi->getIncomingBlock(i)) &&
          tracker.may_go(*phi->getIncomingBlock(i), *phi->getParent()))
        add_if_null(i);
  } else if (isa<llvm::SelectInst>(instruction)) {
    add_if_null(1);
    add_if_null(2);
  } else if (isa<llvm::StoreInst>(instruction)) {
    add_if_null(0);
    add_if_null(1);
  } else if (isa<llvm::LoadInst, llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) {
    add_if_null(0);
    if (auto const* load = dyn_cast<llvm::LoadInst>(&instruction);
        load && load->getType()->isPointerTy() && tracker.values().zeroed_by(*load))
      nulls.push_back({load, -1});
  } else if (isa<llvm::ReturnInst>(instruction)) {
    if (instruction.getNumOperands() > 0) add_if_null(0);
  } else if (isa<llvm::AnyMemIntrinsic>(instruction)) {
    add_if_dereferenced(0);
    add_if_dereferenced(1);
  } else if (auto const* call = dyn_cast<llvm::CallBase>(&instruction); call && !isa<llvm::IntrinsicInst>(call)) {
    for (unsigned i = 0; i < call->arg_size(); ++i) add_if_null(i);
    add_if_null(call->getCalledOperandUse().getOperandNo());
    if (may_return_null(*call)) nulls.push_back({call, -1});
  }
}

std::vector<Origin> ProgramFacts::nulls() {
  std::vector<Origin> nulls;
  for (auto const& function : effects_.module())
    for (auto const& block : function) {
      if (!tracker(function).is_possible(block)) continue;
      for (auto const& instruction : block) add_nulls(instruction, nulls);
    }
  return nulls;
}

namespace {

llvm::ICmpInst const* condition_of(llvm::Instruction const& test) {
  auto const* branch = dyn_cast<llvm::BranchInst>(&test);
  return dyn_cast<llvm::ICmpInst>(branch ? branch->getCondition() : &test);
}

}  // namespace

/// Whether a block frees a pointer. A test before that is custom, and `delete` has one: it does not say that the
/// pointer may be null.
bool ProgramFacts::frees(llvm::BasicBlock const& block, llvm::Value const& pointer) {
  auto const& values = tracker(*block.getParent()).values();
  return std::ranges::any_of(block, [&](llvm::Instruction const& instruction) {
    auto const* call = dyn_cast<llvm::CallBase>(&instruction);
    for (unsigned i = 0; call && i < call->arg_size(); ++i)
      if (is_free({call, i}, effects_) && values.leader_of(call->getArgOperand(i)) == values.leader_of(&pointer))
        return true;
    return false;
  });
}

std::vector<Origin> const& ProgramFacts::all_null_tests() {
  if (null_tests_) return *null_tests_;
  auto& tests = null_tests_.emplace();
  for (auto const& function : effects_.module())
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* pointer = tested_by(instruction);
      if (!pointer || !tracker(function).is_possible(*instruction.getParent())) continue;
      if (auto const* condition = condition_of(instruction))
        tests_of_[tracker(function).values().leader_of(pointer)].push_back(condition);
      // Of a variable's address the answer is known, as where a small function's copy asks.
      if (isa<llvm::AllocaInst, llvm::GlobalValue>(tracker(function).values().base_of(pointer))) continue;
      if (auto const* branch = dyn_cast<llvm::BranchInst>(&instruction)) {
        bool const is_equal =
            llvm::cast<llvm::ICmpInst>(branch->getCondition())->getPredicate() == llvm::CmpInst::ICMP_EQ;
        if (!frees(*branch->getSuccessor(is_equal ? 1 : 0), *pointer)) tests.push_back({branch, is_equal ? 0 : 1});
      } else if (std::ranges::any_of(instruction.users(),
                                     [](auto const* user) { return isa<llvm::SelectInst, llvm::ZExtInst>(user); })) {
        tests.push_back({&instruction, 0});
      }
    }
  return tests;
}

/// Whether a branch says so before a statement.
bool ProgramFacts::is_not_null_at(llvm::Value const& pointer, llvm::Instruction const& at) {
  all_null_tests();
  auto const tests = tests_of_.find(&pointer);
  auto const& tracker = this->tracker(*at.getFunction());
  return tests != tests_of_.end() && std::ranges::any_of(tests->second, [&](llvm::ICmpInst const* test) {
           auto const known = tracker.decided_at(*at.getParent(), *test);
           return known && known->isZero() == (test->getPredicate() == llvm::CmpInst::ICMP_EQ);
         });
}

namespace {

/// Whether a copy of a function tests what its caller gave it.
bool is_of_parameter(llvm::Instruction const& test) {
  auto const call_of = [](llvm::Value const& value) -> llvm::DILocation const* {
    auto const* instruction = dyn_cast<llvm::Instruction>(&value);
    auto const* at = instruction ? instruction->getDebugLoc().get() : nullptr;
    return at ? at->getInlinedAt() : nullptr;
  };
  auto const* call = call_of(test);
  return call && call_of(*tested_by(test)->stripPointerCasts()) != call;
}

}  // namespace

std::vector<Origin> ProgramFacts::null_tests(bool are_copies) {
  std::vector<Origin> tests;
  for (auto const& test : all_null_tests()) {
    auto const& at = *llvm::cast<llvm::Instruction>(test.value);
    auto& tracker = this->tracker(*at.getFunction());
    auto const& pointer = *tracker.values().leader_of(tested_by(at));
    bool const is_used = std::ranges::any_of(dereferences_of(pointer, tracker),
                                             [&](Use const& use) { return tracker.is_before(*use.instruction, at); });
    auto const* call = dyn_cast<llvm::CallBase>(&pointer);
    bool const is_known = call && may_return_null(*call);  // which is followed from the call
    if (!is_used && !is_known && !is_not_null_at(pointer, at) && is_of_parameter(at) == are_copies)
      tests.push_back(test);
  }
  return tests;
}

/// A loop that steps a pointer on also compares what the last round has used.
std::vector<Use> ProgramFacts::tested_later() {
  std::vector<Use> found;
  for (auto const& test : all_null_tests()) {
    auto const& at = *llvm::cast<llvm::Instruction>(test.value);
    auto& tracker = this->tracker(*at.getFunction());
    auto const* tested = tracker.values().leader_of(tested_by(at));
    auto const add = [&](llvm::Value const* pointer, llvm::Instruction const& before) {
      for (auto const& use : dereferences_of(*pointer, tracker))
        if (use.instruction != &before && tracker.is_before(*use.instruction, before) &&
            !is_not_null_at(*pointer, *use.instruction))
          found.push_back(use);
    };
    add(tested, at);
    auto const* phi = dyn_cast<llvm::PHINode>(tested);
    bool const has_null =
        phi && std::ranges::any_of(phi->incoming_values(), [&](auto const& value) { return is_null(*value, tracker); });
    for (unsigned i = 0; phi && !has_null && i < phi->getNumIncomingValues(); ++i)  // else null is what it asks for
      if (auto const& end = *phi->getIncomingBlock(i)->getTerminator(); tracker.is_before(*phi, end))
        add(tracker.values().leader_of(phi->getIncomingValue(i)), end);
  }
  return found;
}

/// Where a function dereferences a pointer, under any of its names.
std::vector<Use> const& ProgramFacts::dereferences_of(llvm::Value const& pointer, Tracker& tracker) {
  auto const [known, is_new] = dereferences_.try_emplace(&tracker);
  if (is_new)
    for (auto const& instruction : llvm::instructions(tracker.values().function()))
      for (unsigned i = 0; i < instruction.getNumOperands(); ++i)
        if (instruction.getOperand(i)->getType()->isPointerTy() && is_dereference({&instruction, i}, effects_))
          known->second[tracker.values().base_of(instruction.getOperand(i))].push_back({&instruction, i});
  return known->second[&pointer];
}

namespace {

/// How to follow what an origin is; none if it goes nowhere else than its operand.
std::optional<Journey> journey_from(Origin const& origin) {
  Journey journey;
  if (auto const* phi = dyn_cast<llvm::PHINode>(origin.value); phi && origin.operand >= 0) {
    journey.edge_from = phi->getIncomingBlock(static_cast<unsigned>(origin.operand));
    journey.edge_to = phi->getParent();
    journey.names = {phi};
    return journey;
  }
  if (auto const* branch = dyn_cast<llvm::BranchInst>(origin.value)) {
    journey.edge_from = branch->getParent();
    journey.edge_to = branch->getSuccessor(static_cast<unsigned>(origin.operand));
    journey.names = {tested_by(*branch)};
    return journey;
  }
  journey.behind = dyn_cast<llvm::Instruction>(origin.value);
  if (isa<llvm::ICmpInst>(origin.value)) {
    journey.names = {tested_by(*origin.value)};
    return journey;
  }
  if (auto const* store = dyn_cast<llvm::StoreInst>(origin.value)) {
    journey.place = store->getPointerOperand();
    return origin.operand == 0 ? std::optional(journey) : std::nullopt;
  }
  if (origin.operand >= 0 && !isa<llvm::SelectInst>(origin.value)) return {};
  journey.names = {origin.value};
  return journey;
}

llvm::Function const& function_of(Origin const& origin) {
  auto const* argument = dyn_cast<llvm::Argument>(origin.value);
  return argument ? *argument->getParent() : *llvm::cast<llvm::Instruction>(origin.value)->getFunction();
}

}  // namespace

bool ProgramFacts::is_null_left(Use const& use) {
  auto const* store = dyn_cast<llvm::StoreInst>(use.instruction);
  if (!store) return true;
  Journey journey;
  journey.behind = store;
  journey.place = store->getPointerOperand();
  journey.is_null = journey.is_left_enough = true;
  return tracker(*store->getFunction()).follow(journey).is_left;
}

std::vector<Use> ProgramFacts::stops_of_null(Origin const& origin) {
  std::vector<Use> uses;
  if (origin.operand >= 0 && !isa<llvm::PHINode, llvm::SelectInst, llvm::BranchInst, llvm::ICmpInst>(origin.value))
    uses.push_back({llvm::cast<llvm::Instruction>(origin.value), static_cast<unsigned>(origin.operand)});
  auto& tracker = this->tracker(function_of(origin));
  auto const* load = dyn_cast<llvm::LoadInst>(origin.value);
  if (auto const* zeroed_by = load && origin.operand < 0 ? tracker.values().zeroed_by(*load) : nullptr) {
    for (auto const* instruction : *zeroed_by) {
      Journey from_zero;
      from_zero.behind = instruction;
      from_zero.place = load->getPointerOperand();
      from_zero.is_null = true;
      auto const stops = tracker.follow(from_zero).uses;
      uses.insert(uses.end(), stops.begin(), stops.end());
    }
    return uses;
  }
  auto journey = journey_from(origin);
  if (!journey) return uses;
  journey->is_null = true;
  auto const stops = tracker.follow(*journey);
  uses.insert(uses.end(), stops.uses.begin(), stops.uses.end());
  return uses;
}

// --- other pointers ---

std::vector<Use> ProgramFacts::stops_of(Origin const& origin) {
  auto const journey = journey_from(origin);
  return journey ? tracker(function_of(origin)).follow(*journey).uses : std::vector<Use>();
}

namespace {

template <class Element>
void subtract(std::vector<Element> const& without, std::vector<Element>& from) {
  std::erase_if(from, [&](Element const& element) { return std::ranges::find(without, element) != without.end(); });
}

}  // namespace

ProgramFacts::BehindFree const& ProgramFacts::behind_free(Use const& use) {
  auto const [at, is_new] = behind_free_.try_emplace(use);
  if (!is_new) return at->second;
  auto& [sure, doubtful] = at->second;
  sure = follow_freed(use, false);
  if (!sure.may_be_overwritten) return at->second;
  doubtful = std::exchange(sure, follow_freed(use, true));
  subtract(sure.uses, doubtful.uses);
  subtract(sure.left_in, doubtful.left_in);
  return at->second;
}

/// Where a block loaded a value from, if memory there still has it behind an edge; or none.
llvm::Value const* ProgramFacts::place_behind(llvm::Value const& value, llvm::BasicBlock const& from,
                                              llvm::BasicBlock const& to, Tracker const& tracker) {
  auto const* load = dyn_cast<llvm::LoadInst>(&value);
  if (!load || load->getParent() != &from) return nullptr;
  auto const* pointer = load->getPointerOperand();
  auto const address = tracker.values().address_of(pointer);
  auto const* base = dyn_cast<llvm::PHINode>(address.base);
  if (base && base->getParent() == &to) return nullptr;  // which is another one there
  for (auto const* instruction = load->getNextNode(); instruction; instruction = instruction->getNextNode())
    if (tracker.values().may_change(*instruction, address, *pointer)) return nullptr;
  return pointer;
}

Stops ProgramFacts::follow_freed(Use const& use, bool is_overwritten) {
  auto& tracker = this->tracker(*use.instruction->getFunction());
  auto const* root = tracker.values().address_of(use.value()).base;
  Journey journey;
  journey.trigger = use;
  journey.is_freed = true;
  journey.is_overwritten = is_overwritten;
  if (!use.instruction->getType()->isVoidTy() && use.instruction->getType()->isPointerTy() && is_free(use, effects_))
    journey.not_null = {use.instruction};  // realloc: where it fails, it frees nothing
  journey.names = {root};
  if (auto const* phi = dyn_cast<llvm::PHINode>(root)) {
    Stops all;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      journey.edge_from = phi->getIncomingBlock(i);
      journey.edge_to = phi->getParent();
      auto const* incoming = phi->getIncomingValue(i);
      auto const* other = dyn_cast<llvm::PHINode>(incoming);  // of the same block, it is another one behind the edge
      journey.names = {phi};
      if (!other || other->getParent() != phi->getParent()) journey.names.push_back(incoming);
      if (!is_overwritten) journey.place = place_behind(*incoming, *journey.edge_from, *journey.edge_to, tracker);
      auto const stops = tracker.follow(journey);
      merge(stops.uses, all.uses);
      merge(stops.left_in, all.left_in);
      all.may_be_overwritten = all.may_be_overwritten || stops.may_be_overwritten;
    }
    return all;
  }
  if (isa<llvm::Constant>(root)) return {};
  journey.behind = dyn_cast<llvm::Instruction>(root);
  auto stops = tracker.follow(journey);
  auto const* load = dyn_cast<llvm::LoadInst>(root);
  if (load) follow_copies(journey, tracker.values().address_of(load->getPointerOperand()), tracker, stops);
  return stops;
}

std::vector<Use> const& ProgramFacts::uses_of(llvm::Argument const& parameter) {
  auto const [at, is_new] = uses_of_.try_emplace(&parameter);
  if (!is_new || parameter.getParent()->isDeclaration()) return at->second;
  auto const& values = tracker(*parameter.getParent()).values();
  std::vector<llvm::Value const*> work{&parameter};
  for (auto const& instruction : llvm::instructions(values.function()))  // which memory kept meanwhile
    if (isa<llvm::LoadInst>(instruction) && values.leader_of(&instruction) == &parameter) work.push_back(&instruction);
  std::unordered_set<llvm::Value const*> seen(work.begin(), work.end());
  while (!work.empty()) {
    auto const* value = work.back();
    work.pop_back();
    for (auto const& operand : value->uses()) {
      auto const* user = dyn_cast<llvm::Instruction>(operand.getUser());
      if (!user) continue;
      if (isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::FreezeInst>(user)) {
        if (seen.insert(user).second) work.push_back(user);
      } else if (isa<llvm::LoadInst, llvm::StoreInst, llvm::CallBase, llvm::ReturnInst>(user)) {
        at->second.push_back({user, operand.getOperandNo()});
      }
    }
  }
  return at->second;
}

// --- reports ---

std::vector<std::vector<Origin>> const& ProgramFacts::statements_of_reports() {
  auto& statements = statements_of_reports_;
  if (!statements.empty()) return statements;
  std::map<Index, std::vector<std::size_t>> in_line;
  for (std::size_t i = 0; i < reports_.size(); ++i) in_line[reports_[i].line].push_back(i);
  statements.resize(reports_.size());
  for (auto const& function : effects_.module())
    for (auto const& instruction : llvm::instructions(function)) {
      llvm::DILocation const* at = instruction.getDebugLoc().get();
      auto const found =
          at && !is_passed_over(instruction) ? in_line.find(static_cast<Index>(at->getLine())) : in_line.end();
      if (found == in_line.end() || instruction.isDebugOrPseudoInst()) continue;
      for (auto const i : found->second) {
        if (!may_be_same_file(at->getFilename().str(), reports_[i].file)) continue;
        statements[i].push_back({&instruction});
        bool const has_arguments = isa<llvm::CallBase, llvm::GetElementPtrInst>(instruction);
        for (unsigned k = 0; has_arguments && k < instruction.getNumOperands(); ++k)
          if (!isa<llvm::Constant>(instruction.getOperand(k)))
            statements[i].push_back({&instruction, static_cast<int>(k)});
      }
    }
  return statements;
}

Index ProgramFacts::num_unplaced_reports() {
  return static_cast<Index>(std::ranges::count_if(statements_of_reports(), [](auto const& s) { return s.empty(); }));
}

bool ProgramFacts::is_always(llvm::Argument const& parameter, Use const& use) {
  Journey journey;
  journey.names = {&parameter};
  journey.end = use;
  return !tracker(*parameter.getParent()).follow(journey).has_returned;
}

bool ProgramFacts::is_used_here(Use const& use) {
  if (is_dereference(use, effects_)) return true;
  auto const* call = dyn_cast<llvm::CallBase>(use.instruction);
  bool const is_argument = call && !isa<llvm::IntrinsicInst>(call) && use.operand < call->arg_size();
  return is_argument && effects_.callees_of(*call).is_open && !is_free(use, effects_);
}

bool ProgramFacts::is_used(Use const& use) {
  if (is_used_here(use)) return true;
  auto const* call = dyn_cast<llvm::CallBase>(use.instruction);
  if (!call || isa<llvm::IntrinsicInst>(call)) return false;
  return std::ranges::any_of(effects_.callees_of(*call).functions, [&](llvm::Function const* function) {
    if (use.operand >= function->arg_size()) return false;
    auto const* parameter = function->getArg(use.operand);
    auto const [at, is_new] = is_used_.try_emplace(parameter, false);
    if (!is_new) return at->second;  // of recursion, what else there is decides
    bool const is_any = std::ranges::any_of(uses_of(*parameter), [&](Use const& further) { return is_used(further); });
    return is_used_[parameter] = is_any;
  });
}

}  // namespace hornbill::alarms
