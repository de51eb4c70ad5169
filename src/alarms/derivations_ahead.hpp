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
  /// Whether a variable is not the program's: its facts have one derivation, in place of themselves.
  using IsAnonymous = std::function<bool(Index variable)>;

  /// \param derivations  that nobody else asks before finish(), but for their solution
  /// \param of_fact      how many are looked for of a fact
  /// \param in_all       after how many no more are looked for ahead
  DerivationsAhead(points_to::Derivations& derivations, std::size_t of_fact, Offset in_all, IsAnonymous is_anonymous);
  ~DerivationsAhead();
  DerivationsAhead(DerivationsAhead const&) = delete;
  DerivationsAhead& operator=(DerivationsAhead const&) = delete;

  void look_for(std::span<points_to::Fact const> facts);
  /// Waits for the thread to end, which looks for so many in all.   \throws as points_to::Derivations::of() does
  void finish(Offset max);
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
  std::size_t of_fact_;
  std::atomic<Offset> in_all_;
  IsAnonymous is_anonymous_;
  Found found_, of_anonymous_;
  Offset num_found_ = 0;
  std::condition_variable is_told_;
  std::mutex mutex_;  // of the next two
  std::vector<points_to::Fact> waiting_;
  bool is_closed_ = false;
  std::exception_ptr error_;
  std::thread thread_;  // the last one, which the others outlive
};

}  // namespace hornbill::alarms
