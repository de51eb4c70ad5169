// Derivations of points-to facts that are looked for while clients are evaluated. Internal to src/alarms.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include <hornbill/points_to/derivations.hpp>
#include <hornbill/types.hpp>

namespace hornbill::alarms {

/// Derivations of facts that it is told of, and of facts that these need, by a thread of its own where the machine has
/// several. They are the same as they are without that thread.
class DerivationsAhead {
 public:
  struct Limits {
    std::size_t of_fact = 0;  ///< derivations of a fact
    Offset in_all = 0;        ///< of which no more are looked for ahead
  };
  /// Whether a variable is not the program's: its facts have one derivation, in place of themselves.
  using IsAnonymous = std::function<bool(Index variable)>;

  /// \param derivations  that nobody else asks before finish(), but for their solution
  DerivationsAhead(points_to::Derivations& derivations, Limits const& limits, IsAnonymous is_anonymous);
  ~DerivationsAhead();
  DerivationsAhead(DerivationsAhead const&) = delete;
  DerivationsAhead& operator=(DerivationsAhead const&) = delete;

  void look_for(std::span<points_to::Fact const> facts);
  /// Waits for the thread to end.   \throws as points_to::Derivations::of() does
  void finish();
  /// At most so many derivations of a fact, as points_to::Derivations::of() finds them. After finish().
  std::vector<points_to::Derivation> of(points_to::Fact const& fact, std::size_t max);

 private:
  using Found = std::map<points_to::Fact, std::vector<points_to::Derivation>>;

  void run();
  void work();
  void add_premises(points_to::Derivation const& derivation, std::vector<points_to::Fact>& next);
  void close();
  std::vector<points_to::Derivation> const& find(Found& found, points_to::Fact const& fact, std::size_t max);

  points_to::Derivations& derivations_;
  Limits limits_;
  IsAnonymous is_anonymous_;
  Found found_, of_anonymous_;
  Offset num_found_ = 0;
  std::atomic<bool> is_given_up_ = false;
  std::mutex mutex_;  // of the next four
  std::condition_variable is_told_;
  std::vector<points_to::Fact> waiting_;
  bool is_closed_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last one, which the others outlive
};

}  // namespace hornbill::alarms
