#include "node_levels.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::points_to {

NodeLevels::NodeLevels(RankedFacts& facts)
    : facts_(facts),
      is_stored_(facts.pool().num_ids()),
      answers_(facts.pool().num_ids()),
      level_of_variable_(static_cast<std::size_t>(facts.system().num_variables)) {
  for (Offset const c : facts.stores()) stores_of_[facts.system().constraints[c].source].push_back(c);
}

int NodeLevels::level_of(Fact const& fact, int round) {
  auto const root = facts_.root(round, fact.variable);
  auto const members = facts_.members(round, root);
  if (members.size() == 1) return 1;
  auto const [at, is_new] = known_.try_emplace({fact.object, round, root});
  if (is_new) at->second = levels_of(fact.object, round, root);
  auto const level =
      at->second[static_cast<std::size_t>(std::ranges::lower_bound(members, fact.variable) - members.begin())];
  if (level == 0) throw Error(fmt::format("variable {} points to object {} for no reason", fact.variable, fact.object));
  return level;
}

bool NodeLevels::has_object(SetId set) {
  auto& answer = answers_[set];
  if (answer / 2 != question_) answer = 2 * question_ + (facts_.pool().contains(set, object_) ? 1 : 0);
  return (answer & 1) != 0;
}

/// Whether a variable has the object by what comes from elsewhere.
bool NodeLevels::is_known(Index variable) {
  return has_object(facts_.set(round_, variable)) &&
         (facts_.root(round_, variable) != root_ || has_object(facts_.set(round_ - 1, variable)));
}

void NodeLevels::add_known() {
  auto const words = facts_.system().object_sizes.size() / 64 + 1;
  contents_.assign(words, 0);
  targets_.assign(words, 0);
  is_stored_.assign(is_stored_.size(), false);
  for (Index x = 0; x < facts_.system().num_objects(); ++x)
    if (is_known(x)) add_content(x);
  for (Offset const c : facts_.stores())
    if (is_known(facts_.system().constraints[c].source)) add_store(c);
}

NodeLevels::Levels NodeLevels::levels_of(Index object, int round, Index root) {
  constexpr std::size_t large = 64;
  auto const members = facts_.members(round, root);
  object_ = object;
  round_ = round;
  root_ = root;
  is_large_ = members.size() >= large;
  ++question_;
  if (is_large_) add_known();
  std::vector<Index> left, now;
  for (Index const v : members)
    if (!has_object(facts_.set(round - 1, v))) (is_first(v) ? now : left).push_back(v);
  for (Index level = 1; !now.empty(); ++level) {
    for (Index const v : now) level_of_variable_[v] = level;
    for (Index const v : now) {
      if (!is_large_) break;
      if (v < facts_.system().num_objects()) add_content(v);
      if (auto const stores = stores_of_.find(v); stores != stores_of_.end())
        for (Offset const c : stores->second) add_store(c);
    }
    now.clear();
    std::vector<Index> rest;
    for (Index const v : left) (follows(v) ? now : rest).push_back(v);
    left = std::move(rest);
  }
  Levels levels;
  for (Index const v : members) levels.push_back(std::exchange(level_of_variable_[v], Index{0}));
  return levels;
}

void NodeLevels::add_content(Index variable) { contents_[variable / 64] |= std::uint64_t{1} << variable % 64; }

void NodeLevels::add_store(Offset constraint) {
  auto const set = facts_.set(round_ - 1, facts_.system().constraints[constraint].destination);
  if (is_stored_[set]) return;
  is_stored_[set] = true;
  auto const words = facts_.pool().words(set);
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

/// Whether the object comes to a variable from elsewhere.
bool NodeLevels::is_first(Index variable) {
  if (is_stored_into(variable)) return true;
  for (Offset const number : facts_.into().of(variable)) {
    auto const& c = facts_.system().constraints[number];
    Fact const same{c.source, object_};
    if (c.kind == ConstraintKind::address_of) {
      if (c.source == object_) return true;
    } else if (facts_.is_copy(c)) {
      if (has_object(facts_.set(round_, c.source)) && !facts_.is_near({variable, object_}, same, round_)) return true;
    } else if (c.kind == ConstraintKind::load) {
      if (loads_from(c.source)) return true;
    } else if (!facts_.for_each_origin(c, object_, [&](Index from) {
                 return !facts_.has(round_ - 1, {c.source, from});
               })) {
      return true;
    }
  }
  return false;
}

/// Whether it comes from a variable that has a level by now.
bool NodeLevels::follows(Index variable) {
  if (is_stored_into(variable)) return true;
  for (Offset const number : facts_.into().of(variable)) {
    auto const& c = facts_.system().constraints[number];
    if (facts_.is_copy(c) ? level_of_variable_[c.source] > 0 : c.kind == ConstraintKind::load && loads_from(c.source))
      return true;
  }
  return false;
}

}  // namespace hornbill::points_to
