#include "instrument.hpp"

#include <array>
#include <set>

#include <fmt/format.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#include <extract/memory.hpp>
#include <extract/modules.hpp>
#include <extract/translator.hpp>

#include <hornbill/error.hpp>

namespace hornbill::observe {
namespace {

using extract::Externals, extract::Memory, extract::SystemBuilder, extract::Translator;

class Instrumentation {
 public:
  Instrumentation(llvm::Module& program, Memory const& memory, Translator& translator, SystemBuilder const& system)
      : program_(program),
        memory_(memory),
        translator_(translator),
        system_(system),
        pointer_(llvm::PointerType::get(llvm::Type::getInt8Ty(program.getContext()), 0)),
        layout_(function("hornbill_layout", {int32(), int32(), int32()})),
        place_(function("hornbill_place", {pointer_, int64(), int32()})),
        allocated_(function("hornbill_allocated", {pointer_, int32()})),
        remove_(function("hornbill_remove", {pointer_})),
        meet_(function("hornbill_meet", {pointer_, int64(), int32()})) {}

  std::vector<Site> run() {
    for (auto& function : program_)
      if (!function.isDeclaration()) instrument(function);
    add_constructor();
    return std::move(sites_);
  }

 private:
  llvm::Type* int32() const { return llvm::Type::getInt32Ty(program_.getContext()); }
  llvm::Type* int64() const { return llvm::Type::getInt64Ty(program_.getContext()); }
  llvm::FunctionCallee function(char const* name, llvm::ArrayRef<llvm::Type*> parameters) const {
    auto* const nothing = llvm::Type::getVoidTy(program_.getContext());
    return program_.getOrInsertFunction(name, llvm::FunctionType::get(nothing, parameters, false));
  }
  llvm::Value* address(llvm::IRBuilder<>& builder, llvm::Value* value) const {
    return builder.CreatePointerBitCastOrAddrSpaceCast(value, pointer_);
  }

