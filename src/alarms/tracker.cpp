#include "tracker.hpp"

#include <algorithm>

#include <llvm/ADT/Hashing.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

namespace {

bool has_effect(Use const& use, MemoryEffects const& effects, extract::ExternalEffect::Kind kind) {
  auto const* call = dyn_cast<llvm::CallBase>(use.instruction);
  return call && effects.has_effect(*call, use.operand, kind);
}

std::optional<bool> is_null_always(llvm::Value const& leader) {
  if (isa<llvm::ConstantPointerNull>(leader)) return true;
  if (isa<llvm::AllocaInst>(leader)) return false;
  auto const* global = dyn_cast<llvm::GlobalValue>(&leader);
  return global && !global->hasExternalWeakLinkage() ? std::optional(false) : std::nullopt;
}

std::optional<bool> are_equal_always(llvm::Value const& one, llvm::Value const& other) {
  if (&one == &other) return true;
  if (isa<llvm::ConstantPointerNull>(other)) return is_null_always(one);
  if (isa<llvm::ConstantPointerNull>(one)) return is_null_always(other);
  bool const are_objects =
      isa<llvm::AllocaInst, llvm::GlobalObject>(one) && isa<llvm::AllocaInst, llvm::GlobalObject>(other);
  return are_objects ? std::optional(false) : std::nullopt;
}

/// Where a structure has pointers, in bytes.
std::vector<std::int64_t> offsets_of_pointers(llvm::Type& type, llvm::DataLayout const& layout) {
  auto* const structure = llvm::cast<llvm::StructType>(&type);
  std::vector<std::int64_t> offsets;
  for (unsigned i = 0; i < structure->getNumElements(); ++i)
    if (structure->getElementType(i)->isPointerTy())
      offsets.push_back(static_cast<std::int64_t>(layout.getStructLayout(structure)->getElementOffset(i)));
  return offsets;
}

/// Whether a function outside returns an argument.
bool returns_argument(llvm::CallBase const& call, unsigned number, extract::Externals const& externals) {
  auto const* effects = extract::effects_of(call, externals);
  return effects && std::ranges::any_of(*effects, [&](extract::ExternalEffect const& effect) {
           return effect.returns_argument(number);
         });
}

}  // namespace

bool is_dereference(Use const& use, MemoryEffects const& effects) {
  auto const* instruction = use.instruction;
  if (isa<llvm::LoadInst>(instruction)) return true;
  if (isa<llvm::StoreInst>(instruction)) return use.operand == 1;
  if (isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) return use.operand == 0;
  if (auto const* memory = dyn_cast<llvm::AnyMemIntrinsic>(instruction)) {
    auto const* length = dyn_cast<llvm::ConstantInt>(memory->getLength());
    bool const is_address = use.operand == 0 || (use.operand == 1 && isa<llvm::AnyMemTransferInst>(memory));
    return is_address && !(length && length->isZero());
  }
  auto const* call = dyn_cast<llvm::CallBase>(instruction);
  if (!call || isa<llvm::IntrinsicInst>(call)) return false;
  if (call->isCallee(&call->getOperandUse(use.operand))) return true;
  if (use.operand >= call->arg_size()) return false;
  auto const* function = extract::callee_of(*call);
  bool const is_outside = function && function->isDeclaration();
  if (is_outside && use.operand < function->arg_size() &&
      function->hasParamAttribute(use.operand, llvm::Attribute::NonNull))
    return true;
  return has_effect(use, effects, extract::ExternalEffect::Kind::uses);
}

bool is_free(Use const& use, MemoryEffects const& effects) {
  return has_effect(use, effects, extract::ExternalEffect::Kind::frees);
}

std::size_t Tracker::StateHash::operator()(State const& state) const {
  auto hash = llvm::hash_combine(state.block, state.alive, state.is_triggered);
  for (auto const& [leader, value] : state.facts) hash = llvm::hash_combine(hash, leader, llvm::hash_value(value));
  return hash;
}

Tracker::Tracker(llvm::Function const& function, MemoryEffects& effects)
    : effects_(effects), values_(function, effects), conditions_(values_) {}

