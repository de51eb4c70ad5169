#include "set_pool.hpp"

#include <algorithm>

#include <hornbill/error.hpp>
#include <hornbill/points_to/detail/hash.hpp>

#include "../io/memory.hpp"

namespace hornbill::points_to {
namespace {

constexpr std::size_t words_of_chunk = std::size_t{1} << 15;

std::uint64_t hash_of(std::uint64_t const* bits, std::uint32_t const* positions, std::uint32_t count) {
  std::uint64_t hash = 0;
  for (std::uint32_t i = 0; i < count; ++i) hash += detail::hash_of_word(bits[i], positions[i]);
  return detail::mixed(hash);
}

}  // namespace

SetPool::SetPool() : sets_(1), hashes_(1, 0), index_(1024, empty_set) {}

void SetPool::set_limit(std::size_t max_bytes) { max_bytes_ = max_bytes ? max_bytes : io::host_memory_bytes(); }

void SetPool::reserve_scratch(std::size_t count) {
  if (scratch_bits_.size() >= count) return;
  scratch_bits_.resize(2 * count);
  scratch_positions_.resize(2 * count);
}

SetId SetPool::of(std::span<Index const> elements) {
  reserve_scratch(elements.size());
  std::uint32_t count = 0;
  for (Index const element : elements) {
    auto const position = static_cast<std::uint32_t>(element) / 64;
    if (count == 0 || scratch_positions_[count - 1] != position) {
      scratch_positions_[count] = position;
      scratch_bits_[count++] = 0;
    }
    scratch_bits_[count - 1] |= std::uint64_t{1} << static_cast<std::uint32_t>(element) % 64;
  }
  return intern(count);
}

SetId SetPool::shift(SetId set, std::uint32_t offset, std::span<std::uint64_t const> mask) {
  auto const words = sets_[set];
  reserve_scratch(2 * std::size_t{words.count});
  std::uint32_t count = 0;
  auto const add = [&](std::uint32_t position, std::uint64_t bits) {
    if (bits == 0) return;
    if (count > 0 && scratch_positions_[count - 1] == position) {
      scratch_bits_[count - 1] |= bits;
      return;
    }
    scratch_positions_[count] = position;
    scratch_bits_[count++] = bits;
  };
  auto const by_words = offset / 64, by_bits = offset % 64;
  for (std::uint32_t i = 0; i < words.count; ++i) {
    auto const bits = words.bits[i] & mask[words.positions[i]];
    add(words.positions[i] + by_words, bits << by_bits);
    if (by_bits > 0) add(words.positions[i] + by_words + 1, bits >> (64 - by_bits));
  }
  return intern(count);
}

SetId SetPool::unite_all(std::vector<SetId>& sets) {
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  for (; sets.size() > 1; sets.resize((sets.size() + 1) / 2))
    for (std::size_t i = 0; 2 * i < sets.size(); ++i)
      sets[i] = 2 * i + 1 < sets.size() ? unite(sets[2 * i], sets[2 * i + 1]) : sets[2 * i];
  return sets.empty() ? empty_set : sets.front();
}

SetId SetPool::unite_different(SetId a, SetId b) {
  if (auto const known = unions_(a, b); known != PairMap::none) return known;
  auto const x = sets_[a], y = sets_[b];
  reserve_scratch(std::size_t{x.count} + y.count);
  bool is_x = true, is_y = true;  // whether the union is one of the two
  std::uint32_t i = 0, k = 0, count = 0;
  while (i < x.count && k < y.count) {
    auto const at_x = x.positions[i], at_y = y.positions[k];
    auto const from_x = at_x <= at_y ? x.bits[i] : 0, from_y = at_y <= at_x ? y.bits[k] : 0;
    auto const both = from_x | from_y;
    is_x = is_x && both == from_x;
    is_y = is_y && both == from_y;
    scratch_positions_[count] = std::min(at_x, at_y);
    scratch_bits_[count++] = both;
    i += at_x <= at_y;
    k += at_y <= at_x;
  }
  auto const rest = [&](Words const& of, std::uint32_t from) {
    std::copy(of.positions + from, of.positions + of.count, scratch_positions_.begin() + count);
    std::copy(of.bits + from, of.bits + of.count, scratch_bits_.begin() + count);
    count += of.count - from;
  };
  is_x = is_x && k == y.count;
  is_y = is_y && i == x.count;
  rest(x, i);
  rest(y, k);
  auto const result = is_x ? a : is_y ? b : intern(count);
  unions_(a, b) = result;
  ++num_unions_;
  return result;
}

SetId SetPool::subtract_different(SetId a, SetId b) {
  if (auto const known = differences_(a, b); known != PairMap::none) return known;
  auto const x = sets_[a], y = sets_[b];
  reserve_scratch(x.count);
  std::uint32_t k = 0, count = 0;
  for (std::uint32_t i = 0; i < x.count; ++i) {
    while (k < y.count && y.positions[k] < x.positions[i]) ++k;
    auto const bits = x.bits[i] & ~(k < y.count && y.positions[k] == x.positions[i] ? y.bits[k] : 0);
    if (bits == 0) continue;
    scratch_positions_[count] = x.positions[i];
    scratch_bits_[count++] = bits;
  }
  return differences_(a, b) = intern(count);
}

SetId SetPool::intern(std::uint32_t count) {
  if (count == 0) return empty_set;
  if (2 * sets_.size() > index_.size()) fill_index(2 * index_.size());
  auto const hash = hash_of(scratch_bits_.data(), scratch_positions_.data(), count);
  auto at = hash & (index_.size() - 1);
  for (; index_[at] != empty_set; at = (at + 1) & (index_.size() - 1)) {
    auto const& set = sets_[index_[at]];
    if (hashes_[index_[at]] == hash && set.count == count &&
        std::equal(set.bits, set.bits + count, scratch_bits_.begin()) &&
        std::equal(set.positions, set.positions + count, scratch_positions_.begin()))
      return index_[at];
  }
  auto const words = stored({scratch_bits_.data(), scratch_positions_.data(), count});
  auto const id = free_id();
  sets_[id] = words;
  hashes_[id] = hash;
  return index_[at] = id;
}

SetId SetPool::free_id() {
  if (free_.empty()) {
    sets_.emplace_back();
    hashes_.push_back(0);
    return static_cast<SetId>(sets_.size() - 1);
  }
  auto const id = free_.back();
  free_.pop_back();
  return id;
}

/// A copy in memory of the pool.
Words SetPool::stored(Words const& words) {
  std::size_t const size = words.count + (words.count + 1) / 2;  // positions lie behind the bits
  if (chunk_used_ + size > chunk_size_) {
    chunk_size_ = std::max(size, words_of_chunk);
    auto const needed = bytes() + chunk_size_ * sizeof(std::uint64_t);
    if (needed > max_bytes_) throw CapacityError("the collection of distinct sets", needed, max_bytes_);
    chunks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(chunk_size_));
    chunk_used_ = 0;
    bytes_ += chunk_size_ * sizeof(std::uint64_t);
  }
  auto* const bits = chunks_.back().get() + chunk_used_;
  auto* const positions = reinterpret_cast<std::uint32_t*>(bits + words.count);
  std::copy(words.bits, words.bits + words.count, bits);
  std::copy(words.positions, words.positions + words.count, positions);
  chunk_used_ += size;
  num_words_ += size;
  return {bits, positions, words.count};
}

