#include "lexer.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>

namespace hornbill::datalog {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '?'; }
bool is_in_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

class Lexer {
 public:
  Lexer(std::string_view text, std::string const& file) : text_(text), file_(file) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    for (;;) {
      skip_blanks();
      tokens.push_back(next());
      if (tokens.back().kind == Token::Kind::end) return tokens;
    }
  }

 private:
  bool begins(std::string_view with) const { return text_.substr(at_).starts_with(with); }
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void step() {
    ++place_.column;
    if (text_[at_++] == '\n') place_ = {place_.line + 1, 1};
  }
  void step(std::size_t count) {
    while (count-- > 0) step();
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (begins_sentence()) return;
      if (begins("//")) {
        while (at_ < text_.size() && here() != '\n') step();
      } else if (begins("/*")) {
        skip_comment();
      } else if (std::isspace(static_cast<unsigned char>(here())) != 0) {
        step();
      } else {
        return;
      }
    }
  }
  bool begins_sentence() const { return begins("//:") && place_.line == line_of_declaration_; }
  void skip_comment() {
    auto const begin = place_;
    step(2);
    while (!begins("*/")) {
      if (at_ == text_.size()) fail(file_, begin, "a comment begins here that no */ ends");
      step();
    }
    step(2);
  }

  Token next() {
    Token token{Token::Kind::end, {}, place_};
    if (at_ == text_.size()) return token;
    if (begins_sentence()) return take_sentence();
    auto const c = here();
    if (begins_name(c)) return take(Token::Kind::name, is_in_name);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return take(Token::Kind::number, is_in_name);
    if (c == '"') return take_string();
    if (c == '.' && begins_directive()) {
      step();
      token = take(Token::Kind::directive, is_in_name);
      --token.place.column;
      if (token.text == "decl") line_of_declaration_ = token.place.line;
      return token;
    }
    return take_mark();
  }
  Token take_sentence() {
    auto const begin = place_;
    step(3);
    auto token = take(Token::Kind::sentence, [](char c) { return c != '\n'; });
    token.text = std::string(io::trimmed(token.text));
    token.place = begin;
    if (!io::is_utf8(token.text)) fail(file_, begin, "the sentence is not UTF-8");
    return token;
  }
  /// Whether a full stop here is that of a directive, and not the end of a clause.
  bool begins_directive() const {
    static constexpr std::array<std::string_view, 16> words{
        "comp",        "decl", "functor", "include", "init",   "input",     "lattice",     "limitsize",
        "number_type", "once", "output",  "plan",    "pragma", "printsize", "symbol_type", "type"};
    auto const end = std::find_if_not(text_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, text_.end(), is_in_name);
    return std::ranges::binary_search(words,
                                      std::string_view(text_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, end));
  }
  template <class IsPart>
  Token take(Token::Kind kind, IsPart const& is_part) {
    Token token{kind, {}, place_};
    for (; at_ < text_.size() && is_part(here()); step()) token.text += here();
    return token;
  }
  Token take_string() {
    Token token{Token::Kind::string, {}, place_};
    for (step(); here() != '"'; step()) {
      if (at_ == text_.size() || here() == '\n') fail(file_, token.place, "a string begins here that no \" ends");
      token.text += here() == '\\' ? take_escape() : here();
    }
    step();
    if (!io::is_utf8(token.text)) fail(file_, token.place, "the string is not UTF-8");
    return token;
  }
  char take_escape() {
    static constexpr std::string_view letters = "\"\\ntr", meanings = "\"\\\n\t\r";
    auto const begin = place_;
    step();
    auto const found = at_ < text_.size() ? letters.find(here()) : std::string_view::npos;
    if (found == std::string_view::npos) fail(file_, begin, R"(an escape is one of \" \\ \n \t \r)");
    return meanings[found];
  }
  Token take_mark() {
    static constexpr std::array<std::string_view, 24> marks{":-", "<:", "!=", "<=", ">=", "(", ")", ",",
                                                            ".",  ";",  ":",  "!",  "=",  "<", ">", "|",
                                                            "-",  "+",  "*",  "/",  "[",  "]", "{", "}"};
    auto const found = std::ranges::find_if(marks, [&](std::string_view mark) { return begins(mark); });
    if (found == marks.end())
      fail(file_, place_,
           here() == '#' ? std::string("a line for the preprocessor; run `cpp -P` on the file first")
                         : fmt::format("no word begins with '{}'", here()));
    Token token{Token::Kind::mark, std::string(*found), place_};
    step(found->size());
    return token;
  }

  std::string_view text_;
  std::string const& file_;
  std::size_t at_ = 0;
  Place place_;
  int line_of_declaration_ = 0;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text, std::string const& file) { return Lexer(text, file).run(); }

void fail(std::string const& file, Place const& place, std::string const& message) {
  throw InputError(file, fmt::format("line {}, column {}", place.line, place.column), message);
}

}  // namespace hornbill::datalog