/// What branches say of numbers costs time, so it is looked at only where a pointer goes somewhere at all.
Stops Tracker::follow(Journey const& journey) {
  auto stops = walk_all(journey, false);
  return has_stopped() ? walk_all(journey, true) : stops;
}

Stops Tracker::walk_all(Journey const& journey, bool has_facts) {
  journey_ = &journey;
  has_facts_ = has_facts;
  names_.clear();
  behind_ = 0;
  work_.clear();
  seen_.clear();
  visits_.clear();
  joined_.clear();
  joint_ways_.clear();
  uses_.clear();
  left_in_.clear();
  stops_ = {};
  begin(journey);
  while (!work_.empty() && !(journey.is_left_enough && stops_.is_left) && (has_facts || !has_stopped())) {
    auto state = std::move(work_.back());
    work_.pop_back();
    walk(std::move(state));
  }
  return std::move(stops_);
}

void Tracker::begin(Journey const& journey) {
  State state;
  state.is_triggered = !journey.trigger && !journey.freed_in;
  for (auto const* name : journey.names)
    if (name->getType()->isStructTy())
      for (auto const offset : offsets_of_pointers(*name->getType(), values_.layout()))
        state.alive |= names_.of_part(*name, offset, true);
    else
      state.alive |= names_.of_value(values_.leader_of(name), true);
  if (journey.place) {
    auto place = values_.address_of(journey.place);
    place.offset += journey.bytes;
    state.alive |= names_.of_place(place, values_.pointer_to(place, journey.place));
  }
  if (auto const* load = journey.behind ? dyn_cast<llvm::LoadInst>(journey.behind) : nullptr)
    state.alive |= names_.of_place(values_.address_of(load->getPointerOperand()), load->getPointerOperand());
  auto const* block = journey.edge_from ? journey.edge_from
                      : journey.behind  ? journey.behind->getParent()
                                        : &values_.function().getEntryBlock();
  auto const ways = has_facts_ ? conditions_.ways_to(*block, journey.behind, are_equal_always) : std::vector<Facts>(1);
  for (auto const& facts : ways) {
    state.facts = facts;
    begin_on(journey, *block, state);
  }
}

void Tracker::begin_on(Journey const& journey, llvm::BasicBlock const& block, State state) {
  if (journey.edge_to) {
    bool const is_possible = conditions_.take(block, *journey.edge_to, are_equal_always, state.facts);
    state.block = journey.edge_to;
    if (is_possible) work_.push_back(std::move(state));
    return;
  }
  state.block = &block;
  if (auto const* call = journey.behind ? dyn_cast<llvm::CallBase>(journey.behind) : nullptr; call && journey.is_null)
    conditions_.learn_sizes(*call, state.facts);
  walk_behind(std::move(state), journey.behind ? journey.behind->getNextNode() : &block.front());
}

// --- names ---

bool Tracker::has_part(llvm::Value const& structure, State const& state) const {
  return (state.alive & names_.of_base(structure)) != 0;
}

bool Tracker::is_alive(llvm::Value const* value, State const& state) {
  return (state.alive & names_.of_value(values_.leader_of(value), false)) != 0;
}

void Tracker::set(llvm::Value const* value, bool is_alive, State& state) {
  auto const bit = names_.of_value(values_.leader_of(value), is_alive);
  state.alive = is_alive ? state.alive | bit : state.alive & ~bit;
}

bool Tracker::is_behind(llvm::Value const* value) {
  return (behind_ & names_.of_value(values_.leader_of(value), false)) != 0;
}

/// A value is there anew: places by its old one are no longer known by it.
void Tracker::forget_places(llvm::Value const& base, State& state) { state.alive &= ~names_.of_base(base); }

std::optional<bool> Tracker::are_equal(llvm::Value const& one, llvm::Value const& other, State const& state) {
  if (&one == &other) return true;
  if (isa<llvm::ConstantPointerNull>(one) && !isa<llvm::ConstantPointerNull>(other))
    return are_equal(other, one, state);
  auto const is_among = [](std::vector<llvm::Value const*> const& list, llvm::Value const& value) {
    return std::ranges::find(list, &value) != list.end();
  };
  if (isa<llvm::ConstantPointerNull>(other)) {
    if (is_alive(&one, state)) return journey_->is_null;
    if (state.is_triggered && is_among(journey_->not_null, one)) return false;
  } else if (is_alive(&one, state) && is_alive(&other, state) && !is_behind(&one) && !is_behind(&other)) {
    return true;
  }
  return are_equal_always(one, other);
}
// --- a path ---

