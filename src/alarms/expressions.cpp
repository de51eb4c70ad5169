#include "expressions.hpp"

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include "../extract/debug_values.hpp"
#include "../extract/memory.hpp"
namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

namespace {

llvm::DIType const* target_of(llvm::DIType const* type) {
  auto const* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type);
  return derived && derived->getTag() == llvm::dwarf::DW_TAG_pointer_type ? extract::stripped(derived->getBaseType())
                                                                          : nullptr;
}

llvm::DIType const* type_of(llvm::GlobalVariable const& global) {
  llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> debug;
  global.getDebugInfo(debug);
  return debug.empty() ? nullptr : extract::stripped(debug.front()->getVariable()->getType());
}

}  // namespace

llvm::DILocalVariable const* Expressions::variable_of(llvm::Value const& value, llvm::Function const& function) {
  if (known_.insert(&function).second)
    extract::for_each_debug_value(function, [&](llvm::Value const* v, llvm::DILocalVariable const* variable) {
      if (!v || isa<llvm::Constant>(v)) return;
      bool const is_own = variable->getScope()->getSubprogram() == function.getSubprogram();  // not of an inlined one
      if (is_own && !own_.contains(v)) variables_[v] = variable;
      if (is_own) own_.insert(v);
      variables_.try_emplace(v, variable);
    });
  auto const found = variables_.find(&value);
  return found == variables_.end() ? nullptr : found->second;
}

Expressions::Expression Expressions::of(llvm::Value const& value, int depth) {
  constexpr int deepest = 6;
  if (depth > deepest) return {"...", nullptr};
  if (isa<llvm::ConstantPointerNull>(value)) return {"NULL", nullptr};
  if (auto const* global = dyn_cast<llvm::GlobalVariable>(&value))
    return {global->hasPrivateLinkage() ? "a constant" : fmt::format("&{}", global->getName().str()), nullptr};
  if (auto const* function = dyn_cast<llvm::Function>(&value)) return {function->getName().str(), nullptr};
  if (auto const* argument = dyn_cast<llvm::Argument>(&value)) {
    if (auto const* variable = variable_of(value, *argument->getParent()))
      return {variable->getName().str(), extract::stripped(variable->getType())};
    return {fmt::format("#{}", argument->getArgNo() + 1), nullptr};
  }
  if (auto const* number = dyn_cast<llvm::ConstantInt>(&value); number && number->getBitWidth() <= 64)
    return {fmt::format("{}", number->getSExtValue())};
  auto const* instruction = dyn_cast<llvm::Instruction>(&value);
  if (instruction)
    if (auto const* variable = variable_of(value, *instruction->getFunction()))
      return {variable->getName().str(), extract::stripped(variable->getType())};
  if (auto const* gep = dyn_cast<llvm::GEPOperator>(&value)) {
    auto const place = content_of(value, depth + 1);
    if (gep->hasAllZeroIndices()) return of(*gep->getPointerOperand(), depth + 1);
    return {fmt::format("&{}", place.text), nullptr, place.type};
  }
  if (auto const* load = dyn_cast<llvm::LoadInst>(&value)) return content_of(*load->getPointerOperand(), depth + 1);
  if (auto const* call = dyn_cast<llvm::CallBase>(&value)) {
    auto const* callee = extract::callee_of(*call);
    return {(callee ? callee->getName().str() : of(*call->getCalledOperand(), depth + 1).text) + "(...)", nullptr};
  }
  if (auto const* local = dyn_cast<llvm::AllocaInst>(&value)) {
    auto const place = content_of(*local, depth + 1);
    return {fmt::format("&{}", place.text), nullptr, place.type};
  }
  if (auto const* store = dyn_cast<llvm::StoreInst>(&value)) return content_of(*store->getPointerOperand(), depth + 1);
  if (auto const* operation = dyn_cast<llvm::BinaryOperator>(&value)) {
    auto const left = of(*operation->getOperand(0), depth + 1), right = of(*operation->getOperand(1), depth + 1);
    return {fmt::format("{} {} {}", left.text, operation->getOpcodeName(), right.text)};
  }
  if (auto const* cast = dyn_cast<llvm::CastInst>(&value)) return of(*cast->getOperand(0), depth + 1);
  bool const is_returned =
      std::ranges::any_of(value.users(), [](auto const* user) { return isa<llvm::ReturnInst>(user); });
  if (instruction && is_returned) return {fmt::format("the result of {}", instruction->getFunction()->getName().str())};
  return {"a value", nullptr};
}

