#include <hornbill/alarms/reports.hpp>

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>

namespace hornbill::alarms {

std::string Report::text() const {
  auto text = column > 0 ? fmt::format("{}:{}:{}", file, line, column) : fmt::format("{}:{}", file, line);
  if (!message.empty()) text += " " + message;
  if (!rule.empty()) text += fmt::format(" ({})", rule);
  for (auto& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text;
}

namespace {

std::optional<Index> positive_number(std::string_view text) {
  Index number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number <= 0) return {};
  return number;
}

// --- lines ---

/// The word up to a colon, which is taken off.
std::string_view take_word(std::string_view& text) {
  auto const end = std::min(text.find(':'), text.size());
  auto const word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

Report report_of_line(std::string_view line) {
  Report report;
  auto left = line;
  report.file = std::string(take_word(left));
  auto const number = positive_number(take_word(left));
  if (report.file.empty() || !number)
    throw InputError(fmt::format("'{}' is not a place such as file.c:12 or file.c:12:3: message", line));
  report.line = *number;
  auto rest = left;
  if (auto const column = positive_number(take_word(rest))) {
    report.column = *column;
    left = rest;
  }
  report.message = std::string(io::trimmed(left));
  return report;
}

Reports reports_of_lines(std::string const& file, std::string_view text) {
  Reports reports;
  io::for_each_line(file, text, [&](std::string_view line, int) {
    line = io::trimmed(line);
    if (!io::is_utf8(line)) throw InputError("is not UTF-8");
    if (line.starts_with("nofile:"))  // as cppcheck begins what it says of no place
      ++reports.without_place;
    else if (!line.empty() && line.front() != '#')
      reports.reports.push_back(report_of_line(line));
  });
  return reports;
}

// --- SARIF ---

using Json = nlohmann::json;

/// A member of an object, or of one in it, and so on; null where one is missing.
Json const& member(Json const& json, std::initializer_list<char const*> path) {
  static Json const none;
  auto const* at = &json;
  for (auto const* name : path) {
    if (!at->is_object()) return none;
    auto const found = at->find(name);
    if (found == at->end()) return none;
    at = &*found;
  }
  return *at;
}
Json const& first_of(Json const& json) {
  static Json const none;
  return json.is_array() && !json.empty() ? json.front() : none;
}
std::string text_of(Json const& json) { return json.is_string() ? json.get<std::string>() : std::string(); }
Index number_of(Json const& json) {
  if (!json.is_number_integer()) return 0;
  auto const number = json.get<std::int64_t>();
  return number > 0 && number <= std::numeric_limits<Index>::max() ? static_cast<Index>(number) : 0;
}

/// `%20` and the like as what they stand for; `file://` is left out.
std::string path_of(std::string uri) {
  if (uri.starts_with("file://")) uri.erase(0, std::min(uri.find('/', 7), uri.size()));
  std::string path;
  for (std::size_t i = 0; i < uri.size(); ++i) {
    unsigned byte = 0;
    auto const* const begin = uri.data() + i + 1;
    bool const is_code = uri[i] == '%' && i + 2 < uri.size() &&
                         std::from_chars(begin, begin + 2, byte, 16).ptr == begin + 2 && byte != 0;
    path += is_code ? static_cast<char>(byte) : uri[i];
    if (is_code) i += 2;
  }
  return path;
}

/// The name of a result's file, which may be listed elsewhere in the run.
std::string file_of(Json const& location, Json const& run) {
  auto const& artifact = member(location, {"physicalLocation", "artifactLocation"});
  if (auto uri = text_of(member(artifact, {"uri"})); !uri.empty()) return path_of(std::move(uri));
  auto const& index = member(artifact, {"index"});
  auto const& all = member(run, {"artifacts"});
  if (!index.is_number_unsigned() || !all.is_array() || index.get<std::uint64_t>() >= all.size()) return {};
  return path_of(text_of(member(all[index.get<std::size_t>()], {"location", "uri"})));
}

Report report_of(Json const& result, Json const& run) {
  auto const& location = first_of(member(result, {"locations"}));
  auto const& region = member(location, {"physicalLocation", "region"});
  auto rule = text_of(member(result, {"ruleId"}));
  if (rule.empty()) rule = text_of(member(result, {"rule", "id"}));
  return {file_of(location, run), number_of(member(region, {"startLine"})), number_of(member(region, {"startColumn"})),
          std::move(rule), text_of(member(result, {"message", "text"}))};
}

Reports reports_of_sarif(std::string const& file, std::string const& text) {
  if (!io::is_utf8(text)) throw InputError(file, "", "is not UTF-8");
  Json json;
  try {
    json = Json::parse(text);
  } catch (Json::exception const& e) {
    throw InputError(file, "", fmt::format("is not JSON: {}", e.what()));
  }
  auto const& runs = member(json, {"runs"});
  if (!runs.is_array()) throw InputError(file, "", "has no list `runs`, so it is not SARIF");
  Reports reports;
  for (auto const& run : runs) {
    auto const& results = member(run, {"results"});
    if (!results.is_array()) continue;
    for (auto const& result : results) {
      auto report = report_of(result, run);
      if (report.file.empty() || report.line == 0)
        ++reports.without_place;
      else
        reports.reports.push_back(std::move(report));
    }
  }
  if (reports.reports.empty() && reports.without_place > 0)
    throw InputError(file, "runs[].results[0]",
                     "has no place, nor has any other result; locations[0].physicalLocation needs an "
                     "artifactLocation.uri and a region.startLine");
  return reports;
}

}  // namespace

Reports read_reports(std::string const& file) {
  auto const text = io::read_text(file);
  bool const is_sarif = file.ends_with(".sarif") || file.ends_with(".json") || io::trimmed(text).starts_with('{');
  return is_sarif ? reports_of_sarif(file, text) : reports_of_lines(file, text);
}

bool may_be_same_file(std::string const& a, std::string const& b) {
  std::string_view longer = a, shorter = b;
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  while (shorter.starts_with("./")) shorter.remove_prefix(2);
  while (longer.starts_with("./")) longer.remove_prefix(2);
  if (longer.size() < shorter.size()) std::swap(longer, shorter);
  if (shorter.empty() || !longer.ends_with(shorter)) return false;
  return longer.size() == shorter.size() || shorter.front() == '/' || longer[longer.size() - shorter.size() - 1] == '/';
}

}  // namespace hornbill::alarms