  void instrument(llvm::Function& function) {
    std::vector<llvm::Instruction*> all;
    for (auto& instruction : llvm::instructions(function)) all.push_back(&instruction);
    std::vector<llvm::AllocaInst*> locals;
    for (auto* instruction : all) {
      if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(instruction)) {
        add_local(*local);
        if (local->isStaticAlloca()) locals.push_back(local);
      } else if (llvm::isa<llvm::ReturnInst>(instruction)) {
        llvm::IRBuilder<> builder(instruction);
        for (auto* local : locals) builder.CreateCall(remove_, {address(builder, local)});
      } else {
        add_accesses(*instruction);
      }
    }
  }
  void add_local(llvm::AllocaInst& local) {
    llvm::IRBuilder<> builder(local.getNextNode());
    auto const& layout = program_.getDataLayout();
    auto* const count = builder.CreateZExtOrTrunc(local.getArraySize(), int64());
    auto const element = layout.getTypeAllocSize(local.getAllocatedType()).getFixedValue();
    builder.CreateCall(place_, {address(builder, &local), builder.CreateMul(count, builder.getInt64(element)),
                                number(builder, memory_.object_of(local))});
  }
  void add_accesses(llvm::Instruction& i) {
    auto const meets = [&](char const* what, llvm::Value* pointer, llvm::Value* size = nullptr) {
      llvm::IRBuilder<> builder(&i);
      if (!size) size = builder.getInt64(1);
      auto const site = static_cast<Index>(sites_.size());
      builder.CreateCall(meet_,
                         {address(builder, pointer), builder.CreateZExtOrTrunc(size, int64()), number(builder, site)});
      sites_.push_back({translator_.variable_of(*pointer),
                        fmt::format("{} at {} in {}", what, extract::place_of(i), i.getFunction()->getName().str())});
    };
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&i)) return meets("load", load->getPointerOperand());
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&i)) return meets("store", store->getPointerOperand());
    if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&i)) return meets("change", change->getPointerOperand());
    if (auto* swap = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&i)) return meets("exchange", swap->getPointerOperand());
    if (auto* fill = llvm::dyn_cast<llvm::MemIntrinsic>(&i)) {
      meets("fill", fill->getRawDest(), fill->getLength());
      if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&i))
        meets("copy", copy->getRawSource(), copy->getLength());
      return;
    }
    auto* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    if (!call || call->isInlineAsm()) return;
    if (auto const* callee = extract::callee_of(*call))
      add_allocation(*call, *callee);
    else
      meets("call", call->getCalledOperand());
  }

  /// Calls that return memory of malloc(), or store its address at an argument.
  void add_allocation(llvm::CallBase& call, llvm::Function const& callee) {
    static std::set<std::string> const returned{"malloc",        "calloc", "realloc", "reallocarray", "memalign",
                                                "aligned_alloc", "valloc", "strdup",  "strndup",      "__strdup"};
    static std::set<std::string> const stored{"posix_memalign", "asprintf", "vasprintf", "__asprintf_chk",
                                              "__vasprintf_chk"};
    auto const name = callee.getName().str();
    if (name == "free" || name == "realloc" || name == "reallocarray") {
      llvm::IRBuilder<> builder(&call);
      builder.CreateCall(remove_, {address(builder, call.getArgOperand(0))});
    }
    auto const& objects = memory_.allocations_of(call);
    if (objects.empty() || (!returned.contains(name) && !stored.contains(name)) || call.isTerminator()) return;
    llvm::IRBuilder<> builder(call.getNextNode());
    llvm::Value* memory = &call;
    if (stored.contains(name))
      memory = builder.CreateLoad(
          pointer_, builder.CreatePointerCast(call.getArgOperand(0), llvm::PointerType::get(pointer_, 0)));
    if (!memory->getType()->isPointerTy()) memory = builder.CreateIntToPtr(memory, pointer_);
    builder.CreateCall(allocated_, {address(builder, memory), number(builder, objects.front())});
  }

  static llvm::Value* number(llvm::IRBuilder<>& builder, Index value) {
    return builder.getInt32(static_cast<std::uint32_t>(value));
  }

  /// Before all others, it tells the recorder of objects, and where globals and functions are.
  void add_constructor() {
    auto* const nothing = llvm::Type::getVoidTy(program_.getContext());
    auto* const constructor = llvm::Function::Create(llvm::FunctionType::get(nothing, false),
                                                     llvm::Function::InternalLinkage, "hornbill_objects", program_);
    llvm::IRBuilder<> builder(llvm::BasicBlock::Create(program_.getContext(), "", constructor));
    for (Index object = 0; object < system_.num_objects(); object += system_.num_fields(object))
      builder.CreateCall(layout_, {number(builder, object), number(builder, system_.bytes_of(object)),
                                   number(builder, system_.period_of(object))});
    for (auto& global : program_.globals()) {
      if (!global.getValueType()->isSized() || global.getName().substr(0, 5) == "llvm.") continue;
      if (global.isThreadLocal() || global.hasExternalWeakLinkage()) continue;
      global.setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::None);  // or strings with one ending share memory
      auto const size = program_.getDataLayout().getTypeAllocSize(global.getValueType()).getFixedValue();
      builder.CreateCall(
          place_, {address(builder, &global), builder.getInt64(size), number(builder, memory_.object_of(global))});
    }
    for (auto& function : program_) {
      if (function.isIntrinsic() || function.getName().substr(0, 9) == "hornbill_" || !function.hasAddressTaken())
        continue;
      builder.CreateCall(
          place_, {address(builder, &function), builder.getInt64(1), number(builder, memory_.object_of(function))});
    }
    builder.CreateRetVoid();
    llvm::appendToGlobalCtors(program_, constructor, 0);
  }

  llvm::Module& program_;
  Memory const& memory_;
  Translator& translator_;
  SystemBuilder const& system_;
  llvm::PointerType* pointer_;
  llvm::FunctionCallee layout_, place_, allocated_, remove_, meet_;
  std::vector<Site> sites_;
};

}  // namespace

Instrumented instrument(std::vector<std::string> const& files, extract::Options const& options,
                        std::string const& output) {
  auto const externals = extract::standard_externals();
  llvm::LLVMContext context;
  auto const program = extract::read_program(files, context);
  SystemBuilder system;
  extract::Report report;
  Memory const memory(*program, externals, options, system, report);
  Translator translator(*program, memory, externals, options, system, report);
  translator.translate();
  Instrumented instrumented;
  instrumented.sites = Instrumentation(*program, memory, translator, system).run();
  instrumented.constraints = system.take();
  std::error_code error;
  llvm::raw_fd_ostream out(output, error, llvm::sys::fs::OF_None);
  if (!error) llvm::WriteBitcodeToFile(*program, out);
  out.close();
  if (error || out.has_error()) throw InputError(output, "", "cannot be written");
  return instrumented;
}

}  // namespace hornbill::observe
