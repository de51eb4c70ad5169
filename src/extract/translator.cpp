#include "translator.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "debug_values.hpp"
#include "modules.hpp"

namespace hornbill::extract {

void Translator::translate() {
  add_outside();
  add_initialisers();
  for (auto const& function : module_) {
    if (function.isIntrinsic()) continue;
    if (function.isDeclaration())
      add_external_function(function);
    else
      add_function(function);
  }
  add_entries();
}

/// What is outside reaches all of the objects whose address it gets, stores what it has into them, and calls functions.
void Translator::add_outside() {
  using enum points_to::ConstraintKind;
  system_.set_place("");
  system_.address(outside, outside);
  system_.constrain(any_offset, outside, outside, 1);
  system_.load(outside, outside);
  system_.store(mark(), outside);
  std::size_t most = 0;
  for (auto const& function : module_) most = std::max(most, function.arg_size() + (function.isVarArg() ? 1 : 0));
  for (std::size_t i = 0; i < most; ++i)
    system_.store(mark(), system_.of_functions(outside, 2 + static_cast<Index>(i)));
  system_.load(system_.of_functions(outside, 1), outside);
}

void Translator::add_initialisers() {
  for (auto const& global : module_.globals()) {
    if (global.getName().substr(0, 5) == "llvm.") continue;  // lists for tools
    Index const object = memory_.object_of(global);
    if (global.hasInitializer())
      add_initial(*global.getInitializer(), object, 0);
    else
      system_.address(object, outside);
  }
}

void Translator::add_initial(llvm::Constant const& value, Index object, std::int64_t byte) {
  if (value.isNullValue() || llvm::isa<llvm::UndefValue>(value) || llvm::isa<llvm::ConstantDataSequential>(value))
    return;
  auto* const type = value.getType();
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
    auto const* const offsets = layout_.getStructLayout(structure);
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      add_initial(*value.getAggregateElement(i), object,
                  byte + static_cast<std::int64_t>(offsets->getElementOffset(i)));
    return;
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
    auto const size = static_cast<std::int64_t>(layout_.getTypeAllocSize(array->getElementType()).getFixedValue());
    for (unsigned i = 0; i < array->getNumElements(); ++i)
      add_initial(*value.getAggregateElement(i), object, byte + i * size);
    return;
  }
  for (Index const field : system_.fields_at(object, byte)) {
    if (auto const address = address_in(value))
      for (Index const target : system_.fields_at(address->first, address->second)) system_.address(target, field);
    else
      system_.copy(of_constant(value), field);
  }
}

/// What other programs see of this one.
void Translator::add_entries() {
  system_.set_place("");
  auto const* const main = module_.getFunction("main");
  bool const has_main = main && !main->isDeclaration();
  report_.is_library = is_library(module_, options_.entry);
  report_.has_places = !module_.debug_compile_units().empty();
  if (!report_.is_library) {
    if (has_main) system_.address(memory_.object_of(*main), outside);
    return;
  }
  for (auto const& function : module_)
    if (!function.isIntrinsic() && !function.hasLocalLinkage()) system_.address(memory_.object_of(function), outside);
  for (auto const& global : module_.globals())
    if (!global.hasLocalLinkage()) system_.address(memory_.object_of(global), outside);
}

void Translator::add_function(llvm::Function const& function) {
  find_pointer_like(function);
  for (auto const& instruction : llvm::instructions(function)) {
    if (instruction.isDebugOrPseudoInst()) continue;
    ++report_.instructions[instruction.getOpcodeName()];
    system_.set_place(place_of(instruction));
    add(instruction);
  }
  system_.set_place("");
  name_variables(function);
}

void Translator::name_variable(llvm::Value const* value, llvm::DILocalVariable const* variable,
                               llvm::Function const& function) {
  if (!value || !is_tracked(value->getType())) return;
  auto const [at, is_new] = named_.try_emplace(variable, nothing);
  if (is_new) {
    at->second = system_.add_variable();
    auto const* own = variable->getScope()->getSubprogram();  // another one where a function was inlined
    bool const is_own = !own || own == function.getSubprogram();
    system_.name(at->second, fmt::format("{}::{}", is_own ? function.getName().str() : own->getName().str(),
                                         variable->getName().str()));
  }
  system_.copy(of(value), at->second);
}

/// A variable of the source has what each of its values has.
void Translator::name_variables(llvm::Function const& function) {
  for_each_debug_value(function, [&](llvm::Value const* value, llvm::DILocalVariable const* variable) {
    name_variable(value, variable, function);
  });
}

