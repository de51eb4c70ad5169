// Readers of networks of tables: UAI, BIF and WCSP.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/bif.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/uai.hpp>

#include "support/clauses.hpp"
#include "support/random_graphs.hpp"

using namespace hornbill;

namespace {

/// Reads a text by some reader; a file of that text is there as long as the result is made.
template <class Read>
auto from_text(std::string const& text, Read const& read) {
  test::ClauseFolder const folder;
  return read(folder.write(text));
}

template <class Read>
void refuse(Read const& read, std::string const& text, std::string const& message) {
  try {
    from_text(text, read);
    FAIL_CHECK("nothing was thrown; expected: " << message);
  } catch (Error const& e) {
    CHECK_MESSAGE(std::string(e.what()).find(message) != std::string::npos, "'", e.what(), "' does not contain '",
                  message, "'");
  }
}

auto const uai = [](std::string const& file) { return io::read_uai(file); };
auto const bif = [](std::string const& file) { return io::read_bif(file); };
auto const wcsp = [](std::string const& file) { return io::read_wcsp(file); };
auto const cfn = [](std::string const& file) { return io::read_cfn(file); };

}  // namespace

TEST_CASE("uai: a model, with a Horn factor and a constant") {
  auto const graph = from_text(
      "MARKOV\n3\n2 3 2\n4\n1 0\n2 1 0\n2 0 2\n0\n\n2\n 0.25 0.5\n6\n1 2 3 4 5 6\n4\n1 0 0.3 0.7\n1\n2\n", uai);
  CHECK(graph.num_variables == 3);
  CHECK(graph.cardinality == std::vector<Index>{2, 3, 2});
  CHECK(graph.num_factors() == 3);
  CHECK(graph.table_of(0)[1] == 1.0);  // times the constant
  CHECK(graph.variables_of(1)[0] == 1);
  CHECK(graph.table_of(1)[5] == 6);
  CHECK(graph.factor_type[2] == FactorType::conjunction);
  CHECK(graph.variables_of(2)[0] == 2);  // the head first
  CHECK(graph.p1[2] == doctest::Approx(0.7));
}

TEST_CASE("uai: evidence that is wrong is named by its line") {
  auto const graph = from_text("MARKOV\n3\n2 3 2\n1\n3 0 1 2\n12\n1 2 3 4 5 6 7 8 9 10 11 12\n", uai);
  auto const evidence = [&](std::string const& file) { return io::read_uai_evidence(file, graph); };
  CHECK(from_text("2\n1 2\n0 1\n", evidence) == HostEvidence{Observation::hard(1, 2), Observation::hard(0, 1)});
  // one sample
  CHECK(from_text("1\n2 1 2 0 1\n", evidence) == HostEvidence{Observation::hard(1, 2), Observation::hard(0, 1)});
  CHECK(from_text("2\n1 2\n1 2\n", evidence) == HostEvidence{Observation::hard(1, 2)});
  CHECK(from_text("0\n", evidence).empty());
  refuse(evidence, "", "the number of observed variables is needed");
  refuse(evidence, "-1\n", "line 1: the number of observed variables is -1");
  refuse(evidence, "2\n1 2\n\n", "2 variables are said to be observed, and 2 numbers follow; 4 are needed");
  refuse(evidence, "1\n1 2\n0\n1\n", "line 3: '0' follows the last of 1 observations");
  refuse(evidence, "2\n1 2\n1 0\n", "line 3: variable 1 is observed otherwise than on line 2; keep one of the two");
  refuse(evidence, "2\n1\n3\n0 0\n", "line 3: variable 1 cannot have the value 3: its values are 0 to 2");
  refuse(evidence, "2\n1 2\n7 0\n\n\n", "line 3: variable 7 is unknown: variables are 0 to 2");
}

