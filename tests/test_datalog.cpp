#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/datalog.hpp>
#include <hornbill/error.hpp>

using namespace hornbill;

namespace {

void refuse_rules(std::string const& text, std::string const& message) {
  try {
    datalog::parse(text, "x.dl");
    FAIL_CHECK("nothing was thrown; expected: " << message);
  } catch (InputError const& e) {
    CAPTURE(e.what());
    CHECK(std::string(e.what()).find(message) != std::string::npos);
  }
}

std::vector<std::string> sorted_lines(analysis::ClauseSet const& clauses) {
  std::vector<std::string> lines;
  for (Index c = 0; c < clauses.num_clauses(); ++c) lines.push_back(analysis::to_string(clauses, c));
  std::ranges::sort(lines);
  return lines;
}

/// Lines of the clauses of a program without inputs, sorted.
std::vector<std::string> clause_lines(std::string const& text) {
  auto const program = datalog::parse(text, "x.dl");
  datalog::Database database(program);
  return sorted_lines(datalog::ground(program, database).clauses);
}

using RuleLines = std::vector<std::string>;

std::string const rule_declarations =
    ".decl A(x: symbol)\n.decl E(x: symbol, y: symbol)\n.decl N(n: number)\n.input E\n";

/// All instances of rules over few values, by trying every one, until nothing changes.
class Enumeration {
 public:
  using Row = std::pair<Index, std::vector<datalog::Value>>;

  Enumeration(datalog::Program const& program, std::set<Row> facts, datalog::Value num_values)
      : program_(program), rows_(std::move(facts)), num_values_(num_values) {}

  /// Rule, premises, conclusion.
  std::set<std::tuple<Index, std::vector<Row>, Row>> instances() {
    std::set<std::tuple<Index, std::vector<Row>, Row>> found;
    for (std::size_t before = found.size() + 1; before != found.size();) {
      before = found.size();
      for (std::size_t r = 0; r < program_.rules.size(); ++r) {
        auto const& rule = program_.rules[r];
        std::vector<datalog::Value> values(rule.variables.size());
        try_all(rule, values, 0, [&] {
          std::vector<std::vector<Row>> ways{{}};
          for (auto const& atom : rule.body) ways = with(ways, atom, values);
          for (auto const& premises : ways) {
            auto const head = row(rule.head, values);
            rows_.insert(head);
            found.emplace(static_cast<Index>(r), premises, head);
          }
        });
      }
    }
    return found;
  }

 private:
  using Values = std::vector<datalog::Value>;
  void try_all(datalog::Rule const& rule, Values& values, std::size_t at, std::function<void()> const& function) {
    if (at == values.size()) {
      bool holds = std::ranges::all_of(rule.comparisons, [&](auto const& c) { return compare(c, values); });
      for (auto const& atom : rule.negated) holds = holds && with({{}}, atom, values).empty();
      if (holds) function();
      return;
    }
    for (datalog::Value v = 0; v < num_values_; ++v) {
      values[at] = v;
      try_all(rule, values, at + 1, function);
    }
  }
  static datalog::Value value(datalog::Term const& term, Values const& values) {
    return term.kind == datalog::Term::Kind::constant ? term.value : values[term.value];
  }
  static bool compare(datalog::Comparison const& c, Values const& values) {
    auto const a = value(c.left, values), b = value(c.right, values);
    using Kind = datalog::Comparison::Kind;
    return c.kind == Kind::equal       ? a == b
           : c.kind == Kind::different ? a != b
           : c.kind == Kind::less      ? a < b
           : c.kind == Kind::at_most   ? a <= b
           : c.kind == Kind::greater   ? a > b
                                       : a >= b;
  }
  static Row row(datalog::Atom const& atom, Values const& values) {
    Row row{atom.relation, {}};
    for (auto const& term : atom.terms) row.second.push_back(value(term, values));
    return row;
  }
  /// Each list of premises with each row that matches an atom.
  std::vector<std::vector<Row>> with(std::vector<std::vector<Row>> const& ways, datalog::Atom const& atom,
                                     Values const& values) const {
    std::vector<std::vector<Row>> both;
    for (auto const& row : rows_) {
      if (row.first != atom.relation) continue;
      bool matches = true;
      for (std::size_t i = 0; i < atom.terms.size(); ++i)
        matches = matches &&
                  (atom.terms[i].kind == datalog::Term::Kind::any || value(atom.terms[i], values) == row.second[i]);
      if (!matches) continue;
      for (auto way : ways) {
        way.push_back(row);
        both.push_back(std::move(way));
      }
    }
    return both;
  }

