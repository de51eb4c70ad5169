// hornbill explain: as text, JSON and Graphviz.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/io/atomic_file.hpp>

#include "explain.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// The rules of a clause: as the model has them, or else the clause's own name.
std::string rules_of(Model const& model, Index clause) {
  if (model.rules.empty()) return model.graph.name_of(model.graph.variables_of(clause)[0]);
  std::string names;
  for (Index r : model.rules.of(clause)) names += (names.empty() ? "" : " + ") + model.rules.names[r];
  return names;
}

std::string say(Observation const& label) {
  if (label.is_hard()) return label.value == 1 ? "true" : "false";
  return fmt::format("likelihoods {:.4g}", fmt::join(label.likelihoods, ", "));
}

std::optional<Observation> label_of(Explanation const& e, Index variable) {
  auto const found =
      std::find_if(e.labels.begin(), e.labels.end(), [=](Observation const& o) { return o.variable == variable; });
  return found == e.labels.end() ? std::nullopt : std::optional(*found);
}

/// Whether cycles make the derivation's weight no probability.
bool exceeds_bound(Explanation const& e) {
  constexpr double tolerance = 1e-5;  // to which runs converge, and more
  return e.derivation->log_weight > e.log_bound() + tolerance;
}

double probability_of_derivation(Explanation const& e) {
  return std::exp(std::min(e.derivation->log_weight, e.log_bound()));
}

void print_derivation(Explanation const& e, Model const& model) {
  if (!e.derivation) {
    write_out("no derivation is possible{}\n", e.labels.empty() ? "" : " under these labels");
    return;
  }
  auto const& steps = e.derivation->steps;
  bool const is_more = exceeds_bound(e);
  write_out("most probable derivation, all of its clauses with probability {}{:.4f}:\n", is_more ? "at most " : "",
            probability_of_derivation(e));
  std::map<Index, std::size_t> number;
  int const width = static_cast<int>(fmt::formatted_size("{}", steps.size()));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    auto const& step = steps[i];
    number[step.tuple] = i + 1;
    std::string from;
    for (Index premise : step.premises) from += fmt::format("{}{}", from.empty() ? " from " : ", ", number.at(premise));
    if (step.num_derivations > 1) from += fmt::format("; one of {} derivations", step.num_derivations);
    auto const label = label_of(e, step.tuple);
    write_out("  {:>{}}  {:.4f}  {}{}\n  {:{}}          {} ({:.4f}){}\n", i + 1, width, e.p_true(step.tuple),
              model.graph.name_of(step.tuple), label ? fmt::format("  [labelled {}]", say(*label)) : "", "", width,
              rules_of(model, step.clause), e.holds[step.clause], from);
  }
}

void print_labels(Explanation const& e, Model const& model) {
  if (!e.influences) return;
  if (e.influences->empty()) {
    write_out("none of the {} labels moves it by {} or more in log-odds\n", e.labels.size(), min_move);
    return;
  }
  write_out("labels that move it most, of {}:\n  without  log-odds\n", e.labels.size());
  for (auto const& influence : *e.influences)
    write_out("  {:>7.4f}  {:>+8.3f}  {} is {}\n", detail::probability(influence.without), moved_by(e, influence),
              model.graph.name_of(influence.label.variable), say(influence.label));
}

nlohmann::json finite_or_null(double x) { return std::isfinite(x) ? nlohmann::json(x) : nlohmann::json(); }

/// In quotes, for Graphviz.
std::string quoted(std::string const& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else
      result += c;
  }
  return result + "\"";
}

char const* colour_of(std::optional<Observation> const& label) {
  if (!label) return "white";
  if (!label->is_hard()) return "lightgoldenrod";
  return label->value == 1 ? "palegreen" : "lightpink";
}

}  // namespace

