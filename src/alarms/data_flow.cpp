#include "data_flow.hpp"

#include <algorithm>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "look_back.hpp"
#include "relations.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;
using Effect = extract::ExternalEffect;

namespace {

/// Whether an effect says something of an argument.
bool is_from(Effect const& effect, unsigned argument) {
  auto const number = static_cast<int>(argument);
  return effect.kind == Effect::Kind::flows && (effect.source == number || (effect.is_open && number > effect.source));
}
bool is_at(Effect const& effect, unsigned argument) {
  auto const number = static_cast<int>(argument);
  return effect.argument == number ||
         (effect.kind == Effect::Kind::taints && effect.is_open && effect.argument >= 0 && number > effect.argument);
}
bool writes_memory(Effect const& effect) {
  return effect.kind == Effect::Kind::writes ||
         ((effect.kind == Effect::Kind::taints || effect.kind == Effect::Kind::flows) && effect.argument >= 0);
}

/// How many bytes a call writes, by its arguments; 0 where the table says nothing of them.
std::int64_t bytes_of(Effect const& effect, llvm::CallBase const& call) {
  if (effect.sizes.empty()) return 0;
  std::int64_t bytes = 1;
  for (int const argument : effect.sizes) {
    auto const number = static_cast<unsigned>(argument);
    auto const* value = number < call.arg_size() ? dyn_cast<llvm::ConstantInt>(call.getArgOperand(number)) : nullptr;
    if (!value) return any_bytes;
    std::int64_t product = 0;
    auto const factor = static_cast<std::int64_t>(value->getLimitedValue(any_bytes));
    bytes = __builtin_mul_overflow(bytes, factor, &product) ? any_bytes : std::min(product, any_bytes);
  }
  return bytes;
}

/// Whether a number is a sum or product of another one and a constant; then a bound of one bounds the other.
bool is_linear(llvm::Value const* value) {
  auto const* operation = dyn_cast<llvm::BinaryOperator>(value);
  if (!operation || !isa<llvm::ConstantInt>(operation->getOperand(1))) return false;
  using Opcode = llvm::BinaryOperator;
  auto const code = operation->getOpcode();
  return code == Opcode::Add || code == Opcode::Sub || code == Opcode::Mul || code == Opcode::Shl;
}

/// The number of which one is made by casts and by constants.
llvm::Value const* variable_part(llvm::Value const* value) {
  constexpr int most = 32;
  for (int i = 0; i < most && (is_linear(value) || isa<llvm::ZExtInst, llvm::SExtInst, llvm::TruncInst>(value)); ++i)
    value = llvm::cast<llvm::User>(value)->getOperand(0);
  return value;
}

/// Whether a pointer is to a table of the library that has an entry for each character.
bool is_character_table(llvm::Value const& pointer) {
  auto const* load = dyn_cast<llvm::LoadInst>(&pointer);
  auto const* call = load ? dyn_cast<llvm::CallBase>(load->getPointerOperand()) : nullptr;
  auto const* function = call ? extract::callee_of(*call) : nullptr;
  llvm::StringRef const name = function ? function->getName() : "";
  return name == "__ctype_b_loc" || name == "__ctype_tolower_loc" || name == "__ctype_toupper_loc";
}

/// Whether a number is a rest by a constant, or a mask's; and not one byte of several that are put together.
bool is_small_rest(llvm::Instruction const& instruction) {
  auto const* operation = dyn_cast<llvm::BinaryOperator>(&instruction);
  if (!operation || !isa<llvm::ConstantInt>(operation->getOperand(1))) return false;
  using Opcode = llvm::BinaryOperator;
  if (operation->getOpcode() == Opcode::URem || operation->getOpcode() == Opcode::SRem) return true;
  return operation->getOpcode() == Opcode::And && std::ranges::none_of(operation->users(), [](auto const* user) {
           auto const* further = dyn_cast<llvm::BinaryOperator>(user);
           return further && (further->isShift() || further->getOpcode() == Opcode::Or);
         });
}

/// Whether a function of LLVM's own hands a number on.
bool is_number_of_same(llvm::IntrinsicInst const& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::bswap:
    case llvm::Intrinsic::expect:
    case llvm::Intrinsic::fshl:
    case llvm::Intrinsic::fshr:
    case llvm::Intrinsic::abs: return true;
    default: return false;
  }
}

}  // namespace

std::vector<Effect> const* DataFlow::effects_of(llvm::CallBase const& call) const {
  return extract::effects_of(call, facts_.effects().bitcode().externals());
}

// --- values ---