/// Integers that come from addresses or become some, through arithmetic.
void Translator::find_pointer_like(llvm::Function const& function) {
  pointer_like_.clear();
  std::vector<llvm::Value const*> work;
  auto const add = [&](llvm::Value const* value) {
    if (pointer_like_.insert(value).second) work.push_back(value);
  };
  auto const is_arithmetic = [](llvm::Value const* value) {
    return llvm::isa<llvm::BinaryOperator, llvm::PHINode, llvm::SelectInst, llvm::FreezeInst>(value);
  };
  for (auto const& instruction : llvm::instructions(function))
    if (llvm::isa<llvm::PtrToIntInst>(instruction)) add(&instruction);
  for (; !work.empty();) {
    auto const* value = work.back();
    work.pop_back();
    for (auto const* user : value->users())
      if (is_arithmetic(user)) add(user);
  }
  for (auto const& instruction : llvm::instructions(function))
    if (llvm::isa<llvm::IntToPtrInst>(instruction)) add(instruction.getOperand(0));
  for (; !work.empty();) {
    auto const* value = work.back();
    work.pop_back();
    if (!is_arithmetic(value)) continue;
    for (auto const& operand : llvm::cast<llvm::User>(value)->operands())
      if (llvm::isa<llvm::Instruction>(operand)) add(operand);
  }
}

bool Translator::is_tracked(llvm::Type const* type) const {
  if (type->isPtrOrPtrVectorTy()) return true;
  if (auto const* structure = llvm::dyn_cast<llvm::StructType>(type))
    return std::ranges::any_of(structure->elements(), [&](auto const* element) { return is_tracked(element); });
  if (auto const* array = llvm::dyn_cast<llvm::ArrayType>(type)) return is_tracked(array->getElementType());
  if (!type->isIntOrIntVectorTy() || options_.integers == Integers::none) return false;
  return options_.integers == Integers::all ? type->getScalarSizeInBits() >= 8
                                            : type->getScalarSizeInBits() >= layout_.getPointerSizeInBits();
}

Index Translator::of(llvm::Value const* value) {
  if (!is_tracked(value->getType())) return nothing;
  if (auto const* constant = llvm::dyn_cast<llvm::Constant>(value)) return of_constant(*constant);
  if (auto const* argument = llvm::dyn_cast<llvm::Argument>(value)) return memory_.object_of(*argument);
  if (!llvm::isa<llvm::Instruction>(value)) return nothing;
  auto const [at, is_new] = variables_.try_emplace(value, nothing);
  if (is_new) at->second = system_.add_variable();
  return at->second;
}

Index Translator::address_of(Index object, std::int64_t byte) {
  auto const fields = system_.fields_at(object, byte);
  if (fields.empty()) return nothing;
  bool const is_between = fields.size() > 1;
  auto const [at, is_new] = addresses_.try_emplace(std::pair(fields.front(), is_between), nothing);
  if (is_new) {
    at->second = system_.add_variable();
    for (Index const field : fields) system_.address(field, at->second);
  }
  return at->second;
}

/// The object that a constant is an address in, and the byte.
std::optional<std::pair<Index, std::int64_t>> Translator::address_in(llvm::Constant const& constant) const {
  if (llvm::isa<llvm::GlobalVariable, llvm::Function>(constant)) {
    auto const* const function = llvm::dyn_cast<llvm::Function>(&constant);
    if (function && function->isIntrinsic()) return {};
    return std::pair(memory_.object_of(constant), std::int64_t{0});
  }
  if (auto const* alias = llvm::dyn_cast<llvm::GlobalAlias>(&constant)) return address_in(*alias->getAliasee());
  auto const* const expression = llvm::dyn_cast<llvm::ConstantExpr>(&constant);
  if (!expression) return {};
  if (auto const* gep = llvm::dyn_cast<llvm::GEPOperator>(expression)) {
    auto const base = address_in(*llvm::cast<llvm::Constant>(gep->getPointerOperand()));
    llvm::APInt bytes(layout_.getIndexTypeSizeInBits(gep->getType()), 0);
    if (!base || !gep->accumulateConstantOffset(layout_, bytes)) return {};
    return std::pair(base->first, base->second + bytes.getSExtValue());
  }
  bool const is_integer =
      expression->getOpcode() == llvm::Instruction::PtrToInt || expression->getOpcode() == llvm::Instruction::IntToPtr;
  if (!expression->isCast() || (is_integer && options_.integers == Integers::none)) return {};
  return address_in(*expression->getOperand(0));
}

Index Translator::of_constant(llvm::Constant const& constant) {
  if (constant.isNullValue() || llvm::isa<llvm::UndefValue, llvm::ConstantData>(constant)) return nothing;
  if (auto const address = address_in(constant)) return address_of(address->first, address->second);
  auto const [at, is_new] = variables_.try_emplace(&constant, nothing);
  if (!is_new) return at->second;
  Index const variable = at->second = system_.add_variable();
  if (auto const* function = llvm::dyn_cast<llvm::GlobalIFunc>(&constant)) {  // it returns the address
    if (auto const resolver = address_in(*function->getResolver()))
      system_.copy(Memory::return_of(resolver->first), variable);
    return variable;
  }
  // of several parts: any of them, and any place in its object where it is computed
  bool const is_computed = llvm::isa<llvm::ConstantExpr>(constant);
  for (auto const& operand : constant.operands()) {
    Index const part = of(operand);
    system_.copy(is_computed ? system_.stepped(part, 1) : part, variable);
  }
  return variable;
}

}  // namespace hornbill::extract