  datalog::Program const& program_;
  std::set<Row> rows_;
  datalog::Value num_values_;
};

/// Inputs E and N, derived P, Q and S; rules with constants, `_`, variables that are there twice, negation,
/// comparisons.
std::string random_program(std::mt19937& rng) {
  auto const below = [&](unsigned n) { return rng() % n; };
  std::string text =
      ".decl E(x: number, y: number)\n.decl N(x: number)\n.input E\n.input N\n.decl P(x: number)\n.decl Q(x: number, "
      "y: number)\n.decl S()\n";
  auto const variable = [&] { return std::string(1, "xyz"[below(3)]); };
  auto const term = [&] {
    return below(8) == 0 ? std::string("_") : below(8) == 0 ? std::to_string(below(3)) : variable();
  };
  auto const premise = [&] {
    switch (below(5)) {
      case 0: return fmt::format("N({})", term());
      case 1: return fmt::format("P({})", term());
      case 2: return fmt::format("Q({}, {})", term(), term());
      case 3: return std::string("S()");
      default: return fmt::format("E({}, {})", term(), term());
    }
  };
  for (auto rules = 2 + below(5); rules > 0; --rules) {
    RuleLines body;
    for (auto premises = 1 + below(3); premises > 0; --premises) body.push_back(premise());
    auto const all = fmt::format("{}", fmt::join(body, ", "));
    RuleLines bound;
    for (std::string const v : {"x", "y", "z"})
      if (all.find(v) != std::string::npos) bound.push_back(v);
    auto const known = [&] {
      return bound.empty() ? std::to_string(below(3)) : bound[below(static_cast<unsigned>(bound.size()))];
    };
    auto rest = below(3) == 0 ? fmt::format(", !E({}, {})", known(), below(2) == 0 ? "_" : known()) : std::string();
    static constexpr char const* comparisons[] = {"=", "!=", "<", "<=", ">", ">="};
    if (below(3) == 0) rest += fmt::format(", {} {} {}", known(), comparisons[below(6)], known());
    auto const head = below(4) == 0   ? std::string("S()")
                      : below(2) == 0 ? fmt::format("P({})", known())
                                      : fmt::format("Q({}, {})", known(), known());
    text += fmt::format("{} :- {}{}.\n", head, all, rest);
  }
  return text + "P(2).\n";
}

using RandomFact = std::pair<Index, std::vector<datalog::Value>>;

/// Six facts of the first two relations of a random program, of few values.
std::vector<RandomFact> random_facts(std::mt19937& rng, datalog::Program const& program) {
  std::vector<RandomFact> facts;
  for (Index i = 0; i < 6; ++i) {
    Index const relation = rng() % 3 == 0 ? 1 : 0;
    std::vector<datalog::Value> values;
    for (std::size_t k = 0; k < program.relations[relation].arity(); ++k)
      values.push_back(static_cast<datalog::Value>(rng() % 3));
    facts.emplace_back(relation, values);
  }
  return facts;
}

}  // namespace

