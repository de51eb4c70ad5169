#include "conflict.hpp"

#include <algorithm>
#include <new>
#include <span>

#include <fmt/format.h>

namespace hornbill::cli {
namespace {

/// \throws CapacityError where time is up   \return none where nothing is to blame but rounding
std::optional<HostEvidence> search(HostEvidence evidence, std::function<bool(HostEvidence const&)> const& is_possible,
                                   Clock::time_point deadline) {
  HostEvidence found;
  auto const is_possible_with = [&](std::span<Observation const> more) {
    if (Clock::now() > deadline) throw CapacityError("there was no time to find a conflict");
    auto part = found;
    part.insert(part.end(), more.begin(), more.end());
    return is_possible(part);
  };
  while (is_possible_with({})) {
    if (evidence.empty()) return std::nullopt;
    // The shortest beginning that is impossible together with what was found: its last observation is one more.
    std::size_t possible = 0, impossible = evidence.size();
    while (impossible - possible > 1) {
      auto const middle = possible + (impossible - possible) / 2;
      (is_possible_with(std::span(evidence).first(middle)) ? possible : impossible) = middle;
    }
    found.push_back(evidence[impossible - 1]);
    evidence.resize(impossible - 1);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace

std::optional<HostEvidence> find_conflict(HostEvidence evidence,
                                          std::function<bool(HostEvidence const&)> const& is_possible,
                                          Clock::time_point deadline) {
  // That nothing is possible is known, and is to be said whatever happens here: with less evidence tables are larger.
  try {
    return search(std::move(evidence), is_possible, deadline);
  } catch (Error const&) {
    return std::nullopt;
  } catch (std::bad_alloc const&) {
    return std::nullopt;
  }
}

std::string to_text(Conflict const& conflict) {
  if (conflict.sources.empty()) return "";
  auto const& observations = conflict.observations;
  if (observations && observations->empty()) return ", whatever is observed";
  auto const under = fmt::format(" under the evidence of {}", fmt::join(conflict.sources, ", "));
  if (!observations) return under;
  constexpr std::size_t most = 8;
  bool const is_one = observations->size() == 1;
  auto const some = std::vector(
      observations->begin(), observations->begin() + static_cast<std::ptrdiff_t>(std::min(most, observations->size())));
  auto const more = observations->size() > most ? fmt::format(" and {} more", observations->size() - most) : "";
  return fmt::format("{}: {}{} {}; withdraw {}{}", under, fmt::join(some, ", "), more,
                     is_one ? "cannot be" : "cannot all be", conflict.can_soften ? "or soften " : "",
                     is_one ? "it" : "one of them");
}

}  // namespace hornbill::cli