void DataFlow::add_use(llvm::Instruction const& user, unsigned operand, std::vector<Origin>& next) {
  auto& effects = facts_.effects();
  if (isa<llvm::StoreInst>(user)) {
    if (operand == 0) next.push_back({&user});
  } else if (isa<llvm::ReturnInst>(user)) {
    for (auto const* call : effects.callers_of(*user.getFunction())) next.push_back({call});
  } else if (isa<llvm::GetElementPtrInst>(user)) {
    bool const is_translated = operand > 0 && is_character_table(*user.getOperand(0));  // such as by toupper
    next.push_back({&user, operand == 0 || is_translated ? -1 : static_cast<int>(operand)});
  } else if (isa<llvm::AllocaInst>(user)) {
    next.push_back({&user, static_cast<int>(operand)});
  } else if (isa<llvm::AnyMemIntrinsic>(user)) {
    bool const is_read = operand == 1 && isa<llvm::AnyMemTransferInst>(user);  // text, to which the pointer is
    if (operand == 2 || is_read) next.push_back({&user, static_cast<int>(operand)});
  } else if (auto const* call = dyn_cast<llvm::CallBase>(&user)) {
    if (auto const* own = dyn_cast<llvm::IntrinsicInst>(call)) {
      if (is_number_of_same(*own)) next.push_back({call});
      return;
    }
    if (operand >= call->arg_size()) return;
    for (auto const* callee : effects.callees_of(*call).functions)
      if (operand < callee->arg_size())
        next.push_back({callee->getArg(operand)});
      else if (callee->isVarArg())
        add_variadic(*callee, next);
    bool const is_text = user.getOperand(operand)->getType()->isPointerTy();  // a number in a text is no command
    if (effects_of(*call) && (is_text || operand < call->getFunctionType()->getNumParams()))
      next.push_back({call, static_cast<int>(operand)});
  } else if (isa<llvm::LoadInst, llvm::BinaryOperator, llvm::CastInst, llvm::PHINode, llvm::SelectInst,
                 llvm::FreezeInst, llvm::ExtractValueInst, llvm::InsertValueInst, llvm::UnaryOperator>(user)) {
    bool const is_condition = isa<llvm::SelectInst>(user) && operand == 0;
    if (!is_condition && !is_small_rest(user) && !is_clamped(user, operand)) next.push_back({&user});
  }
}

/// Further arguments of a function go where it passes the list of them on to functions outside.
void DataFlow::add_variadic(llvm::Function const& function, std::vector<Origin>& next) {
  for (auto const& [call, argument] : list_passes_of(function)) next.push_back({call, static_cast<int>(argument)});
}

/// Arguments of functions outside, such as vsnprintf, that are the list of a function's further arguments; also where a
/// function of the program is passed the list.
DataFlow::ListPasses const& DataFlow::list_passes_of(llvm::Function const& function) {
  auto const [known, is_new] = list_passes_.try_emplace(&function);
  if (!is_new) return known->second;
  std::unordered_set<llvm::Value const*> lists;
  for (auto const& instruction : llvm::instructions(function))
    if (auto const* start = dyn_cast<llvm::VAStartInst>(&instruction))
      lists.insert(llvm::getUnderlyingObject(start->getArgList()));
  ListPasses passes;
  if (!lists.empty()) add_list_passes(function, std::move(lists), 0, passes);
  return list_passes_[&function] = std::move(passes);
}

void DataFlow::add_list_passes(llvm::Function const& function, std::unordered_set<llvm::Value const*> lists, int depth,
                               ListPasses& passes) const {
  constexpr int deepest = 3;
  for (auto const& instruction : llvm::instructions(function)) {
    if (auto const* copy = dyn_cast<llvm::AnyMemTransferInst>(&instruction);
        copy && lists.contains(llvm::getUnderlyingObject(copy->getRawSource())))
      lists.insert(llvm::getUnderlyingObject(copy->getRawDest()));
    if (auto const* load = dyn_cast<llvm::LoadInst>(&instruction);  // where a list is a pointer
        load && load->getType()->isPointerTy() && lists.contains(llvm::getUnderlyingObject(load->getPointerOperand())))
      lists.insert(load);
    auto const* call = dyn_cast<llvm::CallBase>(&instruction);
    if (!call || isa<llvm::IntrinsicInst>(call)) continue;
    for (unsigned i = 0; i < call->arg_size(); ++i) {
      auto const* argument = call->getArgOperand(i);
      if (!argument->getType()->isPointerTy() || !lists.contains(llvm::getUnderlyingObject(argument))) continue;
      if (effects_of(*call)) passes.emplace_back(call, i);
      for (auto const* callee : facts_.effects().callees_of(*call).functions)
        if (i < callee->arg_size() && depth < deepest) add_list_passes(*callee, {callee->getArg(i)}, depth + 1, passes);
    }
  }
}

