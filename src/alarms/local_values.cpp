#include "local_values.hpp"

#include <algorithm>

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

#include "look_back.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

bool returns_zeroes(llvm::CallBase const& call, extract::Externals const& externals) {
  auto const* effects = extract::effects_of(call, externals);
  return effects && std::ranges::any_of(*effects, [](extract::ExternalEffect const& effect) {
           return effect.kind == extract::ExternalEffect::Kind::zeroes;
         });
}

LocalValues::LocalValues(llvm::Function const& function, MemoryEffects& effects)
    : function_(function), effects_(effects), layout_(function.getParent()->getDataLayout()) {
  llvm::ReversePostOrderTraversal<llvm::Function const*> const blocks(&function);
  for (auto const* block : blocks)
    for (auto const& instruction : *block) add(instruction);
  shorten_ways_to_leaders();
  has_leaders_ = true;
  for (auto const* block : blocks)
    for (auto const& instruction : *block) add_access(instruction);
}

void LocalValues::shorten_ways_to_leaders() {
  for (auto& [value, leader] : leaders_) leader = condition_of(value);
}

void LocalValues::add_access(llvm::Instruction const& instruction) {
  if (auto const* pointer = llvm::getLoadStorePointerOperand(&instruction))
    accesses_[address_of(pointer)].push_back(&instruction);
  if (auto const* copy = dyn_cast<llvm::AnyMemTransferInst>(&instruction);
      copy && isa<llvm::ConstantInt>(copy->getLength()))
    copies_.push_back(copy);
}

llvm::Value const* LocalValues::leader_of(llvm::Value const* value) const {
  if (value->getType()->isPointerTy() && isa<llvm::Constant>(value)) return value->stripPointerCasts();
  for (;;) {
    auto const found = leaders_.find(value);
    if (found == leaders_.end()) return value;
    value = found->second.value;
    if (has_leaders_) return value;
  }
}

Condition LocalValues::condition_of(llvm::Value const* value) const {
  Condition condition{value};
  for (auto next = leaders_.find(value); next != leaders_.end(); next = leaders_.find(condition.value)) {
    condition = {next->second.value, condition.is_negated != next->second.is_negated};
    if (has_leaders_) break;
  }
  return condition;
}

Address LocalValues::address_of(llvm::Value const* pointer) const {
  if (!has_leaders_ || !isa<llvm::Instruction>(pointer)) return find_address(pointer);
  auto const [at, is_new] = addresses_.try_emplace(pointer);
  if (is_new) at->second = find_address(pointer);
  return at->second;
}

Address LocalValues::find_address(llvm::Value const* pointer) const {
  constexpr int most = 1000;  // code that is never reached may have a pointer that is behind itself
  std::int64_t offset = 0;
  for (int i = 0;; ++i) {
    pointer = leader_of(pointer);
    auto const* gep = dyn_cast<llvm::GEPOperator>(pointer);
    llvm::APInt bytes(layout_.getIndexTypeSizeInBits(pointer->getType()), 0);
    if (!gep || i == most || !gep->accumulateConstantOffset(layout_, bytes)) return {pointer, offset};
    offset += bytes.getSExtValue();
    pointer = gep->getPointerOperand();
  }
}

llvm::Value const* LocalValues::base_of(llvm::Value const* pointer) const {
  constexpr int most = 1000;
  auto const* base = address_of(pointer).base;
  for (int i = 0; i < most; ++i) {
    auto const* gep = dyn_cast<llvm::GEPOperator>(base);
    if (!gep) break;
    base = address_of(gep->getPointerOperand()).base;
  }
  return base;
}

bool LocalValues::is_open(llvm::LoadInst const& load) const { return !calls_before_.contains(&load); }

std::vector<llvm::CallBase const*> const& LocalValues::calls_before(llvm::LoadInst const& load) const {
  static std::vector<llvm::CallBase const*> const none;
  auto const found = calls_before_.find(&load);
  return found == calls_before_.end() ? none : found->second;
}

std::vector<llvm::Instruction const*> const* LocalValues::writes_before(llvm::LoadInst const& load) const {
  auto const found = writes_before_.find(&load);
  return found == writes_before_.end() ? nullptr : &found->second;
}

std::vector<llvm::Instruction const*> const* LocalValues::zeroed_by(llvm::LoadInst const& load) const {
  auto const found = zeroed_by_.find(&load);
  return found == zeroed_by_.end() ? nullptr : &found->second;
}