void Tracker::walk(State state) {
  for (auto const* instruction : steps_of(*state.block))
    if (state.alive == 0 || !step(*instruction, state)) return;
  leave(*state.block, state);
}

void Tracker::walk_behind(State state, llvm::Instruction const* from) {
  for (auto const* instruction = from; instruction; instruction = instruction->getNextNode())
    if (state.alive == 0 || !step(*instruction, state)) return;
  leave(*state.block, state);
}

/// Whether a step does anything there, whatever is followed. Most instructions compute numbers.
bool Tracker::may_matter(llvm::Instruction const& instruction) const {
  if (isa<llvm::PHINode, llvm::DbgInfoIntrinsic>(instruction)) return false;
  if (instruction.mayReadOrWriteMemory() || instruction.isTerminator() || conditions_.may_forget(instruction))
    return true;
  if (isa<llvm::CastInst>(instruction) && values_.leader_of(&instruction) != &instruction) return false;
  auto const* type = instruction.getType();
  return isa<llvm::CallBase, llvm::ExtractValueInst>(instruction) || type->isPointerTy() || type->isStructTy();
}

std::vector<llvm::Instruction const*> const& Tracker::steps_of(llvm::BasicBlock const& block) {
  auto const [at, is_new] = steps_.try_emplace(&block);
  if (is_new)
    for (auto const& instruction : block)
      if (may_matter(instruction)) at->second.push_back(&instruction);
  return at->second;
}

/// Notes a use.   \return whether the path goes on
bool Tracker::use(Use const& use, State& state) {
  if (state.is_triggered && uses_.insert(use).second) stops_.uses.push_back(use);
  if (journey_->end == use) return false;
  if (journey_->is_null) return !is_dereference(use, effects_);
  if (journey_->trigger && *journey_->trigger == use && !state.is_triggered) {
    state.is_triggered = true;
    return true;
  }
  return !state.is_triggered || !journey_->is_freed || !(is_dereference(use, effects_) || is_free(use, effects_));
}

