#include "memory_effects.hpp"

#include <algorithm>
#include <deque>
#include <unordered_set>

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

namespace {

constexpr Index bits_of_a_word = 64;

void set_bit(ObjectBits& bits, Index object) {
  bits[object / bits_of_a_word] |= std::uint64_t{1} << (object % bits_of_a_word);
}
bool has_bit(ObjectBits const& bits, Index object) {
  return !bits.empty() && (bits[object / bits_of_a_word] >> (object % bits_of_a_word) & 1) != 0;
}

/// Whether a call through a pointer may be of a function as C allows it.
bool fits(llvm::CallBase const& call, llvm::Function const& function) {
  bool const has_arguments =
      function.isVarArg() ? call.arg_size() >= function.arg_size() : call.arg_size() == function.arg_size();
  return has_arguments && call.getType()->getTypeID() == function.getReturnType()->getTypeID();
}

}  // namespace

MemoryEffects::MemoryEffects(extract::Program const& program, points_to::Solution const& solution)
    : system_(program.constraints()),
      solution_(solution),
      bitcode_(program.bitcode()),
      is_program_(!program.report().is_library),
      first_(points_to::first_fields(program.constraints())) {
  find_effects();
  find_callees();
  find_writes();
  find_ends();
}

Index MemoryEffects::set_of(llvm::Value const& pointer) const {
  Index const variable = bitcode_.variable_of(pointer);
  return variable == extract::nothing ? 0 : solution_.set_of_variable[variable];
}

MemoryEffects::Callees const& MemoryEffects::callees_of(llvm::CallBase const& call) const {
  static Callees const none;
  auto const found = callees_.find(&call);
  return found == callees_.end() ? none : found->second;
}

std::vector<llvm::CallBase const*> const& MemoryEffects::callers_of(llvm::Function const& function) const {
  static std::vector<llvm::CallBase const*> const none;
  auto const found = callers_.find(&function);
  return found == callers_.end() ? none : found->second;
}

void MemoryEffects::find_callees() {
  std::unordered_map<Index, llvm::Function const*> function_of;
  for (auto const& function : module())
    if (!function.isIntrinsic()) function_of[bitcode_.memory().object_of(function)] = &function;
  auto const add = [&](Callees& callees, llvm::Function const* function) {
    callees.is_open = callees.is_open || function->isDeclaration();
    (function->isDeclaration() ? callees.outside : callees.functions).push_back(function);
  };
  for (auto const& caller : module())
    for (auto const& instruction : llvm::instructions(caller)) {
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      if (!call || isa<llvm::IntrinsicInst>(call)) continue;
      auto& callees = callees_[call];
      if (auto const* function = extract::callee_of(*call)) {
        add(callees, function);
      } else if (call->isInlineAsm()) {
        callees.is_open = true;
      } else {
        Index const variable = bitcode_.variable_of(*call->getCalledOperand());
        auto const targets = variable == extract::nothing
                                 ? std::vector<Index>()
                                 : points_to::objects_with_outside(solution_, system_, variable);
        for (Index const object : targets) {
          if (object == extract::outside) callees.is_open = true;
          if (auto const found = function_of.find(object); found != function_of.end() && fits(*call, *found->second))
            add(callees, found->second);
        }
      }
      for (auto const* function : callees.functions) callers_[function].push_back(call);
      find_freed(*call, callees);
    }
}

void MemoryEffects::find_freed(llvm::CallBase const& call, Callees& callees) const {
  for (unsigned i = 0; i < call.arg_size(); ++i)
    if (has_effect(call, i, extract::ExternalEffect::Kind::frees)) callees.freed.push_back(i);
}

bool MemoryEffects::is_closed(llvm::Function const& function) const {
  bool const is_called_outside = std::ranges::any_of(function.users(), [&](llvm::User const* user) {
    auto const* call = dyn_cast<llvm::CallBase>(user);
    return !call || call->getCalledOperand() != &function;
  });
  return (function.hasLocalLinkage() || is_program_) && !is_called_outside && function.getName() != "main";
}

