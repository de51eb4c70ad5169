// What a tracker does at loads, stores, copies and calls, where memory holds the pointer.
#include <bit>

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>

#include "tracker.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

/// The names of what is within so many bytes of a place, where it goes to another one.
template <class Move>
NameBits Tracker::moved_names(Address const& from, std::int64_t bytes, State const& state, Move const& move) {
  NameBits moved = 0;
  for (std::size_t i = 0, known = names_.size(); i < known; ++i) {
    auto const place = names_[i].address;
    bool const is_there = !names_[i].value && names_.is_among(i, state.alive) && place.base == from.base;
    if (is_there && place.offset >= from.offset && place.offset - from.offset < bytes)
      moved |= move(place.offset - from.offset);
  }
  return moved;
}

bool Tracker::step_load(llvm::LoadInst const& load, State& state) {
  if (is_alive(load.getPointerOperand(), state) && !use({&load, 0}, state)) return false;
  if (load.getType()->isStructTy()) step_structure(load, state);
  if (!load.getType()->isPointerTy()) return true;
  auto const bit = names_.of_place(values_.address_of(load.getPointerOperand()), nullptr);
  if ((state.alive & bit) != 0) {
    set(&load, true, state);
    if ((behind_ & bit) != 0) behind_ |= names_.of_value(values_.leader_of(&load), false);
  } else if (values_.leader_of(&load) == &load) {
    set(&load, false, state);
  }
  if ((state.alive & bit) == 0 && values_.is_open(load) && !stops_.is_left)
    for (std::size_t i = 0; i < names_.size(); ++i)
      stops_.is_left = stops_.is_left || (names_.is_among(i, state.alive) && names_[i].is_in_memory() &&
                                          effects_.may_alias(*names_[i].pointer, *load.getPointerOperand()));
  return true;
}

bool Tracker::step_store(llvm::StoreInst const& store, State& state) {
  auto const* pointer = store.getPointerOperand();
  if (is_alive(pointer, state) && !use({&store, 1}, state)) return false;
  bool const is_stored = is_alive(store.getValueOperand(), state);
  auto const address = values_.address_of(pointer);
  if (is_stored && !use({&store, 0}, state)) return false;
  if (is_stored) {
    state.alive |= names_.of_place(address, pointer);
    if (is_behind(store.getValueOperand())) behind_ |= names_.of_place(address, nullptr);
  } else {
    auto const overwritten = state.alive & names_.of_place(address, nullptr);
    // On some way through the loop that frees it, what is freed is taken out of where the loop began.
    bool const is_of_loop = journey_->edge_to && journey_->place && !state.is_triggered;
    stops_.may_be_overwritten = stops_.may_be_overwritten || (is_of_loop && overwritten != 0);
    state.alive &= ~overwritten;
    drop_overwritten(store, state);
  }
  if (store.getValueOperand()->getType()->isStructTy()) {
    auto const bytes = values_.layout().getTypeStoreSize(store.getValueOperand()->getType()).getKnownMinValue();
    state.alive &= ~names_.in_block(address, static_cast<std::int64_t>(bytes));
    step_structure(store, state);
  }
  return true;
}

/// Memory that is freed was mostly taken out of where it was found, through other pointers to there.
void Tracker::drop_overwritten(llvm::StoreInst const& store, State& state) {
  if (state.is_triggered) return;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].is_in_memory() || !names_.is_among(i, state.alive)) continue;
    if (!effects_.may_alias(*names_[i].pointer, *store.getPointerOperand())) continue;
    stops_.may_be_overwritten = true;
    if (journey_->is_overwritten) state.alive &= ~(NameBits{1} << i);
  }
}

/// Structures that are values are loaded, stored, and taken apart.
void Tracker::step_structure(llvm::Instruction const& instruction, State& state) {
  auto const& layout = values_.layout();
  if (auto const* load = dyn_cast<llvm::LoadInst>(&instruction)) {
    auto const bytes = static_cast<std::int64_t>(layout.getTypeStoreSize(load->getType()).getKnownMinValue());
    state.alive |= moved_names(values_.address_of(load->getPointerOperand()), bytes, state,
                               [&](std::int64_t offset) { return names_.of_part(*load, offset, true); });
  } else if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction)) {
    auto const to = values_.address_of(store->getPointerOperand());
    auto const* structure = store->getValueOperand();
    auto const bytes = static_cast<std::int64_t>(layout.getTypeStoreSize(structure->getType()).getKnownMinValue());
    state.alive |= moved_names({structure, 0}, bytes, state, [&](std::int64_t offset) {
      Address const place{to.base, to.offset + offset};
      return names_.of_place(place, values_.pointer_to(place, store->getPointerOperand()));
    });
  } else if (auto const* part = dyn_cast<llvm::ExtractValueInst>(&instruction); part && part->getNumIndices() == 1) {
    auto* const type = dyn_cast<llvm::StructType>(part->getAggregateOperand()->getType());
    if (!type || !part->getType()->isPointerTy()) return;
    auto const offset =
        static_cast<std::int64_t>(layout.getStructLayout(type)->getElementOffset(part->getIndices()[0]));
    set(part, (state.alive & names_.of_part(*part->getAggregateOperand(), offset, false)) != 0, state);
  }
}

