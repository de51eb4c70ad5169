#include "memory.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "hooks.hpp"

namespace hornbill::extract {
namespace {

std::int64_t bytes_of(llvm::TypeSize size) { return static_cast<std::int64_t>(size.getKnownMinValue()); }

bool has_pointers(llvm::Type& type) {
  if (type.isPtrOrPtrVectorTy()) return true;
  return std::ranges::any_of(type.subtypes(), [](llvm::Type* part) { return has_pointers(*part); });
}

}  // namespace

llvm::DIType const* stripped(llvm::DIType const* type) {
  using namespace llvm::dwarf;
  while (auto const* derived = llvm::dyn_cast_or_null<llvm::DIDerivedType>(type)) {
    auto const tag = derived->getTag();
    if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
        tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
      return type;
    type = derived->getBaseType();
  }
  return type;
}

std::string place_of(llvm::Instruction const& instruction) {
  llvm::DILocation const* const at = instruction.getDebugLoc().get();
  if (!at || at->getLine() == 0) return {};
  return fmt::format("{}:{}:{}", at->getFilename().str(), at->getLine(), at->getColumn());
}

std::pair<std::string, std::string> place_of_call(llvm::Instruction const& instruction, std::string const& name) {
  llvm::DILocation const* at = instruction.getDebugLoc().get();
  std::string called = name;
  for (; at && at->getInlinedAt(); at = at->getInlinedAt()) called = at->getScope()->getSubprogram()->getName().str();
  if (!at || at->getLine() == 0) return {std::string(), called};
  return {fmt::format("{}:{}:{}", at->getFilename().str(), at->getLine(), at->getColumn()), called};
}

llvm::Function const* callee_of(llvm::CallBase const& call) {
  auto const* callee = call.getCalledOperand()->stripPointerCasts();
  if (auto const* alias = llvm::dyn_cast<llvm::GlobalAlias>(callee)) callee = alias->getAliaseeObject();
  return llvm::dyn_cast<llvm::Function>(callee);
}

std::vector<llvm::Value const*> returned_values(llvm::Function const& function) {
  std::vector<llvm::Value const*> values;
  for (auto const& block : function)
    if (auto const* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()); end && end->getReturnValue())
      values.push_back(end->getReturnValue());
  return values;
}

std::vector<ExternalEffect> const* effects_of(llvm::CallBase const& call, Externals const& externals) {
  auto const* const function = callee_of(call);
  if (!function || !function->isDeclaration()) return nullptr;
  auto const known = externals.find(function->getName().str());
  return known == externals.end() ? nullptr : &known->second;
}

Memory::Memory(llvm::Module const& module, Externals const& externals, Options const& options, SystemBuilder& system,
               Report& report)
    : module_(module), externals_(externals), options_(options), system_(system), report_(report) {
  system_.add_object();
  system_.name(outside, "outside");
  add_functions();
  add_globals();
  for (auto const& function : module)
    if (!function.isDeclaration()) add_locals(function);
}

std::vector<Index> const& Memory::allocations_of(llvm::Value const& call_or_function) const {
  static std::vector<Index> const none;
  auto const found = allocations_.find(&call_or_function);
  return found == allocations_.end() ? none : found->second;
}

Layout Memory::folded(std::int64_t bytes, std::string const& name, std::string const& place) {
  if (bytes <= options_.max_bytes) return {static_cast<Index>(std::max<std::int64_t>(bytes, 1)), 0};
  report_.folded.push_back({fmt::format("{}, {} bytes", name, bytes), place});
  return {options_.max_bytes, options_.max_bytes};
}

/// Elements of an array are one.
Layout Memory::layout_of(llvm::Type& type, std::string const& name, std::string const& place) {
  auto* element = &type;
  while (auto* array = llvm::dyn_cast<llvm::ArrayType>(element)) element = array->getElementType();
  if (!element->isSized()) return {1, 1};
  auto layout = folded(bytes_of(module_.getDataLayout().getTypeAllocSize(element)), name, place);
  if (element != &type) layout.period = layout.size;
  return layout;
}

void Memory::add(llvm::Value const& value, llvm::Type& type, Layout layout, std::string const& name,
                 llvm::DIType const* debug_type) {
  auto begins = words_of(layout);
  add_begins(begins, 0, type);
  std::ranges::sort(begins);
  begins.erase(std::ranges::unique(begins).begin(), begins.end());
  begins.erase(std::ranges::lower_bound(begins, layout.size), begins.end());
  Index const object = object_of_[&value] = system_.add_object(layout.size, begins, layout.period);
  if (!name.empty()) system_.name(object, name);
  if (!name.empty() && debug_type) name_fields(object, layout, 0, name, debug_type);
}

