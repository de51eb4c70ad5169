#include <hornbill/points_to/generate.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "../graph/random.hpp"

namespace hornbill::points_to {
namespace {

struct Program {
  char const* name;
  int thousand_variables, thousand_statements;
};
constexpr Program programs[] = {{"ex", 11, 13},       {"perl", 54, 68},      {"python", 92, 111}, {"nh", 97, 114},
                                {"svn", 107, 139},    {"gcc", 120, 156},     {"gdb", 232, 241},   {"vim", 246, 108},
                                {"php", 339, 325},    {"mplayer", 537, 377}, {"gimp", 558, 649},  {"pine", 612, 315},
                                {"linux", 1503, 420}, {"tshark", 1555, 1789}};

/// Shares of variables, as in Vim: functions with their fields, other objects, pointers to globals.
constexpr double share_of_functions = 0.028, share_of_objects = 0.08, share_of_globals = 0.04;
constexpr double share_of_library_calls = 0.05;
constexpr std::size_t functions_of_part = 4000;
constexpr double mean_parameters = 2, share_of_structures = 0.09, mean_fields = 4.5;

/// What a statement does, and how many of a thousand do. The names read as destination from source.
enum class Statement {
  local_from_address,
  local_from_function_address,
  global_from_function_address,
  global_from_address,
  local_from_local,
  parameter_from_local,
  local_from_result,
  parameter_from_parameter,
  local_from_parameter,
  global_from_local,
  load,
  load_global,
  store,
  store_global,
  offset_of_parameter,
  offset_of_local
};
constexpr std::pair<Statement, int> shares[] = {{Statement::local_from_address, 58},
                                                {Statement::local_from_function_address, 2},
                                                {Statement::global_from_function_address, 6},
                                                {Statement::global_from_address, 20},
                                                {Statement::local_from_local, 230},
                                                {Statement::parameter_from_local, 122},
                                                {Statement::local_from_result, 35},
                                                {Statement::parameter_from_parameter, 30},
                                                {Statement::local_from_parameter, 28},
                                                {Statement::global_from_local, 5},
                                                {Statement::load, 125},
                                                {Statement::load_global, 65},
                                                {Statement::store, 36},
                                                {Statement::store_global, 16},
                                                {Statement::offset_of_parameter, 70},
                                                {Statement::offset_of_local, 152}};

class Generator {
 public:
  explicit Generator(GeneratorOptions const& options) : options_(options), random_(options.seed) {
    size_ = std::clamp<Index>(static_cast<Index>(std::min<Offset>(options.num_constraints, options.num_variables)), 16,
                              options.num_variables);
    system_.num_variables = options.num_variables;
    make_objects();
    make_functions();
  }

  ConstraintSystem generate() {
    for (std::size_t g = 0; g < globals_.size() && room() > 0; ++g)
      add(ConstraintKind::address_of, globals_[g], pointer_to_global(g));
    while (room() > 0) add_statement(function_with_room());
    return std::move(system_);
  }

 private:
  struct Function {
    Index object;  ///< itself, its result, its parameters
    Index num_fields;
    Index begin, end;  ///< local variables
    Index defined;     ///< up to which they have a value
  };

  Offset room() const { return options_.num_constraints - system_.num_constraints(); }
  void add(ConstraintKind kind, Index source, Index destination, Index offset = 0) {
    system_.constraints.push_back({kind, source, destination, offset});
  }
  /// A whole number from 0, of which most are small: a geometric distribution.
  Index small(double mean) { return static_cast<Index>(std::log1p(-random_.uniform()) / std::log(mean / (1 + mean))); }
  /// One of several, the first ones far more often: as calls of functions and uses of globals are.
  std::size_t popular(std::size_t count) {
    return std::min(count - 1, static_cast<std::size_t>(std::pow(static_cast<double>(count), random_.uniform())) - 1);
  }

