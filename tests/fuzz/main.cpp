// Runs the fuzz target that the program is called by: fuzz_uai, fuzz_bif, ... It fails where anything but a
// hornbill::Error comes out, which would be exit code 1 of `hornbill`, and where memory is asked for out of proportion.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <pthread.h>
#include <sanitizer/allocator_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <hornbill/error.hpp>

#include "targets.hpp"

namespace hornbill::fuzz {
namespace {

/// How many bytes may be held at once while an input is read: for each of its bytes, and whatever it is. A file may ask
/// for tables without listing their entries; those that are too many for the machine are refused.
constexpr std::size_t bytes_of_byte = 4096, bytes_of_none = 2 * machine_bytes;

struct Target {
  char const* name;
  void (*run)(Input const&);
};
constexpr Target targets[] = {{"h5", h5},
                              {"h5_arrays", h5_arrays},
                              {"fg", fg},
                              {"causal_fg", causal_fg},
                              {"uai", uai},
                              {"bif", bif},
                              {"wcsp", wcsp},
                              {"cfn", cfn},
                              {"evid", evid},
                              {"mar", mar},
                              {"evidence", evidence},
                              {"order", order},
                              {"list", list},
                              {"session", session},
                              {"names", names},
                              {"serve", serve},
                              {"clauses", clauses},
                              {"rules", rules},
                              {"alarms", alarms},
                              {"datalog", datalog},
                              {"reports", reports},
                              {"constraints", constraints},
                              {"constraints_h5", constraints_h5},
                              {"checkpoint_h5", checkpoint_h5},
                              {"circuit_h5", circuit_h5},
                              {"circuit_nodes_h5", circuit_nodes_h5},
                              {"samples", samples},
                              {"samples_h5", samples_h5}};
Target const* target = nullptr;

std::size_t held = 0, most_held = 0;

void count_allocated(void const volatile* at, std::size_t) {
  held += __sanitizer_get_allocated_size(at);
  if (held > most_held) most_held = held;
}
void count_freed(void const volatile* at) {
  auto const size = __sanitizer_get_allocated_size(at);
  held -= size < held ? size : held;  // some were allocated before counting began
}

/// A file in memory, as readers take files by name.
class File {
 public:
  File() : descriptor_(::memfd_create("hornbill-fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0) std::abort();
    name_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  std::string const& name() const { return name_; }

 private:
  int descriptor_;
  std::string name_;
};

void require_proportion(std::size_t size) {
  if (most_held <= bytes_of_none + bytes_of_byte * size) return;
  std::fprintf(stderr, "%zu bytes were held for an input of %zu\n", most_held, size);
  std::abort();
}

}  // namespace

void put(std::string const& file, std::string_view bytes) {
  auto* const out = std::fopen(file.c_str(), "wb");
  if (!out || std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size() || std::fclose(out) != 0) std::abort();
}

void run_one(std::string_view bytes) {
  static File const file;
  static bool const is_counting = __sanitizer_install_malloc_and_free_hooks(count_allocated, count_freed) != 0;
  if (!is_counting) std::abort();
  // A child that reads a damaged file may die: then its parent says so, and the input is nothing to keep.
  static bool const is_told = ::pthread_atfork(nullptr, nullptr, [] { __sanitizer_set_death_callback(nullptr); }) == 0;
  if (!is_told) std::abort();
  put(file.name(), bytes);
  held = most_held = 0;
  try {
    target->run({file.name(), bytes});
  } catch (Error const&) {
  }
  require_proportion(bytes.size());
}

}  // namespace hornbill::fuzz

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  using namespace hornbill::fuzz;
  std::string_view const path = **arguments;
  for (auto const& one : targets)
    if (path.ends_with(std::string("fuzz_") + one.name)) target = &one;
  if (target) return 0;
  std::fprintf(stderr, "Call this program by the name of a target, such as fuzz_%s.\n", targets[0].name);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  hornbill::fuzz::run_one({reinterpret_cast<char const*>(data), size});
  return 0;
}