bool Tracker::step(llvm::Instruction const& instruction, State& state) {
  if (!isa<llvm::PHINode>(instruction)) {
    conditions_.forget(instruction, state.facts);
    if (instruction.getType()->isPointerTy() || instruction.getType()->isStructTy()) forget_places(instruction, state);
  }
  if (auto const* load = dyn_cast<llvm::LoadInst>(&instruction)) return step_load(*load, state);
  if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction)) return step_store(*store, state);
  if (auto const* call = dyn_cast<llvm::CallBase>(&instruction)) return step_call(*call, state);
  if (isa<llvm::ReturnInst>(instruction)) {
    stops_.has_returned = true;
    leave_in_memory(nullptr, state);
    if (instruction.getNumOperands() == 0) return true;
    auto const* result = instruction.getOperand(0);
    bool const is_returned = is_alive(result, state) || has_part(*result, state);
    return !is_returned || use({&instruction, 0}, state);
  }
  if (isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction)) {
    bool const goes_on = !is_alive(instruction.getOperand(0), state) || use({&instruction, 0}, state);
    drop_changed(instruction, state);
    return goes_on;
  }
  if (auto const* gep = dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    if (values_.leader_of(gep) != values_.leader_of(gep->getPointerOperand())) {
      set(gep, is_alive(gep->getPointerOperand(), state), state);
      behind_ |= names_.of_value(values_.leader_of(gep), false);
    }
  } else if (auto const* select = dyn_cast<llvm::SelectInst>(&instruction);
             select && select->getType()->isPointerTy()) {
    auto const known = conditions_.value_of(
        select->getCondition(), state.facts,
        [&](llvm::Value const& one, llvm::Value const& other) { return are_equal(one, other, state); });
    bool const is_true = is_alive(select->getTrueValue(), state), is_false = is_alive(select->getFalseValue(), state);
    set(select, known ? (known->isZero() ? is_false : is_true) : is_true || is_false, state);
    for (auto const* value : {select->getTrueValue(), select->getFalseValue()})
      if (is_behind(value)) behind_ |= names_.of_value(select, false);
  } else if (isa<llvm::ExtractValueInst>(instruction)) {
    step_structure(instruction, state);
  } else if (values_.leader_of(&instruction) == &instruction && instruction.getType()->isPointerTy()) {
    set(&instruction, false, state);
  }
  return true;
}
bool Tracker::step_call(llvm::CallBase const& call, State& state) {
  if (call.isDebugOrPseudoInst() || call.isLifetimeStartOrEnd()) return true;
  auto const* copy = dyn_cast<llvm::AnyMemTransferInst>(&call);
  auto const copied = copy ? copied_names(*copy, state) : 0;
  bool is_returned = false;
  if (is_alive(call.getCalledOperand(), state) && !use({&call, call.getCalledOperandUse().getOperandNo()}, state))
    return false;
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (!call.getArgOperand(i)->getType()->isPointerTy() || !is_alive(call.getArgOperand(i), state)) continue;
    Use const here{&call, i};
    is_returned = is_returned ||
                  (returns_argument(call, i, effects_.bitcode().externals()) && !is_free(here, effects_)) ||
                  (!journey_->is_null && journey_->trigger != here && effects_.may_return(call, i));
    if (!use(here, state)) return false;
  }
  if (journey_->freed_in == &call && (state.alive & names_.of_place(journey_->freed_place, nullptr)) != 0)
    state.is_triggered = true;
  drop_freed(call, state);
  if (effects_.never_returns(call)) return false;
  if (!effects_.callees_of(call).functions.empty()) leave_in_memory(&call, state);
  drop_changed(call, state);
  state.alive |= copied;
  if (call.getType()->isPointerTy() && values_.leader_of(&call) == &call) {
    set(&call, is_returned, state);
    if (is_returned) behind_ |= names_.of_value(&call, false);
  }
  return true;
}
// --- between blocks ---

void Tracker::leave(llvm::BasicBlock const& block, State const& state) {
  auto const are_equal = [&](llvm::Value const& one, llvm::Value const& other) {
    return this->are_equal(one, other, state);
  };
  conditions_.for_each_way_out(block, state.facts, are_equal, [&](llvm::BasicBlock const& to, Conditions::Learn learn) {
    auto next = state;
    if (has_facts_) learn(next.facts);
    go(block, to, std::move(next));
  });
}

/// Facts that keep joined paths apart: as many of them as have few values where they are.
Facts Tracker::joint_facts(State const& state) {
  constexpr int most = 4;
  if (!has_facts_) return {};
  auto joint = state;
  joint.alive = 0;
  auto& ways = joint_ways_[state.block];
  for (auto const& [facts, of_kind] : {std::pair(conditions_.flags(state.facts), &ways.by_flags),
                                       std::pair(conditions_.dispatching(state.facts), &ways.by_dispatchers)}) {
    joint.facts = facts;
    if (facts.empty() || joined_.contains(joint)) return facts;
    if (*of_kind == most) continue;
    ++*of_kind;
    return facts;
  }
  return {};
}

