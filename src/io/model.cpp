#include <hornbill/io/model.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/bif.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>
#include <hornbill/io/text_formats.hpp>
#include <hornbill/io/uai.hpp>

#include "number.hpp"

namespace hornbill::io {
namespace {

struct Format {
  char const* ending;
  Model (*read)(std::string const&);
  void (*write)(Model const&, std::string const&);
};

template <void (*Write)(HostFactorGraph const&, std::string const&)>
void write_graph_only(Model const& model, std::string const& file) {
  Write(model.graph, file);
}

template <HostFactorGraph (*Read)(std::string const&, std::vector<std::string>*)>
Model read_network(std::string const& file) {
  Model model;
  model.graph = Read(file, &model.warnings);
  return model;
}
void refuse_to_write(Model const&, std::string const& file) {
  throw InputError(file, "", "cannot be written: .bif is read only. Write .h5, .uai or .fg");
}

constexpr std::array formats{Format{".h5", read_hdf5, write_hdf5},
                             Format{".hdf5", read_hdf5, write_hdf5},
                             Format{".causal_fg", read_network<read_causal_fg>, write_graph_only<write_causal_fg>},
                             Format{".fg", read_network<read_fg>, write_graph_only<write_fg>},
                             Format{".uai", read_network<read_uai>, write_graph_only<write_uai>},
                             Format{".bif", read_network<read_bif>, refuse_to_write}};

Format const& require_format(std::string const& file) {
  for (auto const& format : formats)
    if (file.ends_with(format.ending)) return format;
  if (is_cost_network(file)) throw InputError(file, "", "has costs, not probabilities: map and dpop read it");
  if (is_constraint_text(file))
    throw InputError(file, "", "holds points-to constraints, not a model: pointsto, info and convert read it");
  throw InputError(file, "",
                   "has no known ending: .h5, .causal_fg, .fg, .uai and .bif are known; of costs, .wcsp and .cfn");
}

bool has_state_names(HostFactorGraph const& graph, Index variable) {
  return !graph.state_names.empty() && !graph.state_names[variable].empty();
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The state of a name, where states have names; in another case too, as files spell `true` also TRUE, unless that is
/// said of several, or the name is quoted.
std::optional<Index> state_of(HostFactorGraph const& graph, Index variable, Word const& word) {
  if (!has_state_names(graph, variable)) return {};
  auto const& names = graph.state_names[variable];
  if (auto const found = std::find(names.begin(), names.end(), word.text); found != names.end())
    return static_cast<Index>(found - names.begin());
  auto const is_same = [&](std::string const& other) { return lower(other) == lower(word.text); };
  if (word.is_quoted || std::count_if(names.begin(), names.end(), is_same) != 1) return {};
  return static_cast<Index>(std::find_if(names.begin(), names.end(), is_same) - names.begin());
}

/// The variable that a word means.   \throws InputError, without a place
Index require_variable(VariableNames const& known, Word const& word) {
  if (auto const v = known.find(word)) return *v;
  throw InputError(word.is_quoted
                       ? fmt::format("{} is no name of a variable of the model", in_quotes(word.text))
                       : fmt::format("'{}' is no variable of the model, neither by name nor by number", word.text));
}

template <class Number>
Number require_number(Word const& word, char const* what) {
  if (word.is_quoted) throw InputError(fmt::format("{} is not {}", in_quotes(word.text), what));
  return io::require_number<Number>(word.text, what);
}

/// The state that a word means, by name or number, or as true or false.   \throws InputError, without a place
Index require_state(HostFactorGraph const& graph, Index v, Word const& word) {
  if (auto const named = state_of(graph, v, word)) return *named;
  bool const is_number = !word.is_quoted && std::isdigit(static_cast<unsigned char>(word.text.front()));
  auto const truth = lower(word.text);
  bool const is_truth = truth == "true" || truth == "false";
  if (has_state_names(graph, v) && !is_number)
    throw InputError(fmt::format("'{}' is no state of {}, whose states are {}{}", word.text, graph.name_of(v),
                                 fmt::join(graph.state_names[v], ", "),
                                 is_truth ? "; true and false are for states that have no names" : ""));
  if (is_truth && !word.is_quoted) return truth == "true";
  auto const state = require_number<Index>(word, "a value");
  if (state < 0) throw InputError(fmt::format("the value {} is negative", state));
  return state;
}

/// What a line says; nothing where it is blank or a comment.   \throws InputError, without a place
std::optional<Observation> observation_on(std::string_view line, HostFactorGraph const& graph,
                                          VariableNames const& known) {
  auto const words = words_of(line);
  if (words.empty()) return {};
  if (words.size() < 2)
    throw InputError(
        "`variable value`, or `variable likelihood-of-0 likelihood-of-1 ...`, is needed; a name with blanks stands in "
        "double quotes");
  Index const v = require_variable(known, words[0]);
  if (words.size() == 2) return Observation::hard(v, require_state(graph, v, words[1]));
  if (std::ssize(words) != graph.states(v) + 1)
    throw InputError(fmt::format(
        "{} words follow {}: a value is needed, or a likelihood for each of its {} states; a name with blanks stands "
        "in double quotes",
        words.size() - 1, graph.name_of(v), graph.states(v)));
  std::vector<double> likelihoods;
  for (std::size_t i = 1; i < words.size(); ++i)
    likelihoods.push_back(require_number<double>(words[i], "a likelihood"));
  return Observation::soft(v, std::move(likelihoods));
}

}  // namespace

void validate_name(std::string const& name, std::string const& what) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
    throw InputError(fmt::format("'{}' cannot be the name of a {}: names are not empty and hold no '/'", name, what));
}

bool is_model(std::string const& file) {
  return std::any_of(formats.begin(), formats.end(),
                     [&](Format const& format) { return file.ends_with(format.ending); });
}
Model read_model(std::string const& file) { return require_format(file).read(file); }
void write_model(Model const& model, std::string const& file) {
  if (is_cost_network(file) || is_constraint_text(file))
    throw InputError(file, "", "cannot be written: a model has no costs or constraints. Write .h5, .uai or .fg");
  require_format(file).write(model, file);
}

std::vector<std::pair<Index, int>> read_variables_text(std::string const& file, HostFactorGraph const& graph) {
  VariableNames const known(graph);
  std::vector<std::pair<Index, int>> variables;
  for_each_line(file, read_text(file), [&](std::string_view line, int number) {
    if (auto const word = word_of_line(line)) variables.emplace_back(require_variable(known, *word), number);
  });
  return variables;
}

HostEvidence parse_evidence(std::string const& text, std::string const& file, HostFactorGraph const& graph) {
  VariableNames const known(graph);
  HostEvidence evidence;
  std::unordered_map<Index, std::pair<Observation, int>> seen;  // and on which line
  for_each_line(file, text, [&](std::string_view line, int number) {
    auto const observation = observation_on(line, graph, known);
    if (!observation) return;
    validate(*observation, graph);
    auto const [before, is_new] = seen.try_emplace(observation->variable, *observation, number);
    if (!is_new && !(before->second.first == *observation))
      throw InputError(fmt::format("{} (variable {}) is observed otherwise than on line {}; keep one of the two",
                                   graph.name_of(observation->variable), observation->variable, before->second.second));
    if (is_new) evidence.push_back(*observation);
  });
  return evidence;
}

HostEvidence read_evidence_text(std::string const& file, HostFactorGraph const& graph) {
  return parse_evidence(read_text(file), file, graph);
}

}  // namespace hornbill::io