std::vector<llvm::Instruction const*> const& LocalValues::accesses_of(Address const& address) const {
  static std::vector<llvm::Instruction const*> const none;
  auto const found = accesses_.find(address);
  return found == accesses_.end() ? none : found->second;
}

llvm::Value const* LocalValues::pointer_to(Address const& address, llvm::Value const* otherwise) const {
  auto const& accesses = accesses_of(address);
  return accesses.empty() ? otherwise : llvm::getLoadStorePointerOperand(accesses.front());
}

// --- expressions ---

namespace {

bool is_pure(llvm::Instruction const& instruction) {
  return isa<llvm::BinaryOperator, llvm::CastInst, llvm::GetElementPtrInst, llvm::SelectInst, llvm::CmpInst,
             llvm::UnaryOperator, llvm::ExtractValueInst>(instruction);
}

/// Of a comparison and its contrary one; and whether it is the other.
std::pair<llvm::CmpInst::Predicate, bool> positive(llvm::CmpInst::Predicate predicate) {
  using P = llvm::CmpInst::Predicate;
  switch (predicate) {
    case P::ICMP_NE: return {P::ICMP_EQ, true};
    case P::ICMP_UGE: return {P::ICMP_ULT, true};
    case P::ICMP_UGT: return {P::ICMP_ULE, true};
    case P::ICMP_SGE: return {P::ICMP_SLT, true};
    case P::ICMP_SGT: return {P::ICMP_SLE, true};
    default: return {predicate, false};
  }
}

}  // namespace

void LocalValues::add(llvm::Instruction const& instruction) {
  if (isa<llvm::BitCastInst, llvm::FreezeInst, llvm::AddrSpaceCastInst>(instruction)) {
    leaders_[&instruction] = {leader_of(instruction.getOperand(0))};
    return;
  }
  if (auto const* gep = dyn_cast<llvm::GetElementPtrInst>(&instruction); gep && gep->hasAllZeroIndices()) {
    leaders_[&instruction] = {leader_of(gep->getPointerOperand())};
    return;
  }
  if (auto const* comparison = dyn_cast<llvm::ICmpInst>(&instruction)) return add_comparison(*comparison);
  if (auto const* load = dyn_cast<llvm::LoadInst>(&instruction)) return add_load(*load);
  if (auto const* call = dyn_cast<llvm::CallBase>(&instruction)) {
    if (call->getIntrinsicID() == llvm::Intrinsic::expect) leaders_[call] = {leader_of(call->getArgOperand(0))};
    if (auto const* constant = constant_of(*call)) leaders_[&instruction] = {constant};
    return;
  }
  if (!is_pure(instruction)) return;
  if (auto const* constant = folded(instruction)) {
    leaders_[&instruction] = {constant};
    return;
  }
  Key key{instruction.getOpcode(), instruction.getType(), 0, {}};
  if (auto const* gep = dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    std::get<1>(key) = gep->getSourceElementType();
  } else if (auto const* comparison = dyn_cast<llvm::CmpInst>(&instruction)) {
    std::get<2>(key) = comparison->getPredicate();
  } else if (auto const* part = dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    std::get<2>(key) = part->getNumIndices() == 1 ? 1 + part->getIndices()[0] : 0;
    if (part->getNumIndices() != 1) return;
  }
  for (auto const& operand : instruction.operands()) std::get<3>(key).push_back(leader_of(operand));
  auto const [at, is_new] = expressions_.try_emplace(std::move(key), &instruction);
  if (!is_new) leaders_[&instruction] = {at->second};
}

void LocalValues::add_comparison(llvm::ICmpInst const& comparison) {
  auto const* left = leader_of(comparison.getOperand(0));
  auto const* right = leader_of(comparison.getOperand(1));
  auto const [predicate, is_negated] = positive(comparison.getPredicate());
  if (comparison.isEquality() && std::less<>()(right, left) && !isa<llvm::Constant>(right)) std::swap(left, right);
  auto const [at, is_new] = expressions_.try_emplace(
      Key{comparison.getOpcode(), comparison.getType(), predicate, {left, right}}, &comparison);
  if (is_new) return;
  auto const leading = llvm::cast<llvm::ICmpInst>(at->second)->getPredicate();
  leaders_[&comparison] = {at->second, is_negated != positive(leading).second};
}

