#include <charconv>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/elim/order.hpp>
#include <hornbill/error.hpp>

#include "../io/token_reader.hpp"

namespace hornbill::elim {

std::vector<Index> read_order(std::string const& file, std::span<std::string const> variable_names, Index num_variables) {
  std::unordered_map<std::string, Index> of_name;
  for (std::size_t v = 0; v < variable_names.size(); ++v)
    if (!variable_names[v].empty()) of_name.emplace(variable_names[v], static_cast<Index>(v));
  std::istringstream lines(io::read_text(file));
  std::vector<Index> order;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    auto const first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    line = line.substr(first, last + 1 - first);
    if (auto const named = of_name.find(line); named != of_name.end()) {  // a name may hold blanks
      order.push_back(named->second);
      continue;
    }
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      auto const named = of_name.find(word);
      Index v = named == of_name.end() ? -1 : named->second;
      if (v < 0) {
        auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), v);
        if (error != std::errc{} || end != word.data() + word.size() || v < 0 || v >= num_variables)
          throw InputError(file, fmt::format("line {}", number), fmt::format("'{}' is no variable of the model, neither by name nor by number", word));
      }
      order.push_back(v);
    }
  }
  return order;
}

}  // namespace hornbill::elim
