// Memory that a function leaves to its callers: where its parameters are to.
#include <algorithm>
#include <set>

#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "relations.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

/// A place behind a parameter, or of a variable, as the callers know it.
std::vector<PlaceBehind> ProgramFacts::in_callers(Address const& place, llvm::Function const& function, bool is_left) {
  std::vector<PlaceBehind> places;
  auto const* parameter = dyn_cast<llvm::Argument>(place.base);
  if (!parameter && !isa<llvm::GlobalVariable>(place.base)) return places;
  for (auto const* call : effects_.callers_of(function)) {
    if (parameter && parameter->getArgNo() >= call->arg_size()) continue;
    auto const* base = parameter ? call->getArgOperand(parameter->getArgNo()) : place.base;
    places.push_back({call, base, place.offset, is_left});
  }
  return places;
}

std::vector<PlaceBehind> ProgramFacts::in_callers(Stops const& stops, llvm::Function const& function) {
  std::vector<PlaceBehind> places;
  for (auto const& left : stops.left_in) {
    if (left.call) continue;
    auto const found = in_callers(left.place, function, true);
    places.insert(places.end(), found.begin(), found.end());
  }
  return places;
}

std::vector<PlaceBehind> ProgramFacts::places_of_freed(Use const& use) {
  auto const& function = *use.instruction->getFunction();
  auto const& values = tracker(function).values();
  auto places = in_callers(behind_free(use).sure, function);
  auto const [root, bytes] = values.address_of(use.value());
  if (auto const* load = dyn_cast<llvm::LoadInst>(root); load && bytes == 0)
    for (auto const& place : in_callers(values.address_of(load->getPointerOperand()), function, false)) {
      auto const is_same = [&](PlaceBehind const& other) {
        return other.call == place.call && other.base == place.base && other.bytes == place.bytes;
      };
      if (std::ranges::none_of(places, is_same)) places.push_back(place);
    }
  return places;
}

std::vector<PlaceBehind> ProgramFacts::places_of_null(Use const& use) {
  auto const* store = dyn_cast<llvm::StoreInst>(use.instruction);
  if (!store) return {};
  Journey journey;
  journey.behind = store;
  journey.place = store->getPointerOperand();
  journey.is_null = true;
  if (isa<llvm::GlobalVariable>(tracker(*store->getFunction()).values().base_of(journey.place))) return {};
  return in_callers(tracker(*store->getFunction()).follow(journey), *store->getFunction());
}

std::vector<PlaceBehind> ProgramFacts::places_behind(PlaceBehind const& place, bool is_null) {
  if (isa<llvm::GlobalVariable>(place.base)) return {};  // points-to sets say who reads it
  constexpr int most_returns = 3;  // a function that calls itself with a part of what it got would go on for ever
  if (place.returns == most_returns) return {};
  auto places = in_callers(follow(place, is_null), *place.call->getFunction());
  for (auto& behind : places) behind.returns = place.returns + 1;
  return places;
}

bool ProgramFacts::is_freed_itself(Use const& use, llvm::Value const& load) {
  auto const* own = dyn_cast<llvm::LoadInst>(&load);
  if (!own || own->getFunction() != use.instruction->getFunction()) return false;
  auto const& values = tracker(*own->getFunction()).values();
  auto const* freed = values.address_of(use.value()).base;
  auto const* phi = dyn_cast<llvm::PHINode>(freed);
  auto const is_own = [&](llvm::Value const* value) { return values.leader_of(value) == values.leader_of(own); };
  return (is_own(freed) || (phi && std::ranges::any_of(phi->incoming_values(), is_own))) &&
         isa<llvm::Argument>(values.address_of(own->getPointerOperand()).base);
}

/// Behind the call from the place; and of what is freed, from loads before the call from there.
Stops const& ProgramFacts::follow(PlaceBehind const& place, bool is_null) {
  auto const [at, is_new] = behind_calls_.try_emplace({place, is_null});
  auto& stops = at->second;
  if (!is_new) return stops;
  auto& tracker = this->tracker(*place.call->getFunction());
  Journey journey;
  journey.is_null = is_null;
  journey.is_freed = !is_null;
  if (place.is_left) {
    journey.behind = place.call;
    journey.place = place.base;
    journey.bytes = place.bytes;
    stops = tracker.follow(journey);
  }
  if (is_null) return stops;
  auto address = tracker.values().address_of(place.base);
  address.offset += place.bytes;
  Journey freed;
  freed.is_freed = true;
  freed.freed_in = place.call;
  freed.freed_place = address;
  follow_copies(freed, address, tracker, stops);
  return stops;
}

namespace {

/// Places whose content may be in another one: that, and where blocks are copied from.
std::vector<Address> sources_of(Address const& place, LocalValues const& values) {
  constexpr std::size_t most = 8;
  std::vector<Address> places{place};
  for (std::size_t i = 0; i < places.size(); ++i)
    for (auto const* copy : values.copies()) {
      if (places.size() == most) break;
      auto const to = values.address_of(copy->getRawDest());
      auto const bytes = places[i].offset - to.offset;
      auto const length = llvm::cast<llvm::ConstantInt>(copy->getLength())->getSExtValue();
      if (to.base != places[i].base || bytes < 0 || bytes >= length) continue;
      auto from = values.address_of(copy->getRawSource());
      from.offset += bytes;
      if (std::ranges::find(places, from) == places.end()) places.push_back(from);
    }
  return places;
}

}  // namespace

/// What is freed from a place is freed under other names, too: values that were loaded from there before, or stored
/// there.
void ProgramFacts::follow_copies(Journey journey, Address const& place, Tracker& tracker, Stops& stops) {
  auto const& values = tracker.values();
  constexpr std::size_t most = 12;  // of those, a scanner's buffer has hundreds
  std::set<llvm::Value const*> followed;
  for (auto const& source : sources_of(place, values))
    for (auto const* access : values.accesses_of(source)) {
      auto const* store = dyn_cast<llvm::StoreInst>(access);
      auto const* value = values.leader_of(store ? store->getValueOperand() : access);
      if (!value->getType()->isPointerTy() || isa<llvm::Constant>(value)) continue;
      if (followed.size() == most || !followed.insert(value).second) continue;
      journey.behind = dyn_cast<llvm::Instruction>(value);
      journey.names = {value};
      merge(tracker.follow(journey).uses, stops.uses);
    }
}

/// Whether a function frees what a parameter is to.
bool ProgramFacts::frees(llvm::Argument const& parameter) {
  auto const [known, is_new] = frees_.try_emplace(&parameter);
  if (!is_new) return known->second;
  auto const& values = tracker(*parameter.getParent()).values();
  return frees_[&parameter] =
             std::ranges::any_of(llvm::instructions(values.function()), [&](llvm::Instruction const& instruction) {
               auto const* call = dyn_cast<llvm::CallBase>(&instruction);
               if (!call) return false;
               return std::ranges::any_of(effects_.callees_of(*call).freed, [&](unsigned argument) {
                 return values.address_of(call->getArgOperand(argument)) == Address{&parameter, 0};
               });
             });
}

}  // namespace hornbill::alarms
