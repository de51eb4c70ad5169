#include "externals.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>

#include "standard_externals.hpp"

namespace hornbill::extract {
namespace {

bool is_of_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The words and signs of an effect.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  bool is_done() {
    skip_blanks();
    return text_.empty();
  }
  /// Takes a sign or a word off the text, if it is next.
  bool take(std::string_view token) {
    skip_blanks();
    if (!text_.starts_with(token)) return false;
    bool const is_word = std::isalpha(static_cast<unsigned char>(token.front())) != 0;
    if (is_word && text_.size() > token.size() && is_of_name(text_[token.size()])) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  void require(std::string_view token) {
    if (!take(token)) fail(fmt::format("'{}'", token));
  }
  std::optional<int> argument() {
    skip_blanks();
    auto const digits = static_cast<std::size_t>(
        std::ranges::find_if_not(text_, [](unsigned char c) { return std::isdigit(c) != 0; }) - text_.begin());
    if (digits == 0 || digits > 2) return {};
    int const number = std::stoi(std::string(text_.substr(0, digits)));
    text_.remove_prefix(digits);
    return number;
  }
  std::string require_name() {
    skip_blanks();
    auto const end = static_cast<std::size_t>(std::ranges::find_if_not(text_, is_of_name) - text_.begin());
    if (end == 0 || std::isdigit(static_cast<unsigned char>(text_.front())) != 0) fail("the name of a variable");
    std::string name(text_.substr(0, end));
    text_.remove_prefix(end);
    return name;
  }
  int require_argument() {
    auto const number = argument();
    if (!number) fail("the number of an argument, from 0");
    return *number;
  }
  [[noreturn]] void fail(std::string_view wanted) {
    throw InputError(text_.empty() ? fmt::format("an effect ends where {} is needed", wanted)
                                   : fmt::format("'{}' stands where {} is needed", text_, wanted));
  }

 private:
  void skip_blanks() { text_ = io::trimmed(text_); }
  std::string_view text_;
};

/// Arguments with `*` between.
std::vector<int> product_of(Tokens& tokens) {
  std::vector<int> arguments;
  do arguments.push_back(tokens.require_argument());
  while (tokens.take("*"));
  return arguments;
}

ExternalValue value_of(Tokens& tokens) {
  using enum ExternalValue::Kind;
  if (tokens.take("outside")) return {from_outside};
  if (tokens.take("static")) return {fixed};
  if (tokens.take("null")) return {null};
  if (tokens.take("new")) {
    ExternalValue value{fresh};
    if (!tokens.take("(")) return value;
    value.sizes = product_of(tokens);
    tokens.require(")");
    return value;
  }
  if (tokens.take("*")) return {content, tokens.require_argument()};
  auto const argument = tokens.argument();
  if (!argument) tokens.fail("a value: an argument's number N, N+?, *N, new, static, outside or null");
  return {tokens.take("+?") ? within : passed, *argument};
}

ExternalEffect effect_of(Tokens& tokens) {
  using enum ExternalEffect::Kind;
  if (tokens.take("return")) {
    tokens.require("=");
    return {.kind = returns, .values = {value_of(tokens)}};
  }
  static constexpr std::array<std::pair<std::string_view, ExternalEffect::Kind>, 6> of_an_argument{
      {{"end", ends}, {"escape", escapes}, {"fill", fills}, {"free", frees}, {"use", uses}, {"write", writes}}};
  for (auto const& [word, kind] : of_an_argument)
    if (tokens.take(word)) return {.kind = kind, .argument = tokens.require_argument()};
  if (tokens.take("zero")) {
    tokens.require("return");
    return {.kind = zeroes, .argument = ExternalEffect::result};
  }
  if (tokens.take("sink")) {
    bool const is_content = tokens.take("*");
    return {.kind = sinks, .argument = tokens.require_argument(), .is_content = is_content};
  }
  auto const place = [&] {
    if (tokens.take("return")) return ExternalEffect::result;
    tokens.require("*");
    return tokens.require_argument();
  };
  if (tokens.take("taint")) {
    ExternalEffect effect{.kind = taints, .argument = place()};
    effect.is_open = effect.argument >= 0 && tokens.take("...");
    if (effect.argument >= 0 && !effect.is_open && !tokens.is_done()) effect.sizes = product_of(tokens);
    return effect;
  }
  if (tokens.take("flow")) {
    ExternalEffect effect{.kind = flows, .argument = place()};
    effect.source = tokens.require_argument();
    effect.is_open = tokens.take("...");
    return effect;
  }
  if (tokens.take("copy")) {
    ExternalEffect effect{.kind = copies, .argument = tokens.require_argument(), .source = tokens.require_argument()};
    effect.size = tokens.argument().value_or(-1);
    return effect;
  }
  if (tokens.take("call")) {
    ExternalEffect effect{.kind = calls, .argument = tokens.require_argument()};
    tokens.require("(");
    if (tokens.take(")")) return effect;
    do effect.values.push_back(value_of(tokens));
    while (tokens.take(","));
    tokens.require(")");
    return effect;
  }
  if (tokens.take("set")) {
    ExternalEffect effect{.kind = assigns, .variable = tokens.require_name()};
    tokens.require("=");
    effect.values.push_back(value_of(tokens));
    return effect;
  }
  if (!tokens.take("*"))
    tokens.fail(
        "an effect: return = VALUE, *N = VALUE, set NAME = VALUE, copy N N, fill N, "
        "call N(VALUE, ...), escape N, free N, use N, write N, taint *N, flow *N N, zero return or sink N");
  ExternalEffect effect{.kind = stores, .argument = tokens.require_argument()};
  tokens.require("=");
  effect.values.push_back(value_of(tokens));
  return effect;
}

std::vector<ExternalEffect> effects_of(std::string_view text) {
  std::vector<ExternalEffect> effects;
  while (!text.empty()) {
    auto const end = std::min(text.find(';'), text.size());
    Tokens tokens(text.substr(0, end));
    if (!tokens.is_done()) {
      effects.push_back(effect_of(tokens));
      if (!tokens.is_done()) tokens.fail("the end of the effect, or ';',");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return effects;
}

}  // namespace

void read_externals(std::string const& file, std::string const& text, Externals& externals) {
  io::for_each_line(file, text, [&](std::string_view line, int) {
    line = io::trimmed(line.substr(0, line.find('#')));
    if (line.empty()) return;
    auto const colon = line.find(':');
    if (colon == std::string_view::npos)
      throw InputError(fmt::format("'{}' has no ':' behind the names of functions", line));
    auto const effects = effects_of(line.substr(colon + 1));
    auto names = io::trimmed(line.substr(0, colon));
    if (names.empty()) throw InputError("has no name of a function before ':'");
    while (!names.empty()) {
      auto const end = std::min(names.find_first_of(" \t"), names.size());
      externals[std::string(names.substr(0, end))] = effects;
      names = io::trimmed(names.substr(end));
    }
  });
}

Externals standard_externals() {
  Externals externals;
  read_externals("externals.txt", standard_externals_text, externals);
  return externals;
}

}  // namespace hornbill::extract