void DataFlow::add_uses(llvm::Value const& value, std::vector<Origin>& next) {
  for (auto const& use : value.uses())
    if (auto const* user = dyn_cast<llvm::Instruction>(use.getUser())) add_use(*user, use.getOperandNo(), next);
}

/// Loads of variables of the library that get what an argument, or memory at it, has.
void DataFlow::add_assigned(std::vector<Effect> const& effects, int argument, std::vector<Origin>& next) const {
  using Value = extract::ExternalValue::Kind;
  for (auto const& effect : effects) {
    if (effect.kind != Effect::Kind::assigns) continue;
    auto const& value = effect.values.front();
    bool const is_of_argument =
        value.kind == Value::passed || value.kind == Value::within || value.kind == Value::content;
    auto const* variable = facts_.effects().module().getGlobalVariable(effect.variable);
    if (!is_of_argument || value.argument != argument || !variable) continue;
    for (auto const* user : variable->users())
      if (isa<llvm::LoadInst>(user)) next.push_back({user});
  }
}

std::vector<Origin> DataFlow::next(Origin const& statement) {
  find_memory();
  std::vector<Origin> next;
  auto const* call = dyn_cast<llvm::CallBase>(statement.value);
  if (statement.operand >= 0) {  // an argument: to what the function returns or writes
    auto const* effects = call ? effects_of(*call) : nullptr;
    if (effects && std::ranges::any_of(*effects, [&](Effect const& effect) {
          auto const argument = static_cast<unsigned>(statement.operand);
          return is_from(effect, argument) || effect.returns_argument(argument) || effect.returns_content(argument);
        }))
      next.push_back({call});
    if (effects) add_assigned(*effects, static_cast<int>(statement.operand), next);
    if (isa<llvm::AnyMemTransferInst>(statement.value) && statement.operand == 1) next.push_back({statement.value});
    return next;
  }
  if (!isa<llvm::StoreInst>(statement.value)) add_uses(*statement.value, next);
  if (auto const* instruction = dyn_cast<llvm::Instruction>(statement.value))
    if (auto const found = readers_.find(instruction); found != readers_.end())
      next.insert(next.end(), found->second.begin(), found->second.end());
  return next;
}

// --- memory ---

/// Whether a function outside returns memory that nobody else has.
bool DataFlow::returns_new(llvm::CallBase const& call) const {
  auto const* effects = effects_of(call);
  using Value = extract::ExternalValue::Kind;
  if (!effects) return false;
  return std::ranges::any_of(*effects, [](Effect const& effect) { return effect.returns_a(Value::fresh); }) &&
         std::ranges::all_of(*effects, [](Effect const& effect) {
           return effect.kind != Effect::Kind::returns || effect.returns_a(Value::fresh) ||
                  effect.returns_a(Value::null);
         });
}

std::vector<DataFlow::Written> DataFlow::written_by(Origin const& statement) const {
  if (statement.operand >= 0) return {};
  if (auto const* store = dyn_cast<llvm::StoreInst>(statement.value)) return {{store->getPointerOperand(), 0}};
  if (auto const* transfer = dyn_cast<llvm::AnyMemTransferInst>(statement.value)) return {{transfer->getRawDest(), 0}};
  auto const* call = dyn_cast<llvm::CallBase>(statement.value);
  auto const* effects = call ? effects_of(*call) : nullptr;
  std::vector<Written> written;
  for (unsigned i = 0; effects && i < call->arg_size(); ++i) {
    if (!call->getArgOperand(i)->getType()->isPointerTy()) continue;
    auto const effect = std::ranges::find_if(*effects, [&](Effect const& effect) {
      return effect.kind != Effect::Kind::writes && writes_memory(effect) && is_at(effect, i);
    });
    if (effect != effects->end()) written.push_back({call->getArgOperand(i), bytes_of(*effect, *call)});
  }
  return written;
}