void Tracker::go(llvm::BasicBlock const& from, llvm::BasicBlock const& to, State state) {
  // Paths are kept apart as long as they are few, and are one then: the pointer has each name that it has on any. What
  // cleanups dispatch by is known of them still, as long as that has few values.
  constexpr int most_apart = 8;
  constexpr int most_counted = 5;
  constexpr std::size_t most_in_all = 300;
  std::vector<std::pair<llvm::Value const*, bool>> phis;
  for (auto const& phi : to.phis())
    if (phi.getType()->isPointerTy()) phis.emplace_back(&phi, is_alive(phi.getIncomingValueForBlock(&from), state));
  NameBits places = 0;
  if (!to.phis().empty()) {
    auto const before = state;
    auto const equal = [&](auto const& one, auto const& other) { return are_equal(one, other, before); };
    if (has_facts_) conditions_.enter(from, to, equal, state.facts);
    places = phi_places(from, to, state);
  }
  for (auto const& [phi, is_alive] : phis) {
    forget_places(*phi, state);
    set(phi, is_alive, state);
    if (is_alive && is_behind(llvm::cast<llvm::PHINode>(phi)->getIncomingValueForBlock(&from)))
      behind_ |= names_.of_value(phi, false);
  }
  state.alive |= places;
  if (state.alive == 0) return;
  state.block = &to;
  if (has_facts_)
    conditions_.drop_dead(to, state.facts);
  else
    state.facts.clear();
  if (has_facts_ && visits_[&to] >= most_counted) conditions_.forget_counters(state.facts);
  if (has_facts_ && seen_.size() < most_in_all && visits_[&to] < most_apart) {
    if (!seen_.insert(state).second) return;
    ++visits_[&to];
  } else {
    auto joint = state;
    joint.alive = 0;
    joint.facts = joint_facts(state);
    state.facts = joint.facts;
    auto& joined = joined_[std::move(joint)];
    if ((state.alive & ~joined) == 0) return;
    state.alive = joined |= state.alive;
  }
  work_.push_back(std::move(state));
}

bool Tracker::ends_within(llvm::BasicBlock const& block) const {
  return std::ranges::any_of(block, [&](llvm::Instruction const& instruction) {
    auto const* call = dyn_cast<llvm::CallBase>(&instruction);
    return call && effects_.never_returns(*call);
  });
}

std::optional<llvm::APInt> Tracker::decided_at(llvm::BasicBlock const& block, llvm::Value const& condition) const {
  return conditions_.value_of(&condition, conditions_.facts_at(block), are_equal_always);
}

bool Tracker::ends_with(llvm::CallBase const& call) {
  auto const& function = values_.function();
  if (!may_end_) {
    may_end_ = false;  // of a function that calls itself, its other ways decide
    may_end_ = std::ranges::any_of(function, [&](llvm::BasicBlock const& block) { return ends_within(block); });
  }
  if (!*may_end_) return false;
  Facts facts;
  for (auto const& parameter : function.args())
    if (parameter.getArgNo() < call.arg_size())
      if (auto const* constant = dyn_cast<llvm::ConstantInt>(call.getArgOperand(parameter.getArgNo())))
        facts.emplace_back(&parameter, constant->getValue());
  std::ranges::sort(facts, std::less<>(), &Facts::value_type::first);
  return std::ranges::none_of(reached(facts), [&](llvm::BasicBlock const* block) {
    return isa<llvm::ReturnInst, llvm::ResumeInst>(block->getTerminator()) && !ends_within(*block);
  });
}

bool Tracker::may_go(llvm::BasicBlock const& from, llvm::BasicBlock const& to) const {
  if (ends_within(from)) return false;
  auto const* branch = dyn_cast<llvm::BranchInst>(from.getTerminator());
  if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1)) return true;
  auto const known = conditions_.value_of(branch->getCondition(), conditions_.facts_at(from), are_equal_always);
  return !known || &to == branch->getSuccessor(known->isZero() ? 1 : 0);
}

bool Tracker::is_reachable(llvm::BasicBlock const& block) {
  if (reachable_.empty()) reachable_ = reached({});
  return reachable_.contains(&block);
}

/// Blocks that a function reaches from its beginning where so much is known.
std::unordered_set<llvm::BasicBlock const*> Tracker::reached(Facts const& facts) const {
  std::vector<llvm::BasicBlock const*> work{&values_.function().getEntryBlock()};
  std::unordered_set<llvm::BasicBlock const*> seen{work.front()};
  while (!work.empty()) {
    auto const* from = work.back();
    work.pop_back();
    if (ends_within(*from)) continue;
    auto const* branch = dyn_cast<llvm::BranchInst>(from->getTerminator());
    auto const known = branch && branch->isConditional()
                           ? conditions_.value_of(branch->getCondition(), facts, are_equal_always)
                           : std::nullopt;
    for (auto const* to : llvm::successors(from)) {
      if (known && to != branch->getSuccessor(known->isZero() ? 1 : 0)) continue;
      if (seen.insert(to).second) work.push_back(to);
    }
  }
  return seen;
}

}  // namespace hornbill::alarms
