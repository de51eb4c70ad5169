#include "derivations_ahead.hpp"

#include <utility>

namespace hornbill::alarms {

DerivationsAhead::DerivationsAhead(points_to::Derivations& derivations, Limits const& limits, IsAnonymous is_anonymous)
    : derivations_(derivations), limits_(limits), is_anonymous_(std::move(is_anonymous)) {
  if (std::thread::hardware_concurrency() > 1) thread_ = std::thread([this] { run(); });
}

DerivationsAhead::~DerivationsAhead() {
  is_given_up_ = true;
  close();
}

void DerivationsAhead::close() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard const lock(mutex_);
    is_closed_ = true;
  }
  is_told_.notify_one();
  thread_.join();
}

void DerivationsAhead::look_for(std::span<points_to::Fact const> facts) {
  {
    std::lock_guard const lock(mutex_);
    waiting_.insert(waiting_.end(), facts.begin(), facts.end());
  }
  is_told_.notify_one();
}

void DerivationsAhead::finish() {
  close();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void DerivationsAhead::run() {
  try {
    work();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void DerivationsAhead::work() {
  std::vector<points_to::Fact> next;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      is_told_.wait(lock, [this] { return is_closed_ || !waiting_.empty(); });
      next.swap(waiting_);
      if (next.empty() && is_closed_) return;
    }
    for (std::size_t i = 0; i < next.size() && num_found_ < limits_.in_all && !is_given_up_; ++i) {
      auto const fact = next[i];
      if (found_.contains(fact)) continue;
      for (auto const& derivation : find(found_, fact, limits_.of_fact)) add_premises(derivation, next);
    }
    next.clear();
  }
}

/// Adds what a derivation needs to the facts that are looked for.
void DerivationsAhead::add_premises(points_to::Derivation const& derivation, std::vector<points_to::Fact>& next) {
  for (int i = 0; i < derivation.num_premises; ++i) {
    auto const premise = derivation.premises[static_cast<std::size_t>(i)];
    if (is_anonymous_(premise.variable)) {
      if (!of_anonymous_.contains(premise)) add_premises(find(of_anonymous_, premise, 1).front(), next);
    } else {
      next.push_back(premise);
    }
  }
}

std::vector<points_to::Derivation> const& DerivationsAhead::find(Found& found, points_to::Fact const& fact,
                                                                 std::size_t max) {
  auto const& derivations = found[fact] = derivations_.of(fact, max);
  num_found_ += std::ssize(derivations);
  return derivations;
}

std::vector<points_to::Derivation> DerivationsAhead::of(points_to::Fact const& fact, std::size_t max) {
  if (max == limits_.of_fact)
    if (auto const found = found_.find(fact); found != found_.end()) return found->second;
  if (max == 1)
    if (auto const found = of_anonymous_.find(fact); found != of_anonymous_.end()) return found->second;
  return derivations_.of(fact, max);
}

}  // namespace hornbill::alarms
