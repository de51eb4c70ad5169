#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/IntrinsicInst.h>

#include "translator.hpp"

namespace hornbill::extract {

using llvm::dyn_cast, llvm::isa;

void Translator::add_call(llvm::CallBase const& call) {
  if (call.isInlineAsm()) {
    ignore(call, "inline assembly: its operands escape, its result comes from outside");
    return add_unknown_call(call, nullptr);
  }
  auto const* const function = callee_of(call);
  if (!function) return add_pointer_call(call);
  if (function->isIntrinsic()) return;
  if (!function->isDeclaration()) return add_known_call(call, *function);
  auto const known = externals_.find(function->getName().str());
  if (known == externals_.end()) return add_unknown_call(call, function);
  std::vector<Index> arguments;
  for (auto const& argument : call.args()) arguments.push_back(of(argument));
  apply(known->second, {arguments, of(&call), memory_.allocations_of(call), *function, &call});
}

/// Parameters are fields of the function. Arguments behind `...` are one. A structure that is passed as a copy is taken
/// for the original: what is done to the one is done to the other.
void Translator::add_known_call(llvm::CallBase const& call, llvm::Function const& function) {
  Index const object = memory_.object_of(function);
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    if (i >= function.arg_size() && !function.isVarArg()) break;
    auto const number = std::min(i, static_cast<unsigned>(function.arg_size()));
    system_.copy(of(call.getArgOperand(i)), Memory::parameter_of(object, number));
  }
  system_.copy(Memory::return_of(object), of(&call));
}

void Translator::call_through(Index pointer, std::vector<Index> const& arguments, Index result) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i] != nothing) system_.store(arguments[i], system_.of_functions(pointer, 2 + static_cast<Index>(i)));
  if (result != nothing) system_.load(system_.of_functions(pointer, 1), result);
}

void Translator::add_pointer_call(llvm::CallBase const& call) {
  Index const pointer = of(call.getCalledOperand());
  if (pointer == nothing) return;  // a call of null
  std::vector<Index> arguments;
  for (auto const& argument : call.args()) arguments.push_back(of(argument));
  call_through(pointer, arguments, of(&call));
  system_.add_call(pointer);
}

void Translator::add_unknown_call(llvm::CallBase const& call, llvm::Function const* function) {
  if (function) ++report_.unknown_externals[function->getName().str()];
  for (auto const& argument : call.args()) system_.copy(of(argument), outside);
  system_.copy(mark(), of(&call));
}

void Translator::add_intrinsic(llvm::IntrinsicInst const& call) {
  if (auto const* transfer = dyn_cast<llvm::AnyMemTransferInst>(&call)) {
    if (auto const* from = dyn_cast<llvm::GlobalVariable>(transfer->getRawSource()->stripInBoundsOffsets());
        from && from->isConstant() && from->hasInitializer() &&
        isa<llvm::ConstantDataSequential>(from->getInitializer()))
      return;  // a string
    auto const* const length = dyn_cast<llvm::ConstantInt>(transfer->getLength());
    return copy_memory(of(transfer->getRawDest()), of(transfer->getRawSource()),
                       length ? std::optional(length->getZExtValue()) : std::nullopt);
  }
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::vastart: return add_variable_arguments(call.getArgOperand(0), *call.getFunction());
    case llvm::Intrinsic::vacopy:
      return copy_memory(of(call.getArgOperand(0)), of(call.getArgOperand(1)), 3 * layout_.getPointerSize());
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group:
    case llvm::Intrinsic::ptrmask:
    case llvm::Intrinsic::ptr_annotation:
#if LLVM_VERSION_MAJOR >= 16
    case llvm::Intrinsic::threadlocal_address:
#endif
    case llvm::Intrinsic::expect: return system_.copy(of(call.getArgOperand(0)), of(&call));
    case llvm::Intrinsic::masked_load:
    case llvm::Intrinsic::masked_gather: return add_read(of(call.getArgOperand(0)), call.getType(), of(&call));
    case llvm::Intrinsic::masked_store:
    case llvm::Intrinsic::masked_scatter: return add_store(call.getArgOperand(0), call.getArgOperand(1));
    default: break;
  }
  if (call.getType()->isPtrOrPtrVectorTy() && call.getIntrinsicID() != llvm::Intrinsic::stacksave &&
      call.getIntrinsicID() != llvm::Intrinsic::frameaddress &&
      call.getIntrinsicID() != llvm::Intrinsic::returnaddress) {
    system_.copy(mark(), of(&call));
    ignore(call, "its result comes from outside");
  }
}

void Translator::copy_word(Index to, Index from) {
  if (to == nothing || from == nothing) return;
  auto const content = system_.add_variable();
  system_.load(from, content);
  system_.store(content, to);
}

/// Pointers are copied as wholes, and lie at multiples of their size from where a copy begins.
std::int64_t Translator::step_of_copies() const {
  return options_.integers == Integers::all ? 1 : static_cast<std::int64_t>(layout_.getPointerSize());
}

