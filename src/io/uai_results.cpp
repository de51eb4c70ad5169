// Results as solvers of the UAI competitions write them.
#include <cmath>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/uai.hpp>

#include "token_reader.hpp"

namespace hornbill::io {
namespace {

struct Token {
  std::string_view text;
  int line;
};

/// Takes numbers off a solution, one by one.
class Solution {
 public:
  Solution(TokenReader const& in, std::span<Token const> tokens) : in_(in), rest_(tokens) {}

  bool is_empty() const { return rest_.empty(); }
  template <class Number>
  Number number(char const* what) {
    if (rest_.empty()) in_.fail(fmt::format("the solution ends where {} is needed: it is truncated", what));
    auto const token = rest_.front();
    rest_ = rest_.subspan(1);
    line_ = token.line;
    auto const parsed = parse_number<Number>(token.text);
    // a probability may well be less than the least number
    if (parsed.state != Parsed<Number>::State::good && parsed.state != Parsed<Number>::State::too_small)
      fail(complaint(token.text, what, parsed));
    return parsed.value;
  }
  std::int64_t count(char const* what, std::int64_t low, std::int64_t high) {
    auto const value = number<std::int64_t>(what);
    if (value < low || value > high) fail(fmt::format("{} is {}; {} to {} are possible", what, value, low, high));
    return value;
  }
  [[noreturn]] void fail(std::string const& message) const { in_.fail_at(line_, message); }

 private:
  TokenReader const& in_;
  std::span<Token const> rest_;
  int line_ = 1;
};

/// The last solution of a file, of which parse(Solution&) takes one.
template <class Parse>
auto read_last(std::string const& file, std::string_view keyword, Parse const& parse) {
  TokenReader in(file);
  if (auto const word = in.require(keyword); word != keyword)
    in.fail(fmt::format("begins with '{}'; a file of this kind begins with {}", word, keyword));
  std::vector<Token> tokens;
  while (auto const text = in.next()) {
    if (*text != "-BEGIN-")
      tokens.push_back({*text, in.line()});
    else
      tokens.clear();
  }
  if (tokens.empty()) in.fail("ends without a solution");
  using Result = decltype(parse(std::declval<Solution&>()));
  auto const last_of = [&](bool is_one, bool has_samples) {
    Solution solution(in, tokens);
    std::optional<Result> result;
    do {
      if (has_samples) solution.count("the number of samples", 1, 1);
      result = parse(solution);
    } while (!is_one && !solution.is_empty());
    if (!solution.is_empty()) solution.fail("more follows than one solution");
    return *result;
  };
  // One number more or less may be all that tells these apart, so the simplest that fits is taken.
  for (auto const& [is_one, has_samples] : {std::pair{true, false}, {true, true}, {false, false}, {false, true}}) try {
      return last_of(is_one, has_samples);
    } catch (InputError const&) {
    }
  return last_of(false, false);  // whose error tells most
}

}  // namespace

std::vector<std::vector<double>> read_uai_marginals(std::string const& file) {
  constexpr double rounded = 1e-6;  // printed digits
  return read_last(file, "MAR", [](Solution& in) {
    std::vector<std::vector<double>> marginals;
    for (auto left = in.count("the number of variables", 0, largest_variable_id()); left > 0; --left) {
      auto& of_variable = marginals.emplace_back();
      for (auto states = in.count("a number of states", 1, 1 << 20); states > 0; --states) {
        double const p = of_variable.emplace_back(in.number<double>("a probability"));
        if (!(std::isgreaterequal(p, 0) && std::islessequal(p, 1 + rounded)))
          in.fail(fmt::format("{} is not a probability", p));
      }
    }
    return marginals;
  });
}

void write_uai_marginals(std::vector<std::vector<double>> const& marginals, std::string const& file) {
  fmt::memory_buffer text;
  fmt::format_to(std::back_inserter(text), "MAR\n{}", marginals.size());
  for (auto const& of_variable : marginals)
    fmt::format_to(std::back_inserter(text), " {} {:.17g}", of_variable.size(), fmt::join(of_variable, " "));
  text.push_back('\n');
  write_atomically(file, {text.data(), text.size()});
}

double read_uai_log10_z(std::string const& file) {
  return read_last(file, "PR", [](Solution& in) {
    auto const log10_z = in.number<double>("a number");
    if (std::isnan(log10_z)) in.fail("the logarithm is not a number");
    return log10_z;
  });
}

std::vector<Index> read_uai_assignment(std::string const& file) {
  return read_last(file, "MPE", [](Solution& in) {
    std::vector<Index> assignment;
    for (auto left = in.count("the number of variables", 0, largest_variable_id()); left > 0; --left)
      assignment.push_back(static_cast<Index>(in.count("a value", 0, 1 << 20)));
    return assignment;
  });
}

}  // namespace hornbill::io