TEST_CASE("uai: what is unlikely does not become impossible") {
  auto const graph =
      from_text("MARKOV\n2\n2 2\n3\n1 0\n1 0\n2 0 1\n2\n1e-200 1\n2\n0.001 0.999\n4\n0.5 0.5 1e-17 1\n", uai);
  REQUIRE(graph.factor_type[0] == FactorType::table);
  CHECK(graph.table_of(0)[0] == 1e-200);
  CHECK(graph.factor_type[1] == FactorType::conjunction);
  REQUIRE(graph.factor_type[2] == FactorType::table);
  CHECK(graph.table_of(2)[2] == 1e-17);
  auto const printed = from_text("MARKOV\n1\n2\n1\n1 0\n2\n0.000001 0.999999\n", uai);
  CHECK(printed.factor_type[0] == FactorType::conjunction);
  // 0.9999999 has but nine digits of it: as a complement it would change
  auto const nearly = from_text("MARKOV\n1\n2\n1\n1 0\n2\n0.0000001 0.9999999\n", uai);
  REQUIRE(nearly.factor_type[0] == FactorType::table);
  CHECK(nearly.table_of(0)[0] == 1e-7);
}

TEST_CASE("uai: written and read again") {
  test::ClauseFolder const folder;
  auto const graph = test::random_graph(5, {.num_variables = 40, .largest_body = 5, .tables = 0.4, .max_states = 4});
  std::string const file = folder.path / "x.uai";
  io::write_uai(graph, file);
  auto const again = io::read_model(file).graph;
  CHECK(again.num_variables == graph.num_variables);
  REQUIRE(again.num_factors() == graph.num_factors());
  // a Horn factor may be read as another of the same table
  auto const one = tables::to_tables(graph, 20), other = tables::to_tables(again, 20);
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<Index> assignment;
    for (Index v = 0; v < graph.num_variables; ++v)
      assignment.push_back(static_cast<Index>(random() % static_cast<unsigned>(graph.states(v))));
    CHECK(elim::value_of<tables::SumProduct<double>>(other, assignment) ==
          doctest::Approx(elim::value_of<tables::SumProduct<double>>(one, assignment)));
  }
}

TEST_CASE("uai: what is wrong is named by its line") {
  refuse(uai, "BAYES\n2\n2 2\n1\n2 0 1\n4\n0.5 0.5 0.5\n", "line 8: the file ends where a table entry is needed");
  refuse(uai, "FACTORS\n", "line 1: 'FACTORS' is not a kind of network");
  refuse(uai, "MARKOV\n1\n2\n1\n1 1\n", "line 5: a variable is 1; 0 to 0 are possible");
  refuse(uai, "MARKOV\n2\n2 2\n1\n2 0 0\n", "line 5: variable 0 is twice in one factor");
  refuse(uai, "MARKOV\n1\n2\n1\n1 0\n3\n1 1 1\n",
         "line 6: the table of factor 0 is said to have 3 entries; its variables need 2");
  refuse(uai, "MARKOV\n1\n2\n1\n1 0\n2\n1 -1\n", "line 7: table entry -1 is not a finite number of at least 0");
  refuse(uai, "MARKOV\n1\n2\n1\n1 0\n2\n1 nan\n", "line 7: table entry nan");
  refuse(uai, "MARKOV\n1\n2\n1\n1 0\n2\n1 1\n5\n", "line 8: '5' follows the last of 1 factors");
  refuse(uai, "MARKOV\n2\n2 3\n2\n1 0\n2 1 0\n2\n1 1\n6\n0 0 0 0 0 0\n",
         "line 9: all entries of the table over the variables 1, 0 are 0");
}

