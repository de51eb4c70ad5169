#include <string_view>

#include <fmt/format.h>

#include <hornbill/elim/order.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>

namespace hornbill::elim {
namespace {

class OrderReader {
 public:
  OrderReader(std::string const& file, std::span<std::string const> variable_names, Index num_variables)
      : file_(file), known_(variable_names, num_variables), line_of_(static_cast<std::size_t>(num_variables)) {}

  std::vector<Index> read() {
    io::for_each_line(file_, io::read_text(file_), [&](std::string_view line, int number) {
      line_ = number;
      read_line(line);
    });
    return std::move(order_);
  }

 private:
  void read_line(std::string_view line) {
    auto const words = io::words_of(line);
    if (words.empty()) return;
    if (!words.front().is_quoted)  // then all the line may be one name that holds blanks
      if (auto const whole = io::word_of_line(line); auto const v = known_.find(*whole)) return append(*v, *whole);
    for (auto const& word : words) {
      auto const v = known_.find(word);
      if (!v)
        throw InputError(fmt::format("'{}' is no variable of the model, neither by name nor by number", word.text));
      append(*v, word);
    }
  }

  void append(Index v, io::Word const& word) {
    if (line_of_[v] > 0)
      throw InputError(fmt::format("variable {} is there a second time, after line {}", word.text, line_of_[v]));
    line_of_[v] = line_;
    order_.push_back(v);
  }

  std::string file_;
  io::VariableNames known_;
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