bool MemoryEffects::has_effect(llvm::Function const& function, unsigned argument,
                               extract::ExternalEffect::Kind kind) const {
  auto const known = effects_.find(&function);
  return known != effects_.end() && std::ranges::any_of(*known->second, [&](extract::ExternalEffect const& effect) {
           return effect.kind == kind && effect.argument == static_cast<int>(argument);
         });
}

bool MemoryEffects::has_effect(llvm::CallBase const& call, unsigned argument,
                               extract::ExternalEffect::Kind kind) const {
  auto const& callees = callees_of(call);
  return argument < call.arg_size() && callees.functions.empty() && !callees.outside.empty() &&
         std::ranges::all_of(callees.outside,
                             [&](auto const* function) { return has_effect(*function, argument, kind); });
}

bool MemoryEffects::may_have_effect(llvm::CallBase const& call, unsigned argument,
                                    extract::ExternalEffect::Kind kind) const {
  return argument < call.arg_size() && std::ranges::any_of(callees_of(call).outside, [&](auto const* function) {
           return has_effect(*function, argument, kind);
         });
}

void MemoryEffects::find_effects() {
  for (auto const& function : module()) {
    if (!function.isDeclaration()) continue;
    auto const known = bitcode_.externals().find(function.getName().str());
    if (known == bitcode_.externals().end()) continue;
    effects_[&function] = &known->second;
    for (auto const& effect : known->second)
      if (effect.kind == extract::ExternalEffect::Kind::assigns)
        if (auto const* variable = module().getGlobalVariable(effect.variable)) assigned_.insert(variable);
  }
}

/// What a function may return, and what that is a place of.
std::unordered_set<llvm::Value const*> const& MemoryEffects::results_of(llvm::Function const& function) {
  auto const [known, is_new] = results_.try_emplace(&function);
  if (!is_new) return known->second;
  auto work = extract::returned_values(function);
  while (!work.empty()) {
    auto const* value = work.back();
    work.pop_back();
    if (!value->getType()->isPointerTy() || !known->second.insert(value).second) continue;
    if (isa<llvm::PHINode, llvm::SelectInst, llvm::CastInst, llvm::GetElementPtrInst>(value))
      for (auto const& operand : llvm::cast<llvm::User>(value)->operands()) work.push_back(operand);
  }
  return known->second;
}

bool MemoryEffects::may_return(llvm::CallBase const& call, unsigned argument) {
  return call.getType()->isPointerTy() && std::ranges::any_of(callees_of(call).functions, [&](auto const* function) {
           return argument < function->arg_size() && results_of(*function).contains(function->getArg(argument));
         });
}

// --- functions that never return ---

bool MemoryEffects::never_returns(llvm::CallBase const& call) const {
  if (isa<llvm::InvokeInst>(call)) return false;  // it leads on, to where exceptions are caught
  if (call.doesNotReturn()) return true;
  return callees_of(call).never_returns || (ends_with_ && ends_by_arguments(call));
}

void MemoryEffects::set_endings(std::function<bool(llvm::Function const&, llvm::CallBase const&)> ends) {
  ends_with_ = std::move(ends);
}

/// Of a call of one function with constants: `error(1, ...)`.
bool MemoryEffects::ends_by_arguments(llvm::CallBase const& call) const {
  auto const is_constant = [](llvm::Use const& argument) { return isa<llvm::ConstantInt>(argument); };
  auto const* function = extract::callee_of(call);
  if (!function || function->isIntrinsic() || std::ranges::none_of(call.args(), is_constant)) return false;
  auto const [known, is_new] = ends_by_arguments_.try_emplace(&call, false);
  if (!is_new) return known->second;  // of a function that calls itself, its other ways decide
  if (!function->isDeclaration()) return ends_by_arguments_[&call] = ends_with_(*function, call);
  auto const effects = effects_.find(function);
  if (effects == effects_.end()) return false;
  return known->second = std::ranges::any_of(*effects->second, [&](extract::ExternalEffect const& effect) {
           auto const number = static_cast<unsigned>(effect.argument);
           if (effect.kind != extract::ExternalEffect::Kind::ends || number >= call.arg_size()) return false;
           auto const* constant = dyn_cast<llvm::ConstantInt>(call.getArgOperand(number));
           return constant && !constant->isZero();
         });
}

