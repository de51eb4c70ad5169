// Datalog programs as they are written: first a tree of the text, whose names are then looked up (resolver.cpp).
#include "parser.hpp"

#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace hornbill::datalog {
namespace {

class Parser {
 public:
  Parser(std::vector<Token> tokens, std::string const& file) : tokens_(std::move(tokens)), file_(file) {}

  ParsedProgram run() {
    while (here().kind != Token::Kind::end) {
      if (here().kind == Token::Kind::directive)
        read_directive();
      else
        read_clause();
    }
    return std::move(program_);
  }

 private:
  Token const& here() const { return tokens_[at_]; }
  Token take() { return here().kind == Token::Kind::end ? here() : tokens_[at_++]; }
  bool take_if(std::string_view mark) {
    if (!here().is(mark)) return false;
    ++at_;
    return true;
  }
  [[noreturn]] void fail_here(std::string_view expected) const {
    auto const found =
        here().kind == Token::Kind::end
            ? std::string("the text ends")
            : fmt::format("'{}{}' stands", here().kind == Token::Kind::directive ? "." : "", here().text);
    fail(file_, here().place, fmt::format("{} where {} is expected", found, expected));
  }
  void expect(std::string_view mark) {
    if (!take_if(mark)) fail_here(fmt::format("'{}'", mark));
  }
  Token expect_name(std::string_view what) {
    if (here().kind != Token::Kind::name || here().text == "_") fail_here(what);
    return take();
  }

  // --- directives ---

  void read_directive() {
    auto const directive = take();
    auto const& name = directive.text;
    if (name == "type") return read_type();
    if (name == "symbol_type" || name == "number_type")
      return add_old_type(name == "symbol_type" ? "symbol" : "number");
    if (name == "decl") return read_declaration();
    if (name == "input" || name == "output") return read_listing(name == "input");
    if (name == "printsize" || name == "limitsize") return skip_listing();
    if (name == "pragma") return skip_strings();
    fail(file_, directive.place, fmt::format("directive .{} is not known; .type, .decl, .input and .output are", name));
  }
  // Directives that change no result.
  void skip_listing() {
    do {
      expect_name("the name of a relation");
      if (take_if("("))
        while (!take_if(")")) {
          if (here().kind == Token::Kind::end) fail_here("')'");
          take();
        }
    } while (take_if(","));
  }
  void skip_strings() {
    if (here().kind != Token::Kind::string) fail_here("a string");
    while (here().kind == Token::Kind::string) take();
  }
  void read_type() {
    auto const name = expect_name("the name of a type");
    if (!take_if("<:") && !take_if("=")) {
      program_.types.push_back({name, {Token{Token::Kind::name, "symbol", name.place}}});  // of old programs
      return;
    }
    ParsedType type{name, {}};
    do type.bases.push_back(expect_name("the name of a type"));
    while (take_if("|"));
    program_.types.push_back(std::move(type));
  }
  void add_old_type(std::string const& base) {
    auto const name = expect_name("the name of a type");
    program_.types.push_back({name, {Token{Token::Kind::name, base, name.place}}});
  }
  void read_declaration() {
    ParsedRelation relation{expect_name("the name of a relation"), {}, {}, {}};
    expect("(");
    while (!take_if(")")) {
      if (!relation.attributes.empty()) expect(",");
      auto const name = expect_name("the name of a column");
      expect(":");
      relation.attributes.emplace_back(name, expect_name("the name of a type"));
    }
    while (here().kind == Token::Kind::name && !tokens_[at_ + 1].is("(")) relation.qualifiers.push_back(take());
    if (here().kind == Token::Kind::sentence) relation.sentence = take();
    program_.relations.push_back(std::move(relation));
  }
  void read_listing(bool is_input) {
    do {
      ParsedListing listing{expect_name("the name of a relation"), is_input, {}};
      if (take_if("(")) {
        while (!take_if(")")) {
          if (!listing.parameters.empty()) expect(",");
          auto const name = expect_name("the name of a parameter");
          expect("=");
          if (here().kind != Token::Kind::string && here().kind != Token::Kind::name) fail_here("a parameter's value");
          listing.parameters.emplace_back(name, take());
        }
      }
      program_.listings.push_back(std::move(listing));
    } while (take_if(","));
  }

  // --- clauses ---