TEST_CASE("uai: evidence and results") {
  auto const graph = from_text("MARKOV\n2\n2 3\n0\n", uai);
  auto const evidence = [&](std::string const& file) { return io::read_uai_evidence(file, graph); };
  CHECK(from_text("2 0 1 1 2\n", evidence) == HostEvidence{Observation::hard(0, 1), Observation::hard(1, 2)});
  CHECK(from_text("1\n1 1 2\n", evidence) == HostEvidence{Observation::hard(1, 2)});  // a sample
  CHECK(from_text("1 1 2\n", evidence) == HostEvidence{Observation::hard(1, 2)});
  CHECK(from_text("0\n", evidence).empty());
  CHECK(from_text("1\n0\n", evidence).empty());
  refuse(evidence, "2 0 1 1\n", "2 variables are said to be observed, and 3 numbers follow");
  refuse(evidence, "1 2 0\n", "variable 2 is unknown: variables are 0 to 1");
  refuse(evidence, "1 0 2\n", "variable 0 cannot have the value 2");
  auto const marginals =
      from_text("MAR\n2 2 0.25 0.75 3 0 0.5 0.5\n", [](auto const& file) { return io::read_uai_marginals(file); });
  CHECK(marginals == std::vector<std::vector<double>>{{0.25, 0.75}, {0, 0.5, 0.5}});
  CHECK(from_text("PR\n-1.5\n", [](auto const& file) { return io::read_uai_log10_z(file); }) == -1.5);
  CHECK(from_text("MPE\n3 0 2 1\n", [](auto const& file) { return io::read_uai_assignment(file); }) ==
        std::vector<Index>{0, 2, 1});
  refuse([](auto const& file) { return io::read_uai_log10_z(file); }, "MAR\n1\n",
         "begins with 'MAR'; a file of this kind begins with PR");
  refuse(evidence, "2\n1 0 1\n1 0 0\n", "line 1: 2 samples are given; one is read");
}

TEST_CASE("uai: of several solutions the last counts, and what is no probability is refused") {
  auto const marginals = [](auto const& file) { return io::read_uai_marginals(file); };
  std::vector<std::vector<double>> const expected{{0.25, 0.75}, {0, 0.5, 0.5}};
  for (auto const* text :
       {"MAR\n2 2 0.25 0.75 3 0 0.5 0.5\n", "MAR\n1\n2 2 0.25 0.75 3 0 0.5 0.5\n",
        "MAR\n2 2 1 0 3 1 0 0\n2 2 0.25 0.75 3 0 0.5 0.5\n", "MAR\n1\n2 2 1 0 3 1 0 0\n1\n2 2 0.25 0.75 3 0 0.5 0.5\n",
        "MAR\n-BEGIN-\n1\n2 2 1 0 3 1 0 0\n-BEGIN-\n1\n2 2 0.25 0.75 3 0 0.5 0.5\n"}) {
    CAPTURE(text);
    CHECK(from_text(text, marginals) == expected);
  }
  CHECK(from_text("PR\n1\n-2\n-BEGIN-\n1\n-1.5\n", [](auto const& file) { return io::read_uai_log10_z(file); }) ==
        -1.5);
  CHECK(from_text("MPE\n2 0 0\n-BEGIN-\n1\n2 1 0\n", [](auto const& file) { return io::read_uai_assignment(file); }) ==
        std::vector<Index>{1, 0});
  refuse(marginals, "MAR\n1 2 nan nan\n", "line 2: nan is not a probability");
  refuse(marginals, "MAR\n1 2 -0.1 1.1\n", "line 2: -0.1 is not a probability");
  refuse(marginals, "MAR\n1 2 0.5 inf\n", "line 2: inf is not a probability");
  refuse(marginals, "MAR\n1 2 0.5 0.5\n7\n", "the solution ends where a number of states is needed");
  refuse(marginals, "MAR\n1 2 0.5 0.5\n-BEGIN-\n", "ends without a solution");
  refuse([](auto const& file) { return io::read_uai_log10_z(file); }, "PR\nnan\n", "the logarithm is not a number");
}

namespace {

std::string const rain =
    "network weather { property author someone; }\n"
    "// two causes\n"
    "variable rain { type discrete [ 2 ] { yes, no }; }\n"
    "variable \"lawn sprinkler\" { type discrete [2] { on, off }; property p; }\n"
    "variable grass { type discrete [ 3 ] { dry, damp, wet }; }\n"
    "probability ( rain ) { table 0.2, 0.8; }\n"
    "probability ( \"lawn sprinkler\" | rain ) { table 0.01, 0.4, 0.99, 0.6; } /* its own\n states first */\n"
    "probability ( grass | \"lawn sprinkler\", rain ) {\n"
    "  default 0.9, 0.1, 0.0;\n"
    "  (on, yes) 0.0, 0.1, 0.9;\n"
    "  (on, no) 0.1, 0.2, 0.7;\n"
    "}\n";

std::string replaced(std::string text, std::string const& what, std::string const& by) {
  return text.replace(text.find(what), what.size(), by);
}

}  // namespace

