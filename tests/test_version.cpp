// The version's macros agree with each other.
#include <fmt/format.h>

#include <doctest/doctest.h>

#include <hornbill/config.hpp>

TEST_CASE("version: its macros agree") {
  CHECK(fmt::format("{}.{}.{}", HORNBILL_VERSION_MAJOR, HORNBILL_VERSION_MINOR, HORNBILL_VERSION_PATCH) ==
        HORNBILL_VERSION);
  static_assert(HORNBILL_VERSION_NUMBER ==
                HORNBILL_VERSION_MAJOR * 10000 + HORNBILL_VERSION_MINOR * 100 + HORNBILL_VERSION_PATCH);
#if HORNBILL_VERSION_NUMBER < 100
#error "the preprocessor must be able to compare versions"
#endif
}