/// \return whether the way back ends here
bool DataFlow::look(llvm::Instruction const& instruction, Address const& address, llvm::Value const& pointer,
                    Writes& writes) {
  auto const& values = facts_.tracker(*instruction.getFunction()).values();
  if (&instruction == address.base) {
    auto const* call = dyn_cast<llvm::CallBase>(&instruction);
    writes.is_open = writes.is_open || !(isa<llvm::AllocaInst>(instruction) || (call && returns_new(*call)));
    if (call) writes.instructions.push_back(call);
    return true;
  }
  if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction)) {
    if (facts_.effects().may_alias(*store->getPointerOperand(), pointer)) writes.instructions.push_back(store);
    return false;
  }
  if (auto const* memory = dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
    auto const to = values.address_of(memory->getRawDest());
    auto const* length = dyn_cast<llvm::ConstantInt>(memory->getLength());
    auto const behind = address.offset - to.offset;
    if (to.base == address.base && behind > 0 && length && length->getValue().sgt(behind)) {
      writes.is_open = writes.is_open || isa<llvm::AnyMemTransferInst>(memory);  // from another place
      return true;
    }
    if (to != address && !facts_.effects().may_alias(*memory->getRawDest(), pointer)) return false;
    writes.instructions.push_back(memory);
    return to == address;
  }
  auto const* call = dyn_cast<llvm::CallBase>(&instruction);
  if (!call || isa<llvm::IntrinsicInst>(call)) return false;
  if (auto const* effects = effects_of(*call)) {
    bool is_overwritten = false, is_written = false;
    for (unsigned i = 0; i < call->arg_size(); ++i) {
      if (!call->getArgOperand(i)->getType()->isPointerTy()) continue;
      bool const is_same = values.address_of(call->getArgOperand(i)) == address;
      if (!is_same && !facts_.effects().may_alias(*call->getArgOperand(i), pointer)) continue;
      for (auto const& effect : *effects) {
        is_written = is_written || (writes_memory(effect) && is_at(effect, i));
        is_overwritten = is_overwritten || (is_same && effect.kind == Effect::Kind::writes && is_at(effect, i));
      }
    }
    if (is_written) writes.instructions.push_back(call);
    return is_overwritten;
  }
  if (!facts_.effects().may_write(*call, pointer)) return false;
  return writes.is_open = true;
}

DataFlow::Writes DataFlow::writes_before(llvm::Instruction const& reader, llvm::Value const& pointer) {
  auto const address = facts_.tracker(*reader.getFunction()).values().address_of(&pointer);
  Writes writes;
  auto const ends = [&](llvm::Instruction const& i) { return look(i, address, pointer, writes); };
  if (!look_back(reader, ends, writes.is_open)) writes.is_open = true;
  return writes;
}

void DataFlow::find_memory_of(llvm::Function const& function) {
  auto const& values = facts_.tracker(function).values();
  auto const add_reader = [&](Origin const& reader, llvm::Instruction const& at, llvm::Value const& pointer) {
    auto const writes = writes_before(at, pointer);
    for (auto const* writer : writes.instructions) readers_[writer].push_back(reader);
    if (writes.is_open) reads_.emplace_back(reader, &pointer);
  };
  for (auto const& instruction : llvm::instructions(function)) {
    if (!facts_.tracker(function).is_reachable(*instruction.getParent())) continue;
    if (auto const* load = dyn_cast<llvm::LoadInst>(&instruction)) {
      auto const* sources = values.writes_before(*load);
      if (!sources) {
        reads_.emplace_back(Origin{load}, load->getPointerOperand());
        continue;
      }
      for (auto const* writer : *sources) readers_[writer].push_back({load});
    } else if (auto const* transfer = dyn_cast<llvm::AnyMemTransferInst>(&instruction)) {
      add_reader({transfer, 1}, *transfer, *transfer->getRawSource());
    } else if (auto const* call = dyn_cast<llvm::CallBase>(&instruction)) {
      auto const* effects = effects_of(*call);
      for (unsigned i = 0; effects && i < call->arg_size(); ++i)
        if (call->getArgOperand(i)->getType()->isPointerTy() &&
            std::ranges::any_of(*effects, [&](Effect const& effect) {
              return is_from(effect, i) || effect.returns_content(i) ||
                     (effect.kind == Effect::Kind::sinks && is_at(effect, i));
            }))
          add_reader({call, static_cast<int>(i)}, *call, *call->getArgOperand(i));
      for (unsigned i = 0; effects && i < call->arg_size(); ++i)
        if (std::ranges::any_of(*effects, [&](Effect const& effect) { return effect.is_content && is_at(effect, i); }))
          add_content_readers(*call, i);
    }
  }
  // What further arguments point to is read where the list of them goes.
  if (!function.isVarArg()) return;
  for (auto const& [reader, number] : list_passes_of(function))
    for (auto const* call : facts_.effects().callers_of(function))
      for (unsigned i = static_cast<unsigned>(function.arg_size()); i < call->arg_size(); ++i)
        if (call->getArgOperand(i)->getType()->isPointerTy())
          reads_.emplace_back(Origin{reader, static_cast<int>(number)}, call->getArgOperand(i));
}

