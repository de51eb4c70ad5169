// Constraints of instructions. Internal to src/extract.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>
#include <hornbill/extract/extract.hpp>

#include "externals.hpp"
#include "memory.hpp"
#include "system_builder.hpp"

namespace hornbill::extract {

/// A constraint for each thing that a program does with pointers. A value of several words, such as a vector or a
/// structure, is one variable.
class Translator {
 public:
  Translator(llvm::Module const& module, Memory const& memory, Externals const& externals, Options const& options,
             SystemBuilder& system, Report& report)
      : module_(module),
        layout_(module.getDataLayout()),
        memory_(memory),
        externals_(externals),
        options_(options),
        system_(system),
        report_(report) {}

  void translate();
  /// The variable of a value of the program; nothing if that points to nothing.
  Index variable_of(llvm::Value const& value) { return of(&value); }

 private:
  // --- the whole program (translator.cpp) ---
  void add_outside();
  void add_initialisers();
  void add_initial(llvm::Constant const& value, Index object, std::int64_t byte);
  void add_entries();
  void add_function(llvm::Function const& function);
  void name_variables(llvm::Function const& function);
  void name_variable(llvm::Value const* value, llvm::DILocalVariable const* variable, llvm::Function const& function);
  void find_pointer_like(llvm::Function const& function);

  // --- values ---
  bool is_tracked(llvm::Type const* type) const;
  /// The variable of a value; nothing if that points to nothing.
  Index of(llvm::Value const* value);
  Index of_constant(llvm::Constant const& constant);
  Index address_of(Index object, std::int64_t byte = 0);
  std::optional<std::pair<Index, std::int64_t>> address_in(llvm::Constant const& constant) const;
  Index mark() { return mark_ == nothing ? mark_ = address_of(outside) : mark_; }

  // --- instructions (instructions.cpp) ---
  void add(llvm::Instruction const& instruction);
  void add_load(llvm::LoadInst const& load);
  void add_store(llvm::Value const* value, llvm::Value const* pointer);
  void add_read(Index pointer, llvm::Type* type, Index destination);
  void add_write(Index source, llvm::Type* type, Index pointer);
  std::vector<std::int64_t> words_of(llvm::Type* type) const;
  Index pointer_of(llvm::GEPOperator const& gep);
  Index indexed(Index pointer, llvm::Type* element, std::uint64_t count);
  void add_cast(llvm::CastInst const& cast);
  void add_arithmetic(llvm::BinaryOperator const& operation);
  void ignore(llvm::Instruction const& instruction, std::string const& why);

  // --- calls (calls.cpp) ---
  void add_call(llvm::CallBase const& call);
  void add_intrinsic(llvm::IntrinsicInst const& call);
  void add_known_call(llvm::CallBase const& call, llvm::Function const& function);
  void add_pointer_call(llvm::CallBase const& call);
  void add_unknown_call(llvm::CallBase const& call, llvm::Function const* function);
  void call_through(Index pointer, std::vector<Index> const& arguments, Index result);
  void copy_memory(Index to, Index from, std::optional<std::uint64_t> bytes);
  void copy_word(Index to, Index from);
  std::int64_t step_of_copies() const;
  void add_variable_arguments(llvm::Value const* list, llvm::Function const& function);
  void add_external_function(llvm::Function const& function);
  /// Applies effects to arguments and a result.
  struct ExternalCall {
    std::vector<Index> arguments;
    Index result;
    std::vector<Index> const& allocations;
    llvm::Function const& function;
    llvm::CallBase const* call;  ///< none where it is called through pointers
  };
  void apply(std::vector<ExternalEffect> const& effects, ExternalCall const& call);

  llvm::Module const& module_;
  llvm::DataLayout const& layout_;
  Memory const& memory_;
  Externals const& externals_;
  Options const& options_;
  SystemBuilder& system_;
  Report& report_;
  Index mark_ = nothing;  // a variable that points outside, and to nothing else
  std::unordered_map<llvm::Value const*, Index> variables_;
  std::map<std::pair<Index, bool>, Index> addresses_;  // of a field, or of what is between it and the next one
  std::unordered_map<llvm::DILocalVariable const*, Index> named_;
  std::unordered_set<llvm::Value const*> pointer_like_;  // integers of the function that come from or become addresses
};

}  // namespace hornbill::extract