// --- loads ---

void LocalValues::add_load(llvm::LoadInst const& load) {
  if (load.isVolatile()) return;
  if (auto const* constant = constant_of(load)) {
    leaders_[&load] = {constant};
    calls_before_[&load];
    writes_before_[&load];
    return;
  }
  auto sources = sources_of(load);
  if (sources.is_open) return;
  if (!sources.zeroed_by.empty() && sources.values.size() > 1) zeroed_by_[&load] = std::move(sources.zeroed_by);
  calls_before_[&load] = std::move(sources.calls);
  writes_before_[&load] = std::move(sources.instructions);
  if (sources.values.size() == 1 && sources.values.front() != &load) leaders_[&load] = {sources.values.front()};
}

/// What is at a place of a constant, or of a variable that nobody writes and whose address goes nowhere.
llvm::Constant const* LocalValues::constant_of(llvm::LoadInst const& load) const {
  llvm::APInt offset(layout_.getIndexTypeSizeInBits(load.getPointerOperandType()), 0);
  auto const* pointer = load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true);
  auto const* global = dyn_cast<llvm::GlobalVariable>(pointer);
  if (!global || !global->hasDefinitiveInitializer()) return nullptr;
  auto* const initial = const_cast<llvm::Constant*>(global->getInitializer());  // which stays as it is
  if (global->isConstant()) {
    auto const* content = llvm::ConstantFoldLoadFromConst(initial, load.getType(), offset, layout_);
    return content && !isa<llvm::UndefValue>(content) ? content : nullptr;
  }
  bool const is_read_only = effects_.is_closed(*global) && std::ranges::all_of(global->users(), [](auto const* user) {
                              return isa<llvm::LoadInst>(user);
                            });
  return is_read_only && global->getValueType() == load.getType() ? initial : nullptr;
}

/// The constant that a function returns in any case.
llvm::Constant const* LocalValues::constant_of(llvm::CallBase const& call) const {
  auto const* callee = extract::callee_of(call);
  if (!callee || callee->isDeclaration() || callee->size() > 8 || callee->isInterposable()) return nullptr;
  llvm::Constant const* constant = nullptr;
  for (auto const& block : *callee) {
    auto const* result = dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (!result) continue;
    auto const* value = result->getReturnValue() ? dyn_cast<llvm::ConstantInt>(result->getReturnValue()) : nullptr;
    if (!value || (constant && constant != value)) return nullptr;
    constant = value;
  }
  return constant && constant->getType() == call.getType() ? constant : nullptr;
}

/// The number or the null pointer that an instruction computes from constants.
llvm::Constant const* LocalValues::folded(llvm::Instruction const& instruction) const {
  if (isa<llvm::GetElementPtrInst>(instruction)) return nullptr;
  std::vector<llvm::Constant*> operands;
  for (auto const& operand : instruction.operands()) {
    auto const* constant = dyn_cast<llvm::Constant>(leader_of(operand));
    if (!constant || constant->getType() != operand->getType()) return nullptr;
    operands.push_back(const_cast<llvm::Constant*>(constant));  // which stays as it is
  }
  auto const* result = llvm::ConstantFoldInstOperands(const_cast<llvm::Instruction*>(&instruction), operands, layout_);
  bool const is_known = result && isa<llvm::ConstantInt, llvm::ConstantPointerNull>(result);
  return is_known ? result : nullptr;
}

