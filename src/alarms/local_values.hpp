// Values of a function that are the same, loads of memory that nothing has changed among them. Internal to src/alarms.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "memory_effects.hpp"

namespace hornbill::alarms {

/// A place in memory: so many bytes behind what a value points to.
struct Address {
  llvm::Value const* base = nullptr;
  std::int64_t offset = 0;

  auto operator<=>(Address const&) const = default;
};

/// A value, or of a comparison its contrary.
struct Condition {
  llvm::Value const* value = nullptr;
  bool is_negated = false;
};

/// Whether a function outside returns new memory that is zero.
bool returns_zeroes(llvm::CallBase const& call, extract::Externals const& externals);

/// Of values that are equal wherever both are there, one, the leader, stands for all. Found once for each expression of
/// equal operands, and for each load of what an earlier load or store of the same place left there.
class LocalValues {
 public:
  LocalValues(llvm::Function const& function, MemoryEffects& effects);

  llvm::Function const& function() const { return function_; }
  llvm::DataLayout const& layout() const { return layout_; }
  llvm::Value const* leader_of(llvm::Value const* value) const;
  /// `a != b` is the contrary of `a == b`, and so on: a comparison's leader, and whether it is its contrary. Of another
  /// value the leader.
  Condition condition_of(llvm::Value const* value) const;
  Address address_of(llvm::Value const* pointer) const;
  /// The leader from which a pointer is so many bytes away, or a number of them that is not known.
  llvm::Value const* base_of(llvm::Value const* pointer) const;
  /// Whether a load may read what comes from elsewhere than loads and stores of the same place in this function.
  bool is_open(llvm::LoadInst const& load) const;
  /// Of a load that is not open, calls between what it reads and itself: they do not change it.
  std::vector<llvm::CallBase const*> const& calls_before(llvm::LoadInst const& load) const;
  /// Of a load that is not open, stores and loads whose value it reads; none for others.
  std::vector<llvm::Instruction const*> const* writes_before(llvm::LoadInst const& load) const;
  /// Where memory was set to zero that a load may read, where it may also read another value; none of other loads.
  std::vector<llvm::Instruction const*> const* zeroed_by(llvm::LoadInst const& load) const;
  /// Loads and stores of a place.
  std::vector<llvm::Instruction const*> const& accesses_of(Address const& address) const;
  /// A value by which a load or a store reaches a place; or another one, of the block that the place is in.
  llvm::Value const* pointer_to(Address const& address, llvm::Value const* otherwise) const;
  /// Copies of blocks whose lengths are constant.
  std::vector<llvm::AnyMemTransferInst const*> const& copies() const { return copies_; }
  /// Whether an instruction may change what is at an address. A store to that very address does, too.
  bool may_change(llvm::Instruction const& instruction, Address const& address, llvm::Value const& pointer) const;

 private:
  using Key = std::tuple<unsigned, llvm::Type const*, unsigned, std::vector<llvm::Value const*>>;
  struct Sources {
    std::vector<llvm::Value const*> values;              // leaders, each once
    std::vector<llvm::Instruction const*> instructions;  // that have them
    std::vector<llvm::CallBase const*> calls;
    bool is_open = false;
    std::vector<llvm::Instruction const*> zeroed_by;
  };

  void add(llvm::Instruction const& instruction);
  void add_access(llvm::Instruction const& instruction);
  void shorten_ways_to_leaders();
  Address find_address(llvm::Value const* pointer) const;
  void add_comparison(llvm::ICmpInst const& comparison);
  void add_load(llvm::LoadInst const& load);
  llvm::Constant const* constant_of(llvm::LoadInst const& load) const;
  llvm::Constant const* constant_of(llvm::CallBase const& call) const;
  llvm::Constant const* folded(llvm::Instruction const& instruction) const;
  llvm::Constant const* content_of(llvm::Instruction const& instruction, llvm::LoadInst const& load,
                                   Address const& address) const;
  Sources sources_of(llvm::LoadInst const& load) const;
  bool look(llvm::Instruction const& instruction, llvm::LoadInst const& load, Address const& address,
            Sources& sources) const;

  llvm::Function const& function_;
  MemoryEffects& effects_;
  llvm::DataLayout const& layout_;
  std::map<Key, llvm::Value const*> expressions_;
  llvm::DenseMap<llvm::Value const*, Condition> leaders_;  // of values that have another one
  std::map<Address, std::vector<llvm::Instruction const*>> accesses_;
  std::vector<llvm::AnyMemTransferInst const*> copies_;
  bool has_leaders_ = false;  // of all values: what follows from them no longer changes
  mutable llvm::DenseMap<llvm::Value const*, Address> addresses_;  // where they were asked
  std::unordered_map<llvm::LoadInst const*, std::vector<llvm::Instruction const*>> zeroed_by_;
  // of those not open
  std::unordered_map<llvm::LoadInst const*, std::vector<llvm::CallBase const*>> calls_before_;
  std::unordered_map<llvm::LoadInst const*, std::vector<llvm::Instruction const*>> writes_before_;
};

}  // namespace hornbill::alarms
