// Variables that wait to be eliminated, by their scores.
#pragma once

#include <cstdint>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::elim {

/// That of the least score first; of equal ones any. A heap of four branches a node, which knows where each variable
/// is.
class ScoreQueue {
 public:
  /// \param score  of a variable   \param seed  of what decides between equals
  template <class Score>
  ScoreQueue(Index num_variables, Score const& score, std::uint64_t seed) : place_(num_variables) {
    std::mt19937_64 random(seed);
    for (Index v = 0; v < num_variables; ++v) {
      keys_.push_back({score(v), random()});
      heap_.push_back(v);
      place_[v] = v;
    }
    for (auto node = heap_.size() / branches + 1; node-- > 0;) sink(node);
  }
  bool is_empty() const { return heap_.empty(); }
  double score_of(Index v) const { return keys_[v].score; }
  Index pop() {
    Index const v = heap_.front(), last = heap_.back();
    heap_.pop_back();
    if (v == last) return v;
    put(0, last);
    sink(0);
    return v;
  }
  void set_score(Index v, double score) {
    keys_[v].score = score;
    rise(place_[v]);
    sink(place_[v]);
  }

 private:
  static constexpr std::size_t branches = 4;
  struct Key {
    double score;
    std::uint64_t tie;
  };

  bool before(Index v, Index w) const {
    return std::tuple(keys_[v].score, keys_[v].tie, v) < std::tuple(keys_[w].score, keys_[w].tie, w);
  }
  void put(std::size_t node, Index v) {
    heap_[node] = v;
    place_[v] = static_cast<Index>(node);
  }
  void rise(std::size_t node) {
    Index const v = heap_[node];
    for (; node > 0 && before(v, heap_[(node - 1) / branches]); node = (node - 1) / branches)
      put(node, heap_[(node - 1) / branches]);
    put(node, v);
  }
  void sink(std::size_t node) {
    if (node >= heap_.size()) return;
    Index const v = heap_[node];
    for (;;) {
      std::size_t least = node;
      Index of_least = v;
      for (std::size_t child = branches * node + 1; child <= branches * node + branches && child < heap_.size();
           ++child)
        if (before(heap_[child], of_least)) {
          least = child;
          of_least = heap_[child];
        }
      if (least == node) break;
      put(node, of_least);
      node = least;
    }
    put(node, v);
  }

  std::vector<Key> keys_;     // [V]
  std::vector<Index> heap_;   // variables
  std::vector<Index> place_;  // [V], in the heap
};

}  // namespace hornbill::elim