/// The constant that an instruction leaves at a place of a block that it sets: of zeros, or a copy of constants.
llvm::Constant const* LocalValues::content_of(llvm::Instruction const& instruction, llvm::LoadInst const& load,
                                              Address const& address) const {
  auto* const type = load.getType();
  if (&instruction == address.base) {
    auto const* call = dyn_cast<llvm::CallBase>(&instruction);
    bool const is_zero = call && returns_zeroes(*call, effects_.bitcode().externals());
    return is_zero ? llvm::Constant::getNullValue(type) : nullptr;
  }
  auto const* memory = dyn_cast<llvm::AnyMemIntrinsic>(&instruction);
  auto const* length = memory ? dyn_cast<llvm::ConstantInt>(memory->getLength()) : nullptr;
  if (!length) return nullptr;
  auto const to = address_of(memory->getRawDest());
  auto const bytes = static_cast<std::int64_t>(layout_.getTypeStoreSize(type).getKnownMinValue());
  auto const skipped = address.offset - to.offset;
  if (to.base != address.base || skipped < 0 || skipped + bytes > static_cast<std::int64_t>(length->getZExtValue()))
    return nullptr;
  if (auto const* fill = dyn_cast<llvm::AnyMemSetInst>(memory)) {
    auto const* value = dyn_cast<llvm::ConstantInt>(fill->getValue());
    return value && value->isZero() ? llvm::Constant::getNullValue(type) : nullptr;
  }
  auto const from = address_of(llvm::cast<llvm::AnyMemTransferInst>(memory)->getRawSource());
  auto const* global = dyn_cast<llvm::GlobalVariable>(from.base);
  if (!global || !global->isConstant() || !global->hasDefinitiveInitializer()) return nullptr;
  return llvm::ConstantFoldLoadFromConst(const_cast<llvm::Constant*>(global->getInitializer()), type,
                                         llvm::APInt(64, static_cast<std::uint64_t>(from.offset + skipped)), layout_);
}

bool LocalValues::may_change(llvm::Instruction const& instruction, Address const& address,
                             llvm::Value const& pointer) const {
  if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction)) {
    auto const other = address_of(store->getPointerOperand());
    if (other.base == address.base) {
      auto const bytes =
          static_cast<std::int64_t>(layout_.getTypeStoreSize(store->getValueOperand()->getType()).getKnownMinValue());
      constexpr std::int64_t widest = 8;
      return other.offset < address.offset + widest && address.offset < other.offset + bytes;
    }
    return effects_.may_alias(*store->getPointerOperand(), pointer);
  }
  if (auto const* memory = dyn_cast<llvm::AnyMemIntrinsic>(&instruction)) {
    if (address_of(memory->getRawDest()).base == address.base) return true;
    return effects_.may_alias(*memory->getRawDest(), pointer);
  }
  if (isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction))
    return effects_.may_alias(*instruction.getOperand(0), pointer);
  auto const* call = dyn_cast<llvm::CallBase>(&instruction);
  return call && !isa<llvm::IntrinsicInst>(call) && effects_.may_write(*call, pointer);
}

/// \return whether the way back ends here
bool LocalValues::look(llvm::Instruction const& instruction, llvm::LoadInst const& load, Address const& address,
                       Sources& sources) const {
  auto const add = [&](llvm::Value const* value) {
    if (&instruction != address.base) sources.instructions.push_back(&instruction);
    if (std::ranges::find(sources.values, value) == sources.values.end()) sources.values.push_back(value);
    return true;
  };
  auto const is_alike = [&](llvm::Type const* type) {
    return type == load.getType() || (type->isPointerTy() && load.getType()->isPointerTy());
  };
  if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction);
      store && address_of(store->getPointerOperand()) == address && is_alike(store->getValueOperand()->getType()))
    return add(leader_of(store->getValueOperand()));
  if (auto const* constant = content_of(instruction, load, address)) {
    if (isa<llvm::ConstantPointerNull>(constant)) sources.zeroed_by.push_back(&instruction);
    return add(constant);
  }
  if (auto const* other = dyn_cast<llvm::LoadInst>(&instruction); other && other != &load && !other->isVolatile() &&
                                                                  is_alike(other->getType()) &&
                                                                  address_of(other->getPointerOperand()) == address)
    return add(leader_of(other));
  if (&instruction == address.base) {  // memory that is new holds nothing yet; other one comes from elsewhere
    sources.is_open = sources.is_open || !isa<llvm::AllocaInst>(instruction);
    return add(llvm::UndefValue::get(load.getType()));
  }
  if (!may_change(instruction, address, *load.getPointerOperand())) {
    if (auto const* call = dyn_cast<llvm::CallBase>(&instruction);
        call && !effects_.callees_of(*call).functions.empty())
      sources.calls.push_back(call);
    return false;
  }
  sources.is_open = true;
  return true;
}

LocalValues::Sources LocalValues::sources_of(llvm::LoadInst const& load) const {
  auto const address = address_of(load.getPointerOperand());
  Sources sources;
  auto const ends = [&](llvm::Instruction const& i) { return look(i, load, address, sources); };
  if (!look_back(load, ends, sources.is_open)) sources.is_open = true;
  return sources;
}

}  // namespace hornbill::alarms
