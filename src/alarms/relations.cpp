#include "relations.hpp"

#include <algorithm>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <hornbill/error.hpp>

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

/// Whether an instruction is there a second time, and is looked at where it comes from.
bool ProgramFacts::is_passed_over(llvm::Instruction const& instruction) const {
  auto const* at = instruction.getDebugLoc().get();
  return at && at->getInlinedAt() && !program_.bitcode().original_of(instruction);
}

Relations::Relations(ProgramFacts& facts, datalog::Program& program, datalog::Database& database, Index most_objects)
    : facts_(facts),
      program_(program),
      database_(database),
      vocabulary_(program.symbols, facts.names(), facts.expressions()),
      most_objects_(most_objects) {}

std::map<std::string, Relations::Provider> Relations::providers() {
  auto const use_lookup = [this](auto function) {
    return [this, function](Index relation) {
      look_up_whether(relation, [this, function](datalog::Value use) { return function(vocabulary_.uses[use]); });
    };
  };
  auto const stops_lookup = [this](auto function) {
    return [this, function](Index relation) {
      look_up_second(relation, [this, function](datalog::Value from) {
        Values stops;
        for (auto const& use : function(from)) stops.push_back(vocabulary_.of(use));
        return stops;
      });
    };
  };
  auto const places_lookup = [this](auto function) {
    return Provider{2, [this, function](Index relation) { look_up_places(relation, function); }};
  };
  auto const result_lookup = [this](bool is_wanted) {
    return Provider{1, [this, is_wanted](Index relation) {
                      look_up_whether(relation, [this, is_wanted](datalog::Value m) {
                        return vocabulary_.places[m].call->use_empty() != is_wanted;
                      });
                    }};
  };
  auto const pair_lookup = [this](auto holds) {
    return Provider{2, [this, holds](Index relation) { look_up_pair(relation, holds); }};
  };
  auto const sure = [this](datalog::Value u) -> Stops const& { return facts_.behind_free(vocabulary_.uses[u]).sure; };
  auto const doubtful = [this](datalog::Value u) -> Stops const& {
    return facts_.behind_free(vocabulary_.uses[u]).doubtful;
  };
  auto const left_lookup = [this](bool is_at_calls, std::function<Stops const&(datalog::Value)> stops_of) {
    return Provider{is_at_calls ? 3u : 2u, [this, is_at_calls, stops_of](Index relation) {
                      look_up_left_in(relation, is_at_calls, stops_of);
                    }};
  };
  auto const listed = [this](auto list) {
    return Provider{1, [this, list](Index relation) {
                      for (auto const& origin : list()) add(relation, Values{vocabulary_.of(origin)});
                    }};
  };
  return {
      {"Null", listed([this] { return facts_.nulls(); })},
      {"NullTest", listed([this] { return facts_.null_tests(false); })},
      {"NullTestInCopy", listed([this] { return facts_.null_tests(true); })},
      {"Source", listed([this] { return facts_.data_flow().sources(); })},
      {"Root", listed([this] { return facts_.data_flow().roots(); })},
      {"TestedLater",
       {1,
        [this](Index r) {
          for (auto const& use : facts_.tested_later()) add(r, {vocabulary_.of(use)});
        }}},
      {"ReadsInitial",
       {1,
        [this](Index r) {
          look_up_whether(r, [this](datalog::Value q) {
            auto const* load = dyn_cast<llvm::LoadInst>(vocabulary_.origins[q].value);
            return load && facts_.initial_values().may_read_initial(*load);
          });
        }}},
      {"NullGlobal", {1, [this](Index r) { add_null_globals(r); }}},
      {"NullReaches",
       {2, stops_lookup([this](datalog::Value v) { return facts_.stops_of_null(vocabulary_.origins[v]); })}},
      {"Reaches", {2, stops_lookup([this](datalog::Value v) { return facts_.stops_of(vocabulary_.origins[v]); })}},
      {"ReachesFreed",
       {2, stops_lookup([this](datalog::Value u) { return facts_.behind_free(vocabulary_.uses[u]).sure.uses; })}},
      {"MayReachFreed",
       {2, stops_lookup([this](datalog::Value u) { return facts_.behind_free(vocabulary_.uses[u]).doubtful.uses; })}},
      {"LeftIn", left_lookup(false, sure)},
      {"LeftAt", left_lookup(true, sure)},
      {"MayBeLeftIn", left_lookup(false, doubtful)},
      {"MayBeLeftAt", left_lookup(true, doubtful)},
      {"FreedIsAt",
       left_lookup(true,
                   [this](datalog::Value m) -> Stops const& { return facts_.follow(vocabulary_.places[m], false); })},
      {"LeavesFreed", places_lookup([this](datalog::Value f) { return facts_.places_of_freed(vocabulary_.uses[f]); })},
      {"LeavesNullIn", places_lookup([this](datalog::Value u) { return facts_.places_of_null(vocabulary_.uses[u]); })},
      {"StillFreed",
       places_lookup([this](datalog::Value m) { return facts_.places_behind(vocabulary_.places[m], false); })},
      {"StillNull",
       places_lookup([this](datalog::Value m) { return facts_.places_behind(vocabulary_.places[m], true); })},
      {"FreedReaches",
       {2, stops_lookup([this](datalog::Value m) { return facts_.stops_of(vocabulary_.places[m], false); })}},
      {"NullIsIn",
       {2, stops_lookup([this](datalog::Value m) { return facts_.stops_of(vocabulary_.places[m], true); })}},
      {"HasResult", result_lookup(true)},
      {"HasNoResult", result_lookup(false)},
      {"Inside", pair_lookup([this](datalog::Value c, datalog::Value q) {
         auto const& call = *llvm::cast<llvm::CallBase>(vocabulary_.uses[c].instruction);
         auto const& load = *llvm::cast<llvm::Instruction>(vocabulary_.origins[q].value);
         return !is_of_other_run(call, load) && facts_.order().leads_to(call, *load.getFunction());
       })},
      {"Dereferences", {1, use_lookup([this](Use const& use) {
                          return !facts_.is_passed_over(*use.instruction) && is_dereference(use, facts_.effects());
                        })}},
      {"Uses", {1, use_lookup([this](Use const& use) {
                  return !facts_.is_passed_over(*use.instruction) && facts_.is_used(use);
                })}},
      {"UsesHere", {1, use_lookup([this](Use const& use) {
                      return !facts_.is_passed_over(*use.instruction) && facts_.is_used_here(use);
                    })}},
      {"MayFree",
       {1,
        [this](Index r) {
          for_each_call_argument([&](llvm::CallBase const& call, Use const& use) {
            using Kind = extract::ExternalEffect::Kind;
            if (facts_.effects().may_have_effect(call, use.operand, Kind::frees) && !is_free(use, facts_.effects()))
              add(r, {vocabulary_.of(use)});
          });
        }}},
      {"IsOwn",
       {1,
        [this](Index r) {
          look_up_whether(r, [this](datalog::Value p) { return !isa<llvm::Argument>(vocabulary_.origins[p].value); });
        }}},
      {"ResultOf", pair_lookup([this](datalog::Value u, datalog::Value q) {
         return vocabulary_.uses[u].instruction == vocabulary_.origins[q].value;
       })},
      {"LeavesNull", {1, use_lookup([this](Use const& use) { return facts_.is_null_left(use); })}},
      {"Original",
       {2,
        [this](Index r) {
          look_up_second(r, [this](datalog::Value use) {
            auto const [instruction, operand] = vocabulary_.uses[use];
            auto const* original = facts_.program().bitcode().original_of(*instruction);
            return Values{original ? vocabulary_.of(Use{original, operand}) : use};
          });
        }}},
      {"OriginalStatement",
       {2,
        [this](Index r) {
          look_up_second(r, [this](datalog::Value statement) {
            auto const [value, operand] = vocabulary_.origins[statement];
            auto const* instruction = dyn_cast<llvm::Instruction>(value);
            auto const* original = instruction ? facts_.program().bitcode().original_of(*instruction) : nullptr;
            return Values{original ? vocabulary_.of(Origin{original, operand}) : statement};
          });
        }}},
      {"Stores",
       {2,
        [this](Index r) {
          look_up_second(r, [this](datalog::Value use) {
            auto const& [instruction, operand] = vocabulary_.uses[use];
            auto const* store = dyn_cast<llvm::StoreInst>(instruction);
            Index const variable = store && operand == 0
                                       ? facts_.program().bitcode().variable_of(*store->getPointerOperand())
                                       : extract::nothing;
            return variable == extract::nothing ? Values() : Values{vocabulary_.of_variable(variable)};
          });
        }}},
      {"IsOne", {1, use_lookup([this](Use const& use) {
                   auto const* call = dyn_cast<llvm::CallBase>(use.instruction);
                   if (!call) return false;
                   auto const& callees = facts_.effects().callees_of(*call);
                   return callees.functions.size() == 1 && !callees.is_open;
                 })}},
      {"Passes", {2, [this](Index r) { add_passes(r); }}},
      {"IsPassed", {1, use_lookup([this](Use const& use) {
                      auto const* call = dyn_cast<llvm::CallBase>(use.instruction);
                      return call && use.operand < call->arg_size() &&
                             !facts_.effects().callees_of(*call).functions.empty();
                    })}},
      {"IsReturned", {1, use_lookup([](Use const& use) { return isa<llvm::ReturnInst>(use.instruction); })}},
      {"Returns", {2, [this](Index r) { add_returns(r); }}},
      {"Loads", {2, [this](Index r) { add_loads(r, false); }}},
      {"Parameter", {2, [this](Index r) { add_parameters(r); }}},
      {"Frees", {1, [this](Index r) { add_frees(r); }}},
      {"IsOfOne",
       {1,
        [this](Index r) {
          look_up_whether(r, [this](datalog::Value object) {
            Index const first = facts_.fields().first[vocabulary_.objects[object]];
            return first != extract::outside && !facts_.program().bitcode().memory().is_of_many(first);
          });
        }}},
      {"PointsTo",
       {2,
        [this](Index r) {
          points_to_ = r;
          database_.look_up(r, {0, [this](datalog::Columns known, auto key, Found const& found) {
                                  find_points_to(known, key, found);
                                }});
        }}},
      {"Always", pair_lookup([this](datalog::Value q, datalog::Value v) {
         return facts_.is_always(*llvm::cast<llvm::Argument>(vocabulary_.origins[q].value), vocabulary_.uses[v]);
       })},
      {"Reads", {2, [this](Index r) { add_loads(r, true); }}},
      {"Sink",
       {1,
        [this](Index r) {
          look_up_whether(r, [this](datalog::Value statement) {
            return facts_.data_flow().is_sink(vocabulary_.origins[statement]);
          });
        }}},
      {"DUEdge", {2, [this](Index r) { look_up_data_edges(r); }}},
      {"Writes", {2, [this](Index r) { look_up_writes(r); }}},
      {"WritesBehind", {4, [this](Index r) { look_up_writes_behind(r); }}},
      {"Copies", {6, [this](Index r) { look_up_copies(r); }}},
      {"Zeroes", {3, [this](Index r) { add_zeroes(r); }}},
      {"DataRead", {2, [this](Index r) { add_data_reads(r); }}},
      {"Reported", {2, [this](Index r) { add_reported(r); }}},
      {"ElementsFreedBefore", pair_lookup([this](datalog::Value f, datalog::Value q) {
         return are_elements_freed_before(vocabulary_.uses[f],
                                          *llvm::cast<llvm::LoadInst>(vocabulary_.origins[q].value));
       })},
      {"InOneRun",
       {3,
        [this](Index r) {
          database_.look_up(r, {7, [this](datalog::Columns, std::span<datalog::Value const> key, Found const& found) {
                                  auto const* load = llvm::cast<llvm::LoadInst>(vocabulary_.origins[key[1]].value);
                                  if (is_in_one_run(vocabulary_.uses[key[0]], *load, vocabulary_.objects[key[2]]))
                                    found(key);
                                }});
        }}},
      {"Follows", pair_lookup([this](datalog::Value f, datalog::Value q) {
         return may_read_after(vocabulary_.uses[f], *llvm::cast<llvm::LoadInst>(vocabulary_.origins[q].value));
       })},
  };
}