/// Each word to its place. Where the length is not known, or is large, words at multiples of a distance are one, which
/// is one of most sizes of structures, too.
void Translator::copy_memory(Index to, Index from, std::optional<std::uint64_t> bytes) {
  constexpr std::int64_t distance = 240;
  auto const step = step_of_copies(), word = static_cast<std::int64_t>(layout_.getPointerSize());
  bool const is_short = bytes && *bytes <= 2048;
  auto const end = is_short ? static_cast<std::int64_t>(*bytes) : distance;
  for (std::int64_t at = 0; at + (step == 1 ? 1 : word) <= end; at += step) {
    Index const word_to = system_.moved(to, at), word_from = system_.moved(from, at);
    if (is_short)
      copy_word(word_to, word_from);
    else
      copy_word(system_.stepped(word_to, distance), system_.stepped(word_from, distance));
  }
}

/// A list of arguments has pointers to where they are, in one place or another by the machine.
void Translator::add_variable_arguments(llvm::Value const* list, llvm::Function const& function) {
  Index const arguments =
      address_of(Memory::parameter_of(memory_.object_of(function), static_cast<unsigned>(function.arg_size())));
  for (unsigned i = 0; i < 3; ++i)
    system_.store(arguments, system_.moved(of(list), static_cast<std::int64_t>(i * layout_.getPointerSize())));
}

/// A function outside, as pointers reach it.
void Translator::add_external_function(llvm::Function const& function) {
  if (!function.hasAddressTaken()) return;
  Index const object = memory_.object_of(function);
  std::vector<Index> parameters;
  for (unsigned i = 0; i < function.arg_size() + (function.isVarArg() ? 1 : 0); ++i)
    parameters.push_back(Memory::parameter_of(object, i));
  auto const known = externals_.find(function.getName().str());
  if (known != externals_.end())
    return apply(known->second,
                 {parameters, Memory::return_of(object), memory_.allocations_of(function), function, nullptr});
  for (Index const parameter : parameters) system_.copy(parameter, outside);
  system_.copy(mark(), Memory::return_of(object));
}

void Translator::apply(std::vector<ExternalEffect> const& effects, ExternalCall const& call) {
  auto allocation = call.allocations.begin();
  auto const argument = [&](int number) {
    auto const i = static_cast<std::size_t>(number);
    return i < call.arguments.size() ? call.arguments[i] : nothing;
  };
  auto const variable_of = [&](ExternalValue const& value) {
    using enum ExternalValue::Kind;
    switch (value.kind) {
      case passed: return argument(value.argument);
      case within: return system_.stepped(argument(value.argument), 1);
      case content: {
        if (argument(value.argument) == nothing) return nothing;
        Index const variable = system_.add_variable();
        system_.load(argument(value.argument), variable);
        return variable;
      }
      case fresh: return allocation == call.allocations.end() ? nothing : address_of(*allocation++);
      case fixed: return address_of(memory_.fixed_object_of(call.function));
      case from_outside: return mark();
      case null: return nothing;
    }
    return nothing;
  };
  for (auto const& effect : effects) {
    std::vector<Index> values;
    for (auto const& value : effect.values) values.push_back(variable_of(value));
    switch (effect.kind) {
      case ExternalEffect::Kind::returns: system_.copy(values.front(), call.result); break;
      case ExternalEffect::Kind::stores: system_.store(values.front(), argument(effect.argument)); break;
      case ExternalEffect::Kind::assigns:
        if (auto const* variable = call.function.getParent()->getGlobalVariable(effect.variable))
          system_.store(values.front(), of(variable));
        break;
      case ExternalEffect::Kind::escapes: system_.copy(argument(effect.argument), outside); break;
      case ExternalEffect::Kind::copies: {
        auto const size = static_cast<unsigned>(effect.size);
        bool const has_size = call.call && effect.size >= 0 && size < call.call->arg_size();
        auto const* const constant = has_size ? dyn_cast<llvm::ConstantInt>(call.call->getArgOperand(size)) : nullptr;
        copy_memory(argument(effect.argument), argument(effect.source),
                    constant ? std::optional(constant->getZExtValue()) : std::nullopt);
        break;
      }
      case ExternalEffect::Kind::fills: {
        if (allocation == call.allocations.begin() || argument(effect.argument) == nothing) break;
        Index const object = *std::prev(allocation);
        for (std::int64_t at = 0; at < system_.bytes_of(object); at += step_of_copies())
          copy_word(system_.moved(address_of(object), at), system_.moved(argument(effect.argument), at));
        break;
      }
      case ExternalEffect::Kind::ends:
      case ExternalEffect::Kind::frees:
      case ExternalEffect::Kind::uses:
      case ExternalEffect::Kind::writes:
      case ExternalEffect::Kind::taints:
      case ExternalEffect::Kind::flows:
      case ExternalEffect::Kind::zeroes:
      case ExternalEffect::Kind::sinks: break;  // move no pointers
      case ExternalEffect::Kind::calls:
        if (argument(effect.argument) != nothing) call_through(argument(effect.argument), values, nothing);
        break;
    }
  }
}

}  // namespace hornbill::extract
