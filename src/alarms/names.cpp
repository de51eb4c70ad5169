#include "names.hpp"

#include <llvm/IR/Constants.h>

namespace hornbill::alarms {

namespace {

llvm::Value const* key_of(Name const& name) { return name.value ? name.value : name.address.base; }

/// Whether both are the same; a place in memory may be known by several pointers.
bool are_same(Name const& one, Name const& other) {
  return one.value == other.value && one.address == other.address && one.is_in_memory() == other.is_in_memory();
}

}  // namespace

void Names::clear() {
  names_.clear();
  keys_.clear();
}

NameBits Names::find_or_add(Name const& name, bool is_added) {
  constexpr std::size_t most = 64;
  auto const* key = key_of(name);
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == key && are_same(names_[i], name)) return NameBits{1} << i;
  if (!is_added || names_.size() == most) return 0;
  names_.push_back(name);
  keys_.push_back(key);
  return NameBits{1} << (names_.size() - 1);
}

NameBits Names::of_value(llvm::Value const* value, bool is_added) {
  if (llvm::isa<llvm::Constant>(value)) return 0;  // which is the same elsewhere
  return find_or_add({value}, is_added);
}

NameBits Names::of_place(Address const& address, llvm::Value const* pointer) {
  return find_or_add({nullptr, address, pointer ? pointer : address.base}, pointer != nullptr);
}

NameBits Names::of_part(llvm::Value const& structure, std::int64_t offset, bool is_added) {
  return find_or_add({nullptr, {&structure, offset}}, is_added);
}

NameBits Names::in_block(Address const& begin, std::int64_t bytes) const {
  NameBits bits = 0;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    auto const& [base, offset] = names_[i].address;
    bool const is_there = names_[i].is_in_memory() && base == begin.base && offset >= begin.offset;
    if (is_there && offset - begin.offset < bytes) bits |= NameBits{1} << i;
  }
  return bits;
}

NameBits Names::of_base(llvm::Value const& base) const {
  NameBits bits = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (keys_[i] == &base && !names_[i].value) bits |= NameBits{1} << i;
  return bits;
}

}  // namespace hornbill::alarms
