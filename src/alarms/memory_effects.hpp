// Which memory functions may write, by the points-to sets of their pointers. Internal to src/alarms.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <hornbill/extract/extract.hpp>
#include <hornbill/points_to/solution.hpp>

#include "../extract/bitcode.hpp"

namespace hornbill::alarms {

/// A set of objects, a bit for each.
using ObjectBits = std::vector<std::uint64_t>;

class MemoryEffects {
 public:
  MemoryEffects(extract::Program const& program, points_to::Solution const& solution);

  extract::Program::Bitcode const& bitcode() const { return bitcode_; }
  llvm::Module const& module() const { return bitcode_.module(); }
  /// Functions with a body that a call may be of; and whether it may be of others.
  struct Callees {
    std::vector<llvm::Function const*> functions;
    std::vector<llvm::Function const*> outside;  ///< that are declared
    bool is_open = false;                        ///< also of functions outside
    std::vector<unsigned> freed;                 ///< arguments whose memory's life ends, whichever function it is
    bool never_returns = false;                  ///< whichever function it is
  };
  Callees const& callees_of(llvm::CallBase const& call) const;
  /// Calls that may be of a function, whose address may be taken.
  std::vector<llvm::CallBase const*> const& callers_of(llvm::Function const& function) const;

  /// Whether all calls of a function are known.
  bool is_closed(llvm::Function const& function) const;
  /// Whether all stores to a variable are in the program.
  bool is_closed(llvm::GlobalVariable const& variable) const {
    return variable.hasLocalLinkage() || (is_program_ && !assigned_.contains(&variable));
  }
  /// Whether functions outside have an effect on an argument of a call: all that it may be of, or any.
  bool has_effect(llvm::CallBase const& call, unsigned argument, extract::ExternalEffect::Kind kind) const;
  bool may_have_effect(llvm::CallBase const& call, unsigned argument, extract::ExternalEffect::Kind kind) const;

  /// Whether a function with a body that a call may be of returns a place behind an argument.
  bool may_return(llvm::CallBase const& call, unsigned argument);

  /// Whether a call ends the program, or leaves in some other way; also by its arguments.
  bool never_returns(llvm::CallBase const& call) const;
  /// \param ends  says whether a function with a body ends the program where it gets a call's constants
  void set_endings(std::function<bool(llvm::Function const& function, llvm::CallBase const& call)> ends);

  /// Whether two pointers may be to the same place.
  bool may_alias(llvm::Value const& a, llvm::Value const& b);
  /// Whether a call may write to the memory at a pointer.
  bool may_write(llvm::CallBase const& call, llvm::Value const& pointer);

 private:
  std::unordered_set<llvm::Value const*> const& results_of(llvm::Function const& function);
  bool writes_to(llvm::CallBase const& call, Index set);
  Index set_of(llvm::Value const& pointer) const;
  bool meets(ObjectBits const& objects, Index set) const;
  void add(Index set, ObjectBits& objects, bool are_whole);
  void add_outside(ObjectBits& objects) const;
  bool has_effect(llvm::Function const& function, unsigned argument, extract::ExternalEffect::Kind kind) const;
  void find_effects();
  void find_callees();
  void find_freed(llvm::CallBase const& call, Callees& callees) const;
  void find_writes();
  void find_ends();
  bool ends_by_arguments(llvm::CallBase const& call) const;
  bool never_returns(llvm::Function const& function) const;
  void add_own_writes(llvm::Function const& function, ObjectBits& objects);
  void add_external_writes(llvm::CallBase const& call, ObjectBits& objects);

  points_to::ConstraintSystem const& system_;
  points_to::Solution const& solution_;
  extract::Program::Bitcode const& bitcode_;
  bool is_program_;
  std::vector<Index> first_;  // [objects], of the object that a field belongs to
  std::unordered_map<llvm::CallBase const*, Callees> callees_;
  std::unordered_map<llvm::Function const*, std::vector<llvm::CallBase const*>> callers_;
  std::unordered_map<llvm::Function const*, std::vector<extract::ExternalEffect> const*> effects_;  // of those outside
  std::unordered_set<llvm::GlobalVariable const*> assigned_;  // by functions outside
  std::function<bool(llvm::Function const&, llvm::CallBase const&)> ends_with_;
  mutable std::unordered_map<llvm::CallBase const*, bool> ends_by_arguments_;  // where it was asked
  std::unordered_set<llvm::Function const*> ends_;  // functions with a body that never return
  std::unordered_map<llvm::Function const*, std::unordered_set<llvm::Value const*>> results_;
  std::unordered_map<llvm::Function const*, ObjectBits> writes_;   // also of what it calls
  std::unordered_map<llvm::CallBase const*, ObjectBits> outside_;  // of calls of functions outside
  std::unordered_map<Index, ObjectBits> bits_of_set_[2];           // and of whole objects
  std::unordered_map<std::uint64_t, bool> aliases_;                // by two sets
  std::unordered_map<llvm::CallBase const*, std::unordered_map<Index, bool>> writes_to_;
};

}  // namespace hornbill::alarms
