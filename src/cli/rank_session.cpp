#include "rank_session.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/error.hpp>
#include <hornbill/io/model.hpp>

namespace hornbill::cli {
namespace {

constexpr std::string_view header = "# session of hornbill rank\n";

/// A name as it comes back from JSON, which holds UTF-8 alone.
std::string as_stored(std::string const& name) {
  return nlohmann::json::parse(nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string to_line(Round const& round, HostFactorGraph const& graph) {
  nlohmann::json const json{{"name", as_stored(graph.name_of(round.variable))},
                            {"confidence", round.confidence},
                            {"inversions", round.inversions},
                            {"unconverged", round.unconverged},
                            {"seconds", round.seconds},
                            {"iterations", round.iterations}};
  using analysis::Label;
  if (round.label == Label::unknown) return fmt::format("# unknown {} {}", round.variable, json.dump());
  return fmt::format("{} {} # {}", round.variable, round.label == Label::yes ? "true" : "false", json.dump());
}

/// \throws InputError unless the variable is called so
void require_name(std::string const& file, int number, HostFactorGraph const& graph, Index variable,
                  std::string const& name) {
  if (variable < 0 || variable >= graph.num_variables || as_stored(graph.name_of(variable)) != name)
    throw InputError(file, fmt::format("line {}", number),
                     fmt::format("variable {} is {} there, which it is not in this model: the session is of another",
                                 variable, name));
}

std::string text_of(std::string const& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw InputError(file, "", "cannot be read");
  return text;
}

}  // namespace

Session::Session(std::string file, HostFactorGraph const& graph) : file_(std::move(file)), graph_(graph) {
  if (file_.empty()) return;
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw InputError(file_, "", fmt::format("cannot be opened for the session: {}", std::strerror(errno)));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) throw InputError(file_, "", "is in use by another session");
  read();
}

Session::~Session() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<HostEvidence> Session::read_evidence(std::string const& file, HostFactorGraph const& graph) {
  auto const text = text_of(file);
  if (!text.starts_with(header.substr(0, header.size() - 1))) return {};
  auto evidence = io::read_evidence_text(file, graph);
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    Index variable = -1;
    if (std::sscanf(line.c_str(), "# contradicts %d", &variable) == 1)
      std::erase_if(evidence, [=](Observation const& o) { return o.variable == variable; });
    auto const brace = line.find('{');
    if (brace == std::string::npos || std::sscanf(line.c_str(), "%d", &variable) != 1) continue;
    auto const json = nlohmann::json::parse(line.substr(brace), nullptr, false);
    if (json.is_object() && json.contains("name") && json["name"].is_string())
      require_name(file, number, graph, variable, json["name"]);
  }
  return evidence;
}

void Session::read() {
  auto const text = text_of(file_);
  if (!text.starts_with(header) && !header.starts_with(text))
    throw InputError(file_, "", "is there, and no session of `hornbill rank`: give another name");
  std::size_t kept = 0;
  int number = 0;
  for (std::size_t end; (end = text.find('\n', kept)) != std::string::npos; kept = end + 1)
    parse(text.substr(kept, end - kept), ++number);
  if (::ftruncate(descriptor_, static_cast<off_t>(kept)) != 0 || ::lseek(descriptor_, 0, SEEK_END) < 0)
    throw InputError(file_, "", "cannot be written");
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

void Session::parse(std::string const& line, int number) {
  auto const fail = [&](std::string const& message) {
    throw InputError(file_, fmt::format("line {}", number), message);
  };
  if (line.empty() || line + "\n" == header) return;
  Index variable = -1;
  if (std::sscanf(line.c_str(), "# contradicts %d", &variable) == 1) {
    auto const round =
        std::find_if(rounds_.begin(), rounds_.end(), [=](Round const& r) { return r.variable == variable; });
    if (round == rounds_.end()) fail(fmt::format("there is no label of variable {} before it", variable));
    round->contradicts = true;
    return;
  }
  char word[16] = {};
  bool const is_unknown = std::sscanf(line.c_str(), "# unknown %d", &variable) == 1;
  bool const is_label = !is_unknown && std::sscanf(line.c_str(), "%d %15s", &variable, word) == 2 &&
                        (!std::strcmp(word, "true") || !std::strcmp(word, "false"));
  if (!is_unknown && !is_label) fail("is no line of a session of `hornbill rank`");
  Round round;
  round.variable = variable;
  round.label = is_unknown ? analysis::Label::unknown : word[0] == 't' ? analysis::Label::yes : analysis::Label::no;
  try {
    auto const brace = line.find('{');
    auto const json = nlohmann::json::parse(brace == std::string::npos ? std::string() : line.substr(brace));
    require_name(file_, number, graph_, variable, json.at("name"));
    round.confidence = json.at("confidence");
    round.inversions = json.at("inversions");
    round.unconverged = json.at("unconverged");
    round.seconds = json.at("seconds");
    round.iterations = json.at("iterations");
  } catch (nlohmann::json::exception const&) {
    fail("is no line of a session of `hornbill rank`");
  }
  if (std::any_of(rounds_.begin(), rounds_.end(), [=](Round const& r) { return r.variable == variable; }))
    fail(fmt::format("{} was labelled before", graph_.name_of(variable)));
  rounds_.push_back(round);
}

void Session::append(Round const& round) {
  rounds_.push_back(round);
  write(to_line(round, graph_));
}

void Session::mark_contradiction(Index variable) {
  for (auto& round : rounds_)
    if (round.variable == variable) round.contradicts = true;
  write(fmt::format("# contradicts {}", variable));
}

void Session::write(std::string const& line) {
  if (descriptor_ < 0) return;
  std::string const text = line + "\n";
  bool const written =
      ::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(descriptor_) == 0;
  if (!written)
    throw InputError(
        file_, "", "cannot be written: is the disk full? What was said before is in it; go on with the same --session");
}

}  // namespace hornbill::cli
