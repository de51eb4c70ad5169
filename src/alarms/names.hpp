// Names under which a pointer is followed. Internal to src/alarms.
#pragma once

#include <cstdint>
#include <vector>

#include <llvm/IR/Value.h>

#include "local_values.hpp"

namespace hornbill::alarms {

/// Some of them, a bit for each.
using NameBits = std::uint64_t;

/// A value, a place in memory, or a place in a structure that is a value.
struct Name {
  llvm::Value const* value = nullptr;
  Address address{};
  llvm::Value const* pointer = nullptr;  ///< to that place; none in a structure

  bool is_in_memory() const { return pointer != nullptr; }
};

/// At most 64: there is no bit for further ones, so that they are not followed.
class Names {
 public:
  void clear();
  std::size_t size() const { return names_.size(); }
  Name const& operator[](std::size_t number) const { return names_[number]; }
  bool is_among(std::size_t number, NameBits bits) const { return (bits >> number & 1) != 0; }

  /// \return none where the name is not known and is not to be added
  NameBits of_value(llvm::Value const* value, bool is_added);
  /// \param pointer  to the place, for a name that is to be added; or none
  NameBits of_place(Address const& address, llvm::Value const* pointer);
  NameBits of_part(llvm::Value const& structure, std::int64_t offset, bool is_added);
  /// Of places in memory within so many bytes from one on.
  NameBits in_block(Address const& begin, std::int64_t bytes) const;
  /// Of places by a value.
  NameBits of_base(llvm::Value const& base) const;

 private:
  NameBits find_or_add(Name const& name, bool is_added);

  std::vector<Name> names_;
  std::vector<llvm::Value const*> keys_;  // what is asked: the values and bases of names, side by side
};

}  // namespace hornbill::alarms
