// Where data of a program goes, from one statement to the next. Internal to src/alarms.
#pragma once

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llvm/IR/Instructions.h>

#include "memory_effects.hpp"
#include "tracker.hpp"
#include "vocabulary.hpp"

namespace hornbill::alarms {

class ProgramFacts;

constexpr std::int64_t any_bytes = std::int64_t{1} << 40;  ///< more than objects have: of a block of unknown length

/// Statements are Origins: an instruction or a parameter; with an operand, an argument of a function outside, or the
/// index of an array.
class DataFlow {
 public:
  explicit DataFlow(ProgramFacts& facts) : facts_(facts) {}

  /// Statements to which data goes as a value, or through memory that only this function knows.
  std::vector<Origin> next(Origin const& statement);
  /// Memory that gets the data: where a pointer is to, and so many bytes from there on; with 0 bytes, that place.
  struct Written {
    llvm::Value const* pointer;
    std::int64_t bytes;
  };
  std::vector<Written> written_by(Origin const& statement) const;
  /// Statements that read memory into which others may have written, and the pointers to it.
  std::vector<std::pair<Origin, llvm::Value const*>> const& reads();
  /// Functions outside that get data from elsewhere.
  std::vector<Origin> sources() const;
  /// Where data begins: functions outside, constants, and parameters of functions that nobody calls.
  std::vector<Origin> roots() const;
  /// Whether data from outside does harm, and nothing has looked at how large it is.
  bool is_sink(Origin const& statement);

 private:
  /// What an argument of a function outside may be, that was written before.
  struct Writes {
    std::vector<llvm::Instruction const*> instructions;
    bool is_open = false;  // also by others
  };
  std::vector<extract::ExternalEffect> const* effects_of(llvm::CallBase const& call) const;
  void add_uses(llvm::Value const& value, std::vector<Origin>& next);
  void add_use(llvm::Instruction const& user, unsigned operand, std::vector<Origin>& next);
  void find_memory();
  void find_memory_of(llvm::Function const& function);
  Writes writes_before(llvm::Instruction const& reader, llvm::Value const& pointer);
  bool look(llvm::Instruction const& instruction, Address const& address, llvm::Value const& pointer, Writes& writes);
  bool returns_new(llvm::CallBase const& call) const;
  using ListPasses = std::vector<std::pair<llvm::CallBase const*, unsigned>>;
  ListPasses const& list_passes_of(llvm::Function const& function);
  void add_list_passes(llvm::Function const& function, std::unordered_set<llvm::Value const*> lists, int depth,
                       ListPasses& passes) const;
  void add_assigned(std::vector<extract::ExternalEffect> const& effects, int argument, std::vector<Origin>& next) const;
  void add_variadic(llvm::Function const& function, std::vector<Origin>& next);
  void add_content_readers(llvm::CallBase const& call, unsigned argument);
  bool is_bounded(llvm::Value const& value, llvm::Instruction const& at);
  /// What is known of a number: that it is not too large, and not negative.
  struct Bounds {
    bool upper = false, lower = false;

    bool are_both() const { return upper && lower; }
    void add(Bounds const& other) {
      upper = upper || other.upper;
      lower = lower || other.lower;
    }
  };
  Bounds bounds_at(llvm::Value const& number, llvm::Instruction const& at);
  Bounds bounds_on(llvm::Value const& number, llvm::PHINode const& phi, unsigned incoming);
  Bounds bounds(llvm::Value const& condition, std::optional<bool> truth, llvm::Value const& number,
                Tracker const& tracker) const;
  bool is_count(llvm::Value const& number) const;
  bool is_count_of_elements(llvm::Value const& number) const;
  bool may_be_negative(llvm::Value const& value, Tracker const& tracker, int depth = 0);
  bool equals_own_text(llvm::Value const& text, llvm::Instruction const& at);
  bool is_clamped(llvm::Instruction const& user, unsigned operand);

  ProgramFacts& facts_;
  std::unordered_map<llvm::Function const*, ListPasses> list_passes_;
  bool is_found_ = false;
  std::unordered_map<llvm::Instruction const*, std::vector<Origin>>
      readers_;  // of what an instruction writes, in its function
  std::vector<std::pair<Origin, llvm::Value const*>> reads_;
};

}  // namespace hornbill::alarms
