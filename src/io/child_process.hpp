// Work that may fault, in a process of its own. Internal to src/io.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace hornbill::io {

/// The bytes that `make` returns, in a copy of this process. Nothing if that one throws, dies or takes more than so
/// much of a processor's time (or many times that in all).
std::optional<std::string> in_child_process(std::function<std::string()> const& make, std::chrono::seconds limit);

}  // namespace hornbill::io
