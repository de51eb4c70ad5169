#include "table.hpp"

#include <bit>
#include <limits>

#include <hornbill/error.hpp>

namespace hornbill::datalog {

std::pair<Index, bool> Table::insert(std::span<Value const> values) {
  auto& index = indexes_[all_];
  extend(all_, index);
  if (!index.slots.empty())
    if (Index const row = index.slots[place_of(index, all_, values)].first; row >= 0) return {row, false};
  if (size_ == std::numeric_limits<Index>::max()) throw CapacityError("a relation has more than 2^31 tuples");
  values_.insert(values_.end(), values.begin(), values.end());
  ++size_;
  extend(all_, index);
  return {size_ - 1, true};
}

bool Table::has(Columns columns, std::span<Value const> key) {
  if (columns == 0) return size_ > 0;
  auto& index = indexes_[columns];
  extend(columns, index);
  return index.slots[place_of(index, columns, key)].first >= 0;
}

std::uint64_t Table::hash(Columns columns, std::span<Value const> values) const {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (auto left = columns; left != 0; left &= left - 1) {
    hash = (hash ^ static_cast<std::uint32_t>(values[static_cast<std::size_t>(std::countr_zero(left))])) *
           0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

/// The slot of a list, or the empty one where it would be.
std::size_t Table::place_of(ColumnIndex const& index, Columns columns, std::span<Value const> key) const {
  auto const is_equal = [&](std::span<Value const> row) {
    for (auto left = columns; left != 0; left &= left - 1)
      if (auto const i = static_cast<std::size_t>(std::countr_zero(left)); row[i] != key[i]) return false;
    return true;
  };
  auto const mask = index.slots.size() - 1;
  auto at = hash(columns, key) & mask;
  while (index.slots[at].first >= 0 && !is_equal((*this)[index.slots[at].first])) at = (at + 1) & mask;
  return at;
}

/// Adds the rows that have come since.
void Table::extend(Columns columns, ColumnIndex& index) {
  if (index.slots.empty()) index.slots.resize(16);
  while (static_cast<Index>(index.next.size()) < size_) add(columns, index, static_cast<Index>(index.next.size()));
}

void Table::add(Columns columns, ColumnIndex& index, Index row) {
  if (2 * (index.num_lists + 1) > index.slots.size()) grow(columns, index);
  auto& slot = index.slots[place_of(index, columns, (*this)[row])];
  index.next.push_back(-1);
  if (slot.first < 0) {
    ++index.num_lists;
    slot.first = row;
  } else {
    index.next[slot.last] = row;
  }
  slot.last = row;
}

void Table::grow(Columns columns, ColumnIndex& index) {
  std::vector<Slot> old(2 * index.slots.size());
  old.swap(index.slots);
  for (auto const& slot : old)
    if (slot.first >= 0) index.slots[place_of(index, columns, (*this)[slot.first])] = slot;
}

}  // namespace hornbill::datalog
