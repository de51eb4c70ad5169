#include <charconv>
#include <sstream>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/elim/order.hpp>
#include <hornbill/error.hpp>

#include "../io/token_reader.hpp"

namespace hornbill::elim {
namespace {

class OrderReader {
 public:
  OrderReader(std::string const& file, std::span<std::string const> variable_names, Index num_variables)
      : file_(file), num_variables_(num_variables), line_of_(static_cast<std::size_t>(num_variables)) {
    for (std::size_t v = 0; v < variable_names.size(); ++v)
      if (!variable_names[v].empty()) of_name_.emplace(variable_names[v], static_cast<Index>(v));
  }

  std::vector<Index> read() {
    std::istringstream lines(io::read_text(file_));
    for (std::string line; std::getline(lines, line);) {
      ++line_;
      auto const first = line.find_first_not_of(" \t\r"), last = line.find_last_not_of(" \t\r");
      if (first == std::string::npos) continue;
      line = line.substr(first, last + 1 - first);
      // a name may hold blanks
      if (auto const named = of_name_.find(line); named != of_name_.end())
        append(named->second, line);
      else
        read_words(line);
    }
    return std::move(order_);
  }

 private:
  void read_words(std::string const& line) {
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (auto const named = of_name_.find(word); named != of_name_.end()) {
        append(named->second, word);
        continue;
      }
      if (word.front() == '#') return;
      Index v = -1;
      auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), v);
      if (error != std::errc{} || end != word.data() + word.size() || v < 0 || v >= num_variables_)
        fail(fmt::format("'{}' is no variable of the model, neither by name nor by number", word));
      append(v, word);
    }
  }

  void append(Index v, std::string const& text) {
    if (line_of_[v] > 0) fail(fmt::format("variable {} is there a second time, after line {}", text, line_of_[v]));
    line_of_[v] = line_;
    order_.push_back(v);
  }

  [[noreturn]] void fail(std::string const& message) const {
    throw InputError(file_, fmt::format("line {}", line_), message);
  }

  std::string file_;
  Index num_variables_;
  std::unordered_map<std::string, Index> of_name_;
  std::vector<int> line_of_;  // of each variable; 0 where it was not there yet
  std::vector<Index> order_;
  int line_ = 0;
};

}  // namespace

std::vector<Index> read_order(std::string const& file, std::span<std::string const> variable_names,
                              Index num_variables) {
  return OrderReader(file, variable_names, num_variables).read();
}

}  // namespace hornbill::elim
