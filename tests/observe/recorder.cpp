// Linked with a program that hornbill_observe has instrumented: records which object each access meets.
//
// Memory belongs to the object that was placed there last. Accesses to memory of nobody, such as that of libraries, are
// counted.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include <malloc.h>

namespace {

using Address = std::uintptr_t;

struct Region {
  Address end;
  std::uint32_t object;
};
struct Layout {
  std::uint32_t bytes = 1, period = 0;
};

using Observation = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // site, object, byte

struct Recorder {
  std::map<Address, Region> regions;  // by where they begin
  std::vector<Layout> layouts;        // by object
  std::set<Observation> observations;
  std::vector<Observation> recent = std::vector<Observation>(1 << 16);  // which need not be looked up
  std::uint64_t num_accesses = 0, num_unknown = 0;

  void place(Address begin, Address size, std::uint32_t object) {
    remove(begin, begin + size);
    regions[begin] = {begin + size, object};
  }
  void remove(Address begin, Address end) {
    auto at = regions.upper_bound(begin);
    if (at != regions.begin() && std::prev(at)->second.end > begin) --at;
    while (at != regions.end() && at->first < end) at = regions.erase(at);
  }
  void meet(Address address, std::uint32_t site) {
    ++num_accesses;
    auto at = regions.upper_bound(address);
    if (at == regions.begin() || (--at)->second.end <= address) {
      ++num_unknown;
      return;
    }
    auto const object = at->second.object;
    auto const [bytes, period] = layouts[object];
    auto byte = address - at->first;
    if (byte >= bytes) {
      if (period == 0) {  // behind the end
        ++num_unknown;
        return;
      }
      byte = bytes - period + (byte - bytes) % period;
    }
    record({site, object, static_cast<std::uint32_t>(byte)});
  }
  void record(Observation const& observation) {
    auto const& [site, object, byte] = observation;
    auto& recent_one = recent[(site * 31 + object * 17 + byte) % recent.size()];
    if (recent_one == observation) return;
    recent_one = observation;
    observations.insert(observation);
  }
  ~Recorder() {
    auto const* file = std::getenv("HORNBILL_OBSERVATIONS");
    auto* out = file ? std::fopen(file, "a") : nullptr;
    if (!out) return;
    for (auto const& [site, object, byte] : observations) std::fprintf(out, "%u %u %u\n", site, object, byte);
    std::fprintf(out, "# %llu accesses, %llu of memory that is nobody's\n",
                 static_cast<unsigned long long>(num_accesses), static_cast<unsigned long long>(num_unknown));
    std::fclose(out);
  }
};

/// There before the program's own constructors, until the process ends.
Recorder& recorder() {
  static Recorder all;
  return all;
}

Address address_of(void const* pointer) { return reinterpret_cast<Address>(pointer); }

}  // namespace

extern "C" {

/// Bytes of an object, of which the last `period` repeat.
void hornbill_layout(std::uint32_t object, std::uint32_t bytes, std::uint32_t period) {
  auto& layouts = recorder().layouts;
  if (object >= layouts.size()) layouts.resize(object + 1);
  layouts[object] = {bytes, period};
}
/// An object is in memory from now on.
void hornbill_place(void const* at, std::uint64_t size, std::uint32_t object) {
  recorder().place(address_of(at), size > 0 ? size : 1, object);
}
/// The same of memory that malloc or the like has returned.
void hornbill_allocated(void* at, std::uint32_t object) {
  if (at) hornbill_place(at, malloc_usable_size(at), object);
}
/// Memory is nobody's from now on.
void hornbill_remove(void const* at) {
  auto const found = recorder().regions.find(address_of(at));
  if (found != recorder().regions.end()) recorder().regions.erase(found);
}
/// A site has accessed memory, of so many bytes.
void hornbill_meet(void const* at, std::uint64_t size, std::uint32_t site) {
  if (size > 0) recorder().meet(address_of(at), site);
}
}
