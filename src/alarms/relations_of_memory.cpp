// Relations of what memory holds, and of data that is kept there.
#include <algorithm>
#include <ranges>
#include <unordered_set>
#include <utility>

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "relations.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

/// \param is_at_calls  where other functions are called, and which call that is; or else where the function returns
void Relations::look_up_left_in(Index relation, bool is_at_calls,
                                std::function<Stops const&(datalog::Value)> stops_of) {
  auto const find = [this, is_at_calls, stops_of](datalog::Columns known, std::span<datalog::Value const> key,
                                                  Found const& found) {
    for (auto const& [call, place, pointer] : stops_of(key[0]).left_in) {
      if (!pointer) continue;
      Index const variable = facts_.program().bitcode().variable_of(*pointer);
      if ((call != nullptr) != is_at_calls || !is_to_few(variable)) continue;
      if (call && is_of_freed_node(*call, place)) continue;
      Values tuple{key[0]};
      if (call) tuple.push_back(vocabulary_.of(Use{call, call->getCalledOperandUse().getOperandNo()}));
      tuple.push_back(vocabulary_.of_variable(variable));
      give(tuple, known, key, found);
    }
  };
  database_.look_up(relation, {1, find});
}

/// Whether a function calls itself with another node: what this one's members are to is freed, and then it is itself.
bool Relations::is_of_freed_node(llvm::CallBase const& call, Address const& place) {
  auto const* node = dyn_cast<llvm::Argument>(place.base);
  return node && facts_.order().leads_to(call, *call.getFunction()) && facts_.frees(*node);
}

/// How many objects some fields are of.
Index Relations::num_whole(std::span<Index const> fields) const {
  auto const* first = facts_.fields().first;
  Index count = 0, last = -1;
  for (Index const field : fields) count += std::exchange(last, first[field]) != first[field] ? 1 : 0;
  return count;
}

bool Relations::is_to_few(Index variable) {
  if (variable == extract::nothing) return false;
  bool const is_few = std::ssize(facts_.solution().objects_of(variable)) <= most_objects_;
  if (!is_few) ++num_passed_over_;
  return is_few;
}

/// Data in any place of an object, such as of a text, says something; a pointer in any place does not.
bool Relations::is_to_data_of_few(Index variable) {
  if (variable == extract::nothing) return false;
  bool const is_few = num_whole(facts_.solution().objects_of(variable)) <= most_objects_;
  if (!is_few) ++num_passed_over_;
  return is_few;
}

/// \param are_all  also those that read what this function put there, if calls lie between
void Relations::add_loads(Index relation, bool are_all) {
  for (auto const& function : facts_.effects().module()) {
    if (function.isDeclaration() || facts_.program().bitcode().is_only_copied(function)) continue;
    auto& tracker = facts_.tracker(function);
    for (auto const& instruction : llvm::instructions(function)) {
      auto const* load = dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || !load->getType()->isPointerTy() || !tracker.is_reachable(*load->getParent())) continue;
      bool const is_open = tracker.values().is_open(*load) && tracker.values().leader_of(load) == load;
      if (!is_open && !(are_all && !tracker.values().calls_before(*load).empty())) continue;
      Index const variable = facts_.program().bitcode().variable_of(*load->getPointerOperand());
      if (!is_to_few(variable)) continue;
      add(relation, {vocabulary_.of_variable(variable), vocabulary_.of(Origin{load})});
      add_read_variable(variable);
    }
  }
}

void Relations::add_read_variable(Index variable) {
  if (!read_variables_.insert(variable).second) return;
  variables_of_set_[facts_.solution().set_of_variable[variable]].push_back(variable);
}

std::vector<Index> const& Relations::sets_with(Index object) {
  static std::vector<Index> const none;
  if (sets_of_object_.empty())
    for (auto const set : variables_of_set_ | std::views::keys)
      for (Index const o : facts_.solution().objects_of_set(set)) sets_of_object_[o].push_back(set);
  auto const found = sets_of_object_.find(object);
  return found == sets_of_object_.end() ? none : found->second;
}

// --- data ---

void Relations::look_up_data_edges(Index relation) {
  look_up_second(relation, [this](datalog::Value from) {
    Values next;
    for (auto const& statement : facts_.data_flow().next(vocabulary_.origins[from]))
      if (auto const value = vocabulary_.of(statement); std::ranges::find(next, value) == next.end())
        next.push_back(value);
    return next;
  });
}

