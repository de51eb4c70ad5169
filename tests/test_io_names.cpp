// Names in texts: quoting, and which variable a word means.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <hornbill/analysis/clauses.hpp>
#include <hornbill/elim/order.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/names.hpp>

using namespace hornbill;
using io::Word;

namespace {

std::vector<std::string> const odd_names{"",
                                         "a b",
                                         " a",
                                         "a ",
                                         "#rooms",
                                         "F#",
                                         "\"",
                                         "a\"b",
                                         "\"a\"",
                                         "back\\slash",
                                         "a\nb",
                                         "a\tb",
                                         "7",
                                         "NOT",
                                         "NOT x",
                                         "x,",
                                         "a, b",
                                         "a,b",
                                         "<A: void f(int)>",
                                         "Reach(lambda #1)",
                                         "R + S",
                                         "R:",
                                         "R: S",
                                         "# no comment",
                                         "\\n",
                                         "é",
                                         ":",
                                         ",",
                                         "+",
                                         "a:b",
                                         "true",
                                         "R +",
                                         "a:NOT b",
                                         "+ R",
                                         "\xEF\xBB\xBFmarked",
                                         "\"# x"};

std::vector<std::string> texts(std::vector<Word> const& words) {
  std::vector<std::string> result;
  for (auto const& word : words) result.push_back(word.text);
  return result;
}

/// What a function makes of a file with this text.
template <class Read>
auto of_text(std::string const& text, Read const& read) {
  auto const file = (std::filesystem::temp_directory_path() / fmt::format("hornbill_names_{}", ::getpid())).string();
  struct Removal {
    std::string file;
    ~Removal() { std::filesystem::remove(file); }
  } const removal{file};
  std::ofstream(file) << text;
  return read(file);
}

}  // namespace

TEST_CASE("names: what is written as a word or a line comes back") {
  std::string line, list;
  for (auto const& name : odd_names) {
    CAPTURE(name);
    CHECK(texts(io::words_of(io::as_word(name) + " # comment")) == std::vector{name});
    auto const alone = io::word_of_line("  " + io::as_line(name) + " \r");
    REQUIRE(alone);
    CHECK(alone->text == name);
    auto const quoted = io::words_of(io::in_quotes(name));
    REQUIRE(quoted.size() == 1);
    CHECK(quoted[0].is_quoted);
    line += io::as_word(name) + "\t ";
    list += fmt::format("{}{}", list.empty() ? "" : ",", io::in_quotes(name));
  }
  CHECK(texts(io::words_of(line)) == odd_names);
  CHECK(texts(io::words_of_list(list)) == odd_names);
}

TEST_CASE("names: comments begin where a word could") {
  CHECK(texts(io::words_of("note F# # state")) == std::vector<std::string>{"note", "F#"});
  CHECK(io::words_of("  # all of it").empty());
  CHECK_FALSE(io::word_of_line("#rooms"));
  CHECK_FALSE(io::word_of_line("  "));
  CHECK(io::word_of_line("Reach(lambda #1)")->text == "Reach(lambda #1)");
  CHECK(io::word_of_line("\"a b\" # comment")->text == "a b");
  for (auto const& [bad, message] : {std::pair{"\"a", "has no end"},
                                     {"\"a\"b", "'b' follows the quoted name \"a\""},
                                     {"\"a\\x\"", "'\\x' stands for nothing"}}) {
    CAPTURE(bad);
    for (auto const& read : {+[](std::string const& text) { io::words_of(text); },
                             +[](std::string const& text) { io::word_of_line(text); },
                             +[](std::string const& text) { io::words_of_list(text); }})
      try {
        read(bad);
        FAIL_CHECK("was taken");
      } catch (InputError const& e) {
        CHECK(std::string(e.what()).find(message) != std::string::npos);
      }
  }
  CHECK_THROWS_WITH_AS(io::word_of_line("\"a\" b"), "\"a\" has a line for itself, and 'b' follows it", InputError);
}

TEST_CASE("names: which variable is meant") {
  std::vector<std::string> const names{"b", "7", "", "b", "a b", "4"};
  io::VariableNames const known(names, 6);
  CHECK(known.find(Word{"7"}) == 1);
  CHECK(known.find(Word{"0"}) == 0);
  CHECK(known.find(Word{"b"}) == 3);  // the last
  CHECK(known.find_all("b") == std::vector<Index>{0, 3});
  CHECK(known.find_all("\"b\"") == std::vector<Index>{0, 3});
  CHECK(known.find_all("7") == std::vector<Index>{1});
  CHECK(known.find_all("0") == std::vector<Index>{0});
  CHECK(known.find_all("c").empty());
  CHECK(known.find(Word{"4"}) == 5);
  CHECK_FALSE(known.find(Word{"0", true}));
  CHECK_FALSE(known.find(Word{"6"}));
  CHECK_FALSE(known.find(Word{""}));
  CHECK(known.find(std::string("a b")) == 4);
  CHECK(known.find(std::string("\"7\"")) == 1);
  for (Index v : {1, 2, 3, 4, 5}) {
    CHECK(known.find(io::words_of(known.word_for(v)).at(0)) == v);
    CHECK(known.find(*io::word_of_line(known.line_for(v))) == v);
  }
  CHECK(known.word_for(0) == "0");
  CHECK(known.line_for(4) == "a b");
  std::vector<std::string> const unclear{"b", "b", "0"};
  CHECK_THROWS_AS(io::VariableNames(unclear, 3).word_for(0), InputError);
}

