// What a Datalog program says, before its names are looked up. Internal to src/datalog.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/datalog/program.hpp>

#include "lexer.hpp"

namespace hornbill::datalog {

struct ParsedType {
  Token name;
  std::vector<Token> bases;
};
struct ParsedRelation {
  Token name;
  std::vector<std::pair<Token, Token>> attributes;  ///< name, type
  std::vector<Token> qualifiers;
  std::optional<Token> sentence;
};
/// `.input` or `.output` of one relation.
struct ParsedListing {
  Token name;
  bool is_input;
  std::vector<std::pair<Token, Token>> parameters;
};
struct ParsedTerm {
  Token token;
  std::optional<Value> number;
};
struct ParsedAtom {
  Token name;
  std::vector<ParsedTerm> terms;
};
/// An atom, or a comparison.
struct ParsedLiteral {
  bool is_negated = false;
  std::optional<ParsedAtom> atom;
  Comparison::Kind comparison = Comparison::Kind::equal;
  ParsedTerm left, right;
};
using ParsedBody = std::vector<ParsedLiteral>;
struct ParsedClause {
  std::vector<ParsedAtom> heads;
  std::vector<ParsedBody> bodies;  ///< ways in which the body holds
  Place place;
};
struct ParsedProgram {
  std::vector<ParsedType> types;
  std::vector<ParsedRelation> relations;
  std::vector<ParsedListing> listings;
  std::vector<ParsedClause> clauses;
};

/// \throws InputError naming the line and column of what is not expected
ParsedProgram parse_tokens(std::vector<Token> tokens, std::string const& file);

}  // namespace hornbill::datalog
