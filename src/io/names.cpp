#include <hornbill/io/names.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>

#include "number.hpp"

namespace hornbill::io {
namespace {

constexpr std::string_view blanks = " \t\r\n\v\f";

bool is_blank(char c) { return blanks.find(c) != std::string_view::npos; }

/// A character and the letter that stands for it behind a backslash.
constexpr std::pair<char, char> escapes[] = {{'"', '"'}, {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}};

char unescaped(char letter) {
  for (auto const& [character, of_it] : escapes)
    if (of_it == letter) return character;
  throw InputError(
      fmt::format(R"('\{}' stands for nothing in a quoted name; there are \", \\, \n, \r and \t)", letter));
}

/// As a comment does, or a quoted name; or as a file may, whose byte-order mark is no part of a name.
bool begins_specially(std::string_view name) {
  return name.empty() || name.front() == '#' || name.front() == '"' || name.starts_with(byte_order_mark);
}

/// Takes a word off a text that begins with it.
Word take_word(std::string_view& text, std::string_view separators) {
  if (text.starts_with('"')) {
    Word const word{take_quoted(text), true};
    if (!text.empty() && separators.find(text.front()) == std::string_view::npos)
      fail_behind_quotes(text.substr(0, 1), word.text);
    return word;
  }
  auto const end = std::min(text.find_first_of(separators), text.size());
  Word word{std::string(text.substr(0, end)), false};
  text.remove_prefix(end);
  return word;
}

}  // namespace

std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (char c : name) {
    auto const escape = std::ranges::find(escapes, c, [](auto const& pair) { return pair.first; });
    if (escape == std::end(escapes))
      text += c;
    else
      text += {'\\', escape->second};
  }
  return text + '"';
}

std::string as_word(std::string_view name) {
  return begins_specially(name) || std::ranges::any_of(name, is_blank) ? in_quotes(name) : std::string(name);
}

std::string as_line(std::string_view name) {
  bool const is_plain = !begins_specially(name) && !is_blank(name.front()) && !is_blank(name.back()) &&
                        name.find_first_of("\n\r\t") == std::string_view::npos;
  return is_plain ? std::string(name) : in_quotes(name);
}

std::string take_quoted(std::string_view& text) {
  std::string name;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return name;
    }
    if (text[i] != '\\')
      name += text[i];
    else if (++i < text.size())
      name += unescaped(text[i]);
  }
  throw InputError(fmt::format("the quoted name {} has no end; put a quote behind it", text));
}

void fail_behind_quotes(std::string_view rest, std::string_view name) {
  throw InputError(fmt::format("'{}' follows the quoted name {}; put \\ before a quote that belongs to the name", rest,
                               in_quotes(name)));
}

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  for (;;) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty() || line.front() == '#') return words;
    words.push_back(take_word(line, blanks));
  }
}

std::optional<Word> word_of_line(std::string_view line) {
  line = trimmed(line);
  if (line.empty() || line.front() == '#') return {};
  if (line.front() != '"') return Word{std::string(line), false};
  auto const word = take_word(line, blanks);
  if (!words_of(line).empty())
    throw InputError(fmt::format("{} has a line for itself, and '{}' follows it", in_quotes(word.text), trimmed(line)));
  return word;
}

std::vector<Word> words_of_list(std::string_view list) {
  std::vector<Word> words{take_word(list, ",")};
  while (!list.empty()) {
    list.remove_prefix(1);
    words.push_back(take_word(list, ","));
  }
  return words;
}

VariableNames::VariableNames(std::span<std::string const> names, Index num_variables)
    : names_(names), num_variables_(num_variables) {
  of_name_.reserve(names.size());
  for (std::size_t v = 0; v < names.size(); ++v)
    if (!names[v].empty()) of_name_[names[v]] = static_cast<Index>(v);
}

std::optional<Index> VariableNames::find(Word const& word) const {
  auto const by_name = named(word.text);
  return by_name || word.is_quoted ? by_name : numbered(word.text);
}

std::optional<Index> VariableNames::find(std::string const& text) const {
  if (auto const by_name = named(text)) return by_name;
  if (text.starts_with('"'))
    if (auto const word = word_of_line(text)) return find(*word);
  return numbered(text);
}

std::vector<Index> VariableNames::find_all(std::string const& text) const {
  auto const last = find(text);
  if (!last) return {};
  if (!named(text) && numbered(text)) return {*last};
  std::vector<Index> all;
  for (std::size_t v = 0; v < names_.size(); ++v)
    if (names_[v] == names_[static_cast<std::size_t>(*last)]) all.push_back(static_cast<Index>(v));
  return all;
}

std::string VariableNames::word_for(Index variable) const {
  auto const v = static_cast<std::size_t>(variable);
  if (v < names_.size() && !names_[v].empty() && named(names_[v]) == variable) return in_quotes(names_[v]);
  auto number = std::to_string(variable);
  if (find(Word{number}) != variable)
    throw InputError(fmt::format("variable {} cannot be written into a text: another has that number for its name{}",
                                 variable,
                                 v < names_.size() ? fmt::format(", and another is called {}", names_[v]) : ""));
  return number;
}

std::string VariableNames::line_for(Index variable) const {
  auto const word = word_for(variable);
  return word.starts_with('"') ? as_line(names_[variable]) : word;
}

std::optional<Index> VariableNames::named(std::string_view name) const {
  auto const found = of_name_.find(name);
  return found == of_name_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Index> VariableNames::numbered(std::string_view text) const {
  auto const [state, v] = parse_number<Index>(text);
  if (state != Parsed<Index>::State::good || text.starts_with('-') || v >= num_variables_) return {};
  return v;
}

}  // namespace hornbill::io