TEST_CASE("datalog: all instances of rules") {
  CHECK(clause_lines(rule_declarations + R"~(
    A("a"). A("b, c"). /* a fact each */
    .decl P(x: symbol, y: symbol) // pairs
    P(x, y) :- A(x), A(y), x != y.)~") == RuleLines{"R0: A(a)", R"~(R1: "A(\"b, c\")")~",
                                                    R"~(R2: NOT "A(\"b, c\")", NOT A(a), "P(\"b, c\",a)")~",
                                                    R"~(R2: NOT A(a), NOT "A(\"b, c\")", "P(a,\"b, c\")")~"});
  CHECK(clause_lines(rule_declarations + R"~(N(1), N(-0x2) :- A(_). A("x").)~") ==
        RuleLines{"R0: NOT A(x), N(-2)", "R0: NOT A(x), N(1)", "R1: A(x)"});
  CHECK(clause_lines(rule_declarations +
                     R"~(N(1). N(2). N(3). .decl P(n: number) P(n) :- N(n), (n < 2 ; n >= 3), !E("a", _).)~") ==
        RuleLines{"R0: N(1)", "R1: N(2)", "R2: N(3)", "R3: NOT N(1), P(1)", "R3: NOT N(3), P(3)"});
  CHECK(clause_lines(rule_declarations + R"~(.decl P(x: symbol, n: number) P(x, n) :- x = "a", n = m, m = 7.)~") ==
        RuleLines{"R0: P(a,7)"});
  CHECK(clause_lines(rule_declarations + R"~(.decl P(x: symbol) P(x) :- x = y, y = "s".A("x").A("y").)~") ==
        RuleLines{"R0: P(s)", "R1: A(x)", "R2: A(y)"});
  CHECK(
      clause_lines(
          R"~(.decl F(x: symbol, y: symbol) .decl Q() .printsize F F("a", "b"). F("b", "a"). Q() :- F(x, y), F(y, x).)~") ==
      RuleLines{"R0: F(a,b)", "R1: F(b,a)", "R2: NOT F(a,b), NOT F(b,a), Q()"});
  CHECK(clause_lines(rule_declarations + R"~(A("a"). A(x) :- A(x); A(x).)~") ==
        RuleLines{"R0: A(a)", "R1: NOT A(a), A(a)"});
  CHECK(clause_lines(".symbol_type S\n.type T = S | U\n.type U <: symbol\n.decl A(x: T) output "
                     "printsize\nA(\"a\").\n.printsize A\n.output A(IO=stdout)") == RuleLines{"R0: A(a)"});
}

TEST_CASE("datalog: random programs beside all that could hold") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 rng(seed);
    auto const text = random_program(rng);
    CAPTURE(text);
    auto const program = datalog::parse(text, "x.dl");
    datalog::Database database(program);
    std::set<Enumeration::Row> facts;
    for (auto const& [relation, values] : random_facts(rng, program)) {
      database.add(relation, values);
      facts.emplace(relation, values);
    }
    auto const row = [&](datalog::Tuple const& tuple) {
      auto const values = database.values(tuple);
      return Enumeration::Row{tuple.relation, {values.begin(), values.end()}};
    };
    std::set<std::tuple<Index, std::vector<Enumeration::Row>, Enumeration::Row>> found;
    database.derive([&](datalog::Grounding const& grounding) {
      std::vector<Enumeration::Row> premises;
      for (auto const& premise : grounding.premises) premises.push_back(row(premise));
      CHECK_MESSAGE(found.emplace(grounding.rule, premises, row(grounding.conclusion)).second,
                    "an instance is there twice");
    });
    CHECK(found == Enumeration(program, facts, 3).instances());
  }
}

TEST_CASE("datalog: tuples that are looked up are those that could be stored") {
  int num_refused = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 rng(seed);
    auto const text = random_program(rng);
    CAPTURE(text);
    auto const program = datalog::parse(text, "x.dl");
    datalog::Database stored(program), mixed(program);
    std::vector<std::vector<datalog::Value>> looked_up;
    for (auto const& [relation, values] : random_facts(rng, program)) {
      bool const is_new = std::ranges::find(looked_up, values) == looked_up.end();
      stored.add(relation, values);
      if (relation == 1 && is_new) looked_up.push_back(values);
      if (relation == 0) mixed.add(relation, values);
    }
    datalog::Columns const needed = rng() % 2;
    mixed.look_up(1, {needed, [&](datalog::Columns known, auto key, auto const& found) {
                        CHECK((known & needed) == needed);
                        for (auto const& values : looked_up) {
                          bool agrees = true;
                          for (std::size_t i = 0; i < values.size(); ++i)
                            agrees = agrees && ((known >> i & 1) == 0 || values[i] == key[i]);
                          if (agrees) found(values);
                        }
                      }});
    try {
      auto lines = sorted_lines(datalog::ground(program, mixed).clauses);
      CHECK(lines == sorted_lines(datalog::ground(program, stored).clauses));
    } catch (InputError const& e) {
      CHECK(std::string(e.what()).find("cannot be looked up") != std::string::npos);
      CHECK(needed != 0);
      ++num_refused;
    }
  }
  CHECK(num_refused > 0);
  CHECK(num_refused < 200);
}

