// Arrays of sound HDF5 files, spoiled here and there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include "io/hdf5.hpp"

namespace hornbill::fuzz {

using Integers = std::vector<std::int64_t>;
using Numbers = std::vector<double>;
using Strings = std::vector<std::string>;

inline std::int64_t change(FuzzedDataProvider& in, std::int64_t value) {
  if (in.ConsumeBool()) return value + in.ConsumeIntegral<std::int8_t>();
  return in.ConsumeIntegral<std::int64_t>();
}
inline std::uint8_t change(FuzzedDataProvider& in, std::uint8_t) { return in.ConsumeIntegral<std::uint8_t>(); }
inline double change(FuzzedDataProvider& in, double value) {
  constexpr double odd[] = {0,
                            -0.0,
                            1,
                            -1,
                            1e300,
                            1e-320,
                            std::numeric_limits<double>::quiet_NaN(),
                            std::numeric_limits<double>::infinity(),
                            -std::numeric_limits<double>::infinity()};
  return in.ConsumeBool() ? in.PickValueInArray(odd) : value * in.ConsumeIntegral<std::int8_t>();
}
inline std::string change(FuzzedDataProvider& in, std::string const& value) {
  return in.ConsumeBool() ? value : in.ConsumeRandomLengthString(8);
}

/// Keeps values, mostly; or changes one, or their number. False to leave them out.
template <class T>
bool spoil(FuzzedDataProvider& in, std::vector<T>& values) {
  switch (in.ConsumeIntegralInRange<int>(0, 15)) {
    case 0: return false;
    case 1: values.resize(in.ConsumeIntegralInRange<std::size_t>(0, values.size() + 3)); return true;
    case 2: std::reverse(values.begin(), values.end()); return true;
    case 3:
    case 4:
    case 5:
      if (!values.empty()) {
        auto& value = values[in.ConsumeIntegralInRange<std::size_t>(0, values.size() - 1)];
        value = change(in, value);
      }
      return true;
    default: return true;
  }
}

/// Arrays that are spoiled, or left out.
inline void write_arrays(FuzzedDataProvider& in, io::hdf5::Writer& out,
                         std::span<std::pair<char const*, Integers> const> integers,
                         std::span<std::pair<char const*, Numbers> const> numbers,
                         std::span<std::pair<char const*, Strings> const> strings) {
  for (auto [path, values] : integers)
    if (spoil(in, values)) out.write(path, values);
  for (auto [path, values] : numbers)
    if (spoil(in, values)) out.write(path, values);
  for (auto [path, values] : strings) {
    Integers offsets{0};
    std::vector<std::uint8_t> bytes;
    if (!spoil(in, values)) continue;
    for (auto const& s : values) {
      bytes.insert(bytes.end(), s.begin(), s.end());
      offsets.push_back(static_cast<std::int64_t>(bytes.size()));
    }
    if (spoil(in, offsets)) out.write(path + std::string("/offsets"), offsets);
    if (spoil(in, bytes)) out.write(path + std::string("/bytes"), bytes);
  }
}

}  // namespace hornbill::fuzz