void Relations::add_reported(Index relation) {
  auto const& statements = facts_.statements_of_reports();
  for (std::size_t i = 0; i < statements.size(); ++i)
    for (auto const& statement : statements[i])
      add(relation, {program_.symbols.number_of(facts_.reports()[i].text()), vocabulary_.of(statement)});
}

void Relations::look_up_writes(Index relation) {
  look_up_second(relation, [this](datalog::Value statement) {
    Values addresses;
    for (auto const& [pointer, bytes] : facts_.data_flow().written_by(vocabulary_.origins[statement]))
      if (Index const variable = facts_.program().bitcode().variable_of(*pointer); is_to_data_of_few(variable))
        addresses.push_back(vocabulary_.of_variable(variable));
    return addresses;
  });
}

void Relations::add_data_reads(Index relation) {
  for (auto const& [statement, pointer] : facts_.data_flow().reads()) {
    Index const variable = facts_.program().bitcode().variable_of(*pointer);
    if (!is_to_data_of_few(variable)) continue;
    add(relation, {vocabulary_.of_variable(variable), vocabulary_.of(statement)});
    add_read_variable(variable);
  }
}

/// Of all variables where the variable is known; or else of those that are read.
void Relations::find_points_to(datalog::Columns known, std::span<datalog::Value const> key, Found const& found) {
  auto const objects_of = [&](Index variable) { return facts_.solution().objects_of(variable); };
  if (known == 3) {
    if (std::ranges::binary_search(objects_of(vocabulary_.variables[key[0]]), vocabulary_.objects[key[1]])) found(key);
  } else if (known == 1) {
    for (Index const object : objects_of(vocabulary_.variables[key[0]]))
      found(std::array{key[0], vocabulary_.of_object(object)});
  } else if (known == 2) {
    for (Index const set : sets_with(vocabulary_.objects[key[1]]))
      for (Index const variable : variables_of_set_.at(set))
        found(std::array{vocabulary_.of_variable(variable), key[1]});
  } else {
    for (Index const variable : read_variables_)
      for (Index const object : objects_of(variable))
        found(std::array{vocabulary_.of_variable(variable), vocabulary_.of_object(object)});
  }
}

namespace {

/// Whether memory of a type may hold pointers, as the type has it.
bool has_pointers(llvm::Type const& type) {
  return type.isPointerTy() ||
         std::ranges::any_of(type.subtypes(), [](llvm::Type const* part) { return has_pointers(*part); });
}

}  // namespace

/// Pointers of variables that are null from the start.
void Relations::add_null_globals(Index relation) {
  auto const fields = facts_.fields();
  auto const& layout = facts_.effects().module().getDataLayout();
  auto const visit = [&](auto const& self, llvm::Constant const& value, Index object, std::int64_t byte) -> void {
    auto* const type = value.getType();
    if (type->isPointerTy()) {
      if (!value.isNullValue() || byte > points_to::largest_offset) return;
      auto const found = fields.at_offset(object, static_cast<Index>(byte));
      if (found.first >= 0 && found.second < 0) add(relation, {vocabulary_.of_object(found.first)});
    } else if (auto* structure = dyn_cast<llvm::StructType>(type)) {
      for (unsigned i = 0; i < structure->getNumElements(); ++i)
        if (auto const* part = value.getAggregateElement(i))
          self(self, *part, object,
               byte + static_cast<std::int64_t>(layout.getStructLayout(structure)->getElementOffset(i)));
    } else if (auto* array = dyn_cast<llvm::ArrayType>(type)) {  // whose elements are one
      auto const size = static_cast<std::int64_t>(layout.getTypeAllocSize(array->getElementType()).getFixedValue());
      auto const count =
          value.isNullValue() ? std::min<std::uint64_t>(array->getNumElements(), 1) : array->getNumElements();
      for (unsigned i = 0; i < count; ++i)
        if (auto const* part = value.getAggregateElement(i)) self(self, *part, object, byte + i * size);
    }
  };
  // Null in an array of constants mostly says where it ends.
  auto const may_matter = [](llvm::GlobalVariable const& global) {
    return !global.isConstant() || global.hasPrivateLinkage() || global.getValueType()->isStructTy();
  };
  for (auto const& global : facts_.effects().module().globals())
    if (has_pointers(*global.getValueType()) && global.hasInitializer() && may_matter(global) &&
        global.getName().substr(0, 5) != "llvm.")
      visit(visit, *global.getInitializer(), facts_.program().bitcode().memory().object_of(global), 0);
}

}  // namespace hornbill::alarms