TEST_CASE("datalog: forward instances derive all that follows") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 rng(seed);
    auto const program = datalog::parse(random_program(rng), "x.dl");
    datalog::Database all(program), some(program);
    for (auto const& [relation, values] : random_facts(rng, program)) {
      all.add(relation, values);
      some.add(relation, values);
    }
    all.derive([](datalog::Grounding const&) {});
    std::map<std::pair<Index, Index>, int> instances;
    std::set<std::pair<Index, Index>> derived;
    CHECK(some.derive(
        [&](datalog::Grounding const& grounding) {
          for (auto const& premise : grounding.premises)
            CHECK((!program.relations[premise.relation].is_derived ||
                   derived.contains({premise.relation, premise.number})));
          std::pair const head(grounding.conclusion.relation, grounding.conclusion.number);
          derived.insert(head);
          CHECK(++instances[head] <= 2);
        },
        {.is_forward = true, .per_tuple = 2}));
    for (std::size_t r = 0; r < program.relations.size(); ++r) {
      CHECK(all.num_tuples(static_cast<Index>(r)) == some.num_tuples(static_cast<Index>(r)));
      for (Index t = 0; program.relations[r].is_derived && t < some.num_tuples(static_cast<Index>(r)); ++t)
        CHECK(derived.contains({static_cast<Index>(r), t}));
    }
  }
}

TEST_CASE("datalog: deriving ends at a limit") {
  auto const program = datalog::parse(".decl A(n: number)\nA(1). A(2). A(3).", "x.dl");
  for (Offset limit : {0, 2, 3}) {
    datalog::Database database(program);
    auto const grounded = datalog::ground(program, database, {.all = limit});
    CHECK(grounded.clauses.num_clauses() == limit);
    CHECK(grounded.is_complete == (limit == 3));
  }
}

TEST_CASE("datalog: sentences name tuples") {
  CHECK(clause_lines(".decl P(x: symbol, n: number) //: {x} has {n} {feet}\n"
                     ".decl Q(x: symbol) // {y}\n.decl T(x: symbol) //: {x} has 4 {feet}\n"
                     "P(\"a cat\", 4). Q(x) :- P(x, _). T(\"a cat\").") ==
        RuleLines{"R0: a cat has 4 {feet}", "R1: NOT a cat has 4 {feet}, Q(\"a cat\")",
                  "R2: a cat has 4 {feet} [T(\"a cat\")]"});
  refuse_rules(".decl P(x: symbol, n: number) //: {x} is there",
               "line 1, column 31: the sentence of relation P leaves out column n; it needs {n}");
}

