#include "node_levels.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::points_to {

NodeLevels::NodeLevels(RankedFacts& facts)
    : facts_(facts),
      stores_of_(facts.system(), [](Constraint const& c) { return c.kind == ConstraintKind::store ? c.source : -1; }),
      is_stored_(facts.pool().num_ids()),
      answers_(facts.pool().num_ids()),
      level_of_variable_(static_cast<std::size_t>(facts.system().num_variables)) {}

NodeLevels::Levels const& NodeLevels::of(Fact const& fact, int round) {
  auto const root = facts_.root(round, fact.variable);
  auto const [at, is_new] = known_.try_emplace({fact.object, round, root});
  auto& levels = at->second;
  if (is_new) {
    levels.members_ = facts_.members(round, root);
    if (levels.members_.size() > 1) levels.levels_ = find_levels(fact.object, round, root);
  }
  if (levels.of(fact.variable) == 0)
    throw Error(fmt::format("variable {} points to object {} for no reason", fact.variable, fact.object));
  return levels;
}

bool NodeLevels::has_object(SetId set) {
  auto& answer = answers_[set];
  if (answer / 2 != question_) answer = 2 * question_ + (facts_.pool().contains(set, object_) ? 1 : 0);
  return (answer & 1) != 0;
}

template <class Function>
void NodeLevels::for_each_with_object(BySet const& values, Function const& function) {
  for (auto at = values.begin(); at != values.end();) {
    auto const set = at->first;
    bool const has = has_object(set);
    for (; at != values.end() && at->first == set; ++at)
      if (has) function(at->second);
  }
}

// --- what a node gets objects by ---

NodeLevels::Inputs const& NodeLevels::inputs_of(int round, Index root) {
  constexpr std::size_t large = 64;
  auto const [at, is_new] = inputs_.try_emplace({round, root});
  auto& inputs = at->second;
  if (!is_new) return inputs;
  auto const members = facts_.members(round, root);
  for (Index const v : members) add_inputs(v, inputs);
  inputs.is_large = members.size() >= large;
  auto const add = [](SetId set, Index value, BySet& values) {
    if (set != empty_set) values.emplace_back(set, value);
  };
  for (Index x = 0; inputs.is_large && x < facts_.system().num_objects(); ++x)
    add(from_elsewhere(x), x, inputs.contents);
  if (inputs.is_large)
    for (Offset const number : facts_.stores()) {
      auto const& store = facts_.system().constraints[number];
      add(from_elsewhere(store.source), static_cast<Index>(facts_.set(round - 1, store.destination)), inputs.stores);
    }
  for (auto* const values : {&inputs.copies, &inputs.contents, &inputs.stores}) {
    std::ranges::sort(*values);
    values->erase(std::ranges::unique(*values).begin(), values->end());
  }
  return inputs;
}

void NodeLevels::add_inputs(Index variable, Inputs& inputs) {
  bool is_loaded = variable < facts_.system().num_objects(), is_other = false;
  for (Offset const number : facts_.into().of(variable)) {
    auto const& c = facts_.system().constraints[number];
    is_loaded = is_loaded || c.kind == ConstraintKind::load;
    is_other = is_other || (c.kind != ConstraintKind::load && !facts_.is_copy(c));
    if (facts_.is_copy(c) && from_elsewhere(c.source) != empty_set)
      inputs.copies.emplace_back(from_elsewhere(c.source), variable);
  }
  if (is_loaded) inputs.loaded.push_back(variable);
  if (is_other) inputs.others.push_back(variable);
}

void NodeLevels::add_known(Inputs const& inputs) {
  auto const words = facts_.system().object_sizes.size() / 64 + 1;
  contents_.assign(words, 0);
  targets_.assign(words, 0);
  is_stored_.assign(is_stored_.size(), false);
  for_each_with_object(inputs.contents, [&](Index x) { add_content(x); });
  for_each_with_object(inputs.stores, [&](Index targets) { add_targets(static_cast<SetId>(targets)); });
}

// --- levels ---

std::vector<Index> NodeLevels::find_levels(Index object, int round, Index root) {
  object_ = object;
  round_ = round;
  root_ = root;
  ++question_;
  auto const& inputs = inputs_of(round, root);
  is_large_ = inputs.is_large;
  if (is_large_) add_known(inputs);
  auto now = first_level(inputs);
  auto loaded = inputs.loaded;
  std::erase_if(loaded, [&](Index v) { return !needs_level(v); });
  while (!now.empty()) {
    if (is_large_) std::ranges::for_each(now, [&](Index v) { add_known(v); });
    now = next_level(now, loaded);
  }
  std::vector<Index> levels;
  for (Index const v : facts_.members(round, root)) levels.push_back(std::exchange(level_of_variable_[v], Index{0}));
  return levels;
}

