#include <algorithm>

#include <fmt/format.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/Casting.h>

#include "translator.hpp"

namespace hornbill::extract {

using llvm::dyn_cast, llvm::isa;

void Translator::add(llvm::Instruction const& i) {
  if (auto const* local = dyn_cast<llvm::AllocaInst>(&i)) return system_.address(memory_.object_of(*local), of(local));
  if (auto const* load = dyn_cast<llvm::LoadInst>(&i)) return add_load(*load);
  if (auto const* store = dyn_cast<llvm::StoreInst>(&i))
    return add_store(store->getValueOperand(), store->getPointerOperand());
  if (auto const* gep = dyn_cast<llvm::GEPOperator>(&i)) return system_.copy(pointer_of(*gep), of(&i));
  if (auto const* cast = dyn_cast<llvm::CastInst>(&i)) return add_cast(*cast);
  if (auto const* operation = dyn_cast<llvm::BinaryOperator>(&i)) return add_arithmetic(*operation);
  if (auto const* intrinsic = dyn_cast<llvm::IntrinsicInst>(&i)) return add_intrinsic(*intrinsic);
  if (auto const* call = dyn_cast<llvm::CallBase>(&i)) return add_call(*call);
  if (auto const* result = dyn_cast<llvm::ReturnInst>(&i)) {
    if (result->getReturnValue())
      system_.copy(of(result->getReturnValue()), Memory::return_of(memory_.object_of(*i.getFunction())));
    return;
  }
  if (isa<llvm::PHINode, llvm::SelectInst, llvm::FreezeInst, llvm::ExtractValueInst, llvm::InsertValueInst,
          llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(i)) {
    if (is_tracked(i.getType()))
      for (auto const& operand : i.operands()) system_.copy(of(operand), of(&i));
    return;
  }
  if (auto const* exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&i)) {
    add_store(exchange->getNewValOperand(), exchange->getPointerOperand());
    return add_read(of(exchange->getPointerOperand()), exchange->getNewValOperand()->getType(), of(&i));
  }
  if (auto const* change = dyn_cast<llvm::AtomicRMWInst>(&i)) {
    add_store(change->getValOperand(), change->getPointerOperand());
    return add_read(of(change->getPointerOperand()), change->getType(), of(&i));
  }
  if (auto const* argument = dyn_cast<llvm::VAArgInst>(&i)) {
    Index const list = system_.add_variable();
    add_read(of(argument->getPointerOperand()), argument->getPointerOperand()->getType(), list);
    return add_read(list, argument->getType(), of(&i));
  }
  if (!is_tracked(i.getType())) return;
  if (i.getType()->isPtrOrPtrVectorTy() || isa<llvm::LandingPadInst>(i)) system_.copy(mark(), of(&i));
  ignore(i, "its result comes from outside");
}

void Translator::ignore(llvm::Instruction const& instruction, std::string const& why) {
  auto const place = place_of(instruction);
  report_.ignored.push_back({fmt::format("{}: {}", instruction.getOpcodeName(), why),
                             place.empty() ? instruction.getFunction()->getName().str() : place});
}

// --- memory ---

/// Where a value may have pointers, in bytes from its beginning.
std::vector<std::int64_t> Translator::words_of(llvm::Type* type) const {
  std::vector<std::int64_t> words;
  if (!is_tracked(type)) return words;
  auto const add_element = [&](llvm::Type* element, std::int64_t at) {
    for (auto const word : words_of(element)) words.push_back(at + word);
  };
  if (auto* structure = dyn_cast<llvm::StructType>(type)) {
    for (unsigned i = 0; i < structure->getNumElements(); ++i)
      add_element(structure->getElementType(i),
                  static_cast<std::int64_t>(layout_.getStructLayout(structure)->getElementOffset(i)));
    return words;
  }
  if (auto* array = dyn_cast<llvm::ArrayType>(type)) {
    auto const size = static_cast<std::int64_t>(layout_.getTypeAllocSize(array->getElementType()).getFixedValue());
    for (std::uint64_t i = 0; i < array->getNumElements(); ++i)
      add_element(array->getElementType(), static_cast<std::int64_t>(i) * size);
    return words;
  }
  if (auto* vector = dyn_cast<llvm::FixedVectorType>(type)) {
    auto const size = static_cast<std::int64_t>(layout_.getTypeStoreSize(vector->getElementType()).getFixedValue());
    for (unsigned i = 0; i < vector->getNumElements(); ++i) words.push_back(i * size);
    return words;
  }
  auto const bytes = static_cast<std::int64_t>(layout_.getTypeStoreSize(type).getKnownMinValue());
  auto const step = static_cast<std::int64_t>(layout_.getPointerSize());
  for (std::int64_t at = 0; at == 0 || at + step <= bytes; at += step) words.push_back(at);  // an i128 has two
  return words;
}

void Translator::add_read(Index pointer, llvm::Type* type, Index destination) {
  for (auto const word : words_of(type)) system_.load(system_.moved(pointer, word), destination);
}

void Translator::add_write(Index source, llvm::Type* type, Index pointer) {
  if (source == nothing) return;
  for (auto const word : words_of(type)) system_.store(source, system_.moved(pointer, word));
}

