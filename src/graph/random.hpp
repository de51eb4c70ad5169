// Random numbers for generated graphs, worlds and circuits. Internal to src.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace hornbill {

/// Random numbers that are the same on every machine, which the standard library's distributions are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }
  template <class T>
  T const& of(std::vector<T> const& items) {
    return items[below(items.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }
  /// At most `count` of the numbers below n, ascending.
  std::vector<std::size_t> sample(std::size_t count, std::size_t n) {
    std::vector<std::size_t> numbers(n);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    if (count >= n) return numbers;
    shuffle(numbers);
    numbers.resize(count);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace hornbill
