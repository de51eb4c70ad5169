#include "modules.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <hornbill/error.hpp>

namespace hornbill::extract {
namespace {

/// Bitcode of a newer LLVM is refused in terms of its inside; its producer is what helps.
std::string explained(std::string const& message) {
  std::string_view constexpr producer = "Producer: 'LLVM";
  auto const at = message.find(producer);
  if (at == std::string::npos) return fmt::format("LLVM {} cannot read it: {}", LLVM_VERSION_STRING, message);
  auto const begin = at + producer.size();
  return fmt::format(
      "was written by LLVM {}, and this Hornbill was built with LLVM {}, which cannot read it ({}); compile it with "
      "clang {}, or build Hornbill with the newer LLVM",
      message.substr(begin, message.find('\'', begin) - begin), LLVM_VERSION_STRING, message.substr(0, at - 2),
      LLVM_VERSION_MAJOR);
}

/// LLVM verifies a program with debug information as it reads it, too, which costs as much again; newer versions, such
/// as 19, have an option of their tools that turns it off.
void leave_verification_to_us() {
  auto& options = llvm::cl::getRegisteredOptions();
  auto const found = options.find("disable-auto-upgrade-debug-info");
  if (found != options.end() && found->second->getNumOccurrences() == 0)
    found->second->addOccurrence(0, found->first(), "true");
}

/// LLVM ends the process where it reads what it does not expect, such as a broken program with debug information where
/// that option is missing; as long as this is there, an error is thrown in its place.
class FatalErrors {
 public:
  explicit FatalErrors(std::string const& file) : handler_(raise, const_cast<std::string*>(&file)) {}

 private:
  static void raise(void* file, char const* reason, bool) {
    throw InputError(*static_cast<std::string const*>(file), "",
                     fmt::format("is no valid program for LLVM: {}", reason));
  }
  llvm::ScopedFatalErrorHandler handler_;
};

std::string verification_errors(llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  bool has_broken_debug_info = false;
  bool const is_broken = llvm::verifyModule(module, &out, &has_broken_debug_info);
  bool const is_of_version = llvm::getDebugMetadataVersionFromModule(module) == llvm::DEBUG_METADATA_VERSION;
  if (!is_broken && (has_broken_debug_info || !is_of_version)) llvm::StripDebugInfo(module);
  return is_broken ? out.str().substr(0, out.str().find('\n')) : std::string();
}

std::unique_ptr<llvm::Module> read_module(std::string const& file, llvm::LLVMContext& context) {
  leave_verification_to_us();
  FatalErrors const fatal_errors(file);
  llvm::SMDiagnostic error;
  auto module = llvm::parseIRFile(file, error, context);
  if (!module) {
    if (!file.ends_with(".ll") && error.getLineNo() > 0)
      throw InputError(
          file, "",
          "is neither LLVM bitcode nor its text; compile the source with `clang -c -emit-llvm -g`, or link it "
          "as the README says and take PROGRAM.0.0.preopt.bc");
    if (auto const [said, reason] = error.getMessage().split("Could not open input file: "); said.empty())
      throw InputError(file, "", fmt::format("cannot be read: {}", reason.str()));
    auto const place = error.getLineNo() > 0 ? fmt::format("line {}", error.getLineNo()) : std::string();
    throw InputError(file, place, place.empty() ? explained(error.getMessage().str()) : error.getMessage().str());
  }
  if (auto const errors = verification_errors(*module); !errors.empty())
    throw InputError(file, "", fmt::format("is no valid program for LLVM: {}", errors));
  return module;
}

/// What the linker complains of goes into its error.
class LinkErrors {
 public:
  explicit LinkErrors(llvm::LLVMContext& context) : context_(context) {
#if LLVM_VERSION_MAJOR >= 19
    context.setDiagnosticHandlerCallBack([](auto const* d, void* errors) { add(*d, errors); }, &text_);
#else
    context.setDiagnosticHandlerCallBack([](auto const& d, void* errors) { add(d, errors); }, &text_);
#endif
  }
  ~LinkErrors() { context_.setDiagnosticHandlerCallBack(nullptr); }
  LinkErrors(LinkErrors const&) = delete;
  LinkErrors& operator=(LinkErrors const&) = delete;
  std::string const& text() const { return text_; }

 private:
  static void add(llvm::DiagnosticInfo const& diagnostic, void* errors) {
    if (diagnostic.getSeverity() != llvm::DS_Error) return;
    llvm::raw_string_ostream out(*static_cast<std::string*>(errors));
    llvm::DiagnosticPrinterRawOStream printer(out);
    diagnostic.print(printer);
  }

  llvm::LLVMContext& context_;
  std::string text_;
};

void promote_locals(llvm::Function& function) {
  std::vector<llvm::AllocaInst*> locals;
  for (auto& instruction : function.getEntryBlock())
    if (auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction); local && llvm::isAllocaPromotable(local))
      locals.push_back(local);
  if (locals.empty()) return;
  llvm::DominatorTree tree(function);
  llvm::PromoteMemToReg(locals, tree);
}

void put_constants_right(llvm::Function& function) {
  for (auto& instruction : llvm::instructions(function))
    if (auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
        comparison && llvm::isa<llvm::Constant>(comparison->getOperand(0)) &&
        !llvm::isa<llvm::Constant>(comparison->getOperand(1)))
      comparison->swapOperands();
}

}  // namespace

void canonicalise(llvm::Module& module) {
  for (auto& function : module) {
    if (function.isDeclaration()) continue;
    promote_locals(function);
    put_constants_right(function);
  }
}

std::unique_ptr<llvm::Module> read_program(std::vector<std::string> const& files, llvm::LLVMContext& context) {
  auto program = read_module(files.front(), context);
  for (auto const& file : std::vector(files.begin() + 1, files.end())) {
    LinkErrors const errors(context);
    if (llvm::Linker::linkModules(*program, read_module(file, context)))
      throw InputError(file, "",
                       fmt::format("cannot be linked with the files before it: {}; name each file of one program once",
                                   errors.text()));
  }
  bool const has_body = std::ranges::any_of(*program, [](llvm::Function const& f) { return !f.isDeclaration(); });
  if (!has_body)
    throw InputError(files.front(), "", "has no function with a body; compile it with `clang -c -emit-llvm -g`");
  canonicalise(*program);
  return program;
}

bool is_library(llvm::Module const& module, Entry entry) {
  auto const* const main = module.getFunction("main");
  return entry == Entry::library || (entry == Entry::automatic && (!main || main->isDeclaration()));
}

}  // namespace hornbill::extract
