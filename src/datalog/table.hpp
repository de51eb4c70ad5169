// Tuples of one relation, with indexes over its columns. Internal to src/datalog.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <hornbill/datalog/program.hpp>
#include <hornbill/types.hpp>

namespace hornbill::datalog {

class Table {
 public:
  explicit Table(std::size_t arity) : arity_(arity), all_(arity == 64 ? ~Columns{0} : (Columns{1} << arity) - 1) {}

  Index size() const { return size_; }
  std::span<Value const> operator[](Index row) const {
    return std::span(values_).subspan(static_cast<std::size_t>(row) * arity_, arity_);
  }
  /// \return the tuple's number, and whether it is new   \throws CapacityError
  std::pair<Index, bool> insert(std::span<Value const> values);

  /// Calls function(row) for rows from `begin` to below `end` that have the values of `key` in some columns, ascending.
  /// The function may insert rows.   \param key  [arity]; other columns do not count
  template <class Function>
  void for_each(Columns columns, std::span<Value const> key, Index begin, Index end, Function const& function) {
    if (columns == 0) {
      for (Index row = begin; row < end; ++row) function(row);
      return;
    }
    auto& index = indexes_[columns];
    extend(columns, index);
    for (Index row = index.slots[place_of(index, columns, key)].first; row >= 0 && row < end; row = index.next[row])
      if (row >= begin) function(row);
  }
  /// Whether a row has these values in some columns.
  bool has(Columns columns, std::span<Value const> key);

  /// Rows of rounds: those below `old_end` were there before the last one, those from there to `end` are new.
  Index old_end = 0, end = 0;

 private:
  struct Slot {
    Index first = -1, last = -1;
  };
  /// A hash table with open addressing: rows that agree in some columns are in a list.
  struct ColumnIndex {
    std::vector<Slot> slots;
    std::vector<Index> next;  // of each row, in its list
    std::size_t num_lists = 0;
  };
  std::uint64_t hash(Columns columns, std::span<Value const> values) const;
  std::size_t place_of(ColumnIndex const& index, Columns columns, std::span<Value const> key) const;
  void extend(Columns columns, ColumnIndex& index);
  void add(Columns columns, ColumnIndex& index, Index row);
  void grow(Columns columns, ColumnIndex& index);

  std::size_t arity_;
  Columns all_;
  std::vector<Value> values_;
  Index size_ = 0;
  std::map<Columns, ColumnIndex> indexes_;
};

}  // namespace hornbill::datalog