void print_explanation(Explanation const& e, Model const& model) {
  write_out("{}: {:.4f}", model.graph.name_of(e.alarm), e.p_true(e.alarm));
  if (!e.labels.empty()) write_out(", without labels {:.4f}", detail::probability(e.unlabelled));
  if (e.own) write_out(" (that it is labelled {} is left out)", say(*e.own));
  write_out("\n");
  print_derivation(e, model);
  print_labels(e, model);
}

void print_explanation_json(Explanation const& e, Model const& model) {
  auto const& graph = model.graph;
  nlohmann::json json{{"alarm", graph.name_of(e.alarm)},
                      {"variable", e.alarm},
                      {"p_true", e.p_true(e.alarm)},
                      {"log_odds", finite_or_null(e.log_odds[e.alarm])},
                      {"p_without_labels", detail::probability(e.unlabelled)},
                      {"derivation", nullptr},
                      {"labels", nlohmann::json::array()},
                      {"unconverged", e.unconverged}};
  if (e.own) json["own_label"] = say(*e.own);
  if (e.derivation) {
    auto steps = nlohmann::json::array();
    for (auto const& step : e.derivation->steps) {
      auto premises = nlohmann::json::array();
      for (Index premise : step.premises) premises.push_back(graph.name_of(premise));
      steps.push_back({{"tuple", graph.name_of(step.tuple)},
                       {"p_true", e.p_true(step.tuple)},
                       {"rules", rules_of(model, step.clause)},
                       {"clause_probability", e.holds[step.clause]},
                       {"premises", premises},
                       {"derivations", step.num_derivations}});
    }
    json["derivation"] = {
        {"probability", probability_of_derivation(e)}, {"is_bound", exceeds_bound(e)}, {"steps", steps}};
  }
  for (auto const& influence : e.influences.value_or(std::vector<Influence>{})) {
    nlohmann::json label{{"name", graph.name_of(influence.label.variable)},
                         {"label", say(influence.label)},
                         {"p_without", detail::probability(influence.without)}};
    label["log_odds"] = finite_or_null(moved_by(e, influence));
    json["labels"].push_back(label);
  }
  print_json(json);
}

void write_graphviz(Explanation const& e, Model const& model, std::string const& file) {
  auto const& graph = model.graph;
  std::string text =
      "digraph explanation {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", style=filled, fillcolor=white];\n  edge "
      "[fontname=\"sans-serif\"];\n";
  auto const add_tuple = [&](Index v, char const* shape) {
    text += fmt::format("  v{} [shape={}, fillcolor={}, label={}];\n", v, shape, colour_of(label_of(e, v)),
                        quoted(fmt::format("{}\n{:.4f}", graph.name_of(v), e.p_true(v))));
  };
  std::map<Index, bool> drawn;
  std::set<Index> clauses;
  if (e.derivation)
    for (auto const& step : e.derivation->steps) {
      add_tuple(step.tuple, "ellipse");
      drawn[step.tuple] = true;
      text += fmt::format("  f{} -> v{};\n", step.clause, step.tuple);
      if (!clauses.insert(step.clause).second) continue;  // several tuples follow from it
      text += fmt::format("  f{} [shape=box, label={}];\n", step.clause,
                          quoted(fmt::format("{}\n{:.4f}", rules_of(model, step.clause), e.holds[step.clause])));
      for (Index premise : step.premises) text += fmt::format("  v{} -> f{};\n", premise, step.clause);
    }
  if (!drawn[e.alarm]) add_tuple(e.alarm, "ellipse");
  drawn[e.alarm] = true;
  for (auto const& influence : e.influences.value_or(std::vector<Influence>{})) {
    Index const v = influence.label.variable;
    if (v == e.alarm) continue;
    if (!std::exchange(drawn[v], true)) add_tuple(v, "note");
    text += fmt::format("  v{} -> v{} [style=dashed, constraint=false, label={}];\n", v, e.alarm,
                        quoted(fmt::format("without: {:.4f}", detail::probability(influence.without))));
  }
  io::write_atomically(file, text + "}\n");
}

}  // namespace hornbill::cli