  void add_object(Index size, bool is_function) {
    for (Index k = size; k > 0; --k) {
      system_.object_sizes.push_back(k);
      system_.is_function.push_back(is_function && k == size);
    }
  }
  void make_objects() {
    auto const share = [&](double of) { return std::max<Index>(1, static_cast<Index>(of * size_)); };
    system_.object_sizes.push_back(0);  // null
    system_.is_function.push_back(0);
    for (Index f = share(share_of_functions); f > 0; --f) {
      auto const size = 3 + small(mean_parameters - 1);
      functions_.push_back({system_.num_objects(), size, 0, 0, 0});
      add_object(size, true);
    }
    num_library_ = functions_.size() / 50;
    for (Index o = share(share_of_objects); o > 0; --o) {
      objects_.push_back(system_.num_objects());
      add_object(random_.uniform() < share_of_structures ? 2 + small(mean_fields * (1 + small(0.6))) : 1, false);
    }
    auto const num_globals = std::min<std::size_t>(objects_.size(), share(share_of_globals));
    choose_globals(num_globals);
    if (system_.num_objects() + static_cast<Index>(num_globals) >= size_)
      throw InputError(fmt::format("{} variables are too few: 16 are needed", size_));
  }
  /// Objects that all functions of their part know, spread over it.
  void choose_globals(std::size_t count) {
    auto const num_parts = parts_of(count);
    for (std::size_t part = 0; part < num_parts; ++part) {
      auto const [begin, end] = range_of(part, num_parts, count);
      auto const [first, last] = range_of(part, num_parts, objects_.size());
      for (auto g = begin; g < end; ++g)
        globals_.push_back(objects_[first + (g - begin) * (last - first) / (end - begin)]);
    }
  }
  /// A large program falls into parts, which only libraries connect.
  std::size_t parts_of(std::size_t count) const {
    return std::min(count, (functions_.size() - num_library_ + functions_of_part - 1) / functions_of_part);
  }
  /// Of `count` things, those whose position x has part = x * num_parts / count.
  static std::pair<std::size_t, std::size_t> range_of(std::size_t part, std::size_t num_parts, std::size_t count) {
    return {(part * count + num_parts - 1) / num_parts, ((part + 1) * count + num_parts - 1) / num_parts};
  }
  /// Local variables lie one function's after another's; some functions have many.
  void make_functions() {
    Index const first = system_.num_objects() + static_cast<Index>(globals_.size());
    std::vector<double> ends;
    double sum = 0;
    for (std::size_t f = 0; f < functions_.size(); ++f)
      ends.push_back(sum += f < num_library_ ? 0 : 0.2 + std::pow(1 - random_.uniform(), -0.5));
    double const per = (size_ - first) / sum;
    for (std::size_t f = 0; f < functions_.size(); ++f) {
      functions_[f].begin = functions_[f].defined = first + static_cast<Index>(f == 0 ? 0 : ends[f - 1] * per);
      functions_[f].end = f + 1 == functions_.size() ? size_ : first + static_cast<Index>(ends[f] * per);
    }
    while (functions_.size() > 1 && functions_.back().begin == functions_.back().end) functions_.pop_back();
  }

  Index pointer_to_global(std::size_t g) const { return system_.num_objects() + static_cast<Index>(g); }
  /// In proportion to its variables; one, if there is, some of whose variables have no value yet.
  std::size_t function_with_room() {
    for (int tries = 0; tries < 20; ++tries)
      if (auto const f = any_function(); functions_[f].defined < functions_[f].end) return f;
    return any_function();
  }
  std::size_t any_function() {
    auto const v = functions_[num_library_].begin +
                   static_cast<Index>(random_.below(static_cast<std::size_t>(size_ - functions_[num_library_].begin)));
    return static_cast<std::size_t>(std::ranges::upper_bound(functions_, v, {}, &Function::begin) -
                                    functions_.begin()) -
           1;
  }
  /// Mostly one that is near, in the same module; else a popular one of the same part of the program. What reaches all
  /// parts, as libraries do, has no body here, so that large programs are not all one cycle.
  std::size_t callee_of(std::size_t caller) {
    if (num_library_ > 0 && random_.uniform() < share_of_library_calls) return popular(num_library_);
    return function_near(caller);
  }
  std::size_t function_near(std::size_t caller) {
    return num_library_ + near_or_popular(caller, functions_.size() - num_library_, 20, 0.6);
  }
  std::size_t global_for(std::size_t function) { return near_or_popular(function, globals_.size(), 6, 0.75); }
  Index object_for(std::size_t function) { return objects_[near_or_popular(function, objects_.size(), 12, 0.95)]; }

  /// One of `count` that are spread over the program: near a function, or a popular one of the function's part.
  std::size_t near_or_popular(std::size_t function, std::size_t count, std::size_t reach, double share_of_near) {
    auto const num_functions = functions_.size() - num_library_;
    auto const num_parts = parts_of(count);
    auto const part = (function - num_library_) * num_parts / num_functions;
    auto const [begin, end] = range_of(part, num_parts, count);
    if (random_.uniform() >= share_of_near) return begin + popular(end - begin);
    auto const at = std::clamp((function - num_library_) * count / num_functions, begin, end - 1);
    auto const low = std::max(begin, at > reach ? at - reach : 0), high = std::min(end, at + reach);
    return low + random_.below(high - low);
  }
  Index parameter_of(Function const& f) {
    return f.object + 2 + static_cast<Index>(random_.below(static_cast<std::size_t>(f.num_fields - 2)));
  }