/// Whether no path leads to a return but through calls that never do.
bool MemoryEffects::never_returns(llvm::Function const& function) const {
  std::vector<llvm::BasicBlock const*> work{&function.getEntryBlock()};
  std::unordered_set<llvm::BasicBlock const*> seen{work.front()};
  while (!work.empty()) {
    auto const* block = work.back();
    work.pop_back();
    bool const ends = std::ranges::any_of(*block, [&](llvm::Instruction const& instruction) {
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      return call && never_returns(*call);
    });
    if (ends) continue;
    if (isa<llvm::ReturnInst, llvm::ResumeInst>(block->getTerminator())) return false;
    for (auto const* next : llvm::successors(block))
      if (seen.insert(next).second) work.push_back(next);
  }
  return true;
}

/// From callees to callers, until nothing changes.
void MemoryEffects::find_ends() {
  std::vector<llvm::Function const*> work;
  for (auto const& function : module())
    if (!function.isDeclaration()) work.push_back(&function);
  while (!work.empty()) {
    auto const* function = work.back();
    work.pop_back();
    if (ends_.contains(function) || !never_returns(*function)) continue;
    ends_.insert(function);
    for (auto const* call : callers_of(*function)) {
      auto& callees = callees_.at(call);
      callees.never_returns = !callees.is_open && std::ranges::all_of(callees.functions, [&](auto const* callee) {
        return ends_.contains(callee);
      });
      work.push_back(call->getFunction());
    }
  }
}

// --- sets of objects ---

void MemoryEffects::add_outside(ObjectBits& objects) const {
  for (Index const object : solution_.objects_of(extract::outside)) set_bit(objects, object);
}

/// \param are_whole  all fields of each object
void MemoryEffects::add(Index set, ObjectBits& objects, bool are_whole) {
  auto& bits = bits_of_set_[are_whole ? 1 : 0][set];
  if (bits.empty()) {
    bits.resize(objects.size());
    for (Index const object : solution_.objects_of_set(set)) {
      if (object == extract::outside) add_outside(bits);
      Index const first = are_whole ? first_[object] : object;
      if (are_whole && has_bit(bits, first) && object != first) continue;
      for (Index i = 0; i < (are_whole ? std::max<Index>(system_.object_sizes[first], 1) : 1); ++i)
        set_bit(bits, first + i);
    }
  }
  for (std::size_t i = 0; i < bits.size(); ++i) objects[i] |= bits[i];
}

bool MemoryEffects::meets(ObjectBits const& objects, Index set) const {
  auto const are_met = [&](std::span<Index const> some) {
    return std::ranges::any_of(some, [&](Index object) { return has_bit(objects, object); });
  };
  auto const own = solution_.objects_of_set(set);
  bool const is_open = !own.empty() && own.front() == extract::outside;
  return are_met(own) || (is_open && are_met(solution_.objects_of(extract::outside)));
}

bool MemoryEffects::may_alias(llvm::Value const& a, llvm::Value const& b) {
  auto const [less, greater] = std::minmax({set_of(a), set_of(b)});
  if (less == 0) return false;
  if (less == greater) return true;
  auto const key = static_cast<std::uint64_t>(less) << 32 | static_cast<std::uint64_t>(greater);
  auto const [at, is_new] = aliases_.try_emplace(key, false);
  if (!is_new) return at->second;
  auto const one = solution_.objects_of_set(less), other = solution_.objects_of_set(greater);
  auto const meet = [](std::span<Index const> x, std::span<Index const> y) {
    for (std::size_t i = 0, k = 0; i < x.size() && k < y.size();) {
      if (x[i] == y[k]) return true;
      x[i] < y[k] ? ++i : ++k;
    }
    return false;
  };
  auto const escaped = solution_.objects_of(extract::outside);
  bool const is_one_open = one.front() == extract::outside, is_other_open = other.front() == extract::outside;
  return at->second =
             meet(one, other) || (is_one_open && meet(escaped, other)) || (is_other_open && meet(one, escaped));
}