/// What pointers in an array point to that this function fills is read where the array is passed.
void DataFlow::add_content_readers(llvm::CallBase const& call, unsigned argument) {
  auto const& function = *call.getFunction();
  auto const* array = facts_.tracker(function).values().address_of(call.getArgOperand(argument)).base;
  for (auto const& instruction : llvm::instructions(function)) {
    auto const* store = dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !store->getValueOperand()->getType()->isPointerTy()) continue;
    if (llvm::getUnderlyingObject(store->getPointerOperand()) != llvm::getUnderlyingObject(array)) continue;
    Origin const reader{&call, static_cast<int>(argument)};
    reads_.emplace_back(reader, store->getValueOperand());
    readers_[store].push_back(reader);
  }
}

void DataFlow::find_memory() {
  if (is_found_) return;
  is_found_ = true;
  for (auto const& function : facts_.effects().module())
    if (!function.isDeclaration() && !facts_.program().bitcode().is_only_copied(function)) find_memory_of(function);
}

std::vector<std::pair<Origin, llvm::Value const*>> const& DataFlow::reads() {
  find_memory();
  return reads_;
}

// --- sources and sinks ---

std::vector<Origin> DataFlow::sources() const {
  std::vector<Origin> sources;
  for (auto const& function : facts_.effects().module()) {
    if (facts_.program().bitcode().is_only_copied(function)) continue;
    if (function.getName() == "main" && function.arg_size() > 1) sources.push_back({function.getArg(1)});
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      auto const* effects = call ? effects_of(*call) : nullptr;
      if (effects && std::ranges::any_of(*effects, [](Effect const& e) { return e.kind == Effect::Kind::taints; }))
        sources.push_back({call});
    }
  }
  return sources;
}

std::vector<Origin> DataFlow::roots() const {
  std::vector<Origin> roots;
  for (auto const& function : facts_.effects().module()) {
    if (facts_.program().bitcode().is_only_copied(function)) continue;
    if (!function.isDeclaration() && facts_.effects().callers_of(function).empty())
      for (auto const& parameter : function.args()) roots.push_back({&parameter});
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      bool const is_outside = call && !isa<llvm::IntrinsicInst>(call) && facts_.effects().callees_of(*call).is_open;
      bool const has_constant = isa<llvm::StoreInst>(instruction)
                                    ? isa<llvm::Constant>(instruction.getOperand(0))
                                    : isa<llvm::PHINode, llvm::SelectInst>(instruction) &&
                                          std::ranges::any_of(instruction.operands(), [](auto const& operand) {
                                            return isa<llvm::Constant>(operand);
                                          });
      if (is_outside || has_constant) roots.push_back({&instruction});
    }
  }
  return roots;
}