TEST_CASE("bif: variables, states, and rows in any order") {
  auto const graph = from_text(rain, bif);
  CHECK(graph.variable_names == std::vector<std::string>{"rain", "lawn sprinkler", "grass"});
  CHECK(graph.state_names[2] == std::vector<std::string>{"dry", "damp", "wet"});
  CHECK(graph.cardinality == std::vector<Index>{2, 2, 3});
  CHECK(graph.num_factors() == 3);
  std::vector<Index> const of_grass(graph.variables_of(2).begin(), graph.variables_of(2).end());
  CHECK(of_grass == std::vector<Index>{1, 0, 2});
  auto const table = graph.table_of(2);
  CHECK(table[2] == doctest::Approx(0.9));                 // on, yes: wet
  CHECK(table[4] == doctest::Approx(0.2));                 // on, no: damp
  CHECK(table[9] == doctest::Approx(0.9));                 // off, no: dry, by default
  CHECK(graph.factor_type[1] == FactorType::conjunction);  // as any probability of two states given two
  CHECK(graph.p1[1] == doctest::Approx(0.6));              // no rain: off
  CHECK(graph.p2[1] == doctest::Approx(0.99));             // rain: off
}

TEST_CASE("bif: names of states are values of evidence, and are kept in a file") {
  test::ClauseFolder const folder;
  Model model;
  model.graph = from_text(rain, bif);
  io::write_model(model, folder.path / "x.h5");
  auto const again = io::read_model(folder.path / "x.h5").graph;
  CHECK(again.state_names == model.graph.state_names);
  auto const evidence = [&](std::string const& text) {
    return from_text(text, [&](auto const& file) { return io::read_evidence_text(file, again); });
  };
  CHECK(evidence("grass Wet\nrain NO\n1 1\n") ==
        HostEvidence{Observation::hard(2, 2), Observation::hard(0, 1), Observation::hard(1, 1)});
  // which of them it means nobody knows
  CHECK_THROWS_WITH_AS(evidence("rain true\n"),
                       doctest::Contains("'true' is no state of rain, whose states are yes, no"), InputError);
  CHECK(from_text("grass wet\n1 on\n", [&](auto const& file) { return io::read_evidence_text(file, again); }) ==
        HostEvidence{Observation::hard(2, 2), Observation::hard(1, 0)});
  refuse([&](auto const& file) { return io::read_evidence_text(file, again); }, "grass soaked\n",
         "'soaked' is no state of grass");
}

TEST_CASE("bif: rows are divided by their sums, with a warning where they are far from one") {
  std::vector<std::string> warnings;
  auto const read = [&](std::string const& file) { return io::read_bif(file, &warnings); };
  auto const graph = from_text(replaced(rain, "table 0.2, 0.8", "table 0.200001, 0.8"), read);
  CHECK(warnings.empty());
  CHECK(from_text(replaced(rain, "(on, no) 0.1, 0.2, 0.7", "(on, no) 0.1, 0.2, 0.5"), read).table_of(2)[3] ==
        doctest::Approx(0.125));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("line 9: the row (on, no) of grass adds to 0.8, and was divided by it") != std::string::npos);
}