/// Where pointers may lie, whatever the type is.
std::vector<Index> Memory::words_of(Layout layout) const {
  std::vector<Index> begins;
  auto const word = static_cast<Index>(module_.getDataLayout().getPointerSize());
  for (Index at = 0; at < layout.size; at += word) begins.push_back(at);
  return begins;
}

/// Where numbers and pointers begin. Of an array without pointers, words are enough.
void Memory::add_begins(std::vector<Index>& begins, std::int64_t at, llvm::Type& type) const {
  if (at >= options_.max_bytes || !type.isSized()) return;
  begins.push_back(static_cast<Index>(at));
  auto const& data = module_.getDataLayout();
  if (auto* structure = llvm::dyn_cast<llvm::StructType>(&type)) {
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      add_begins(begins, at + static_cast<std::int64_t>(data.getStructLayout(structure)->getElementOffset(i)),
                 *structure->getElementType(i));
    return;
  }
  auto* const array = llvm::dyn_cast<llvm::ArrayType>(&type);
  if (!array) return;
  auto* const element = array->getElementType();
  auto const size = bytes_of(data.getTypeAllocSize(element));
  auto const count =
      has_pointers(*element) ? array->getNumElements() : std::min<std::uint64_t>(array->getNumElements(), 1);
  for (std::uint64_t i = 0; i < count && size > 0 && at + static_cast<std::int64_t>(i) * size < options_.max_bytes; ++i)
    add_begins(begins, at + static_cast<std::int64_t>(i) * size, *element);
}

/// Names of members, each at its byte; the first one has the name of the whole.
void Memory::name_fields(Index first, Layout layout, Index at, std::string const& name, llvm::DIType const* type) {
  auto const* composite = llvm::dyn_cast_or_null<llvm::DICompositeType>(stripped(type));
  if (!composite) return;
  using namespace llvm::dwarf;
  if (composite->getTag() == DW_TAG_array_type) return name_fields(first, layout, at, name, composite->getBaseType());
  if (composite->getTag() != DW_TAG_structure_type && composite->getTag() != DW_TAG_class_type) return;
  for (auto const* element : composite->getElements()) {
    auto const* const member = llvm::dyn_cast<llvm::DIDerivedType>(element);
    if (!member || member->getTag() != DW_TAG_member || member->isBitField()) continue;
    auto const byte = at + static_cast<Index>(member->getOffsetInBits() / 8);
    if (byte >= layout.size) continue;
    auto const full = member->getName().empty() ? name : fmt::format("{}.{}", name, member->getName().str());
    auto const fields = system_.fields_at(first, byte);
    if (byte > 0 && !member->getName().empty() && fields.size() == 1) system_.name(fields.front(), full);
    name_fields(first, layout, byte, full, member->getBaseType());
  }
}

void Memory::add_globals() {
  for (auto const& global : module_.globals()) {
    llvm::SmallVector<llvm::DIGlobalVariableExpression*, 1> debug;
    global.getDebugInfo(debug);
    auto const* const type = debug.empty() ? nullptr : debug.front()->getVariable()->getType();
    auto const name = global.hasName() ? global.getName().str() : std::string();
    add(global, *global.getValueType(), layout_of(*global.getValueType(), name, ""), name, type);
  }
}

void Memory::add_functions() {
  for (auto const& function : module_) {
    if (function.isIntrinsic()) continue;
    bool const is_open = function.isVarArg();
    std::vector<Index> fields(2 + function.arg_size() + (is_open ? 1 : 0));
    std::iota(fields.begin(), fields.end(), 0);
    Index const object = object_of_[&function] =
        system_.add_object(static_cast<Index>(fields.size()), fields, is_open ? 1 : 0, true);
    auto const name = function.getName().str();
    system_.name(object, name);
    system_.name(return_of(object), name + "::return");
    for (auto const& argument : function.args()) {
      Index const parameter = object_of_[&argument] = parameter_of(object, argument.getArgNo());
      system_.name(parameter, fmt::format("{}#{}", name, argument.getArgNo() + 1));
    }
    if (is_open) system_.name(parameter_of(object, static_cast<unsigned>(function.arg_size())), name + "::...");
  }
  for (auto const& function : module_)
    if (function.isDeclaration() && externals_.contains(function.getName().str()))
      add_allocations(function, function, nullptr);
}

llvm::DILocalVariable const* variable_of(llvm::AllocaInst const& local) {
#if LLVM_VERSION_MAJOR >= 19
  for (auto* record : llvm::findDVRDeclares(const_cast<llvm::AllocaInst*>(&local))) return record->getVariable();
  for (auto* declare : llvm::findDbgDeclares(const_cast<llvm::AllocaInst*>(&local))) return declare->getVariable();
#else
  for (auto* declare : llvm::FindDbgDeclareUses(const_cast<llvm::AllocaInst*>(&local))) return declare->getVariable();
#endif
  return nullptr;
}

