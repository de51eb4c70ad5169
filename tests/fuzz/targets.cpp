#include "targets.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <hornbill/alarms/reports.hpp>
#include <hornbill/analysis/clauses.hpp>
#include <hornbill/datalog.hpp>
#include <hornbill/elim/order.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/io/bif.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>
#include <hornbill/io/text_formats.hpp>
#include <hornbill/io/uai.hpp>

#include "cli/rank_session.hpp"
#include "cli/serve_commands.hpp"

namespace hornbill::fuzz {
namespace {

void require(bool holds, char const* what) {
  if (holds) return;
  std::fprintf(stderr, "it does not hold that %s\n", what);
  std::abort();
}

/// What was written must be read, so that a refusal is a fault.
template <class Read>
auto again(Read const& read, char const* what) {
  try {
    return read();
  } catch (Error const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    require(false, what);
    throw;
  }
}

/// Variables and states with names that are numbers, that need quotes, and that there are in two cases.
HostFactorGraph named_graph() {
  FactorGraphBuilder builder;
  for (auto const* name : {"a", "7", "#rooms", "Reach(lambda #1)", "a,b", "<A: void f(int)>", "true"})
    builder.add_variable(name);
  builder.add_variable("many", 4);
  builder.add_variable("one", 1);
  builder.add_conjunction(0, std::vector<Index>{1, 2});
  auto graph = std::move(builder).build();
  graph.state_names.resize(graph.num_variables);
  graph.state_names[3] = {"no", "yes"};
  graph.state_names[7] = {"F#", "f#", "True", "2"};
  return graph;
}

HostFactorGraph unnamed_graph() {
  FactorGraphBuilder builder(12);
  builder.add_disjunction(3, std::vector<Index>{1, 2});
  return std::move(builder).build();
}

/// The places of constraints and of calls, whatever their numbers.
std::vector<std::string> places_of(points_to::ConstraintSystem const& system) {
  std::vector<std::string> places;
  auto const add = [&](Index place) { places.push_back(place < 0 ? "none" : "at " + system.places[place]); };
  std::ranges::for_each(system.place_of_constraint, add);
  for (auto const& [pointer, place] : system.calls) {
    places.push_back(std::to_string(pointer));
    add(place);
  }
  return places;
}

/// Both, in turn.
template <class Read>
void with_graphs(Read const& read) {
  static HostFactorGraph const graphs[] = {named_graph(), unnamed_graph()};
  std::optional<Error> refused;
  for (auto const& graph : graphs) try {
      read(graph);
    } catch (Error const& e) {
      refused = e;
    }
  if (refused) throw *refused;
}

void require_evidence(HostEvidence const& evidence, HostFactorGraph const& graph) {
  for (auto const& o : evidence) validate(o, graph);
}

analysis::ClauseSet some_clauses(std::string const& file) {
  put(file, "R1: NOT e(1), NOT e(2), p(1, 2)\nR2 + R3: NOT p(1, 2), q\nR1: q, alarm(\"#\")\nR4: NOT q, alarm(\"#\")\n");
  return analysis::read_clauses(file);
}

}  // namespace

void h5(Input const& input) { validate(io::read_hdf5(input.file).graph); }

void fg(Input const& input) { validate(io::read_fg(input.file)); }

void causal_fg(Input const& input) {
  auto const graph = io::read_causal_fg(input.file);
  validate(graph);
}

void uai(Input const& input) { validate(io::read_uai(input.file)); }

void bif(Input const& input) { validate(io::read_bif(input.file)); }

void wcsp(Input const& input) { io::read_wcsp(input.file); }

void cfn(Input const& input) { io::read_cfn(input.file); }

void evid(Input const& input) {
  with_graphs([&](auto const& graph) { require_evidence(io::read_uai_evidence(input.file, graph), graph); });
}

void mar(Input const& input) {
  if (input.bytes.starts_with("MAR"))
    io::read_uai_marginals(input.file);
  else if (input.bytes.starts_with("PR"))
    io::read_uai_log10_z(input.file);
  else
    io::read_uai_assignment(input.file);
}

void evidence(Input const& input) {
  with_graphs([&](auto const& graph) { require_evidence(io::read_evidence_text(input.file, graph), graph); });
}

void order(Input const& input) {
  with_graphs([&](auto const& graph) {
    auto order = elim::read_order(input.file, graph.variable_names, graph.num_variables);
    std::sort(order.begin(), order.end());
    require(order.empty() || (order.front() >= 0 && order.back() < graph.num_variables), "orders are of variables");
    require(std::unique(order.begin(), order.end()) == order.end(), "an order has each variable once");
  });
}

void list(Input const& input) {
  with_graphs([&](auto const& graph) {
    for (auto const& [variable, line] : io::read_variables_text(input.file, graph))
      require(variable >= 0 && variable < graph.num_variables, "a list has variables of the model");
  });
}

void session(Input const& input) {
  with_graphs([&](auto const& graph) {
    std::optional<HostEvidence> evidence;
    try {
      evidence = cli::Session::parse_evidence(std::string(input.bytes), input.file, graph);
    } catch (InputError const&) {
    }
    if (evidence) require_evidence(*evidence, graph);
    put(input.file, input.bytes);
    std::size_t rounds = 0;
    {
      cli::Session session(input.file, graph);
      rounds = session.rounds().size();
      for (auto const& round : session.rounds())
        require(round.variable >= 0 && round.variable < graph.num_variables, "rounds are of the model's variables");
    }
    constexpr char const* what = "a session that was read is read again";
    require(again([&] { return cli::Session(input.file, graph).rounds().size(); }, what) == rounds, what);
  });
}

namespace {

/// Words and lines give their variables again.
bool require_names(io::VariableNames const& known, std::size_t count) {
  std::string line;
  for (std::size_t v = 0; v < count; ++v) {
    auto const variable = static_cast<Index>(v);
    auto const word = known.word_for(variable);
    require(word.find('\n') == std::string::npos, "a word lies on one line");
    auto const words = io::words_of("first " + word + "\tlast");
    require(words.size() == 3 && known.find(words[1]) == variable, "a word gives its variable again");
    auto const of_line = io::word_of_line(known.line_for(variable));
    require(of_line && known.find(*of_line) == variable, "a line gives its variable again");
    line += word + ' ';
  }
  require(io::words_of(line).size() == count, "words stay apart");
  return true;
}

}  // namespace

void names(Input const& input) {
  std::vector<std::string> names;
  std::istringstream text{std::string(input.bytes)};
  for (std::string name; std::getline(text, name, '\0');)
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  io::VariableNames const known(names, static_cast<Index>(names.size()));
  again([&] { return require_names(known, names.size()); }, "words and lines of names are read");
  io::words_of_list(std::string(input.bytes));
}

void serve(Input const& input) {
  with_graphs([&](auto const& graph) {
    std::istringstream text{std::string(input.bytes)};
    cli::CommandReader reader(text, graph);
    for (bool more = true; more;) try {
        auto const command = reader.next();
        more = command.has_value();
        if (!command) break;
        if (auto const* o = std::get_if<cli::ObserveCommand>(&*command)) validate(o->observation, graph);
      } catch (cli::BadCommand const&) {
        reader.skip_line();
      } catch (InputError const&) {
        reader.skip_line();
      }
  });
}

void clauses(Input const& input) {
  auto const lines_of = [](analysis::ClauseSet const& clauses) {
    std::string lines;
    for (Index c = 0; c < clauses.num_clauses(); ++c) lines += to_string(clauses, c) + '\n';
    return lines;
  };
  auto const lines = lines_of(analysis::read_clauses(input.file));
  put(input.file, lines);
  constexpr char const* what = "clauses that are written are read again";
  require(again([&] { return lines_of(analysis::read_clauses(input.file)); }, what) == lines, what);
}

void rules(Input const& input) {
  auto const rules = analysis::read_rule_probabilities(input.file);
  std::string lines;
  for (auto const& [rule, probability] : rules) lines += analysis::to_line(rule, probability) + '\n';
  put(input.file, lines);
  constexpr char const* what = "rules that are written are read again";
  require(again([&] { return analysis::read_rule_probabilities(input.file); }, what) == rules, what);
}

void datalog(Input const& input) {
  auto const program = hornbill::datalog::parse(io::read_text(input.file), input.file);
  std::size_t facts = 0, premises = 0;
  for (auto const& rule : program.rules) {
    facts += rule.body.empty() ? 1 : 0;
    premises = std::max(premises, rule.body.size() + rule.negated.size());
  }
  if (facts > 10 || premises > 4 || program.rules.size() > 20) return;  // which may have too many instances
  hornbill::datalog::Database database(program);
  std::size_t count = 0;
  constexpr std::size_t most = 10000;
  try {
    database.derive([&](hornbill::datalog::Grounding const& grounding) {
      auto const& rule = program.rules[grounding.rule];
      require(grounding.premises.size() == rule.body.size(), "an instance has the premises of its rule");
      require(database.formal_name(grounding.conclusion).starts_with(program.relations[rule.head.relation].name),
              "a conclusion is of the head's relation");
      if (++count > most) throw CapacityError("too many instances");
    });
  } catch (CapacityError const&) {
  }
}

void reports(Input const& input) {
  auto const reports = hornbill::alarms::read_reports(input.file);
  for (auto const& report : reports.reports) {
    require(!report.file.empty() && report.line > 0 && report.column >= 0, "a report has a place");
    require(report.text().find('\n') == std::string::npos, "a report is a line");
  }
}

void alarms(Input const& input) {
  static auto const clauses = some_clauses(input.file);
  put(input.file, input.bytes);
  for (Index tuple : analysis::read_derived_tuples(input.file, clauses))
    require(tuple >= 0 && tuple < clauses.num_tuples(), "alarms are tuples");
}

void constraints(Input const& input) {
  io::ConstraintFiles const files{"constraints", "objects", "names", "places", "calls"};
  io::ConstraintTexts texts;
  std::istringstream in{std::string(input.bytes)};
  std::getline(in, texts.objects, '\0');
  std::getline(in, texts.constraints, '\0');
  for (auto* text : {&texts.names, &texts.places, &texts.calls})
    if (std::string content; std::getline(in, content, '\0')) *text = content;
  auto const system = io::parse_constraints(texts, files);
  points_to::validate(system, "constraints that were read");
  constexpr char const* what = "constraints that are written are read again";
  auto const again_read = again([&] { return io::parse_constraints(io::to_texts(system), files); }, what);
  require(again_read.constraints == system.constraints && again_read.object_sizes == system.object_sizes &&
              again_read.is_function == system.is_function && again_read.variable_names == system.variable_names &&
              places_of(again_read) == places_of(system),
          what);
}

}  // namespace hornbill::fuzz