void Relations::provide() {
  auto const known = providers();
  for (std::size_t r = 0; r < program_.relations.size(); ++r) {
    auto const& relation = program_.relations[r];
    if (!relation.is_input) continue;
    auto const found = known.find(relation.name);
    if (found == known.end()) {
      std::string names;
      for (auto const& [name, provider] : known) names += (names.empty() ? "" : ", ") + name;
      throw InputError(fmt::format("line {}: input {} is not a relation of programs; there are {}", relation.place.line,
                                   relation.name, names));
    }
    if (found->second.arity != relation.arity())
      throw InputError(fmt::format("line {}: input {} has {} columns; it needs {}", relation.place.line, relation.name,
                                   relation.arity(), found->second.arity));
    found->second.provide(static_cast<Index>(r));
  }
}

bool Relations::is_of_other_run(llvm::Instruction const& statement, llvm::Instruction const& load) {
  auto const* variable = llvm::getUnderlyingObject(load.getOperand(0));
  return isa<llvm::AllocaInst>(variable) && statement.getFunction() == load.getFunction();
}

void Relations::look_up_second(Index relation, std::function<Values(datalog::Value)> function) {
  auto known = std::make_shared<std::unordered_map<datalog::Value, Values>>();
  database_.look_up(
      relation,
      {1, [known, function](datalog::Columns columns, std::span<datalog::Value const> key, Found const& found) {
         auto const at = known->find(key[0]);
         auto const& seconds = at == known->end() ? known->emplace(key[0], function(key[0])).first->second : at->second;
         for (auto const second : seconds)  // which stays where it is
           if ((columns & 2) == 0 || key[1] == second) found(std::array{key[0], second});
       }});
}

