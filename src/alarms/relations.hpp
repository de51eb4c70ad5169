// Relations of a program that rules may use. Internal to src/alarms.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include <hornbill/alarms/reports.hpp>
#include <hornbill/datalog/ground.hpp>
#include <hornbill/extract/extract.hpp>
#include <hornbill/points_to/detail/fields.hpp>
#include <hornbill/points_to/solution.hpp>

#include "data_flow.hpp"
#include "expressions.hpp"
#include "initial_values.hpp"
#include "memory_effects.hpp"
#include "order.hpp"
#include "tracker.hpp"
#include "vocabulary.hpp"

namespace hornbill::alarms {

/// What is known of a program, whatever rules ask.
class ProgramFacts {
 public:
  ProgramFacts(extract::Program const& program, points_to::Solution const& solution,
               std::vector<Report> const& reports);

  extract::Program const& program() const { return program_; }
  points_to::Solution const& solution() const { return solution_; }
  MemoryEffects& effects() { return effects_; }
  Expressions& expressions() { return expressions_; }
  PointsToNames& names() { return names_; }
  Order& order() { return order_; }
  DataFlow& data_flow() { return data_flow_; }
  InitialValues& initial_values() { return initial_values_; }
  points_to::detail::ObjectFields fields() const;
  Tracker& tracker(llvm::Function const& function);

  /// Places where a null constant becomes the value of a pointer or is used as one; and calls that may return null.
  std::vector<Origin> nulls();
  /// Branches that say that a pointer is null, unless that is known there; or those of a parameter, in copies of its
  /// function: others may pass null.
  std::vector<Origin> null_tests(bool are_copies);
  /// Dereferences of pointers that a branch behind them compares with null.
  std::vector<Use> tested_later();
  std::vector<Use> stops_of_null(Origin const& origin);
  /// Whether null that is stored is still there where others may read it.
  bool is_null_left(Use const& use);
  std::vector<Use> stops_of(Origin const& origin);
  /// Memory of callers that holds what a function freed, or from which it was freed, when it returns; or in which a
  /// store left null.
  std::vector<PlaceBehind> places_of_freed(Use const& use);
  std::vector<PlaceBehind> places_of_null(Use const& use);
  /// The same of what a call has left, once the caller returns.
  std::vector<PlaceBehind> places_behind(PlaceBehind const& place, bool is_null);
  std::vector<Use> stops_of(PlaceBehind const& place, bool is_null) { return follow(place, is_null).uses; }
  /// Where a pointer in a place behind a call goes.
  Stops const& follow(PlaceBehind const& place, bool is_null);
  /// Whether a load from where a parameter is to is of what a statement frees: then it is again, with the same pointer.
  bool frees(llvm::Argument const& parameter);
  bool is_freed_itself(Use const& use, llvm::Value const& load);
  /// Where what is freed may be on a path afterwards: surely; and only if stores before that left memory as it was.
  struct BehindFree {
    Stops sure, doubtful;
  };
  BehindFree const& behind_free(Use const& use);
  /// Operands that may be a parameter: through copies, wherever they lead.
  std::vector<Use> const& uses_of(llvm::Argument const& parameter);
  /// Whether a function does not return before a parameter that is not null becomes an operand.
  bool is_always(llvm::Argument const& parameter, Use const& use);
  std::vector<Report> const& reports() const { return reports_; }
  /// Statements in the line of each report.
  std::vector<std::vector<Origin>> const& statements_of_reports();
  Index num_unplaced_reports();
  /// Whether memory must be there at an operand, or it goes to a function outside; also in functions that it is passed
  /// to.
  bool is_used_here(Use const& use);
  bool is_passed_over(llvm::Instruction const& instruction) const;
  bool is_used(Use const& use);

 private:
  bool is_null(llvm::Value const& value, Tracker& tracker);
  bool may_return_null(llvm::CallBase const& call) const;
  bool frees(llvm::BasicBlock const& block, llvm::Value const& pointer);
  void follow_copies(Journey journey, Address const& place, Tracker& tracker, Stops& stops);
  /// Branches and comparisons of pointers with null.
  std::vector<Origin> const& all_null_tests();
  bool is_not_null_at(llvm::Value const& pointer, llvm::Instruction const& at);
  std::vector<Use> const& dereferences_of(llvm::Value const& pointer, Tracker& tracker);
  Stops follow_freed(Use const& use, bool is_overwritten);
  static llvm::Value const* place_behind(llvm::Value const& value, llvm::BasicBlock const& from,
                                         llvm::BasicBlock const& to, Tracker const& tracker);
  std::vector<PlaceBehind> in_callers(Address const& place, llvm::Function const& function, bool is_left);
  std::vector<PlaceBehind> in_callers(Stops const& stops, llvm::Function const& function);
  void add_nulls(llvm::Instruction const& instruction, std::vector<Origin>& nulls);

