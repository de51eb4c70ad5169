#include <hornbill/io/model.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/bif.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/text_formats.hpp>
#include <hornbill/io/uai.hpp>

#include "token_reader.hpp"

namespace hornbill::io {
namespace {

struct Format {
  char const* ending;
  Model (*read)(std::string const&);
  void (*write)(Model const&, std::string const&);
};

template <HostFactorGraph (*Read)(std::string const&)>
Model read_graph_only(std::string const& file) {
  Model model;
  model.graph = Read(file);
  return model;
}
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

// .causal_fg before .fg, which is its ending too.
constexpr std::array formats{Format{".h5", read_hdf5, write_hdf5},
                             Format{".hdf5", read_hdf5, write_hdf5},
                             Format{".causal_fg", read_graph_only<read_causal_fg>, write_graph_only<write_causal_fg>},
                             Format{".fg", read_graph_only<read_fg>, write_graph_only<write_fg>},
                             Format{".uai", read_network<read_uai>, write_graph_only<write_uai>},
                             Format{".bif", read_network<read_bif>, refuse_to_write}};

Format const& require_format(std::string const& file) {
  for (auto const& format : formats)
    if (file.ends_with(format.ending)) return format;
  if (is_cost_network(file)) throw InputError(file, "", "has costs, not probabilities: map and dpop read it");
  throw InputError(file, "",
                   "has no known ending: .h5, .causal_fg, .fg, .uai and .bif are known; of costs, .wcsp and .cfn");
}

/// Variables by name or number.
class Variables {
 public:
  explicit Variables(HostFactorGraph const& graph) : num_variables_(graph.num_variables) {
    for (std::size_t v = 0; v < graph.variable_names.size(); ++v)
      of_name_[graph.variable_names[v]] = static_cast<Index>(v);
  }
  std::optional<Index> find(std::string const& text) const {
    if (auto const named = of_name_.find(text); named != of_name_.end()) return named->second;
    Index v = -1;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc{} || end != text.data() + text.size() || v < 0 || v >= num_variables_) return {};
    return v;
  }

 private:
  Index num_variables_;
  std::unordered_map<std::string, Index> of_name_;
};

bool has_state_names(HostFactorGraph const& graph, Index variable) {
  return !graph.state_names.empty() && !graph.state_names[variable].empty();
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// The state of a name, where states have names; in another case too, as files spell `true` also TRUE, unless that is
/// said of several.
std::optional<Index> state_of(HostFactorGraph const& graph, Index variable, std::string const& name) {
  if (!has_state_names(graph, variable)) return {};
  auto const& names = graph.state_names[variable];
  if (auto const found = std::find(names.begin(), names.end(), name); found != names.end())
    return static_cast<Index>(found - names.begin());
  auto const is_same = [&](std::string const& other) { return lower(other) == lower(name); };
  if (std::count_if(names.begin(), names.end(), is_same) != 1) return {};
  return static_cast<Index>(std::find_if(names.begin(), names.end(), is_same) - names.begin());
}

std::string not_a_variable(std::string const& text) {
  return fmt::format("'{}' is no variable of the model, neither by name nor by number", text);
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
void write_model(Model const& model, std::string const& file) { require_format(file).write(model, file); }

std::optional<Index> find_variable(HostFactorGraph const& graph, std::string const& text) {
  return Variables(graph).find(text);
}

std::vector<std::pair<Index, int>> read_variables_text(std::string const& file, HostFactorGraph const& graph) {
  Variables const known(graph);
  std::vector<std::pair<Index, int>> variables;
  std::istringstream lines(read_text(file));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    auto const first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    auto const name = line.substr(first, last + 1 - first);
    auto const v = known.find(name);
    if (!v) throw InputError(file, fmt::format("line {}", number), not_a_variable(name));
    variables.emplace_back(*v, number);
  }
  return variables;
}

HostEvidence read_evidence_text(std::string const& file, HostFactorGraph const& graph) {
  Variables const known(graph);
  HostEvidence evidence;
  std::unordered_map<Index, std::pair<Observation, int>> seen;  // and on which line
  std::istringstream lines(read_text(file));
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    auto fail = [&](std::string const& message) { throw InputError(file, fmt::format("line {}", number), message); };
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> word;
    for (std::string w; words >> w;) word.push_back(w);
    if (word.empty()) continue;
    if (word.size() > 3 || word.size() < 2)
      fail("`variable value`, or `variable likelihood-of-0 likelihood-of-1`, is needed");
    auto number_from = [&](std::string const& text, auto value, char const* what) {
      auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc{} || end != text.data() + text.size()) fail(fmt::format("'{}' is not {}", text, what));
      return value;
    };
    auto const found = known.find(word[0]);
    if (!found) fail(not_a_variable(word[0]));
    Index const v = *found;
    Observation observation = Observation::hard(v, 0);
    if (word.size() == 3)
      observation = Observation::soft(v, number_from(word[1], double{}, "a likelihood"),
                                      number_from(word[2], double{}, "a likelihood"));
    else if (auto const named = state_of(graph, v, word[1]))
      observation.value = *named;
    // `true` could be either of yes and no
    else if (has_state_names(graph, v) && !std::isdigit(static_cast<unsigned char>(word[1].front())))
      fail(fmt::format("'{}' is no state of {}, whose states are {}", word[1], graph.name_of(v),
                       fmt::join(graph.state_names[v], ", ")));
    else if (word[1] == "true" || word[1] == "false")
      observation.value = word[1] == "true";
    else if ((observation.value = number_from(word[1], Index{}, "a value")) < 0)
      fail(fmt::format("the value {} is negative", observation.value));
    validate({observation}, graph, fmt::format("{}:line {}", file, number));
    auto const [before, is_new] = seen.try_emplace(v, observation, number);
    if (!is_new && !(before->second.first == observation))
      fail(fmt::format("{} (variable {}) is observed otherwise than on line {}; keep one of the two", graph.name_of(v),
                       v, before->second.second));
    if (is_new) evidence.push_back(observation);
  }
  return evidence;
}

}  // namespace hornbill::io
