#include "names.hpp"

#include <algorithm>

#include <llvm/IR/Constants.h>

namespace hornbill::alarms {

template <class IsIt>
NameBits Names::find_or_add(IsIt const& is_it, Name const& name, bool is_added) {
  constexpr std::size_t most = 64;
  auto const found = static_cast<std::size_t>(std::ranges::find_if(names_, is_it) - names_.begin());
  if (found == names_.size()) {
    if (!is_added || names_.size() == most) return 0;
    names_.push_back(name);
  }
  return NameBits{1} << found;
}

NameBits Names::of_value(llvm::Value const* value, bool is_added) {
  if (llvm::isa<llvm::Constant>(value)) return 0;  // which is the same elsewhere
  return find_or_add([&](Name const& name) { return name.value == value; }, {value}, is_added);
}

NameBits Names::of_place(Address const& address, llvm::Value const* pointer) {
  return find_or_add([&](Name const& name) { return name.is_in_memory() && name.address == address; },
                     {nullptr, address, pointer}, pointer != nullptr);
}

NameBits Names::of_part(llvm::Value const& structure, std::int64_t offset, bool is_added) {
  Address const part{&structure, offset};
  return find_or_add([&](Name const& name) { return !name.value && !name.is_in_memory() && name.address == part; },
                     {nullptr, part}, is_added);
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
  for (std::size_t i = 0; i < names_.size(); ++i)
    if (!names_[i].value && names_[i].address.base == &base) bits |= NameBits{1} << i;
  return bits;
}

}  // namespace hornbill::alarms