TEST_CASE("datalog: what is wrong is named by its place") {
  refuse_rules(rule_declarations + "A(x) :- E(x).",
               "x.dl:line 5, column 9: relation E has 1 here, and 2 where it is declared");
  refuse_rules(rule_declarations + "A(x) :- B(x).",
               "line 5, column 9: relation B is not declared; declare it: .decl B(x: symbol)");
  refuse_rules(rule_declarations + "A(y) :-\n E(x, _).",
               "line 5, column 3: variable y is in no premise that is not negated");
  refuse_rules(rule_declarations + "A(x) :- E(x, _), !E(x, y).", "variable y is in no premise");
  refuse_rules(rule_declarations + "N(n) :- N(m), n < m.", "variable n is in no premise");
  refuse_rules(rule_declarations + "A(x) :- E(x, _), !A(x).",
               "column 19: relation A is derived, and only relations that are not may be negated");
  refuse_rules(rule_declarations + "E(x, x) :- A(x).", "relation E is an input, and cannot be derived as well");
  refuse_rules(rule_declarations + "A(x) :- N(x).", "x is a number where a symbol is needed");
  refuse_rules(rule_declarations + "A(1).", "1 is a number where a symbol is needed");
  refuse_rules(rule_declarations + "A(-5).", "-5 is a number where a symbol is needed");
  refuse_rules(rule_declarations + "A(\"\xff\").", "the string is not UTF-8");
  refuse_rules(rule_declarations + ".plan 0:(1,2)", "directive .plan is not known");
  refuse_rules(rule_declarations + "N(\"1\").", "1 is a symbol where a number is needed");
  refuse_rules(rule_declarations + "A(x) :- E(x, y), x < y.", "symbols have no order");
  refuse_rules(rule_declarations + "A(_) :- E(_, _).", "_ in a head stands for no value");
  refuse_rules(rule_declarations + "N(n) :- N(m), n = m + 1.", "'+': values are not computed");
  refuse_rules(rule_declarations + "N(n) :- N(m), n = f(m).", "'(': values are not computed");
  refuse_rules(rule_declarations + "N(3000000000).", "3000000000 does not fit into 32 bits with a sign");
  refuse_rules(rule_declarations + "N(0x).", "'0x' is not a number");
  refuse_rules(rule_declarations + "N(12a).", "'12a' is not a number");
  refuse_rules(rule_declarations + "A(\"x).", "line 5, column 3: a string begins here that no \" ends");
  refuse_rules(rule_declarations + "A(\"\\q\").", "an escape is one of");
  refuse_rules(rule_declarations + "/* A(x)", "line 5, column 1: a comment begins here that no */ ends");
  refuse_rules(rule_declarations + "A(x) :- E(x, _)", "line 5, column 16: the text ends where '.' is expected");
  refuse_rules(rule_declarations + "A(x) : E(x, _).", "':' stands where '.' is expected");
  refuse_rules(rule_declarations + "A(x) :- x.", "'.' stands where a relation's arguments in parentheses, or =");
  refuse_rules(rule_declarations + "#include \"x\"", "a line for the preprocessor; run `cpp -P` on the file first");
  refuse_rules(rule_declarations + "@", "no word begins with '@'");
  refuse_rules(rule_declarations + ".decl A(x: symbol)", "relation A is declared a second time");
  refuse_rules(rule_declarations + ".decl B(x: Node)",
               "type Node is not declared, or of itself; declare it: .type Node <: symbol");
  refuse_rules(rule_declarations + ".decl B(x: float)", "type float is not supported");
  refuse_rules(rule_declarations + ".type T = symbol | number", "T is a union of symbols and numbers");
  refuse_rules(rule_declarations + ".type T <: symbol .type T <: symbol", "type T is there a second time");
  refuse_rules(rule_declarations + ".decl B(x: symbol) eqrel", "qualifier eqrel of a relation is not supported");
  refuse_rules(rule_declarations + ".comp C {}", "directive .comp is not known");
  refuse_rules(rule_declarations + ".input E(IO=sqlite)", "parameter IO is not supported");
  refuse_rules(rule_declarations + "A(x) :- " + std::string(200, '('), "more than 100 parentheses are open");
  std::string wide = "A(x) :- E(x, _)";
  for (int i = 0; i < 11; ++i) wide += ", (A(x) ; A(x))";
  refuse_rules(rule_declarations + wide + ".", "the body holds in more than 1000 ways");
}

TEST_CASE("datalog: facts go into inputs alone") {
  auto const program = datalog::parse(rule_declarations + "A(\"a\").", "x.dl");
  datalog::Database database(program);
  CHECK_THROWS_AS(database.add(1, std::vector<datalog::Value>{0}), ShapeError);
  CHECK_THROWS_AS(database.add(0, std::vector<datalog::Value>{0}), InputError);
  database.add(1, std::vector<datalog::Value>{0, 0});
  database.add(1, std::vector<datalog::Value>{0, 0});
  CHECK(database.num_tuples(1) == 1);
}
