#include "derivations_ahead.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace hornbill::alarms {

DerivationsAhead::DerivationsAhead(points_to::Derivations& derivations, std::size_t of_fact, Offset in_all,
                                   IsAnonymous is_anonymous)
    : derivations_(derivations), of_fact_(of_fact), in_all_(in_all), is_anonymous_(std::move(is_anonymous)) {
  if (std::thread::hardware_concurrency() < 2) return;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (std::system_error const&) {  // there may be no more threads: all is found when it is asked for
  }
}

DerivationsAhead::~DerivationsAhead() {
  in_all_ = 0;
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

void DerivationsAhead::finish(Offset max) {
  in_all_ = std::min<Offset>(in_all_, max);
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
    for (std::size_t i = 0; i < next.size() && num_found_ < in_all_; ++i) {
      auto const fact = next[i];
      if (found_.contains(fact)) continue;
      for (auto const& derivation : find(found_, fact, of_fact_)) add_premises(derivation, next);
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
  if (max == of_fact_)
    if (auto const found = found_.find(fact); found != found_.end()) return found->second;
  if (max == 1)
    if (auto const found = of_anonymous_.find(fact); found != of_anonymous_.end()) return found->second;
  return derivations_.of(fact, max);
}

}  // namespace hornbill::alarms
