// Facts from files.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include <hornbill/datalog/ground.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>

namespace hornbill::datalog {
namespace {

Value number_of(std::string_view text) {
  Value number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(fmt::format("'{}' is not a number of 32 bits with a sign", text));
  return number;
}

}  // namespace

void read_facts(Program& program, std::string const& folder, Database& database) {
  for (std::size_t r = 0; r < program.relations.size(); ++r) {
    auto const& relation = program.relations[r];
    if (!relation.is_input) continue;
    auto const file = (std::filesystem::path(folder) / relation.input_file).string();
    std::vector<Value> values;
    io::for_each_line(file, io::read_text(file), [&](std::string_view line, int) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!io::is_utf8(line)) throw InputError("is not UTF-8");
      values.clear();
      if (relation.arity() == 0 && !line.empty() && line != "()")
        throw InputError(
            fmt::format("'{}' stands where the empty tuple of relation {} is expected: ()", line, relation.name));
      for (std::size_t at = 0; at <= line.size() && relation.arity() > 0;) {
        auto const end = std::min(line.find(relation.delimiter, at), line.size());
        auto const text = line.substr(at, end - at);
        if (values.size() == relation.arity())
          throw InputError(
              fmt::format("has more than {} columns, as relation {} is declared", relation.arity(), relation.name));
        bool const is_number = relation.attributes[values.size()].type == Type::number;
        values.push_back(is_number ? number_of(text) : program.symbols.number_of(text));
        at = end == line.size() ? line.size() + 1 : end + relation.delimiter.size();
      }
      if (values.size() != relation.arity())
        throw InputError(fmt::format("has {} columns; {} are needed, as relation {} is declared", values.size(),
                                     relation.arity(), relation.name));
      database.add(static_cast<Index>(r), values);
    });
  }
}

}  // namespace hornbill::datalog