/// Memory that is freed is another alarm, and no longer followed.
void Tracker::drop_freed(llvm::CallBase const& call, State& state) {
  for (unsigned const i : effects_.callees_of(call).freed) {
    auto const* freed = values_.base_of(call.getArgOperand(i));
    for (std::size_t k = 0; k < names_.size(); ++k)
      if (names_[k].is_in_memory() && values_.base_of(names_[k].address.base) == freed)
        state.alive &= ~(NameBits{1} << k);
  }
}

/// Places that hold the pointer once a block is copied.
NameBits Tracker::copied_names(llvm::AnyMemTransferInst const& copy, State const& state) {
  auto const* length = dyn_cast<llvm::ConstantInt>(copy.getLength());
  if (!length) return 0;
  auto const to = values_.address_of(copy.getRawDest());
  return moved_names(values_.address_of(copy.getRawSource()),
                     static_cast<std::int64_t>(length->getLimitedValue(1 << 30)), state, [&](std::int64_t offset) {
                       Address const place{to.base, to.offset + offset};
                       return names_.of_place(place, values_.pointer_to(place, copy.getRawDest()));
                     });
}

/// Memory that may have changed is no longer followed: what is there then is known by points-to sets alone.
void Tracker::drop_changed(llvm::Instruction const& instruction, State& state) {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    auto const bit = NameBits{1} << i;
    if (!names_[i].is_in_memory() || (state.alive & bit) == 0) continue;
    if (may_change(instruction, names_[i])) state.alive &= ~bit;
  }
}

/// Of a place that no value points to, points-to sets do not say who writes there: calls that get where it begins may.
bool Tracker::may_change(llvm::Instruction const& instruction, Name const& name) const {
  if (values_.may_change(instruction, name.address, *name.pointer)) return true;
  auto const* call = dyn_cast<llvm::CallBase>(&instruction);
  if (!call || values_.address_of(name.pointer) == name.address) return false;
  return std::ranges::any_of(call->args(), [&](llvm::Use const& argument) {
    return argument->getType()->isPointerTy() && values_.address_of(argument.get()).base == name.address.base;
  });
}

void Tracker::leave_in_memory(llvm::CallBase const* call, State const& state) {
  if (!state.is_triggered) return;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (!names_[i].is_in_memory() || !names_.is_among(i, state.alive)) continue;
    bool const is_gone = !call && isa<llvm::AllocaInst>(names_[i].address.base);
    auto const [value, place, pointer] = names_[i];
    LeftIn const left{call, place, values_.address_of(pointer) == place ? pointer : nullptr};
    if (!is_gone && left_in_.insert(left).second) stops_.left_in.push_back(left);
    stops_.is_left = stops_.is_left || !is_gone;
  }
}

/// Places that are known by a pointer are those by a phi that is this pointer, too. Of a pointer that steps on in a
/// loop, the place where it is and the last one matter.
NameBits Tracker::phi_places(llvm::BasicBlock const& from, llvm::BasicBlock const& to, State const& state) {
  constexpr int most_of_a_phi = 2;
  NameBits places = 0;
  for (auto const& phi : to.phis()) {
    if (!phi.getType()->isPointerTy()) continue;
    auto const incoming = values_.address_of(phi.getIncomingValueForBlock(&from));
    for (std::size_t i = 0, known = names_.size(); i < known; ++i) {
      auto const& name = names_[i];
      if (!name.is_in_memory() || !names_.is_among(i, state.alive) || name.address.base != incoming.base) continue;
      Address const place{&phi, name.address.offset - incoming.offset};
      if (names_.of_place(place, nullptr) == 0 && std::popcount(names_.of_base(phi)) == most_of_a_phi) continue;
      places |= names_.of_place(place, values_.pointer_to(place, name.pointer));
    }
  }
  return places;
}

}  // namespace hornbill::alarms