void Relations::look_up_pair(Index relation, std::function<bool(datalog::Value, datalog::Value)> function) {
  database_.look_up(relation,
                    {3, [function](datalog::Columns, std::span<datalog::Value const> key, Found const& found) {
                       if (function(key[0], key[1])) found(key);
                     }});
}

void Relations::look_up_places(Index relation, std::function<std::vector<PlaceBehind>(datalog::Value)> function) {
  look_up_second(relation, [this, function](datalog::Value first) {
    Values numbers;
    for (auto const& place : function(first)) numbers.push_back(vocabulary_.of(place));
    return numbers;
  });
}

void Relations::look_up_whether(Index relation, std::function<bool(datalog::Value)> function) {
  database_.look_up(relation,
                    {1, [function](datalog::Columns, std::span<datalog::Value const> key, Found const& found) {
                       if (function(key[0])) found(key);
                     }});
}

// --- calls ---

void Relations::for_each_call_argument(std::function<void(llvm::CallBase const&, Use const&)> const& visit) {
  for (auto const& function : facts_.effects().module())
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      if (!call || isa<llvm::IntrinsicInst>(call)) continue;
      for (unsigned i = 0; i < call->arg_size(); ++i)
        if (call->getArgOperand(i)->getType()->isPointerTy()) visit(*call, {call, i});
    }
}

