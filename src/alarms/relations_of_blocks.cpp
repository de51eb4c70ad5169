// Relations of memory that is written as a whole: copies, zeros, and what functions outside read into it.
#include <algorithm>
#include <unordered_set>

#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "relations.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

namespace {

std::int64_t length_of(llvm::AnyMemIntrinsic const& memory) {
  auto const* length = dyn_cast<llvm::ConstantInt>(memory.getLength());
  return length ? static_cast<std::int64_t>(length->getLimitedValue(any_bytes)) : any_bytes;
}

/// Whether a variable is an array of bytes, such as data are read into before anything is known of them.
bool is_of_bytes(llvm::Value const* variable) {
  auto const* local = llvm::dyn_cast_or_null<llvm::AllocaInst>(variable);
  auto const* global = llvm::dyn_cast_or_null<llvm::GlobalVariable>(variable);
  auto const* type = local ? local->getAllocatedType() : global ? global->getValueType() : nullptr;
  return type && type->isArrayTy() && type->getArrayElementType()->isIntegerTy(8);
}

}  // namespace

/// Where a block begins in each object that a pointer may be to; of several places in one, the first.
std::vector<Index> Relations::begins_of(Index variable) const {
  auto const* first = facts_.fields().first;
  std::vector<Index> begins;
  for (Index const field : facts_.solution().objects_of(variable))
    if (begins.empty() || first[begins.back()] != first[field]) begins.push_back(field);
  return begins;
}

/// Fields that begin within so many bytes from a field on, itself first. Of wide objects the first ones.
std::vector<Index> Relations::fields_in(Index first, std::int64_t bytes) const {
  constexpr Index most = 256;
  auto const fields = facts_.fields();
  std::vector<Index> found;
  Index const count = std::min(std::max<Index>(fields.sizes[first], 1), most);
  for (Index field = first; field < first + count && fields.place_of(first) - fields.place_of(field) < bytes; ++field)
    found.push_back(field);
  return found;
}

void Relations::look_up_writes_behind(Index relation) {
  database_.look_up(relation,
                    {1, [this](datalog::Columns known, std::span<datalog::Value const> key, Found const& found) {
                       for (auto const& [pointer, bytes] : facts_.data_flow().written_by(vocabulary_.origins[key[0]])) {
                         Index const variable = facts_.program().bitcode().variable_of(*pointer);
                         if (bytes == 0 || !is_to_data_of_few(variable)) continue;
                         for (Index const object : begins_of(variable))
                           for (Index const field : fields_in(object, bytes))
                             if (field != object)
                               give({key[0], vocabulary_.of_variable(variable), vocabulary_.of_object(object),
                                     vocabulary_.of_object(field)},
                                    known, key, found);
                       }
                     }});
}

void Relations::add_copies() {
  for (auto const& function : facts_.effects().module())
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* copy = dyn_cast<llvm::AnyMemTransferInst>(&instruction);
      if (!copy) continue;
      auto const& bitcode = facts_.program().bitcode();
      Index const from = bitcode.variable_of(*copy->getRawSource()), to = bitcode.variable_of(*copy->getRawDest());
      if (!is_to_data_of_few(from) || !is_to_data_of_few(to)) continue;
      for (Index const first : begins_of(from)) {
        auto const bytes = is_of_bytes(variable_of_object(first)) ? length_of(*copy) : 0;
        for (Index const field : fields_in(first, length_of(*copy))) copies_[field].push_back({from, first, to, bytes});
      }
    }
}

void Relations::look_up_copies(Index relation) {
  add_copies();
  auto const find = [this](datalog::Columns known, std::span<datalog::Value const> key, Found const& found) {
    auto const fields = facts_.fields();
    Index const field = vocabulary_.objects[key[0]];
    auto const copies = copies_.find(field);
    if (copies == copies_.end()) return;
    for (auto const& [from, first, to, bytes] : copies->second)
      for (Index const target : begins_of(to)) {
        auto const add = [&, from = from, first = first, to = to](Index copied) {
          give({key[0], vocabulary_.of_variable(from), vocabulary_.of_object(first), vocabulary_.of_variable(to),
                vocabulary_.of_object(target), vocabulary_.of_object(copied)},
               known, key, found);
        };
        for (Index const copied : bytes > 0 ? fields_in(target, bytes) : std::vector<Index>()) add(copied);
        auto const at = fields.at_offset(target, fields.place_of(first) - fields.place_of(field));
        if (bytes == 0 && at.first >= 0 && at.second < 0) add(at.first);
      }
  };
  database_.look_up(relation, {1, find});
}

/// Fields to which the function itself gives a value are left out.
void Relations::add_zeroes(Index relation) {
  auto const& bitcode = facts_.program().bitcode();
  for (auto const& function : facts_.effects().module()) {
    std::vector<std::pair<llvm::Value const*, std::int64_t>> blocks;
    std::unordered_set<Index> stored;
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* fill = dyn_cast<llvm::AnyMemSetInst>(&instruction);
      auto const* value = fill ? dyn_cast<llvm::ConstantInt>(fill->getValue()) : nullptr;
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      if (value && value->isZero()) blocks.emplace_back(fill->getRawDest(), length_of(*fill));
      if (call && returns_zeroes(*call, bitcode.externals())) blocks.emplace_back(call, any_bytes);
      auto const* store = dyn_cast<llvm::StoreInst>(&instruction);
      if (Index const to = store ? bitcode.variable_of(*store->getPointerOperand()) : extract::nothing;
          store && is_to_few(to))
        stored.insert(facts_.solution().objects_of(to).begin(), facts_.solution().objects_of(to).end());
    }
    for (auto const& [pointer, bytes] : blocks) {
      Index const variable = bitcode.variable_of(*pointer);
      if (!is_to_few(variable)) continue;
      for (Index const object : begins_of(variable))
        for (Index const field : fields_in(object, bytes))
          if (!stored.contains(field))
            add(relation,
                {vocabulary_.of_variable(variable), vocabulary_.of_object(object), vocabulary_.of_object(field)});
    }
  }
}

}  // namespace hornbill::alarms