// --- what functions write ---

void MemoryEffects::add_external_writes(llvm::CallBase const& call, ObjectBits& objects) {
  auto const* const effects = extract::effects_of(call, bitcode_.externals());
  using Kind = extract::ExternalEffect::Kind;
  bool const only_reads =
      effects && !effects->empty() && std::ranges::all_of(*effects, [](auto const& effect) {
        bool const is_to_result = effect.kind == Kind::flows && effect.argument == extract::ExternalEffect::result;
        return effect.kind == Kind::frees || effect.kind == Kind::uses || effect.kind == Kind::returns ||
               effect.kind == Kind::sinks || effect.kind == Kind::zeroes || is_to_result;
      });
  if (only_reads) return;
  for (auto const& argument : call.args())
    if (argument->getType()->isPointerTy()) add(set_of(*argument), objects, true);
  if (!effects) return add_outside(objects);
  for (auto const& effect : *effects)
    if (auto const* variable = effect.kind == Kind::assigns ? module().getGlobalVariable(effect.variable) : nullptr)
      set_bit(objects, bitcode_.memory().object_of(*variable));
}

void MemoryEffects::add_own_writes(llvm::Function const& function, ObjectBits& objects) {
  std::unordered_set<Index> sets;
  for (auto const& instruction : llvm::instructions(function)) {
    if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction)) {
      sets.insert(set_of(*store->getPointerOperand()));
    } else if (auto const* change = dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      sets.insert(set_of(*change->getPointerOperand()));
    } else if (auto const* exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      sets.insert(set_of(*exchange->getPointerOperand()));
    } else if (auto const* memory = dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
      add(set_of(*memory->getRawDest()), objects, true);
    }
  }
  for (Index const set : sets) add(set, objects, false);
}

/// From callees to callers, until nothing changes.
void MemoryEffects::find_writes() {
  auto const num_words = static_cast<std::size_t>(system_.num_objects() / bits_of_a_word + 1);
  for (auto const& function : module()) {
    if (function.isDeclaration()) continue;
    auto& own = writes_[&function];
    own.resize(num_words);
    add_own_writes(function, own);
  }
  std::deque<llvm::Function const*> work;
  std::unordered_set<llvm::Function const*> waiting;
  for (auto const& function : module()) {
    if (function.isDeclaration()) continue;
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      if (!call || !callees_of(*call).is_open) continue;
      add_external_writes(*call, writes_[&function]);
    }
    work.push_back(&function);
    waiting.insert(&function);
  }
  while (!work.empty()) {
    auto const* function = work.front();
    work.pop_front();
    waiting.erase(function);
    auto const& objects = writes_[function];
    for (auto const* call : callers_of(*function)) {
      auto& caller = writes_[call->getFunction()];
      bool has_changed = false;
      for (std::size_t i = 0; i < num_words; ++i) {
        auto const both = caller[i] | objects[i];
        has_changed = has_changed || both != caller[i];
        caller[i] = both;
      }
      if (has_changed && waiting.insert(call->getFunction()).second) work.push_back(call->getFunction());
    }
  }
}

bool MemoryEffects::may_write(llvm::CallBase const& call, llvm::Value const& pointer) {
  Index const set = set_of(pointer);
  if (set == 0) return false;
  auto const [known, is_new] = writes_to_[&call].try_emplace(set, false);
  if (is_new) known->second = writes_to(call, set);
  return known->second;
}

bool MemoryEffects::writes_to(llvm::CallBase const& call, Index set) {
  auto const& callees = callees_of(call);
  if (callees.is_open) {
    auto& objects = outside_[&call];
    if (objects.empty()) {
      objects.resize(static_cast<std::size_t>(system_.num_objects() / bits_of_a_word + 1));
      add_external_writes(call, objects);
    }
    if (meets(objects, set)) return true;
  }
  return std::ranges::any_of(callees.functions,
                             [&](llvm::Function const* function) { return meets(writes_.at(function), set); });
}

}  // namespace hornbill::alarms