void Relations::add_passes(Index relation) {
  for_each_call_argument([&](llvm::CallBase const& call, Use const& use) {
    for (auto const* callee : facts_.effects().callees_of(call).functions)
      if (use.operand < callee->arg_size())
        add(relation, {vocabulary_.of(use), vocabulary_.of(Origin{callee->getArg(use.operand)})});
  });
}

namespace {

/// Whether a value of a type is a pointer, or a structure that has one.
bool may_be_pointers(llvm::Type const& type) {
  auto const* structure = dyn_cast<llvm::StructType>(&type);
  return type.isPointerTy() || (structure && std::ranges::any_of(structure->elements(), [](llvm::Type const* element) {
                                  return element->isPointerTy();
                                }));
}

}  // namespace

void Relations::add_returns(Index relation) {
  for (auto const& function : facts_.effects().module()) {
    if (!may_be_pointers(*function.getReturnType())) continue;
    for (auto const& block : function) {
      auto const* result = block.getTerminator();
      if (!isa<llvm::ReturnInst>(result)) continue;
      for (auto const* call : facts_.effects().callers_of(function))
        if (call->getType() == function.getReturnType())
          add(relation, {vocabulary_.of(Use{result, 0}), vocabulary_.of(Origin{call})});
    }
  }
}

void Relations::add_parameters(Index relation) {
  for (auto const& function : facts_.effects().module())
    for (auto const& parameter : function.args())
      if (parameter.getType()->isPointerTy())
        for (auto const& use : facts_.uses_of(parameter))
          if (isa<llvm::CallBase>(use.instruction))
            add(relation, {vocabulary_.of(Origin{&parameter}), vocabulary_.of(use)});
}

void Relations::add_frees(Index relation) {
  for_each_call_argument([&](llvm::CallBase const&, Use const& use) {
    if (is_free(use, facts_.effects())) add(relation, {vocabulary_.of(use)});
  });
}

void Relations::give(Values const& tuple, datalog::Columns known, std::span<datalog::Value const> key,
                     Found const& found) {
  for (std::size_t i = 0; i < tuple.size(); ++i)
    if ((known >> i & 1) != 0 && tuple[i] != key[i]) return;
  found(tuple);
}

bool Relations::is_points_to(datalog::Tuple const& tuple) const { return tuple.relation == points_to_; }

std::pair<Index, Index> Relations::fact_of(datalog::Tuple const& tuple) const {
  auto const values = database_.values(tuple);
  return {vocabulary_.variables[values[0]], vocabulary_.objects[values[1]]};
}

}  // namespace hornbill::alarms
