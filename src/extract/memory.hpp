// Objects of a program: variables in memory, functions, and what is allocated. Internal to src/extract.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <hornbill/extract/extract.hpp>

#include "externals.hpp"
#include "system_builder.hpp"

namespace hornbill::extract {

/// "file.c:12:3" of an instruction; empty where it is not known.
std::string place_of(llvm::Instruction const& instruction);

/// The call by which a function that was inlined is there, and its name: "file.c:20:3", "xmalloc"; the instruction's
/// own place and the given name where none was.
std::pair<std::string, std::string> place_of_call(llvm::Instruction const& instruction, std::string const& name);

/// The function that is called, behind casts and aliases; none where it is a pointer's.
llvm::Function const* callee_of(llvm::CallBase const& call);
/// What a function returns, at each return.
std::vector<llvm::Value const*> returned_values(llvm::Function const& function);

/// The variable of the source that a place on the stack is; none where that is not known.
llvm::DILocalVariable const* variable_of(llvm::AllocaInst const& local);
/// Without typedefs, const and the like.
llvm::DIType const* stripped(llvm::DIType const* type);

/// What a call of a function outside does, by the table; none where the function has a body or is not in the table.
std::vector<ExternalEffect> const* effects_of(llvm::CallBase const& call, Externals const& externals);

/// Bytes of an object, and how many of them repeat.
struct Layout {
  Index size = 1, period = 1;
};

/// Makes an object for each of them, with a field for each number or pointer of its type. A function's fields are
/// itself, what it returns, its parameters, and what else it is called with.
class Memory {
 public:
  Memory(llvm::Module const& module, Externals const& externals, Options const& options, SystemBuilder& system,
         Report& report);

  /// The first field of a variable in memory or a function.
  Index object_of(llvm::Value const& value) const { return object_of_.at(&value); }
  static Index return_of(Index function) { return function + 1; }
  static Index parameter_of(Index function, unsigned number) { return function + 2 + static_cast<Index>(number); }
  /// Objects that a call of a function outside makes, one for each `new` of its effects, in their order; of a function
  /// itself where it is called through pointers.
  std::vector<Index> const& allocations_of(llvm::Value const& call_or_function) const;
  /// Whether an object stands for memory of many calls, of which neither the place nor the size is known.
  bool is_of_many(Index first_field) const { return of_many_.contains(first_field); }
  /// The object that a function outside always returns.
  Index fixed_object_of(llvm::Function const& function) const { return fixed_.at(&function); }

 private:
  Layout layout_of(llvm::Type& type, std::string const& name, std::string const& place);
  Layout folded(std::int64_t bytes, std::string const& name, std::string const& place);
  Layout layout_of_allocation(ExternalValue const& value, llvm::CallBase const* call, std::string const& name);
  void add(llvm::Value const& value, llvm::Type& type, Layout layout, std::string const& name,
           llvm::DIType const* debug_type);
  std::vector<Index> words_of(Layout layout) const;
  void add_begins(std::vector<Index>& begins, std::int64_t at, llvm::Type& type) const;
  void name_fields(Index first, Layout layout, Index at, std::string const& name, llvm::DIType const* type);
  void add_globals();
  void add_functions();
  void add_locals(llvm::Function const& function);
  void add_allocations(llvm::Function const& function, llvm::Value const& owner, llvm::CallBase const* call);
  Index add_allocation(llvm::Function const& function, llvm::CallBase const* call, ExternalValue const& value,
                       std::string const& name);

  llvm::Module const& module_;
  Externals const& externals_;
  Options const& options_;
  SystemBuilder& system_;
  Report& report_;
  std::unordered_map<llvm::Value const*, Index> object_of_;
  std::unordered_map<llvm::Value const*, std::vector<Index>> allocations_;
  std::unordered_map<llvm::Function const*, Index> fixed_;
  std::map<std::tuple<llvm::Function const*, Index, Index>, Index> of_hooks_;  // by bytes, and how many of them repeat
  std::unordered_set<Index> of_many_;
};

}  // namespace hornbill::extract