namespace {

/// The number of which one is made, whatever loads of it are equal.
llvm::Value const* number_in(llvm::Value const& value, LocalValues const& values) {
  return values.leader_of(variable_part(values.leader_of(&value)));
}

/// Of an expression that asks what kind of character a number is, or any function, what it asks.
llvm::Value const* question_in(llvm::Value const* value) {
  constexpr int most = 8;
  for (int i = 0; i < most; ++i) {
    if (isa<llvm::CastInst>(value)) {
      value = llvm::cast<llvm::User>(value)->getOperand(0);
    } else if (auto const* mask = dyn_cast<llvm::BinaryOperator>(value)) {
      if (mask->getOpcode() != llvm::BinaryOperator::And || !isa<llvm::ConstantInt>(mask->getOperand(1))) break;
      value = mask->getOperand(0);
    }
  }
  return value;
}

/// Whether a function compares a parameter by size.
bool compares(llvm::Function const& function, unsigned number) {
  if (number >= function.arg_size()) return false;
  return std::ranges::any_of(llvm::instructions(function), [&](llvm::Instruction const& instruction) {
    auto const* comparison = dyn_cast<llvm::ICmpInst>(&instruction);
    return comparison && !comparison->isEquality() &&
           std::ranges::any_of(comparison->operands(),
                               [&](auto const& operand) { return variable_part(operand) == function.getArg(number); });
  });
}

/// How many bits a number has at most.
unsigned bits_of(llvm::Value const& value) {
  unsigned const own = value.getType()->getIntegerBitWidth();
  if (auto const* wide = dyn_cast<llvm::ZExtInst>(&value)) return bits_of(*wide->getOperand(0));
  if (auto const* wide = dyn_cast<llvm::SExtInst>(&value)) {
    auto const& narrow = *wide->getOperand(0);
    return bits_of(narrow) < narrow.getType()->getIntegerBitWidth() ? bits_of(narrow) : own;
  }
  auto const* operation = dyn_cast<llvm::BinaryOperator>(&value);
  auto const* by = operation ? dyn_cast<llvm::ConstantInt>(operation->getOperand(1)) : nullptr;
  if (!by ||
      (operation->getOpcode() != llvm::BinaryOperator::LShr && operation->getOpcode() != llvm::BinaryOperator::AShr))
    return own;
  auto const bits = bits_of(*operation->getOperand(0));
  bool const is_positive = operation->getOpcode() == llvm::BinaryOperator::LShr || bits < own;
  return is_positive && by->getValue().ult(bits) ? bits - static_cast<unsigned>(by->getZExtValue()) : own;
}

/// Whether a number has too few bits for an element that is not there.
bool fits(llvm::GetElementPtrInst const& gep, llvm::Value const& index) {
  auto const* base = llvm::getUnderlyingObject(gep.getPointerOperand());
  auto const* local = dyn_cast<llvm::AllocaInst>(base);
  auto const* global = dyn_cast<llvm::GlobalVariable>(base);
  auto* const type = local ? local->getAllocatedType() : global ? global->getValueType() : nullptr;
  auto const* array = llvm::dyn_cast_or_null<llvm::ArrayType>(type);
  return array && bits_of(index) < 32 && array->getNumElements() >= std::uint64_t{1} << bits_of(index);
}

/// What a comparison by size says of its first operand, where it is true.
std::pair<bool, bool> upper_and_lower(llvm::CmpInst::Predicate predicate) {
  using P = llvm::CmpInst::Predicate;
  bool const is_less = predicate == P::ICMP_SLT || predicate == P::ICMP_SLE;
  bool const is_less_without_sign = predicate == P::ICMP_ULT || predicate == P::ICMP_ULE;
  return {is_less || is_less_without_sign, !is_less};
}

/// Whether the answer to a question, or that it is not 0, bounds a number.
bool is_bounded_by(llvm::Value const& question, bool is_unequal, llvm::Value const& number, LocalValues const& values) {
  auto const is_it = [&](llvm::Value const& value) { return number_in(value, values) == &number; };
  if (auto const* load = dyn_cast<llvm::LoadInst>(&question))
    if (auto const* entry = dyn_cast<llvm::GetElementPtrInst>(load->getPointerOperand()))
      return is_unequal && is_character_table(*entry->getPointerOperand()) && is_it(**std::prev(entry->op_end()));
  auto const* call = dyn_cast<llvm::CallBase>(&question);
  auto const* function = call ? extract::callee_of(*call) : nullptr;
  for (unsigned i = 0; function && i < call->arg_size(); ++i)
    if (is_it(*call->getArgOperand(i)))
      return function->isDeclaration() ? is_unequal && function->getName().take_front(2) == "is"
                                       : compares(*function, i);
  return false;
}

/// Whether a text is the program's own: a constant, or one that a table begins with. What a single variable has later,
/// or a table that begins empty, may be from anywhere.
bool is_own_text(llvm::Value const& text) {
  auto const* load = dyn_cast<llvm::LoadInst>(&text);
  auto const* variable =
      dyn_cast<llvm::GlobalVariable>(llvm::getUnderlyingObject(load ? load->getPointerOperand() : &text));
  if (!variable || !variable->hasInitializer()) return false;
  return variable->isConstant() || (load && isa<llvm::ConstantAggregate>(variable->getInitializer()));
}

/// The call by which a condition says that a text equals one of the program's own; none of others.
llvm::CallBase const* equality_with_own(llvm::Value const& text, llvm::Value const& condition,
                                        std::optional<bool> truth, LocalValues const& values) {
  static constexpr llvm::StringLiteral names[] = {"strcmp", "strcasecmp", "strcoll", "wcscmp", "wcscasecmp"};
  auto const* comparison = dyn_cast<llvm::ICmpInst>(&condition);
  auto const* zero = comparison ? dyn_cast<llvm::ConstantInt>(comparison->getOperand(1)) : nullptr;
  auto const* call = zero && zero->isZero() ? dyn_cast<llvm::CallBase>(comparison->getOperand(0)) : nullptr;
  auto const* function = call && call->arg_size() == 2 ? extract::callee_of(*call) : nullptr;
  if (!function || !function->isDeclaration() || !llvm::is_contained(names, function->getName())) return nullptr;
  bool const is_equal =
      comparison->isEquality() && truth && *truth == (comparison->getPredicate() == llvm::CmpInst::ICMP_EQ);
  auto const is_with = [&](unsigned i) {
    return values.leader_of(call->getArgOperand(i)) == values.leader_of(&text) &&
           is_own_text(*call->getArgOperand(1 - i));
  };
  return is_equal && (is_with(0) || is_with(1)) ? call : nullptr;
}

}  // namespace

