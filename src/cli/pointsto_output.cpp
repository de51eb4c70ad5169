// hornbill pointsto: answers as text and JSON.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <hornbill/io/names.hpp>

#include "output.hpp"
#include "pointsto.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using points_to::ConstraintKind, points_to::ConstraintSystem, points_to::Solution;

struct QueryAnswer {
  Index variable;
  std::span<Index const> points_to;
  std::optional<std::vector<Index>> pointed_to_by;  ///< of objects
};

struct AliasAnswer {
  Index first, second;
  std::vector<Index> common;
};

/// Why a pointer may point to an object; where it does so from outside, why it points there, and why the object
/// escapes.
struct WhyAnswer {
  points_to::Fact fact;
  std::vector<std::vector<points_to::ExplainedFact>> reasons;
};

struct CallAnswer {
  points_to::IndirectCall call;
  std::vector<Index> functions;
};

/// Which variable a text means, and how it is printed.
class Variables {
 public:
  Variables(std::string const& file, ConstraintSystem const& system)
      : file_(file), system_(system), names_(system.variable_names, system.num_variables) {}

  /// Local variables of a program often have the same name, and an answer for one of them is none for the others.
  Index find(std::string const& text) const {
    auto const variables = named(text);
    auto const numbered = names_.numbered(text);
    if (numbered && variables != std::vector{*numbered})
      fail(
          "'{0}' is the number of variable {1}, and the name of variable {2}; 0{0} is the number alone, and '\"{0}\"' "
          "the "
          "name",
          text, *numbered, list_of(variables));
    if (variables.size() > 1)
      fail("{} variables have the name '{}': {}; give the number of one", variables.size(), text, list_of(variables));
    if (variables.empty() && system_.num_variables == 0) fail("there is no variable '{}', nor any other", text);
    if (variables.empty())
      fail("there is no variable '{}', neither by name nor by number: numbers are 0 to {}{}", text,
           system_.num_variables - 1, system_.variable_names.empty() ? "; the file has no names" : "");
    return variables.front();
  }
  std::string label(Index variable) const {
    Index const named = named_before(variable);
    if (named < 0) return fmt::format("variable {}", variable);
    auto const& bytes = system_.bytes_to_end.empty() ? system_.object_sizes : system_.bytes_to_end;
    auto const distance = named < variable ? fmt::format("+{}", bytes[named] - bytes[variable]) : std::string();
    return fmt::format("{}{} ({})", io::as_line(system_.variable_names[named]), distance, variable);
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    throw InputError(file_, "", fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  /// The variable, or the last field before it, in its object, that has a name; -1 if there is none.
  Index named_before(Index variable) const {
    if (system_.variable_names.empty()) return -1;
    for (Index v = variable;; --v) {
      if (!system_.variable_names[v].empty()) return v;
      bool const is_first = v == 0 || v >= system_.num_objects() || system_.object_sizes[v - 1] <= 1;
      if (is_first) return -1;
    }
  }
  std::vector<Index> named(std::string const& text) const try {
    return names_.find_all(text);
  } catch (InputError const& e) {
    throw InputError(file_, "", e.what());
  }
  static std::string list_of(std::vector<Index> const& variables) {
    constexpr std::size_t most = 5;
    bool const are_more = variables.size() > most;
    return fmt::format("{}{}", fmt::join(std::span(variables).first(are_more ? most : variables.size()), ", "),
                       are_more ? ", ..." : "");
  }

  std::string const& file_;
  ConstraintSystem const& system_;
  io::VariableNames names_;
};

/// Questions to one solution.
class Answers {
 public:
  Answers(std::string const& file, io::PointsTo const& points_to)
      : system_(points_to.constraints), solution_(*points_to.solution), variables_(file, system_) {}

  std::string label(Index variable) const { return variables_.label(variable); }
  /// Whether a list has the object that stands for all that is not known.
  bool has_outside(std::span<Index const> objects) const {
    return system_.outside >= 0 && std::ranges::binary_search(objects, system_.outside);
  }
  /// Objects that the outside may reach.
  std::span<Index const> escaped() const { return solution_.objects_of(system_.outside); }

  QueryAnswer query(std::string const& text) const {
    QueryAnswer answer{.variable = variables_.find(text), .points_to = {}, .pointed_to_by = {}};
    answer.points_to = solution_.objects_of(answer.variable);
    if (answer.variable < system_.num_objects()) answer.pointed_to_by = pointers_to(answer.variable);
    return answer;
  }
  AliasAnswer alias(std::pair<std::string, std::string> const& texts) const {
    AliasAnswer answer{variables_.find(texts.first), variables_.find(texts.second), {}};
    std::ranges::set_intersection(objects_with_outside(solution_, system_, answer.first),
                                  objects_with_outside(solution_, system_, answer.second),
                                  std::back_inserter(answer.common));
    return answer;
  }
  WhyAnswer why(std::pair<std::string, std::string> const& texts, points_to::Derivations& derivations) const {
    points_to::Fact const fact{variables_.find(texts.first), variables_.find(texts.second)};
    WhyAnswer answer{fact, {}};
    auto const add = [&](points_to::Fact const& one) { answer.reasons.push_back(explain(derivations, one)); };
    points_to::Fact const from_outside{fact.variable, system_.outside}, escapes{system_.outside, fact.object};
    if (derivations.holds(fact)) {
      add(fact);
    } else if (system_.outside >= 0 && derivations.holds(from_outside) && derivations.holds(escapes)) {
      add(from_outside);
      add(escapes);
    }
    return answer;
  }
  /// Where a constraint is in the program's source, or else its number.
  std::string place_of(Offset constraint) const {
    auto const place = system_.place_of_constraint.empty() ? -1 : system_.place_of_constraint[constraint];
    return place < 0 ? fmt::format("constraint {}", constraint) : system_.places[place];
  }
  ConstraintKind kind_of(Offset constraint) const { return system_.constraints[constraint].kind; }

  /// Calls that the file lists; or else pointers with fields, some of whose targets are functions.
  std::vector<CallAnswer> calls() const {
    std::vector<CallAnswer> answers;
    if (!system_.calls.empty()) {
      for (auto const& call : system_.calls) answers.push_back({call, functions_of(call.pointer)});
      return answers;
    }
    std::vector<bool> is_known(system_.num_variables);
    for (std::size_t c = 0; c < system_.constraints.size(); ++c) {
      auto const& constraint = system_.constraints[c];
      if ((constraint.kind != ConstraintKind::offset && constraint.kind != ConstraintKind::function_offset) ||
          constraint.offset == 0 || is_known[constraint.source])
        continue;
      is_known[constraint.source] = true;
      CallAnswer answer{{constraint.source, system_.place_of_constraint.empty() ? -1 : system_.place_of_constraint[c]},
                        functions_of(constraint.source)};
      if (!answer.functions.empty()) answers.push_back(std::move(answer));
    }
    return answers;
  }

 private:
  std::vector<Index> pointers_to(Index object) const {
    std::vector<bool> has_object(solution_.num_sets());
    bool const escapes =
        system_.outside >= 0 && std::ranges::binary_search(solution_.objects_of(system_.outside), object);
    for (Index s = 0; s < solution_.num_sets(); ++s) {
      auto const objects = solution_.objects_of_set(s);
      has_object[s] = std::ranges::binary_search(objects, object) || (escapes && has_outside(objects));
    }
    std::vector<Index> pointers;
    for (Index v = 0; v < system_.num_variables; ++v)
      if (has_object[solution_.set_of_variable[v]]) pointers.push_back(v);
    return pointers;
  }
  std::vector<Index> functions_of(Index pointer) const {
    std::vector<Index> functions;
    for (Index const object : solution_.objects_of(pointer))
      if (system_.is_function[object] || object == system_.outside) functions.push_back(object);
    return functions;
  }

  ConstraintSystem const& system_;
  Solution const& solution_;
  Variables variables_;
};

// --- text ---

void print_list(std::span<Index const> variables, Answers const& answers, std::size_t count) {
  for (Index const v : variables.first(std::min(count, variables.size()))) write_out("  {}\n", answers.label(v));
  if (variables.size() > count) write_out("  and {} more (--count, --json)\n", variables.size() - count);
}

void print(QueryAnswer const& answer, Answers const& answers, std::size_t count) {
  write_out("{} points to {}{}\n", answers.label(answer.variable), counted(answer.points_to.size(), "object"),
            answer.points_to.empty() ? "" : ":");
  print_list(answer.points_to, answers, count);
  if (answers.has_outside(answer.points_to))
    write_out("  and, from outside, to any of {} that escape\n", counted(std::ssize(answers.escaped()), "object"));
  if (!answer.pointed_to_by) return;
  write_out("{} is pointed to by {}{}\n", answers.label(answer.variable),
            counted(answer.pointed_to_by->size(), "variable"), answer.pointed_to_by->empty() ? "" : ":");
  print_list(*answer.pointed_to_by, answers, count);
}

void print(AliasAnswer const& answer, Answers const& answers, std::size_t count) {
  auto const first = answers.label(answer.first), second = answers.label(answer.second);
  if (answer.common.empty()) {
    write_out("{} and {} do not point to a common object\n", first, second);
    return;
  }
  write_out("{} and {} may point to the same of {}:\n", first, second, counted(answer.common.size(), "object"));
  print_list(answer.common, answers, count);
}

/// Steps are numbered, and each names those that it follows from.
void print(WhyAnswer const& answer, Answers const& answers) {
  if (answer.reasons.empty())
    write_out("{} does not point to {}\n", answers.label(answer.fact.variable), answers.label(answer.fact.object));
  for (auto const& steps : answer.reasons) {
    write_out("{} may point to {}:\n", answers.label(steps.back().fact.variable),
              answers.label(steps.back().fact.object));
    std::map<points_to::Fact, std::size_t> numbers;
    for (auto const& [fact, derivation] : steps) {
      numbers.emplace(fact, numbers.size() + 1);
      std::vector<std::size_t> premises;
      for (int i = 0; i < derivation.num_premises; ++i)
        premises.push_back(numbers.at(derivation.premises.at(static_cast<std::size_t>(i))));
      write_out("  {:>3}  {}: {} at {}{}{}\n", numbers.size(),
                fmt::format("{} -> {}", answers.label(fact.variable), answers.label(fact.object)),
                points_to::name_of(answers.kind_of(derivation.constraint)), answers.place_of(derivation.constraint),
                premises.empty() ? "" : ", by ", fmt::join(premises, " and "));
    }
  }
}

void print(CallAnswer const& answer, ConstraintSystem const& system, Answers const& answers, std::size_t count) {
  write_out("{}{} may call {}{}\n", answer.call.place < 0 ? "" : io::as_line(system.places[answer.call.place]) + ": ",
            answers.label(answer.call.pointer), counted(answer.functions.size(), "function"),
            answer.functions.empty() ? "" : ":");
  print_list(answer.functions, answers, count);
}

void print_calls(std::string const& file, ConstraintSystem const& system, Answers const& answers, std::size_t count) {
  auto const calls = answers.calls();
  if (system.calls.empty())
    write_out("{} lists no calls{}\n", file,
              calls.empty() ? ", and no pointer that fields are reached from points to a function"
                            : ": these are pointers that fields are reached from, and that may point to functions");
  for (auto const& call : std::span(calls).first(std::min(count, calls.size()))) print(call, system, answers, count);
  if (calls.size() > count) write_out("and {} more (--count, --json)\n", calls.size() - count);
}

Offset largest_set(Solution const& solution) {
  Offset largest = 0;
  for (Index s = 0; s < solution.num_sets(); ++s)
    largest = std::max(largest, solution.set_offsets[s + 1] - solution.set_offsets[s]);
  return largest;
}

void print_summary(std::string const& file, io::PointsTo const& points_to, PointsToRun const& run) {
  auto const& system = points_to.constraints;
  auto const& solution = *points_to.solution;
  write_out("{}: {}\n", file, sizes_of(system));
  if (auto const& [is_stored, backend, plan, solve] = run; !is_stored) {
    write_out("before solving: {} merged, {} without targets, {} left; {}\n",
              counted(plan.merged_by_cycles + plan.merged_by_numbering, "variable"), plan.without_targets,
              counted(plan.constraints_left, "constraint"), human_seconds(plan.elapsed_seconds));
    write_out("solved by {}: {}, {}, {}, {} merged; {}\n", backend, counted(solve.rounds, "round"),
              counted(solve.copy_edges + solve.load_edges + solve.store_edges, "edge"), counted(solve.hubs, "hub"),
              counted(solve.merged_by_cycles + solve.merged_by_hybrid_cycles, "variable"),
              human_seconds(solve.elapsed_seconds));
  }
  write_out("{}; {} of {}, the largest of {}\n", counted(solution.num_facts(), "fact"),
            counted(solution.num_sets(), "distinct set"), counted(std::ssize(solution.set_objects), "object"),
            largest_set(solution));
}

// --- JSON ---

nlohmann::json to_json(Index variable, ConstraintSystem const& system) {
  nlohmann::json json{{"variable", variable}};
  if (!system.variable_names.empty() && !system.variable_names[variable].empty())
    json["name"] = system.variable_names[variable];
  return json;
}

nlohmann::json to_json(std::span<Index const> variables, ConstraintSystem const& system) {
  auto list = nlohmann::json::array();
  for (Index const v : variables) list.push_back(to_json(v, system));
  return list;
}

nlohmann::json to_json(points_to::Fact const& fact, ConstraintSystem const& system) {
  return {{"variable", to_json(fact.variable, system)}, {"object", to_json(fact.object, system)}};
}

nlohmann::json to_json(WhyAnswer const& answer, ConstraintSystem const& system, Answers const& answers) {
  auto json = to_json(answer.fact, system);
  json["reasons"] = nlohmann::json::array();
  for (auto const& steps : answer.reasons) {
    auto list = nlohmann::json::array();
    for (auto const& [fact, derivation] : steps) {
      auto step = to_json(fact, system);
      step["constraint"] = derivation.constraint;
      step["kind"] = points_to::name_of(answers.kind_of(derivation.constraint));
      step["place"] = answers.place_of(derivation.constraint);
      step["premises"] = nlohmann::json::array();
      for (int i = 0; i < derivation.num_premises; ++i)
        step["premises"].push_back(to_json(derivation.premises.at(static_cast<std::size_t>(i)), system));
      list.push_back(std::move(step));
    }
    json["reasons"].push_back(std::move(list));
  }
  return json;
}

nlohmann::json to_json(PointsToRun const& run) {
  auto const& [is_stored, backend, plan, solve] = run;
  return {{"plan",
           {{"merged_by_cycles", plan.merged_by_cycles},
            {"merged_by_numbering", plan.merged_by_numbering},
            {"without_targets", plan.without_targets},
            {"constraints_left", plan.constraints_left},
            {"hybrid_cycles", plan.hybrid_cycles},
            {"seconds", plan.elapsed_seconds}}},
          {"solve",
           {{"backend", backend},
            {"rounds", solve.rounds},
            {"copy_edges", solve.copy_edges},
            {"load_edges", solve.load_edges},
            {"store_edges", solve.store_edges},
            {"hubs", solve.hubs},
            {"merged_by_cycles", solve.merged_by_cycles},
            {"merged_by_hybrid_cycles", solve.merged_by_hybrid_cycles},
            {"unions", solve.unions},
            {"set_bytes", solve.set_bytes},
            {"launches", solve.launches},
            {"looks", solve.looks},
            {"growths", solve.growths},
            {"prepare_seconds", solve.prepare_seconds},
            {"collapse_seconds", solve.collapse_seconds},
            {"propagate_seconds", solve.propagate_seconds},
            {"expand_seconds", solve.expand_seconds},
            {"collect_seconds", solve.collect_seconds},
            {"seconds", solve.elapsed_seconds}}}};
}

nlohmann::json summary_json(std::string const& file, io::PointsTo const& points_to, PointsToRun const& run) {
  auto const& system = points_to.constraints;
  auto const& solution = *points_to.solution;
  nlohmann::json json{{"file", file},
                      {"variables", system.num_variables},
                      {"objects", system.num_objects()},
                      {"constraints", system.num_constraints()},
                      {"facts", solution.num_facts()},
                      {"distinct_sets", solution.num_sets()},
                      {"set_objects", solution.set_objects.size()},
                      {"largest_set", largest_set(solution)}};
  if (!run.is_stored) json.update(to_json(run));
  return json;
}

nlohmann::json answers_json(PointsToArguments const& a, ConstraintSystem const& system, Answers const& answers) {
  auto json = nlohmann::json::object();
  for (auto const& text : a.queries) {
    auto const answer = answers.query(text);
    auto one = to_json(answer.variable, system);
    one["points_to"] = to_json(answer.points_to, system);
    if (answers.has_outside(answer.points_to)) one["outside"] = true;
    if (answer.pointed_to_by) one["pointed_to_by"] = to_json(*answer.pointed_to_by, system);
    json["queries"].push_back(std::move(one));
  }
  for (auto const& pair : a.aliases) {
    auto const answer = answers.alias(pair);
    json["may_alias"].push_back({{"first", to_json(answer.first, system)},
                                 {"second", to_json(answer.second, system)},
                                 {"may_alias", !answer.common.empty()},
                                 {"objects", to_json(answer.common, system)}});
  }
  if (!a.reasons.empty()) {
    points_to::Derivations derivations(system, a.solve);
    for (auto const& pair : a.reasons) json["why"].push_back(to_json(answers.why(pair, derivations), system, answers));
  }
  if (!a.calls) return json;
  json["calls"] = nlohmann::json::array();
  for (auto const& answer : answers.calls()) {
    auto one = nlohmann::json{{"pointer", to_json(answer.call.pointer, system)},
                              {"functions", to_json(answer.functions, system)}};
    if (answer.call.place >= 0) one["place"] = system.places[answer.call.place];
    json["calls"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

void require_known(PointsToArguments const& a, points_to::ConstraintSystem const& system) {
  Variables const variables(a.file, system);
  for (auto const& text : a.queries) variables.find(text);
  for (auto const& [first, second] : a.aliases) variables.find(first), variables.find(second);
  for (auto const& [pointer, object] : a.reasons) {
    variables.find(pointer);
    if (Index const found = variables.find(object); found >= system.num_objects())
      throw InputError(a.file, "",
                       fmt::format("--why {} {}: {} is not an object; --query {} lists objects", pointer, object,
                                   variables.label(found), pointer));
  }
}

void print_points_to(PointsToArguments const& a, io::PointsTo const& points_to, PointsToRun const& run) {
  Answers const answers(a.file, points_to);
  if (a.json) {
    auto json = summary_json(a.file, points_to, run);
    json.update(answers_json(a, points_to.constraints, answers));
    print_json(json);
    return;
  }
  if (a.queries.empty() && a.aliases.empty() && a.reasons.empty() && !a.calls) print_summary(a.file, points_to, run);
  for (auto const& text : a.queries) print(answers.query(text), answers, a.count);
  for (auto const& pair : a.aliases) print(answers.alias(pair), answers, a.count);
  if (!a.reasons.empty()) {
    points_to::Derivations derivations(points_to.constraints, a.solve);
    for (auto const& pair : a.reasons) print(answers.why(pair, derivations), answers);
  }
  if (a.calls) print_calls(a.file, points_to.constraints, answers, a.count);
}

}  // namespace hornbill::cli