TEST_CASE("bif: as JavaBayes, older tools and pyAgrum write it") {
  auto const expected = from_text(rain, bif);
  auto const check_same = [&](std::string const& text) {
    auto const graph = from_text(text, bif);
    CHECK(graph.table_values == expected.table_values);
    CHECK(graph.factor_variables == expected.factor_variables);
    CHECK(graph.variable_names == expected.variable_names);
  };
  check_same(replaced(rain, "table 0.2, 0.8;", "table 0.2 0.8;"));
  check_same(replaced(rain, "table 0.01, 0.4, 0.99, 0.6;", "table 0.01 0.4\n0.99 0.6;"));
  check_same(replaced(rain, "(on, no) 0.1, 0.2, 0.7;", "(on no) 0.1 0.2 0.7, ;"));
  check_same(replaced(rain, "default 0.9, 0.1, 0.0;", "default 0.9 0.1 0.0,;"));
  check_same(replaced(rain, "( \"lawn sprinkler\" | rain )", "(\"lawn sprinkler\" rain)"));
  check_same(replaced(rain, "( \"lawn sprinkler\" | rain )", "(\"lawn sprinkler\", \"rain\",)"));
  check_same(replaced(rain, "{ dry, damp, wet }", "{ dry damp wet, }"));
  check_same(replaced(rain, "// two causes", "property \"credal-set { constant-density-bounded 1.1 }\" ;"));
  check_same(replaced(rain, "network weather {", "network {"));
  check_same(replaced(rain, "  default 0.9", "  property \"position = (73, 165)\" ;\n  default 0.9"));
  auto const intervals = from_text(
      "network \"unnamedBN\" {}\nvariable a { type discrete [3] { (0_2], (2_4), \"[4;5[\" }; }\nvariable b { type "
      "discrete[2] "
      "{[0;1[, (0_2]};}\nprobability (a) {table 0.2 0.3 0.5;}\nprobability (b | a) { ((0_2]) 0.1 0.9; ((2_4)) 0.3 "
      "0.7;\n"
      "([4;5[) 0.6 0.4; }\n",
      bif);
  CHECK(intervals.state_names[0] == std::vector<std::string>{"(0_2]", "(2_4)", "[4;5["});
  CHECK(intervals.state_names[1] == std::vector<std::string>{"[0;1[", "(0_2]"});
  auto const of_b = intervals.table_of(1);
  CHECK(std::vector(of_b.begin(), of_b.end()) == std::vector{0.1, 0.9, 0.3, 0.7, 0.6, 0.4});
}

TEST_CASE("bif: what is wrong is named by its line") {
  refuse(bif, "", "there is no variable in it");
  refuse(bif, replaced(rain, "(on, yes)", "(up, yes)"), "line 11: 'up' is no state of lawn sprinkler");
  refuse(bif, replaced(rain, "(on, yes)", "(on)"), "line 11: 1 values are given for 2 parents");
  refuse(bif, replaced(rain, "(on, no)", "(on, yes)"), "line 12: this row was given before");
  refuse(bif, replaced(rain, "  default 0.9, 0.1, 0.0;\n", ""),
         "line 9: the probability of grass has no row (off, yes)");
  refuse(bif, replaced(rain, "0.1, 0.2, 0.7;", "0.1, 0.2;"), "line 12: there are 2 probabilities where 3 are needed");
  refuse(bif, replaced(rain, "0.1, 0.2, 0.7;", "0.1, 0.2, 0.7, 0.1;"), "there are more than the 3 probabilities");
  refuse(bif, replaced(rain, "0.1, 0.2, 0.7;", "0.1, x, 0.7;"), "line 12: 'x' is not a probability");
  refuse(bif, replaced(rain, "0.1, 0.2, 0.7;", "0.1, -0.2, 0.7;"), "line 12: '-0.2' is not a probability");
  refuse(bif, replaced(rain, "0.1, 0.2, 0.7;", "0, 0, 0;"), "is all 0");
  refuse(bif, replaced(rain, "variable grass { type discrete [ 3 ]", "variable grass { type discrete [ 4 ]"),
         "line 5: grass is said to have 4 states, and 3 are listed");
  refuse(bif, replaced(rain, "type discrete [2]", "type continuous [2]"),
         "line 4: lawn sprinkler is of the type continuous");
  refuse(bif, replaced(rain, "variable grass", "variable rain"), "line 5: the variable rain is there twice");
  refuse(bif, replaced(rain, "probability ( rain )", "probability ( snow )"),
         "line 6: 'snow' is no variable that was declared");
  refuse(bif, replaced(rain, "probability ( rain ) { table 0.2, 0.8; }", ""), "there is no probability of rain");
  refuse(bif, rain.substr(0, rain.size() - 3), "the file ends where } is needed: it is truncated");
  refuse(bif, replaced(rain, "{ on, off }", "{ on, on }"), "line 4: lawn sprinkler has the state on twice");
  refuse(bif,
         "variable a { type discrete [ 2 ] { no, yes }; }\nvariable b { type discrete [ 2 ] { no, yes }; }\nvariable c "
         "{ type discrete [ 2 ] { no, yes }; }\n"
         "probability ( c | a ) { default 0.5, 0.5; }\nprobability ( a | b, c ) { default 0.5, 0.5; }\nprobability ( b "
         ") { table 0.5, 0.5; }\n",
         "line 4: variables depend on each other, a -> c -> a; in a Bayesian network none depends on itself");
  refuse(bif, "grid x\n", "line 1: 'grid' stands where network, variable or probability is needed");
}

