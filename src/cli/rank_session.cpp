#include "rank_session.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/error.hpp>

namespace hornbill::cli {
namespace {

constexpr char const* contradiction_mark = "# contradicts what was said before";

std::string to_line(Round const& round, HostFactorGraph const& graph) {
  nlohmann::json const json{{"name", graph.name_of(round.variable)}, {"confidence", round.confidence}, {"inversions", round.inversions}, {"unconverged", round.unconverged},
                            {"seconds", round.seconds}, {"iterations", round.iterations}};
  using analysis::Label;
  if (round.label == Label::unknown) return fmt::format("# unknown {} {}", round.variable, json.dump());
  return fmt::format("{} {} # {}", round.variable, round.label == Label::yes ? "true" : "false", json.dump());
}

}  // namespace

Session::Session(std::string file, HostFactorGraph const& graph) : file_(std::move(file)), graph_(graph) {
  if (file_.empty()) return;
  descriptor_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw InputError(file_, "", fmt::format("cannot be opened for the session: {}", std::strerror(errno)));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) throw InputError(file_, "", "is in use by another session");
  read();
}

Session::~Session() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Session::read() {
  std::ifstream in(file_, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw InputError(file_, "", "cannot be read");
  int number = 0;
  std::size_t at = 0;
  for (std::size_t end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) parse(text.substr(at, end - at), ++number);
  if (::ftruncate(descriptor_, static_cast<off_t>(at)) != 0 || ::lseek(descriptor_, 0, SEEK_END) < 0) throw InputError(file_, "", "cannot be written");
}

void Session::parse(std::string const& line, int number) {
  auto const fail = [&](std::string const& message) { throw InputError(file_, fmt::format("line {}", number), message); };
  if (line.empty()) return;
  if (line == contradiction_mark) {
    if (rounds_.empty()) fail("there is no label before it");
    rounds_.back().contradicts = true;
    return;
  }
  auto const brace = line.find('{');
  auto const json = nlohmann::json::parse(brace == std::string::npos ? std::string() : line.substr(brace), nullptr, false);
  Round round;
  char word[16] = {};
  bool const is_unknown = std::sscanf(line.c_str(), "# unknown %d", &round.variable) == 1;
  bool const is_label = !is_unknown && std::sscanf(line.c_str(), "%d %15s", &round.variable, word) == 2 && (!std::strcmp(word, "true") || !std::strcmp(word, "false"));
  if (json.is_discarded() || (!is_unknown && !is_label)) fail("is no line of a session of `hornbill rank`");
  round.label = is_unknown ? analysis::Label::unknown : word[0] == 't' ? analysis::Label::yes : analysis::Label::no;
  if (round.variable < 0 || round.variable >= graph_.num_variables || graph_.name_of(round.variable) != json.value("name", ""))
    fail(fmt::format("variable {} is {} there, which it is not in this model: the session is of another", round.variable, json.value("name", "without a name")));
  round.confidence = json.value("confidence", 0.0);
  round.inversions = json.value("inversions", std::int64_t{-1});
  round.unconverged = json.value("unconverged", 0.0);
  round.seconds = json.value("seconds", 0.0);
  round.iterations = json.value("iterations", 0);
  rounds_.push_back(round);
}

void Session::append(Round const& round) {
  rounds_.push_back(round);
  write(to_line(round, graph_));
}

void Session::mark_contradiction() {
  rounds_.back().contradicts = true;
  write(contradiction_mark);
}

void Session::write(std::string const& line) {
  if (descriptor_ < 0) return;
  std::string const text = line + "\n";
  bool const written = ::write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(descriptor_) == 0;
  if (!written) throw InputError(file_, "", "cannot be written: is the disk full? What was said before is in it; go on with the same --session");
}

}  // namespace hornbill::cli
