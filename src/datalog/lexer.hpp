// Words of a Datalog program. Internal to src/datalog.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hornbill/datalog/program.hpp>

namespace hornbill::datalog {

struct Token {
  enum class Kind {
    name,       ///< of a relation or variable, or a word such as `number`
    directive,  ///< `.decl`
    string,     ///< the text without quotes
    number,
    mark,      ///< `:-`, `(`, `<=`, ...
    sentence,  ///< the text behind `//:` on the line of a `.decl`
    end
  } kind = Kind::end;
  std::string text;
  Place place;

  bool is(std::string_view mark) const { return kind == Kind::mark && text == mark; }
};

/// All words, and then `end`, at the place behind the text.
/// \throws InputError naming the line and column of what no word begins with, and of strings and comments without end
std::vector<Token> tokens_of(std::string_view text, std::string const& file);

[[noreturn]] void fail(std::string const& file, Place const& place, std::string const& message);

}  // namespace hornbill::datalog