void SetPool::fill_index(std::size_t size) {
  index_.assign(size, empty_set);
  for (SetId set = 1; set < sets_.size(); ++set) {
    if (sets_[set].count == 0) continue;
    auto at = hashes_[set] & (size - 1);
    while (index_[at] != empty_set) at = (at + 1) & (size - 1);
    index_[at] = set;
  }
}

void SetPool::keep(std::vector<bool> const& is_used) {
  auto const old = std::move(chunks_);
  chunks_.clear();
  chunk_used_ = chunk_size_ = bytes_ = num_words_ = 0;
  free_.clear();
  for (auto set = static_cast<SetId>(sets_.size()) - 1; set > empty_set; --set) {
    sets_[set] = is_used[set] ? stored(sets_[set]) : Words{};
    if (!is_used[set]) free_.push_back(set);
  }
  fill_index(index_.size());
  unions_.keep_if([&](SetId a, SetId b, SetId both) { return is_used[a] && is_used[b] && is_used[both]; });
  differences_ = PairMap();  // hardly any is asked for in a later round
  num_words_kept_ = num_words_;
}

std::size_t SetPool::num_elements(SetId set) const {
  auto const words = sets_[set];
  std::size_t count = 0;
  for (std::uint32_t i = 0; i < words.count; ++i) count += static_cast<std::size_t>(std::popcount(words.bits[i]));
  return count;
}

std::size_t SetPool::bytes() const {
  return bytes_ + sets_.capacity() * sizeof(Words) + hashes_.capacity() * sizeof(std::uint64_t) +
         free_.capacity() * sizeof(SetId) + index_.size() * sizeof(SetId) + unions_.bytes() + differences_.bytes();
}

}  // namespace hornbill::points_to