Expressions::Expression Expressions::content_of(llvm::Value const& pointer, int depth) {
  if (auto const* global = dyn_cast<llvm::GlobalVariable>(&pointer)) return {global->getName().str(), type_of(*global)};
  if (auto const* local = dyn_cast<llvm::AllocaInst>(&pointer)) {
    auto const* variable = extract::variable_of(*local);
    if (variable) return {variable->getName().str(), extract::stripped(variable->getType())};
    return {"a local variable", nullptr};
  }
  if (auto const* gep = dyn_cast<llvm::GEPOperator>(&pointer)) {
    auto const* function =
        isa<llvm::Instruction>(&pointer) ? llvm::cast<llvm::Instruction>(&pointer)->getFunction() : nullptr;
    auto const* base = gep->getPointerOperand();
    bool const is_variable = isa<llvm::GlobalVariable, llvm::AllocaInst>(base->stripPointerCasts());
    llvm::APInt bytes(64, 0);
    bool const is_constant = function && gep->accumulateConstantOffset(function->getParent()->getDataLayout(), bytes);
    if (is_variable) {
      auto const whole = content_of(*base->stripPointerCasts(), depth + 1);
      return is_constant ? member_of(whole, bytes.getSExtValue()) : Expression{whole.text + "[...]", nullptr};
    }
    auto const whole = of(*base, depth + 1);
    return is_constant ? behind(whole, bytes.getSExtValue()) : element_of(whole);
  }
  if (isa<llvm::BitCastInst>(pointer)) return content_of(*llvm::cast<llvm::User>(pointer).getOperand(0), depth + 1);
  return behind(of(pointer, depth + 1), 0);
}

/// What is at some index behind what a pointer points to.
Expressions::Expression Expressions::element_of(Expression const& pointer) {
  if (pointer.text.starts_with('&')) return {pointer.text.substr(1) + "[...]", nullptr};
  return {pointer.text + "[...]", target_of(pointer.type)};
}

Expressions::Expression Expressions::behind(Expression const& pointer, std::int64_t bytes) {
  if (pointer.text.starts_with('&')) {
    auto const place = member_of({pointer.text.substr(1), pointer.target}, bytes);
    return place;
  }
  auto const* target = target_of(pointer.type);
  auto const* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(target);
  using namespace llvm::dwarf;
  if (composite && composite->getTag() != DW_TAG_array_type && composite->getTag() != DW_TAG_enumeration_type) {
    auto const member = member_of({"", target}, bytes);
    if (!member.text.empty()) return {pointer.text + "->" + member.text.substr(1), member.type};
  }
  if (bytes == 0) return {fmt::format("*{}", pointer.text), target};
  return {fmt::format("*({} + {})", pointer.text, bytes), nullptr};
}

/// The member at a byte, `.x.y`, of the smallest that begins there.
Expressions::Expression Expressions::member_of(Expression whole, std::int64_t bytes) {
  using namespace llvm::dwarf;
  auto const* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(whole.type);
  if (!composite) return bytes == 0 ? whole : Expression{whole.text, nullptr};
  if (composite->getTag() == DW_TAG_array_type)
    return {whole.text + "[...]", extract::stripped(composite->getBaseType())};
  for (auto const* element : composite->getElements()) {
    auto const* member = dyn_cast<llvm::DIDerivedType>(element);
    if (!member || member->getTag() != DW_TAG_member || member->isBitField()) continue;
    auto const begin = static_cast<std::int64_t>(member->getOffsetInBits() / 8);
    auto const size = static_cast<std::int64_t>(member->getSizeInBits() / 8);
    if (bytes < begin || bytes >= begin + size) continue;
    auto const text =
        member->getName().empty() ? whole.text : fmt::format("{}.{}", whole.text, member->getName().str());
    return member_of({text, extract::stripped(member->getBaseType())}, bytes - begin);
  }
  return {whole.text, nullptr};
}

}  // namespace hornbill::alarms