/// Variables to which the object comes from elsewhere.
std::vector<Index> NodeLevels::first_level(Inputs const& inputs) {
  std::vector<Index> first;
  for (Index const v : inputs.loaded)
    if (needs_level(v) && is_loaded_or_stored(v)) first.push_back(v);
  for (Index const v : inputs.others)
    if (needs_level(v) && is_given(v)) first.push_back(v);
  for_each_with_object(inputs.copies, [&](Index v) {
    if (needs_level(v)) first.push_back(v);
  });
  std::ranges::sort(first);
  first.erase(std::ranges::unique(first).begin(), first.end());
  for (Index const v : first) level_of_variable_[v] = 1;
  return first;
}

/// Variables that get it from those of the last level.
/// \param loaded  loses those that have a level
std::vector<Index> NodeLevels::next_level(std::vector<Index> const& last, std::vector<Index>& loaded) {
  Index const level = level_of_variable_[last.front()] + 1;
  std::vector<Index> next;
  std::erase_if(loaded, [&](Index v) {
    if (level_of_variable_[v] > 0) return true;
    bool const is_next = is_loaded_or_stored(v);
    if (is_next) next.push_back(v);
    return is_next;
  });
  for (Index const v : next) level_of_variable_[v] = level;
  for (Index const v : last)
    for (Offset const number : facts_.copies_from().of(v)) {
      auto const to = facts_.system().constraints[number].destination;
      if (!needs_level(to)) continue;
      level_of_variable_[to] = level;
      next.push_back(to);
    }
  return next;
}

/// A variable has a level: its loads and stores get the object.
void NodeLevels::add_known(Index variable) {
  if (variable < facts_.system().num_objects()) add_content(variable);
  for (Offset const c : stores_of_.of(variable))
    add_targets(facts_.set(round_ - 1, facts_.system().constraints[c].destination));
}

void NodeLevels::add_content(Index variable) { contents_[variable / 64] |= std::uint64_t{1} << variable % 64; }

void NodeLevels::add_targets(SetId targets) {
  if (is_stored_[targets]) return;
  is_stored_[targets] = true;
  auto const words = facts_.pool().words(targets);
  for (std::uint32_t i = 0; i < words.count; ++i) targets_[words.positions[i]] |= words.bits[i];
}

bool NodeLevels::loads_from(Index pointer) {
  auto const outside = facts_.system().outside;
  auto const targets = facts_.set(round_ - 1, pointer);
  if (object_ == outside && facts_.pool().contains(targets, outside)) return true;
  if (!is_large_) {
    bool is_found = false;
    facts_.pool().for_each_while(targets, [&](Index x) {
      is_found = x != outside && (level_of_variable_[x] > 0 || is_known(x));
      return !is_found;
    });
    return is_found;
  }
  auto const words = facts_.pool().words(targets);
  for (std::uint32_t i = 0; i < words.count; ++i) {
    auto bits = words.bits[i] & contents_[words.positions[i]];
    if (outside >= 0 && words.positions[i] == static_cast<std::uint32_t>(outside / 64))
      bits &= ~(std::uint64_t{1} << outside % 64);
    if (bits != 0) return true;
  }
  return false;
}

bool NodeLevels::is_stored_into(Index variable) {
  if (variable >= facts_.system().num_objects()) return false;
  if (is_large_) return has(targets_, variable);
  bool is_found = false;
  facts_.for_each_store_into(variable, [&](Offset number) {
    auto const& store = facts_.system().constraints[number];
    is_found = (level_of_variable_[store.source] > 0 || is_known(store.source)) &&
               facts_.has(round_ - 1, {store.destination, variable});
    return !is_found;
  });
  return is_found;
}

/// Whether it is loaded or stored from a variable that has it.
bool NodeLevels::is_loaded_or_stored(Index variable) {
  if (is_stored_into(variable)) return true;
  return std::ranges::any_of(facts_.into().of(variable), [&](Offset number) {
    auto const& c = facts_.system().constraints[number];
    return c.kind == ConstraintKind::load && loads_from(c.source);
  });
}

/// Whether a variable has it by its address, or by an offset from another one.
bool NodeLevels::is_given(Index variable) {
  return std::ranges::any_of(facts_.into().of(variable), [&](Offset number) {
    auto const& c = facts_.system().constraints[number];
    if (c.kind == ConstraintKind::address_of) return c.source == object_;
    if (c.kind == ConstraintKind::load || facts_.is_copy(c)) return false;
    return !facts_.for_each_origin(c, object_, [&](Index from) { return !facts_.has(round_ - 1, {c.source, from}); });
  });
}

}  // namespace hornbill::points_to