void Memory::add_locals(llvm::Function const& function) {
  for (auto const& block : function)
    for (auto const& instruction : block) {
      if (auto const* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        auto const* const variable = variable_of(*local);
        auto const place = place_of(instruction);
        auto const name = variable ? fmt::format("{}::{}", function.getName().str(), variable->getName().str())
                                   : fmt::format("{}::{}", function.getName().str(), local->getName().str());
        auto layout = layout_of(*local->getAllocatedType(), name, place);
        if (local->isArrayAllocation()) layout.period = layout.size;
        add(*local, *local->getAllocatedType(), layout, name, variable ? variable->getType() : nullptr);
      } else if (auto const* call = llvm::dyn_cast<llvm::CallBase>(&instruction)) {
        auto const* const callee = callee_of(*call);
        if (callee && callee->isDeclaration() && !callee->isIntrinsic()) add_allocations(*callee, *call, call);
      }
    }
}

/// \param call  none for what the function allocates when it is called through pointers
void Memory::add_allocations(llvm::Function const& function, llvm::Value const& owner, llvm::CallBase const* call) {
  auto const known = externals_.find(function.getName().str());
  if (known == externals_.end()) return;
  auto const [place, called] = call ? place_of_call(*call, known->first) : std::pair(std::string(), known->first);
  auto const name = call ? fmt::format("{} at {}", called, place.empty() ? call->getFunction()->getName().str() : place)
                         : fmt::format("{} through pointers", called);
  for (auto const& effect : known->second)
    for (auto const& value : effect.values) {
      if (value.kind == ExternalValue::Kind::fixed && fixed_.try_emplace(&function, system_.num_objects()).second)
        system_.name(system_.add_object(), fmt::format("memory of {}", known->first));
      if (value.kind != ExternalValue::Kind::fresh || (!call && !function.hasAddressTaken())) continue;
      allocations_[&owner].push_back(add_allocation(function, call, value, name));
    }
}

/// An object of a call. Of calls through hooks, those of sizes that are not known share one for each size of elements.
Index Memory::add_allocation(llvm::Function const& function, llvm::CallBase const* call, ExternalValue const& value,
                             std::string const& name) {
  auto const layout = layout_of_allocation(value, call, name);
  bool const is_array = layout.period == layout.size;
  bool const is_shared = call && is_of_hook(*call) && is_array;
  auto const key = std::tuple(&function, layout.size, layout.period);
  if (auto const known = of_hooks_.find(key); is_shared && known != of_hooks_.end()) return known->second;
  Index const object = system_.add_object(layout.size, words_of(layout), layout.period);
  system_.name(object, is_shared ? fmt::format("{} through a hook", function.getName().str()) : name);
  if (is_shared || !call) of_many_.insert(object);
  if (is_shared) of_hooks_[key] = object;
  return object;
}

/// A known size is one object's; a known element's size with an unknown count is an array's.
Layout Memory::layout_of_allocation(ExternalValue const& value, llvm::CallBase const* call, std::string const& name) {
  Layout const unknown{options_.unknown_bytes, options_.unknown_bytes};
  if (!call || value.sizes.empty()) return unknown;
  std::int64_t element = 1;
  bool is_known = true, has_element = false;
  for (int const number : value.sizes) {
    if (number >= static_cast<int>(call->arg_size())) return unknown;
    auto const* size = call->getArgOperand(static_cast<unsigned>(number));
    if (auto const* constant = llvm::dyn_cast<llvm::ConstantInt>(size); constant && constant->getBitWidth() <= 64) {
      element *= std::min<std::int64_t>(constant->getSExtValue(), std::int64_t{1} << 30);
      has_element = true;
    } else {
      is_known = false;
      auto const* product = llvm::dyn_cast<llvm::BinaryOperator>(size);
      if (!product ||
          (product->getOpcode() != llvm::Instruction::Mul && product->getOpcode() != llvm::Instruction::Shl))
        continue;
      auto const* factor = llvm::dyn_cast<llvm::ConstantInt>(product->getOperand(1));
      if (!factor || factor->getBitWidth() > 64) continue;
      bool const is_shift = product->getOpcode() == llvm::Instruction::Shl;
      element *= is_shift ? std::int64_t{1} << std::min<std::uint64_t>(factor->getZExtValue(), 30)
                          : std::min<std::int64_t>(factor->getSExtValue(), std::int64_t{1} << 30);
      has_element = true;
    }
  }
  if (!has_element || element <= 1 || element > (std::int64_t{1} << 40)) return unknown;
  bool const is_array = !is_known || value.sizes.size() > 1;
  auto layout = folded(element, name, call ? place_of(*call) : "");
  if (is_array) layout.period = layout.size;
  return layout;
}

}  // namespace hornbill::extract
