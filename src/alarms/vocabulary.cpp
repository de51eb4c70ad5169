#include "vocabulary.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

namespace {

std::string place_of(llvm::Function const& function) {
  auto const* debug = function.getSubprogram();
  return debug ? fmt::format("{}:{}", debug->getFilename().str(), debug->getLine()) : function.getName().str();
}

/// Where a value comes to be.
std::string place_of(llvm::Value const& value) {
  if (auto const* argument = dyn_cast<llvm::Argument>(&value)) return place_of(*argument->getParent());
  auto const* instruction = dyn_cast<llvm::Instruction>(&value);
  return instruction ? place_or_function(*instruction) : std::string();
}

/// Of a statement of a function that was put into its callers, where that one was called.
std::string called_at(llvm::Value const& value) {
  auto const* instruction = dyn_cast<llvm::Instruction>(&value);
  llvm::DILocation const* at = instruction ? instruction->getDebugLoc().get() : nullptr;
  if (!at || !at->getInlinedAt()) return {};
  while (at->getInlinedAt()) at = at->getInlinedAt();
  return fmt::format(" (called at {}:{}:{})", at->getFilename().str(), at->getLine(), at->getColumn());
}

std::string joined(std::string const& place, std::string const& text) {
  return place.empty() ? text : place + " " + text;
}

}  // namespace

std::string place_or_function(llvm::Instruction const& instruction) {
  auto place = extract::place_of(instruction);
  return place.empty() ? instruction.getFunction()->getName().str() : place;
}

llvm::Value const* tested_by(llvm::Value const& value) {
  auto const* branch = dyn_cast<llvm::BranchInst>(&value);
  auto const* test = dyn_cast<llvm::ICmpInst>(branch && branch->isConditional() ? branch->getCondition() : &value);
  if (!test || !test->isEquality() || !isa<llvm::ConstantPointerNull>(test->getOperand(1))) return nullptr;
  return isa<llvm::Constant>(test->getOperand(0)) ? nullptr : test->getOperand(0);
}

PointsToNames::PointsToNames(points_to::ConstraintSystem const& system, extract::Program::Bitcode const& bitcode,
                             Expressions& expressions)
    : system_(system), expressions_(expressions), first_(points_to::first_fields(system)) {
  for (auto const& function : bitcode.module())
    for (auto const& instruction : llvm::instructions(function))
      for (auto const& operand : instruction.operands())
        if (Index const variable = bitcode.variable_of(*operand); variable != extract::nothing)
          value_of_.try_emplace(variable, operand);
  std::unordered_map<std::string, int> times;
  for (Index object = 0; object < system.num_objects(); ++object)
    if (int const repeat = ++times[name_of_object(object)]; repeat > 1) repeat_of_[object] = repeat;
  if (system.place_of_constraint.empty()) return;
  for (std::size_t c = 0; c < system.constraints.size(); ++c)
    if (Index const place = system.place_of_constraint[c];
        place >= 0 && system.constraints[c].kind != points_to::ConstraintKind::store)
      place_of_.try_emplace(system.constraints[c].destination, place);
}

std::string PointsToNames::variable(Index variable) {
  if (!system_.variable_names.empty() && !system_.variable_names[variable].empty())
    return system_.variable_names[variable];
  if (variable < system_.num_objects()) return object(variable);
  if (auto const found = value_of_.find(variable); found != value_of_.end())
    return joined(place_of(*found->second), expressions_.text_of(*found->second)) + called_at(*found->second);
  auto const found = place_of_.find(variable);
  return joined(found == place_of_.end() ? std::string() : system_.places[found->second],
                fmt::format("value {}", variable));
}

bool PointsToNames::is_anonymous(Index variable) const {
  bool const has_name = !system_.variable_names.empty() && !system_.variable_names[variable].empty();
  return !has_name && variable >= system_.num_objects() && !value_of_.contains(variable);
}

std::string PointsToNames::object(Index object) const {
  auto const repeat = repeat_of_.find(object);
  auto const name = name_of_object(object);
  return repeat == repeat_of_.end() ? name : fmt::format("{} ({})", name, repeat->second);
}

std::string PointsToNames::name_of_object(Index object) const {
  auto const& names = system_.variable_names;
  if (!names.empty() && !names[object].empty()) return names[object];
  Index const first = first_[object];
  auto const whole = names.empty() || names[first].empty() ? fmt::format("object {}", first) : names[first];
  auto const bytes =
      system_.bytes_to_end.empty() ? object - first : system_.bytes_to_end[first] - system_.bytes_to_end[object];
  return bytes == 0 ? whole : fmt::format("{} + {}", whole, bytes);
}

datalog::Value Vocabulary::of(Origin const& origin) {
  return origins.number_of(origin, [&] {
    if (auto const* pointer = tested_by(*origin.value))
      return joined(place_of(*origin.value), expressions_.text_of(*pointer)) + called_at(*origin.value);
    if (origin.operand >= 0) {
      auto const* phi = dyn_cast<llvm::PHINode>(origin.value);
      auto const& at = phi ? *phi->getIncomingBlock(static_cast<unsigned>(origin.operand))->getTerminator()
                           : *llvm::cast<llvm::Instruction>(origin.value);
      auto const* operand = llvm::cast<llvm::User>(origin.value)->getOperand(static_cast<unsigned>(origin.operand));
      return joined(place_or_function(at), phi ? "NULL" : expressions_.text_of(*operand)) + called_at(at);
    }
    return joined(place_of(*origin.value), expressions_.text_of(*origin.value)) + called_at(*origin.value);
  });
}

datalog::Value Vocabulary::of(Use const& use) {
  return uses.number_of(use, [&] {
    auto const* pointer = use.value();  // of a place in memory, to where it begins
    while (auto const* gep = dyn_cast<llvm::GEPOperator>(pointer->stripPointerCasts()))
      pointer = gep->getPointerOperand();
    return joined(place_or_function(*use.instruction), expressions_.text_of(*pointer)) + called_at(*use.instruction);
  });
}

datalog::Value Vocabulary::of(PlaceBehind const& place) {
  return places.number_of(place, [&] {
    return joined(place_or_function(*place.call), expressions_.text_behind(*place.base, place.bytes)) +
           called_at(*place.call) + fmt::format(" behind {}", expressions_.text_of(*place.call));
  });
}

namespace {

/// The number of a thing that is a number itself.
template <class Text>
datalog::Value kept(std::vector<datalog::Value>& numbers, Terms<Index>& terms, Index thing, Text const& text) {
  if (static_cast<std::size_t>(thing) >= numbers.size()) numbers.resize(static_cast<std::size_t>(thing) + 1, -1);
  auto& number = numbers[thing];
  if (number < 0) number = terms.number_of(thing, text);
  return number;
}

}  // namespace

datalog::Value Vocabulary::of_variable(Index variable) {
  return kept(of_variable_, variables, variable, [&] { return names_.variable(variable); });
}

datalog::Value Vocabulary::of_object(Index object) {
  return kept(of_object_, objects, object, [&] { return names_.object(object); });
}

}  // namespace hornbill::alarms