/// What an own function says that compares a number, whatever the answer, bounds it; where the answer is known, so does
/// the kind of character that it is, or a constant. A comparison by size does so on the side on which it is true.
DataFlow::Bounds DataFlow::bounds(llvm::Value const& condition, std::optional<bool> truth, llvm::Value const& number,
                                  Tracker const& tracker) const {
  auto const& values = tracker.values();
  auto const is_it = [&](llvm::Value const& value) { return number_in(value, values) == &number; };
  auto const both_if = [](bool is_so) { return Bounds{is_so, is_so}; };
  if (condition.getType()->isIntegerTy(1) && isa<llvm::CallBase>(condition))
    return both_if(is_bounded_by(condition, truth.value_or(false), number, values));
  auto const* comparison = dyn_cast<llvm::ICmpInst>(&condition);
  if (!comparison) return both_if(!condition.getType()->isIntegerTy(1) && is_it(condition));  // of a switch
  bool const is_first = is_it(*comparison->getOperand(0)), is_second = is_it(*comparison->getOperand(1));
  bool const is_equal = truth && *truth == (comparison->getPredicate() == llvm::CmpInst::ICMP_EQ);
  bool const is_unequal = truth && !is_equal;
  if ((is_first || is_second) && !comparison->isEquality()) {
    if (!truth) return both_if(true);
    auto const predicate = is_first ? comparison->getPredicate() : comparison->getSwappedPredicate();
    auto const [upper, lower] = upper_and_lower(*truth ? predicate : llvm::CmpInst::getInversePredicate(predicate));
    return {upper, lower};
  }
  if ((is_first || is_second) && is_equal && isa<llvm::ConstantInt>(comparison->getOperand(1))) return both_if(true);
  return both_if(is_bounded_by(*question_in(comparison->getOperand(0)), is_unequal, number, values));
}

/// Whether a number says how much a function outside has read: as much as it was asked for at most.
bool DataFlow::is_count(llvm::Value const& number) const {
  auto const* call = dyn_cast<llvm::CallBase>(&number);
  auto const* effects = call ? effects_of(*call) : nullptr;
  return effects && call->getType()->isIntegerTy() && std::ranges::none_of(*effects, [](Effect const& effect) {
           bool const goes = effect.kind == Effect::Kind::taints || effect.kind == Effect::Kind::flows;
           return goes && effect.argument == extract::ExternalEffect::result;
         });
}

/// The same where it cannot be an error's negative number either: of functions that read elements, as fread does.
bool DataFlow::is_count_of_elements(llvm::Value const& number) const {
  return is_count(number) &&
         std::ranges::any_of(*effects_of(llvm::cast<llvm::CallBase>(number)), [](Effect const& effect) {
           return effect.kind == Effect::Kind::taints && effect.sizes.size() > 1;
         });
}

/// By the branches before a statement.
DataFlow::Bounds DataFlow::bounds_at(llvm::Value const& number, llvm::Instruction const& at) {
  auto& tracker = facts_.tracker(*at.getFunction());
  Bounds all{is_count(number), is_count_of_elements(number)};
  tracker.is_decided(*at.getParent(), [&](llvm::Value const& condition, std::optional<bool> truth) {
    all.add(bounds(condition, truth, number, tracker));
    return all.are_both();
  });
  return all;
}

/// Where a phi gets it.
DataFlow::Bounds DataFlow::bounds_on(llvm::Value const& number, llvm::PHINode const& phi, unsigned incoming) {
  auto const& end = *phi.getIncomingBlock(incoming)->getTerminator();
  auto all = bounds_at(number, end);
  if (auto const* branch = dyn_cast<llvm::BranchInst>(&end); branch && branch->isConditional())
    all.add(bounds(*branch->getCondition(), branch->getSuccessor(0) == phi.getParent(), number,
                   facts_.tracker(*phi.getFunction())));
  return all;
}