TEST_CASE("wcsp: cost functions in extension, shared ones, and what is forbidden") {
  auto const network =
      from_text("pairs 3 3 4 10\n2 3 3\n2 0 1 0 2\n0 1 4\n1 2 12\n-2 1 2 1 1\n0 0 0\n2 2 1 1 -1\n0 7 0\n", wcsp);
  CHECK(network.name == "pairs");
  CHECK(network.cardinality == std::vector<Index>{2, 3, 3});
  CHECK(network.upper_bound == 10);
  REQUIRE(network.tables.size() == 4);
  CHECK(network.tables[0].values == std::vector<tables::Cost>{0, 4, 0, 0, 0, tables::infinite_cost});
  CHECK(network.tables[1].values == std::vector<tables::Cost>{0, 1, 1, 1, 1, 1, 1, 1, 1});
  CHECK(network.tables[2].scope == std::vector<Index>{2, 1});
  CHECK(network.tables[2].values == network.tables[1].values);
  CHECK(network.tables[3].values == std::vector<tables::Cost>{7});
}

TEST_CASE("wcsp: what is wrong is named by its line") {
  refuse(wcsp, "x 3 2 1 9\n2 2 2\n3 0 1 2 -1 salldiff var 3\n", "line 3: cost function 0 is 'salldiff', in intension");
  refuse(wcsp, "x 1 2 1 9\n-2\n", "line 2: the domain size -2 stands for an interval");
  refuse(wcsp, "x 1 2 1 9\n3\n", "line 2: a domain size is 3; 1 to 2");
  refuse(wcsp, "x 1 2 1 9\n2\n1 0 0 1\n2 5\n", "line 4: a value of a tuple is 2; 0 to 1 are possible");
  refuse(wcsp, "x 1 2 1 9\n2\n1 0 0 1\n1 -5\n",
         "line 4: the cost -5 is negative; add as much to all costs of this function");
  refuse(wcsp, "x 1 2 1 9\n2\n1 0 0 1\n1 1.5\n", "line 4: '1.5' is not a cost");
  refuse(wcsp, "x 1 2 1 9\n2\n1 0 0 -1\n", "line 3: shared cost function 1 is used, and 0 were defined before");
  refuse(wcsp, "x 1 2 1 9\n2\n1 0 0 -9223372036854775808\n",
         "line 3: shared cost function 9223372036854775808 is used, and 0 were defined before");
  refuse(wcsp, "x 1 2 1 9\n2\n-9223372036854775808 0 0 1\n",
         "line 3: cost function 0 has 9223372036854775808 variables; at most 64 are read");
  refuse(wcsp, "x 1 2 1 9\n2\n1 0 0 0\n3\n", "line 4: '3' follows the last of 1 cost functions");
}