void Translator::add_load(llvm::LoadInst const& load) {
  if (is_tracked(load.getType())) add_read(of(load.getPointerOperand()), load.getType(), of(&load));
}

void Translator::add_store(llvm::Value const* value, llvm::Value const* pointer) {
  if (is_tracked(value->getType())) add_write(of(value), value->getType(), of(pointer));
}

// --- addresses ---

/// The place at any index of an array: of all within bounds where these are known, or of all at multiples.
Index Translator::indexed(Index pointer, llvm::Type* element, std::uint64_t count) {
  constexpr std::uint64_t most = 1024;
  auto const size = static_cast<std::int64_t>(layout_.getTypeAllocSize(element).getKnownMinValue());
  // Arrays of one element often have more, behind the end of their structure.
  if (count < 2 || count > most) return system_.stepped(pointer, size);
  for (std::uint64_t reached = 1; reached < count && pointer != nothing;) {
    auto const further = std::min(reached, count - reached);
    Index const both = system_.add_variable();
    system_.copy(pointer, both);
    system_.copy(system_.moved(pointer, static_cast<std::int64_t>(further) * size), both);
    pointer = both;
    reached += further;
  }
  return pointer;
}

namespace {

/// Whether an address is of the one before it, in a loop.
bool depends_on_itself(llvm::GEPOperator const& gep) {
  constexpr std::size_t most = 64;
  llvm::SmallPtrSet<llvm::Value const*, 16> seen;
  llvm::SmallVector<llvm::Value const*, 16> work{gep.getPointerOperand()};
  while (!work.empty() && seen.size() < most) {
    auto const* value = work.pop_back_val();
    if (value == &gep) return true;
    if (!isa<llvm::Instruction>(value) || !seen.insert(value).second) continue;
    if (auto const* other = dyn_cast<llvm::GEPOperator>(value))
      work.push_back(other->getPointerOperand());
    else if (isa<llvm::PHINode, llvm::SelectInst, llvm::BitCastInst, llvm::FreezeInst>(value))
      for (auto const& operand : llvm::cast<llvm::User>(value)->operands()) work.push_back(operand);
  }
  return false;
}

}  // namespace

/// Constants add up; what follows from them is done last, so that equal ones are one variable.
Index Translator::pointer_of(llvm::GEPOperator const& gep) {
  Index pointer = of(gep.getPointerOperand());
  std::int64_t bytes = 0;
  llvm::Type* whole = nullptr;  // what the index is of; none for the first one, which has no bounds
  for (auto at = llvm::gep_type_begin(gep); at != llvm::gep_type_end(gep); whole = at.getIndexedType(), ++at) {
    auto* const index = at.getOperand();
    if (auto* structure = at.getStructTypeOrNull()) {
      auto const number = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(index)->getZExtValue());
      bytes += static_cast<std::int64_t>(layout_.getStructLayout(structure)->getElementOffset(number));
      continue;
    }
    auto* const element = at.getIndexedType();
    auto const size = static_cast<std::int64_t>(layout_.getTypeAllocSize(element).getKnownMinValue());
    if (auto const* constant = dyn_cast<llvm::ConstantInt>(index)) {
      bytes += constant->getSExtValue() * size;
    } else if (!isa<llvm::Constant>(index) || !llvm::cast<llvm::Constant>(index)->isNullValue()) {
      auto const* const array = llvm::dyn_cast_or_null<llvm::ArrayType>(whole);
      pointer = indexed(pointer, element, array ? array->getNumElements() : 0);
    }
  }
  // One that moves on in a loop: any number of steps, in one.
  return depends_on_itself(gep) ? system_.stepped(pointer, bytes) : system_.moved(pointer, bytes);
}

// --- integers ---

void Translator::add_cast(llvm::CastInst const& cast) {
  bool const from_address = isa<llvm::PtrToIntInst>(cast), to_address = isa<llvm::IntToPtrInst>(cast);
  if (options_.integers == Integers::none && from_address) return system_.copy(of(cast.getOperand(0)), outside);
  if (options_.integers == Integers::none && to_address) return system_.copy(mark(), of(&cast));
  if (is_tracked(cast.getType())) system_.copy(of(cast.getOperand(0)), of(&cast));
}

void Translator::add_arithmetic(llvm::BinaryOperator const& operation) {
  if (!is_tracked(operation.getType())) return;
  if (options_.integers != Integers::all && !pointer_like_.contains(&operation)) return;
  auto const opcode = operation.getOpcode();
  auto const* const constant = dyn_cast<llvm::ConstantInt>(operation.getOperand(1));
  if (constant && constant->getBitWidth() <= 64 &&
      (opcode == llvm::Instruction::Add || opcode == llvm::Instruction::Sub)) {
    auto const bytes = constant->getSExtValue();
    bool const is_added = opcode == llvm::Instruction::Add;
    system_.copy(system_.moved(of(operation.getOperand(0)), is_added ? bytes : -bytes), of(&operation));
    return;
  }
  for (auto const& operand : operation.operands()) system_.copy(system_.stepped(of(operand), 1), of(&operation));
}

}  // namespace hornbill::extract