/// Whether a number may be less than zero, by how it is computed.
bool DataFlow::may_be_negative(llvm::Value const& value, Tracker const& tracker, int depth) {
  constexpr int deepest = 4;
  if (auto const* constant = dyn_cast<llvm::ConstantInt>(&value)) return constant->isNegative();
  if (depth == deepest) return true;
  auto const goes_on = [&](llvm::Value const& operand) { return may_be_negative(operand, tracker, depth + 1); };
  auto const is_bounded_on = [&](llvm::Value const& operand, Bounds const& known) {
    return known.lower || !goes_on(operand);
  };
  if (isa<llvm::ZExtInst>(value)) return false;
  if (isa<llvm::CastInst, llvm::FreezeInst>(value)) return goes_on(*llvm::cast<llvm::User>(value).getOperand(0));
  if (auto const* phi = dyn_cast<llvm::PHINode>(&value)) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      auto const& incoming = *phi->getIncomingValue(i);
      if (!is_bounded_on(incoming, bounds_on(*number_in(incoming, tracker.values()), *phi, i))) return true;
    }
    return false;
  }
  if (auto const* select = dyn_cast<llvm::SelectInst>(&value)) {
    auto const on = [&](llvm::Value const& operand, bool truth) {
      return bounds(*select->getCondition(), truth, *number_in(operand, tracker.values()), tracker);
    };
    return !is_bounded_on(*select->getTrueValue(), on(*select->getTrueValue(), true)) ||
           !is_bounded_on(*select->getFalseValue(), on(*select->getFalseValue(), false));
  }
  auto const* operation = dyn_cast<llvm::BinaryOperator>(&value);
  auto const* by = operation ? dyn_cast<llvm::ConstantInt>(operation->getOperand(1)) : nullptr;
  using Opcode = llvm::BinaryOperator;
  return !(by && !by->isNegative() && !by->isZero() &&
           (operation->getOpcode() == Opcode::And || operation->getOpcode() == Opcode::LShr ||
            operation->getOpcode() == Opcode::URem || operation->getOpcode() == Opcode::UDiv));
}

bool DataFlow::is_bounded(llvm::Value const& value, llvm::Instruction const& at) {
  auto const& tracker = facts_.tracker(*at.getFunction());
  auto const& number = *number_in(value, tracker.values());
  auto const known = bounds_at(number, at);
  return known.upper && (known.lower || !may_be_negative(number, tracker));
}

/// Whether a number is chosen where it is compared, as the smaller one of two is.
bool DataFlow::is_clamped(llvm::Instruction const& user, unsigned operand) {
  if (!user.getType()->isIntegerTy()) return false;
  auto const& tracker = facts_.tracker(*user.getFunction());
  auto const& number = *number_in(*user.getOperand(operand), tracker.values());
  Bounds known;
  if (auto const* select = dyn_cast<llvm::SelectInst>(&user))
    known = bounds(*select->getCondition(), operand == 1, number, tracker);
  else if (auto const* phi = dyn_cast<llvm::PHINode>(&user))
    known = bounds_on(number, *phi, operand);
  return known.upper && (known.lower || !may_be_negative(number, tracker));
}

/// Whether a text equals one of the program's own, by a comparison behind which nothing writes it.
bool DataFlow::equals_own_text(llvm::Value const& text, llvm::Instruction const& at) {
  auto const& tracker = facts_.tracker(*at.getFunction());
  auto const& values = tracker.values();
  return tracker.is_decided(*at.getParent(), [&](llvm::Value const& condition, std::optional<bool> truth) {
    auto const* comparison = equality_with_own(text, condition, truth, values);
    if (!comparison) return false;
    bool is_written = false;
    auto const ends = [&](llvm::Instruction const& before) {
      if (&before == comparison) return true;
      Writes writes;
      look(before, values.address_of(&text), text, writes);
      is_written = is_written || writes.is_open || !writes.instructions.empty();
      return is_written;
    };
    return look_back(at, ends, is_written) && !is_written;
  });
}

bool DataFlow::is_sink(Origin const& statement) {
  if (statement.operand < 0) return false;
  auto const operand = static_cast<unsigned>(statement.operand);
  auto const& instruction = *llvm::cast<llvm::Instruction>(statement.value);
  auto const& value = *instruction.getOperand(operand);
  auto const* call = dyn_cast<llvm::CallBase>(&instruction);
  auto const* effects = call ? effects_of(*call) : nullptr;
  auto const* gep = dyn_cast<llvm::GetElementPtrInst>(&instruction);
  bool const is_sunk = (gep && !is_character_table(*gep->getPointerOperand()) && !fits(*gep, value)) ||
                       isa<llvm::AllocaInst>(instruction) ||
                       (isa<llvm::AnyMemIntrinsic>(instruction) && operand == 2) ||
                       (effects && std::ranges::any_of(*effects, [&](Effect const& effect) {
                          return effect.kind == Effect::Kind::sinks && is_at(effect, operand);
                        }));
  if (!is_sunk) return false;
  return value.getType()->isPointerTy() ? !equals_own_text(value, instruction) : !is_bounded(value, instruction);
}

}  // namespace hornbill::alarms
