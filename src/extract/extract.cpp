#include <hornbill/extract.hpp>

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LLVMContext.h>

#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>

#include "externals.hpp"
#include "memory.hpp"
#include "modules.hpp"
#include "translator.hpp"

namespace hornbill::extract {

std::string llvm_version() { return LLVM_VERSION_STRING; }

Extracted extract(std::vector<std::string> const& files, Options const& options) {
  if (files.empty()) throw InputError("no file of bitcode is given");
  auto externals = standard_externals();
  for (auto const& file : options.externals) read_externals(file, io::read_text(file), externals);
  llvm::LLVMContext context;
  auto const program = read_program(files, context);
  SystemBuilder system;
  Report report;
  Memory const memory(*program, externals, options, system, report);
  Translator(*program, memory, externals, options, system, report).translate();
  return {system.take(), std::move(report)};
}

}  // namespace hornbill::extract