  /// A variable that gets its value now, or, in loops and where all have some, one that has.
  Index defined_by(Function& f, double redefined = 0) {
    if (f.defined < f.end && random_.uniform() >= redefined) return f.defined++;
    return used_in(f);
  }
  /// A variable that has a value, mostly one of the last that got some.
  Index used_in(Function const& f) {
    if (f.defined == f.begin) return f.begin < f.end ? f.begin : parameter_of(f);
    Index const back = random_.uniform() < 0.75
                           ? small(1.5)
                           : static_cast<Index>(random_.below(static_cast<std::size_t>(f.defined - f.begin)));
    return std::max(f.begin, f.defined - 1 - back);
  }

  /// Where all variables have values, a copy between two that are near takes the place of a statement that gives one.
  static Statement without_definition(Statement statement) {
    switch (statement) {
      case Statement::local_from_address:
      case Statement::local_from_function_address:
      case Statement::local_from_result:
      case Statement::local_from_parameter:
      case Statement::load:
      case Statement::load_global:
      case Statement::offset_of_parameter:
      case Statement::offset_of_local: return Statement::local_from_local;
      default: return statement;
    }
  }

  void add_statement(std::size_t number) {
    auto& f = functions_[number];
    int at = static_cast<int>(random_.below(1000));
    auto const* share = shares;
    while (at >= share->second) at -= (share++)->second;
    bool const is_full = f.defined == f.end;
    switch (is_full ? without_definition(share->first) : share->first) {
      case Statement::local_from_address: return add(ConstraintKind::address_of, object_for(number), defined_by(f));
      case Statement::local_from_function_address:
        return add(ConstraintKind::address_of, functions_[function_near(number)].object, defined_by(f));
      case Statement::global_from_function_address:
        return add(ConstraintKind::address_of, functions_[function_near(number)].object, object_for(number));
      case Statement::global_from_address:
        return add(ConstraintKind::address_of, object_for(number), globals_[global_for(number)]);
      case Statement::local_from_local: {
        auto const source = used_in(f);
        return add(ConstraintKind::copy, source, defined_by(f, 0.2));
      }
      case Statement::parameter_from_local:
        return add(ConstraintKind::copy, used_in(f), parameter_of(functions_[callee_of(number)]));
      case Statement::local_from_result:
        return add(ConstraintKind::copy, functions_[callee_of(number)].object + 1, defined_by(f));
      case Statement::parameter_from_parameter:
        return add(ConstraintKind::copy, parameter_of(f), parameter_of(functions_[callee_of(number)]));
      case Statement::local_from_parameter: return add(ConstraintKind::copy, parameter_of(f), defined_by(f));
      case Statement::global_from_local: return add(ConstraintKind::copy, used_in(f), globals_[global_for(number)]);
      case Statement::load: {
        auto const source = used_in(f);
        return add(ConstraintKind::load, source, defined_by(f));
      }
      case Statement::load_global:
        return add(ConstraintKind::load, pointer_to_global(global_for(number)), defined_by(f));
      case Statement::store: return add(ConstraintKind::store, used_in(f), used_in(f));
      case Statement::store_global:
        return add(ConstraintKind::store, used_in(f), pointer_to_global(global_for(number)));
      case Statement::offset_of_parameter:
        return add(ConstraintKind::offset, parameter_of(f), defined_by(f), 1 + small(2));
      case Statement::offset_of_local: {
        auto const source = used_in(f);
        return add(ConstraintKind::offset, source, defined_by(f), 1 + small(2));
      }
    }
  }

  GeneratorOptions options_;
  Random random_;
  ConstraintSystem system_;
  Index size_ = 0;  // variables that statements speak of; further ones are in none
  std::vector<Function> functions_;
  std::size_t num_library_ = 0;  // functions at the beginning that have no body
  std::vector<Index> objects_, globals_;
};

}  // namespace

GeneratorOptions options_like(std::string_view program) {
  for (auto const& known : programs)
    if (program == known.name)
      return {.num_variables = 1000 * known.thousand_variables, .num_constraints = 1000 * known.thousand_statements};
  throw InputError(fmt::format("there is no program '{}'; known are {}", program, fmt::join(known_programs(), ", ")));
}

std::vector<std::string> known_programs() {
  std::vector<std::string> names;
  for (auto const& program : programs) names.emplace_back(program.name);
  return names;
}

ConstraintSystem generate(GeneratorOptions const& options) {
  if (options.num_variables < 16)
    throw InputError(fmt::format("{} variables are too few: 16 are needed", options.num_variables));
  return Generator(options).generate();
}

}  // namespace hornbill::points_to