  void read_clause() {
    ParsedClause clause;
    clause.place = here().place;
    do clause.heads.push_back(read_atom());
    while (take_if(","));
    clause.bodies.emplace_back();  // a fact holds in one way
    if (take_if(":-")) clause.bodies = read_disjunction(0);
    expect(".");
    program_.clauses.push_back(std::move(clause));
  }
  /// Ways in which one of several conjunctions holds.
  std::vector<ParsedBody> read_disjunction(int depth) {
    constexpr int deepest = 100;
    if (depth > deepest) fail(file_, here().place, fmt::format("more than {} parentheses are open", deepest));
    auto ways = read_conjunction(depth);
    while (take_if(";"))
      for (auto& way : read_conjunction(depth)) ways.push_back(std::move(way));
    return ways;
  }
  std::vector<ParsedBody> read_conjunction(int depth) {
    constexpr std::size_t most_ways = 1000;
    std::vector<ParsedBody> ways(1);
    do {
      auto const place = here().place;
      auto const further = here().is("(") ? read_parentheses(depth) : std::vector<ParsedBody>(1, {read_literal()});
      if (ways.size() * further.size() > most_ways)
        fail(file_, place, fmt::format("the body holds in more than {} ways; divide the rule", most_ways));
      std::vector<ParsedBody> both;
      for (auto const& way : ways)
        for (auto const& more : further) {
          both.push_back(way);
          both.back().insert(both.back().end(), more.begin(), more.end());
        }
      ways = std::move(both);
    } while (take_if(","));
    return ways;
  }
  std::vector<ParsedBody> read_parentheses(int depth) {
    expect("(");
    auto ways = read_disjunction(depth + 1);
    expect(")");
    return ways;
  }

  ParsedLiteral read_literal() {
    ParsedLiteral literal;
    literal.is_negated = take_if("!");
    bool const is_atom = here().kind == Token::Kind::name && tokens_[at_ + 1].is("(");
    if (is_atom || literal.is_negated) {
      literal.atom = read_atom();
      return literal;
    }
    literal.left = read_term();
    auto const comparison = comparison_of(here());
    if (!comparison) fail_here("a relation's arguments in parentheses, or = != < <= > >=");
    literal.comparison = *comparison;
    ++at_;
    literal.right = read_term();
    return literal;
  }
  static std::optional<Comparison::Kind> comparison_of(Token const& token) {
    static constexpr std::array<std::string_view, 6> marks{"=", "!=", "<", "<=", ">", ">="};
    for (std::size_t i = 0; i < marks.size(); ++i)
      if (token.is(marks[i])) return static_cast<Comparison::Kind>(i);
    return {};
  }
  ParsedAtom read_atom() {
    ParsedAtom atom{expect_name("a relation"), {}};
    expect("(");
    while (!take_if(")")) {
      if (!atom.terms.empty()) expect(",");
      atom.terms.push_back(read_term());
    }
    return atom;
  }
  ParsedTerm read_term() {
    ParsedTerm term{here(), {}};
    bool const is_negative = take_if("-");
    if (here().kind == Token::Kind::number || is_negative) {
      if (is_negative) term.token.text += here().text;
      term.number = read_number(is_negative);
    } else if (here().kind == Token::Kind::name || here().kind == Token::Kind::string) {
      term.token = take();
    } else {
      fail_here("a variable, a constant or _");
    }
    for (auto const* mark : {"+", "-", "*", "/", "(", "["})
      if (here().is(mark)) fail(file_, here().place, fmt::format("'{}': values are not computed, only compared", mark));
    return term;
  }
  Value read_number(bool is_negative) {
    if (here().kind != Token::Kind::number) fail_here("a number");
    auto const token = take();
    std::string_view digits = token.text;
    int const base = digits.starts_with("0x") ? 16 : digits.starts_with("0b") ? 2 : 10;
    if (base != 10) digits.remove_prefix(2);
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (digits.empty() || error == std::errc::invalid_argument || end != digits.data() + digits.size())
      fail(file_, token.place, fmt::format("'{}' is not a number", token.text));
    if (is_negative) number = -number;
    if (error != std::errc() || number != static_cast<Value>(number))
      fail(file_, token.place, fmt::format("{} does not fit into 32 bits with a sign", token.text));
    return static_cast<Value>(number);
  }

  std::vector<Token> tokens_;
  std::string const& file_;
  std::size_t at_ = 0;
  ParsedProgram program_;
};

}  // namespace

ParsedProgram parse_tokens(std::vector<Token> tokens, std::string const& file) {
  return Parser(std::move(tokens), file).run();
}

}  // namespace hornbill::datalog