  extract::Program const& program_;
  points_to::Solution const& solution_;
  MemoryEffects effects_;
  Expressions expressions_;
  PointsToNames names_;
  std::vector<Index> first_;  // [objects], of the object that a field belongs to
  std::vector<Report> const& reports_;
  Order order_;
  DataFlow data_flow_;
  InitialValues initial_values_;
  std::unordered_map<llvm::Function const*, std::unique_ptr<Tracker>> trackers_;
  std::unordered_map<Tracker const*, std::unordered_map<llvm::Value const*, std::vector<Use>>> dereferences_;
  std::optional<std::vector<Origin>> null_tests_;
  std::unordered_map<llvm::Value const*, std::vector<llvm::ICmpInst const*>> tests_of_;  // of null, by leaders
  std::map<Use, BehindFree> behind_free_;
  std::map<std::pair<PlaceBehind, bool>, Stops> behind_calls_;
  std::unordered_map<llvm::Argument const*, std::vector<Use>> uses_of_;
  std::unordered_map<llvm::Argument const*, bool> is_used_, frees_;
  std::vector<std::vector<Origin>> statements_of_reports_;  // none before it is asked for
};

/// Gives rules the relations that they declare as inputs.
class Relations {
 public:
  /// \param most_objects  that a pointer may be to, where alarms depend on the memory there
  Relations(ProgramFacts& facts, datalog::Program& program, datalog::Database& database, Index most_objects);
  Relations(Relations const&) = delete;
  Relations& operator=(Relations const&) = delete;

  /// \throws InputError naming an input that is not known, or has another number of columns
  void provide();
  /// How often an access was passed over, since its pointer is to more objects.
  Index num_passed_over() const { return num_passed_over_; }
  bool is_points_to(datalog::Tuple const& tuple) const;
  /// The variable and object of a tuple of PointsTo.
  std::pair<Index, Index> fact_of(datalog::Tuple const& tuple) const;

 private:
  using Values = std::vector<datalog::Value>;
  using Found = datalog::Lookup::Found;

  struct Provider {
    std::size_t arity;
    std::function<void(Index relation)> provide;
  };
  std::map<std::string, Provider> providers();

  void add(Index relation, Values const& values) { database_.add(relation, values); }
  /// A relation of two columns whose first one is known when it is asked.
  void look_up_second(Index relation, std::function<std::vector<datalog::Value>(datalog::Value)> function);
  void look_up_places(Index relation, std::function<std::vector<PlaceBehind>(datalog::Value)> function);
  void look_up_whether(Index relation, std::function<bool(datalog::Value)> function);
  /// One of two columns that are both known.
  void look_up_pair(Index relation, std::function<bool(datalog::Value, datalog::Value)> function);
  void add_passes(Index relation);
  void add_returns(Index relation);
  bool is_of_freed_node(llvm::CallBase const& call, Address const& place);
  Index num_whole(std::span<Index const> fields) const;
  bool is_to_few(Index variable);
  bool is_to_data_of_few(Index variable);
  /// Whether a load from a function's own variable is seen along calls of a statement in it: a run of the function has
  /// variables of its own, and in one run it is seen along its paths.
  static bool is_of_other_run(llvm::Instruction const& statement, llvm::Instruction const& load);
  bool may_read_after(Use const& use, llvm::LoadInst const& load);
  std::vector<llvm::Instruction const*> ways_within(llvm::Function const& function, llvm::Instruction const& statement);
  llvm::Value const* variable_of_object(Index object);
  bool is_in_one_run(Use const& use, llvm::LoadInst const& load, Index object);
  /// Whether a loop in another function frees what it loads, and a load is from its own function's variable.
  bool are_elements_freed_before(Use const& use, llvm::LoadInst const& load);
  void add_loads(Index relation, bool are_all);
  void add_parameters(Index relation);
  void add_reported(Index relation);
  void look_up_data_edges(Index relation);
  void look_up_writes(Index relation);
  void add_data_reads(Index relation);
  void add_read_variable(Index variable);
  std::vector<Index> const& sets_with(Index object);
  void add_frees(Index relation);
  void add_null_globals(Index relation);
  std::vector<Index> begins_of(Index variable) const;
  std::vector<Index> fields_in(Index first, std::int64_t bytes) const;
  void look_up_writes_behind(Index relation);
  void add_copies();
  void look_up_copies(Index relation);
  void add_zeroes(Index relation);
  /// Hands on a tuple that has the values that are known.
  static void give(Values const& tuple, datalog::Columns known, std::span<datalog::Value const> key,
                   Found const& found);
  void look_up_left_in(Index relation, bool is_at_calls, std::function<Stops const&(datalog::Value)> stops_of);
  void find_points_to(datalog::Columns known, std::span<datalog::Value const> key, Found const& found);
  void for_each_call_argument(std::function<void(llvm::CallBase const&, Use const&)> const& visit);

  ProgramFacts& facts_;
  datalog::Program& program_;
  datalog::Database& database_;
  Vocabulary vocabulary_;
  Index most_objects_;
  Index num_passed_over_ = 0;
  Index points_to_ = -1;
  struct Copy {
    Index from, first, to;  // variables, and the object that the block begins with
    std::int64_t bytes;     // that go everywhere, where the block is of bytes; else 0
  };
  std::unordered_map<Index, std::vector<Copy>> copies_;               // of what an object holds
  std::unordered_map<Index, llvm::Value const*> variable_of_object_;  // locals and globals
  std::map<std::pair<llvm::Function const*, llvm::Function const*>, std::vector<llvm::Instruction const*>> ways_within_;
  // addresses that loads read through, by set; and sets that have an object
  std::set<Index> read_variables_;
  std::map<Index, std::vector<Index>> variables_of_set_;
  std::unordered_map<Index, std::vector<Index>> sets_of_object_;  // none before it is asked for
};

}  // namespace hornbill::alarms
