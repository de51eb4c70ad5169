#include "rank_session.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>

namespace hornbill::cli {
namespace {

constexpr std::string_view header = "# session of hornbill rank\n", unknown = "# unknown",
                           contradicts = "# contradicts";

/// A name as it comes back from JSON, which holds UTF-8 alone.
std::string as_stored(std::string const& name) {
  return nlohmann::json::parse(nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string to_line(Round const& round, HostFactorGraph const& graph, io::VariableNames const& names) {
  nlohmann::json const json{{"name", as_stored(graph.name_of(round.variable))},
                            {"confidence", round.confidence},
                            {"inversions", round.inversions},
                            {"unconverged", round.unconverged},
                            {"seconds", round.seconds},
                            {"iterations", round.iterations}};
  using analysis::Label;
  auto const word = names.word_for(round.variable);
  if (round.label == Label::unknown) return fmt::format("{} {} {}", unknown, word, json.dump());
  return fmt::format("{} {} # {}", word, round.label == Label::yes ? "true" : "false", json.dump());
}

/// Takes the blanks, then a prefix, off a text; false if it begins otherwise.
bool take(std::string_view& text, std::string_view prefix) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Takes a variable, a quoted name or a number, off a text; -1 if it begins with none.
Index take_variable(std::string_view& text, io::VariableNames const& names) {
  take(text, "");
  if (text.starts_with('"')) {
    auto const name = io::take_quoted(text);
    auto const v = names.find(io::Word{name, true});
    if (!v)
      throw InputError(fmt::format("the model has no variable {}: the session is of another", io::in_quotes(name)));
    return *v;
  }
  Index v = -1;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  text.remove_prefix(end - text.data());
  return error == std::errc{} ? v : -1;
}

/// Nothing where it is no integer, or too large for one.   \throws nlohmann::json::exception if it is missing
template <class Integer>
std::optional<Integer> integer_of(nlohmann::json const& json, char const* key) {
  auto const& value = json.at(key);
  if (!value.is_number_integer()) return {};
  bool const fits = value.is_number_unsigned() ? std::in_range<Integer>(value.get<std::uint64_t>())
                                               : std::in_range<Integer>(value.get<std::int64_t>());
  return fits ? std::optional(value.get<Integer>()) : std::nullopt;
}

/// What is known of a round, behind its label.   \throws InputError if it is of another model
std::optional<Round> take_round(std::string_view text, Index variable, HostFactorGraph const& graph) try {
  auto const json = nlohmann::json::parse(text);
  std::string const name = json.at("name");
  if (variable >= graph.num_variables || as_stored(graph.name_of(variable)) != name)
    throw InputError(fmt::format("variable {} is {} there, which it is not in this model: the session is of another",
                                 variable, name));
  auto const inversions = integer_of<std::int64_t>(json, "inversions");
  auto const iterations = integer_of<int>(json, "iterations");
  if (!inversions || !iterations) return {};
  Round round;
  round.variable = variable;
  round.inversions = *inversions;
  round.iterations = *iterations;
  round.confidence = json.at("confidence");
  round.unconverged = json.at("unconverged");
  round.seconds = json.at("seconds");
  return round;
} catch (nlohmann::json::exception const&) {
  return {};
}

/// The round that a line holds; nothing if it is none.   \throws InputError if it is of another model
std::optional<Round> round_on(std::string_view line, HostFactorGraph const& graph, io::VariableNames const& names) {
  using analysis::Label;
  if (line.find('{') == std::string_view::npos) return {};
  bool const is_unknown = take(line, unknown);
  Index const variable = take_variable(line, names);
  if (variable < 0) return {};
  auto label = Label::unknown;
  if (!is_unknown) {
    label = take(line, "true ") ? Label::yes : take(line, "false ") ? Label::no : Label::none;
    if (label == Label::none || !take(line, "#")) return {};
  }
  auto round = take_round(line, variable, graph);
  if (round) round->label = label;
  return round;
}

/// Whether a last line without an end is what someone added, and not a label that was cut off as it was written.
bool is_evidence(std::string const& line, std::string const& file, HostFactorGraph const& graph) try {
  return line.find('#') == std::string::npos && !io::parse_evidence(line, file, graph).empty();
} catch (InputError const&) {
  return false;
}

/// The variable that a line names as one whose label contradicts others; nothing if it says no such thing.
std::optional<Index> contradiction_on(std::string_view line, io::VariableNames const& names) {
  if (!take(line, contradicts)) return {};
  Index const variable = take_variable(line, names);
  return variable < 0 ? std::nullopt : std::optional(variable);
}

}  // namespace

Session::Session(std::string file, HostFactorGraph const& graph) : file_(std::move(file)), graph_(graph) {
  if (file_.empty()) return;
  std::error_code ignored;
  if (std::filesystem::exists(file_, ignored) && !std::filesystem::is_regular_file(file_, ignored))
    throw InputError(file_, "", "is not a file that a session can be read from and written to; give another name");
  names_.emplace(graph);
  descriptor_.number = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_.number < 0)
    throw InputError(file_, "", fmt::format("cannot be opened for the session: {}", std::strerror(errno)));
  if (::flock(descriptor_.number, LOCK_EX | LOCK_NB) != 0) throw InputError(file_, "", "is in use by another session");
  read();
}

Session::Descriptor::~Descriptor() {
  if (number >= 0) ::close(number);
}

std::optional<HostEvidence> Session::parse_evidence(std::string const& text, std::string const& file,
                                                    HostFactorGraph const& graph) {
  if (!text.starts_with(header.substr(0, header.size() - 1))) return {};
  io::VariableNames const names(graph);
  HostEvidence labels;
  std::vector<Index> contradicting;
  std::string others;  // each on its line
  auto const kept = text.rfind('\n') + 1;
  io::for_each_line(file, std::string_view(text).substr(0, kept), [&](std::string_view line, int) {
    if (auto const round = round_on(line, graph, names)) {
      if (round->label != analysis::Label::unknown)
        labels.push_back(Observation::hard(round->variable, round->label == analysis::Label::yes));
    } else if (auto const variable = contradiction_on(line, names)) {
      contradicting.push_back(*variable);
    } else {
      others += line;
    }
    others += '\n';
  });
  if (auto const last = text.substr(kept); !last.empty() && is_evidence(last, file, graph)) others += last;
  std::erase_if(labels, [&](Observation const& o) { return std::ranges::count(contradicting, o.variable) > 0; });
  for (auto const& other : io::parse_evidence(others, file, graph)) {
    auto const label = std::ranges::find(labels, other.variable, &Observation::variable);
    if (label == labels.end())
      labels.push_back(other);
    else if (!(*label == other))
      throw InputError(file, "",
                       fmt::format("{} is observed otherwise than it was labelled; keep one of the two",
                                   graph.name_of(other.variable)));
  }
  return labels;
}

void Session::read() {
  auto const text = io::read_text(file_);
  if (!text.starts_with(header) && !header.starts_with(text))
    throw InputError(file_, "", "is there, and no session of `hornbill rank`: give another name");
  auto const kept = text.rfind('\n') + 1;  // a last line that was cut off has no end
  io::for_each_line(file_, std::string_view(text).substr(0, kept), [&](std::string_view line, int) { take(line); });
  // from the end, as the file may begin with a byte-order mark, which the text does not
  auto const end = ::lseek(descriptor_.number, 0, SEEK_END), cut_off = static_cast<off_t>(text.size() - kept);
  if (end < 0 || ::ftruncate(descriptor_.number, end - cut_off) != 0 || ::lseek(descriptor_.number, 0, SEEK_END) < 0)
    throw InputError(file_, "", fmt::format("cannot be written: {}", std::strerror(errno)));
  if (kept == 0) begin();
}

void Session::begin() {
  write(std::string(header.substr(0, header.size() - 1)));
  auto const folder = std::filesystem::absolute(file_).parent_path();  // so that a new file's name is on the disk, too
  int const descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void Session::take(std::string_view line) {
  if (line.empty() || line == header.substr(0, header.size() - 1)) return;
  auto const of = [this](Index variable) { return std::ranges::find(rounds_, variable, &Round::variable); };
  if (auto const variable = contradiction_on(line, *names_)) {
    if (of(*variable) == rounds_.end())
      throw InputError(fmt::format("there is no label of variable {} before it", *variable));
    of(*variable)->contradicts = true;
    return;
  }
  auto const round = round_on(line, graph_, *names_);
  if (!round) throw InputError("is no line of a session of `hornbill rank`");
  if (of(round->variable) != rounds_.end())
    throw InputError(fmt::format("{} was labelled before", graph_.name_of(round->variable)));
  rounds_.push_back(*round);
}

void Session::append(Round const& round) {
  rounds_.push_back(round);
  if (names_) write(to_line(round, graph_, *names_));
}

void Session::mark_contradiction(Index variable) {
  for (auto& round : rounds_)
    if (round.variable == variable) round.contradicts = true;
  if (names_) write(fmt::format("{} {}", contradicts, names_->word_for(variable)));
}

void Session::write(std::string const& line) {
  if (!io::write_all(descriptor_.number, line + "\n") || ::fsync(descriptor_.number) != 0)
    throw InputError(file_, "",
                     fmt::format("cannot be written: {}. What was said before is in it; go on with the same --session",
                                 std::strerror(errno)));
}

}  // namespace hornbill::cli
