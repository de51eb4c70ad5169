/// \file
/// Names in text files: one way of quoting for all formats, and which variable a word means.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/types.hpp>

namespace hornbill::io {

/// A word of a text: bare, or a name in double quotes.
struct Word {
  std::string text;  ///< without the quotes
  bool is_quoted = false;
};

/// A name in double quotes. Inside, `\"` and `\\` stand for a quote and a backslash, and `\n`, `\r`, `\t` for what ends
/// or divides lines, so that every name is one word on one line.
std::string in_quotes(std::string_view name);
/// A name as one word among others, such as in evidence: in quotes where it holds blanks, is empty, or begins as a
/// comment, or with a quote or a byte-order mark.
std::string as_word(std::string_view name);
/// A name that has its line for itself, such as an alarm: in quotes where it begins or ends with a blank, holds a
/// line's end or a tab, is empty, or begins as a comment or with a quote.
std::string as_line(std::string_view name);

/// Takes the quoted name that a text begins with off it.
/// \throws InputError, without a place, if it has no end or an unknown escape
std::string take_quoted(std::string_view& text);

/// Throws the InputError, without a place, of what follows a quoted name that ends there.
[[noreturn]] void fail_behind_quotes(std::string_view rest, std::string_view name);

/// The words of a line, separated by blanks, up to a `#` that begins one: the rest is a comment.
/// \throws InputError, without a place, for a quoted name that has no end, or that no blank follows
std::vector<Word> words_of(std::string_view line);
/// The word that is a line without the blanks around it: bare, also with blanks inside, or quoted. Nothing if the line
/// is blank or a comment.   \throws InputError as words_of()
std::optional<Word> word_of_line(std::string_view line);
/// The words of a list, separated by commas.   \throws InputError as words_of()
std::vector<Word> words_of_list(std::string_view list);

/// Finds variables by name or by number. Keeps references to the names.
///
/// Of several of one name the last is meant: a tuple stands behind the clauses that derive it, and one without premises
/// may be called as it is.
class VariableNames {
 public:
  VariableNames(std::span<std::string const> names, Index num_variables);
  explicit VariableNames(HostFactorGraph const& graph) : VariableNames(graph.variable_names, graph.num_variables) {}

  /// A bare word is a name, or else a number; a quoted one is a name.
  std::optional<Index> find(Word const& word) const;
  /// The same of what a user gives alone: it is the name as it stands, or else a word.
  std::optional<Index> find(std::string const& text) const;
  /// The same where none of several of one name is meant more than the others: all of them, ascending.
  std::vector<Index> find_all(std::string const& text) const;
  /// The variable that has a number, whatever the names are.
  std::optional<Index> numbered(std::string_view text) const;
  /// By which find() finds a variable: its name in quotes, or its number where it has no name.
  /// \throws InputError where another variable is found by both
  std::string word_for(Index variable) const;
  /// The same for a line that is the variable's alone: names stand there as they are, where that can be.
  std::string line_for(Index variable) const;

 private:
  std::optional<Index> named(std::string_view name) const;
  std::span<std::string const> names_;
  Index num_variables_;
  std::unordered_map<std::string_view, Index> of_name_;
};

}  // namespace hornbill::io
