// How values are written in the source, as far as debug information says. Internal to src/alarms.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

namespace hornbill::alarms {

class Expressions {
 public:
  /// `p`, `s->next`, `malloc(...)`.
  std::string text_of(llvm::Value const& value) { return of(value, 0).text; }
  /// Of what is so many bytes behind what a pointer is to.
  std::string text_behind(llvm::Value const& pointer, std::int64_t bytes) { return behind(of(pointer, 0), bytes).text; }

 private:
  struct Expression {
    std::string text;
    llvm::DIType const* type = nullptr;    // without typedefs; none where it is not known
    llvm::DIType const* target = nullptr;  // of an address, the type of what is there
  };
  Expression of(llvm::Value const& value, int depth);
  /// Of what is so many bytes behind what an expression points to.
  Expression behind(Expression const& pointer, std::int64_t bytes);
  Expression element_of(Expression const& pointer);
  Expression content_of(llvm::Value const& pointer, int depth);
  Expression member_of(Expression whole, std::int64_t bytes);
  llvm::DILocalVariable const* variable_of(llvm::Value const& value, llvm::Function const& function);

  std::unordered_map<llvm::Value const*, llvm::DILocalVariable const*> variables_;
  std::unordered_set<llvm::Value const*> own_;  // that have a variable of their function
  std::unordered_set<llvm::Function const*> known_;
};

}  // namespace hornbill::alarms