TEST_CASE("cfn: exponents, long decimals and what is infinite") {
  auto const costs = [](std::string const& bound, std::string const& list) {
    return from_text("{{n " + bound + "} [2] [{[0] [" + list + "]}]}", cfn);
  };
  auto const exponents = costs("<1.0", "2.5e-05 5E-5");
  CHECK(exponents.decimals == 6);
  CHECK(exponents.tables[0].values == std::vector<tables::Cost>{0, 25});
  CHECK(exponents.objective(0) == "0.000025");
  CHECK(costs("<1e3", "1.5e2 7").objective(0) == "7");
  auto const seventeen = costs("<1.0", "0.30000000000000004 0.1");
  CHECK(seventeen.decimals == 17);
  CHECK(seventeen.tables[0].values == std::vector<tables::Cost>{20000000000000004, 0});
  auto const forbidden = costs("<10", "inf 3");
  CHECK(forbidden.tables[0].values == std::vector<tables::Cost>{tables::infinite_cost, 0});
  CHECK(forbidden.objective(0) == "3");
  CHECK(costs(">-10", "\"-inf\" 3").tables[0].values == std::vector<tables::Cost>{tables::infinite_cost, 0});
  CHECK(costs("<inf", "1e15 2").tables[0].values == std::vector<tables::Cost>{999999999999998, 0});
  CHECK(costs("<10", "1e300 3").tables[0].values == std::vector<tables::Cost>{tables::infinite_cost, 0});  // beyond it
  refuse(cfn, "{{n <10} [2] [{[0] [-inf 3]}]}",
         "line 1: '-inf' would be better than all costs; what is forbidden costs inf");
  refuse(cfn, "{{n >10} [2] [{[0] [inf 3]}]}",
         "line 1: 'inf' would be better than all costs; what is forbidden costs -inf");
  refuse(cfn, "{{n <99999999999999999999} [2] [{[0] [1 3]}]}",
         "costs are too large: with the bound they add up to 1e+20");
  refuse(cfn, "{{n <10} [2] [{[0] [1 nan]}]}", "'nan' is not a cost: a number, or inf");
  refuse(wcsp, "n 1 2 0 99999999999999999999\n2\n", "line 1: '99999999999999999999' is too large for the upper bound");
}

TEST_CASE("cfn: costs that cannot be kept exactly are rounded, and that is said") {
  std::vector<std::string> warnings;
  auto const read = [&](std::string const& text) {
    warnings.clear();
    return from_text(text, [&](auto const& file) { return io::read_cfn(file, &warnings); });
  };
  auto const rounded = read("{{n <5000.0} [2 2] [{[0] [0.30000000000000004 0.1]} {[1] [1000.5 0]}]}");
  CHECK(rounded.decimals < 17);
  CHECK(rounded.decimals >= 13);
  double const unit = std::pow(10.0, -rounded.decimals);
  CHECK(static_cast<double>(rounded.tables[0].values[0]) * unit == doctest::Approx(0.2).epsilon(1e-12));
  CHECK(static_cast<double>(rounded.tables[1].values[0]) * unit == doctest::Approx(1000.5).epsilon(1e-12));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("costs have up to 17 decimals, of which " + std::to_string(rounded.decimals) + " are kept") !=
        std::string::npos);
  auto const tiny = read("{{n <5} [2] [{[0] [1e-400 1]}]}");
  CHECK(tiny.objective(0).find_first_not_of("0.") == std::string::npos);
  CHECK(warnings.size() == 1);
  read("{{n <5.25} [2] [{[0] [0.125 1]}]}");
  CHECK(warnings.empty());
}

TEST_CASE("numbers that are too small round to 0, and that is said") {
  for (auto const& [ending, text] :
       {std::pair{".uai", "MARKOV\n1\n2\n1\n1 0\n2\n1e-400 1\n"},
        {".fg", "1\n\n1\n0\n2\n2\n0 1e-400\n1 1\n"},
        {".causal_fg", "1\n\n0\nI\n1e-400\n"},
        {".bif", "variable a { type discrete [2] {x, y}; } probability (a) { table 1e-400 1; }"}}) {
    CAPTURE(ending);
    auto const file =
        (std::filesystem::temp_directory_path() / fmt::format("hornbill_{}{}", ::getpid(), ending)).string();
    std::ofstream(file) << text;
    auto const model = io::read_model(file);
    std::filesystem::remove(file);
    REQUIRE(model.warnings.size() == 1);
    CHECK(model.warnings[0].find("an entry is too small for a number and was rounded: line ") != std::string::npos);
  }
  refuse(uai, "MARKOV\n1\n2\n1\n1 0\n2\n1e400 1\n", "line 7: '1e400' is too large for a table entry");
  auto const graph = from_text("MARKOV\n1\n2\n0\n", uai);
  refuse([&](auto const& file) { return io::read_evidence_text(file, graph); }, "0 1e-400 1\n",
         "line 1: '1e-400' is too small for a likelihood; write 0 if that is meant");
}