TEST_CASE("names: evidence, lists and orders of odd names") {
  FactorGraphBuilder builder;
  std::string evidence, list, order;
  for (std::size_t i = 1; i < odd_names.size(); ++i) {
    builder.add_variable(odd_names[i]);
    evidence += io::in_quotes(odd_names[i]) + (i % 2 ? " True\n" : " FALSE # no\n");
    list += io::as_line(odd_names[i]) + "\n";
    order += io::as_word(odd_names[i]) + (i % 3 ? " " : "\n");
  }
  auto const graph = std::move(builder).build();
  auto const observed = of_text(evidence, [&](auto const& file) { return io::read_evidence_text(file, graph); });
  auto const listed = of_text(list, [&](auto const& file) { return io::read_variables_text(file, graph); });
  auto const ordered = of_text(
      order, [&](auto const& file) { return elim::read_order(file, graph.variable_names, graph.num_variables); });
  REQUIRE(observed.size() == odd_names.size() - 1);
  REQUIRE(listed.size() == observed.size());
  REQUIRE(ordered.size() == observed.size());
  for (Index v = 0; v < graph.num_variables; ++v) {
    CHECK(observed[v] == Observation::hard(v, v % 2 == 0));
    CHECK(listed[v].first == v);
    CHECK(ordered[v] == v);
  }
}

TEST_CASE("names: states") {
  FactorGraphBuilder builder;
  builder.add_variable("note");
  builder.add_variable("switch");
  auto graph = std::move(builder).build();
  graph.state_names = {{"F", "F#"}, {"on", "ON"}};
  auto const read = [&](std::string const& text) {
    return of_text(text, [&](auto const& file) { return io::read_evidence_text(file, graph); }).at(0).value;
  };
  CHECK(read("note F#\n") == 1);
  CHECK(read("note \"F#\" # sharp\n") == 1);
  CHECK(read("note f\n") == 0);
  CHECK(read("switch ON\n") == 1);
  CHECK(read("note 0\n") == 0);
  for (auto const& [text, message] :
       {std::pair{"switch On\n", "is no state of switch"},
        {"note \"f\"\n", "is no state of note"},
        {"note true\n", "whose states are F, F#; true and false are for states that have no names"}})
    try {
      read(text);
      FAIL_CHECK(text << " was taken");
    } catch (InputError const& e) {
      CHECK(std::string(e.what()).find(message) != std::string::npos);
    }
}

TEST_CASE("names: clauses, rules and alarms of odd names come back") {
  analysis::ClauseSet set;
  for (std::size_t i = 1; i < odd_names.size(); ++i)
    if (odd_names[i].find_first_of("\n\t") == std::string::npos) set.tuple_names.push_back(odd_names[i]);
  set.rule_names = set.tuple_names;
  std::string rules, alarms;
  for (Index t = 1; t < set.num_tuples(); ++t) {
    set.add(t, std::vector<Index>{t - 1}, std::vector<Index>{t, t - 1});
    alarms += io::as_line(set.tuple_names[t]) + "\n";
  }
  for (auto const& name : set.rule_names) rules += analysis::to_line(name, 0.5);
  std::string text;
  for (Index c = 0; c < set.num_clauses(); ++c) text += analysis::to_string(set, c) + "\n";
  auto const again = of_text(text, analysis::read_clauses);
  REQUIRE(again.num_clauses() == set.num_clauses());
  for (Index c = 0; c < set.num_clauses(); ++c) {
    CHECK(again.tuple_names[again.heads[c]] == set.tuple_names[set.heads[c]]);
    CHECK(again.tuple_names[again.body_of(c)[0]] == set.tuple_names[set.body_of(c)[0]]);
    REQUIRE(again.rules_of(c).size() == 2);
    CHECK(again.rule_names[again.rules_of(c)[0]] == set.rule_names[set.rules_of(c)[0]]);
    CHECK(analysis::to_string(again, c) == analysis::to_string(set, c));
  }
  auto const probabilities = of_text(rules, analysis::read_rule_probabilities);
  CHECK(probabilities.size() == set.rule_names.size());
  auto const read = of_text(alarms, [&](auto const& file) { return analysis::read_derived_tuples(file, again); });
  CHECK(std::ssize(read) == set.num_clauses());
}
