// Points-to constraints as text: `id,src,dst,type,offset`, and the files beside.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>

#include "memory.hpp"
#include "number.hpp"
#include "token_reader.hpp"

namespace hornbill::io {
namespace {

using points_to::Constraint, points_to::ConstraintKind, points_to::ConstraintSystem;

constexpr std::string_view constraints_ending = ".cons.txt";
constexpr std::size_t max_columns = 7;

bool exists(std::string const& file) {
  std::error_code ignored;
  return !file.empty() && std::filesystem::exists(file, ignored);
}

/// The whole numbers of a line, separated by commas.
class Columns {
 public:
  explicit Columns(std::string_view line) {
    for (bool is_last = false; !is_last;) {
      auto const comma = line.find(',');
      is_last = comma == std::string_view::npos;
      if (size_ == max_columns) throw InputError(fmt::format("has more than {} numbers", max_columns));
      values_[size_++] = require_number<Index>(trimmed(line.substr(0, comma)), "a whole number of 32 bits");
      if (!is_last) line.remove_prefix(comma + 1);
    }
  }
  std::size_t size() const { return size_; }
  Index operator[](std::size_t i) const { return values_[i]; }
  /// \throws InputError if there are more or fewer numbers
  Columns const& require(std::size_t size, std::string_view names) const {
    if (size_ != size) throw InputError(fmt::format("has {} numbers; {} are needed: {}", size_, size, names));
    return *this;
  }

 private:
  std::array<Index, max_columns> values_{};
  std::size_t size_ = 0;
};

/// A text, and the file that errors name.
struct NamedText {
  std::string const& file;
  std::string const& text;
};

/// Calls a function with each line of a text that is neither blank nor a comment, trimmed. Errors get the place.
template <class Function>
void for_each_entry(NamedText const& source, Function const& function) {
  auto const& [file, text] = source;
  for_each_line(file, text, [&](std::string_view line, int) {
    line = trimmed(line);
    if (!line.empty() && line.front() != '#') function(line);
  });
}

[[noreturn]] void fail_truncated(std::string const& file, std::string const& what) {
  throw InputError(file, "", what + ": it is truncated, or its header is wrong");
}

// --- objects ---

/// -1 where there is no function.
Index last_field_of_functions(ConstraintSystem const& system) {
  Index last = -1;
  for (Index o = 0; o < system.num_objects(); ++o)
    if (system.is_function[o]) last = o + std::max<Index>(system.object_sizes[o], 1) - 1;
  return last;
}

/// Number of variables, last object, last field of a function; then `id,size,isFunction` of each object, perhaps with
/// a period, whether it is the outside, and bytes to the object's end.
class ObjectReader {
 public:
  explicit ObjectReader(ConstraintSystem& system) : system_(system) {}

  void read(NamedText const& source) {
    for_each_entry(source, [&](std::string_view line) {
      if (num_headers_ < headers_.size())
        read_header(line);
      else
        read_object(Columns(line));
    });
    if (num_headers_ < headers_.size())
      fail_truncated(source.file, fmt::format("has {} of the three numbers of its header", num_headers_));
    if (system_.num_objects() != headers_[1] + 1)
      fail_truncated(source.file, fmt::format("describes {} objects of {}", system_.num_objects(), headers_[1] + 1));
    points_to::drop_idle_columns(system_);
  }

  /// Checks where functions end, of objects that are sound. Where there is none the header may say 0, too.
  void check_functions(std::string const& file) const {
    auto const last = last_field_of_functions(system_);
    if (headers_[2] != last && (last >= 0 || headers_[2] > 0))
      throw InputError(
          file, "",
          fmt::format("the third number of its header says that functions end with {}, but {}", headers_[2],
                      last < 0 ? "it describes none" : fmt::format("the last one ends with {}", last)));
  }

 private:
  void read_header(std::string_view line) {
    static constexpr std::array names{"the number of variables", "the last object", "the last field of a function"};
    headers_[num_headers_] = Columns(line).require(1, names[num_headers_])[0];
    auto const limit = num_headers_ == 0 ? largest_variable_id() + 1 : std::int64_t{headers_[0]} - 1;
    auto const least = num_headers_ == 0 ? 0 : -1;
    if (headers_[num_headers_] < least || headers_[num_headers_] > limit)
      throw InputError(
          fmt::format("{} is {}; {} to {} are possible", names[num_headers_], headers_[num_headers_], least, limit));
    if (++num_headers_ == headers_.size()) {
      system_.num_variables = headers_[0];
      system_.object_sizes.reserve(headers_[1] + 1);
      system_.is_function.reserve(headers_[1] + 1);
    }
  }
  void read_object(Columns const& object) {
    auto const next = system_.num_objects();
    if (next == 0) num_columns_ = std::clamp<std::size_t>(object.size(), 3, 6);
    object.require(num_columns_, column_names[num_columns_ - 3]);
    if (next > headers_[1])
      throw InputError(
          fmt::format("describes object {}, but the header says that {} is the last", object[0], headers_[1]));
    if (object[0] != next) throw InputError(fmt::format("describes object {} where {} is next", object[0], next));
    if (object[2] != 0 && object[2] != 1)
      throw InputError(fmt::format("isFunction is {}; 0 or 1 is needed", object[2]));
    if (object[2] == 1 && next > headers_[2])
      throw InputError(fmt::format("is a function, but the header says that functions end with {}", headers_[2]));
    system_.object_sizes.push_back(object[1]);
    system_.is_function.push_back(static_cast<std::uint8_t>(object[2]));
    if (num_columns_ > 3) system_.object_periods.push_back(object[3]);
    if (num_columns_ > 4) read_outside(object);
    if (num_columns_ > 5) system_.bytes_to_end.push_back(object[5]);
  }
  void read_outside(Columns const& object) {
    if (object[4] != 0 && object[4] != 1) throw InputError(fmt::format("isOutside is {}; 0 or 1 is needed", object[4]));
    if (object[4] == 0) return;
    if (system_.outside >= 0)
      throw InputError(fmt::format("is outside, as object {} is; there is one such object", system_.outside));
    system_.outside = object[0];
  }

  ConstraintSystem& system_;
  static constexpr std::string_view column_names[] = {"id,size,isFunction", "id,size,isFunction,period",
                                                      "id,size,isFunction,period,isOutside",
                                                      "id,size,isFunction,period,isOutside,bytesToEnd"};
  std::array<Index, 3> headers_{};
  std::size_t num_headers_ = 0;
  std::size_t num_columns_ = 3;  // of all objects
};

// --- constraints ---

/// `id,src,dst,type,offset`, behind a header of either form.
class ConstraintReader {
 public:
  /// \param adds  to a system that has constraints already, perhaps with more variables
  ConstraintReader(NamedText const& source, ConstraintSystem& system, bool adds)
      : source_(source), system_(system), adds_(adds), first_(system.num_constraints()) {}

  void read() {
    for_each_entry(source_, [&](std::string_view line) {
      Columns const columns(line);
      if (!has_header_)
        read_header(columns);
      else
        read_constraint(columns.require(5, "id,src,dst,type,offset"));
    });
    if (!has_header_) fail_truncated(source_.file, "has no header");
    check_counts();
  }

 private:
  /// Of one line: nAddressOf,nCopy,nLoad,nStore,nGep, and where they are counted, nAnyOffset, nFunctionOffset. Of two
  /// lines: numbers of variables and of constraints.
  void read_header(Columns const& columns) {
    if (columns.size() != 1) {
      if (num_variables_)
        throw InputError(fmt::format(
            "the second line of the header has {} numbers; 1 is needed: the number of constraints", columns.size()));
      if (columns.size() < 5)
        throw InputError(
            fmt::format("the header has {} numbers; 5 are needed: nAddressOf,nCopy,nLoad,nStore,nGep, or two lines: "
                        "the number of variables, and that of constraints",
                        columns.size()));
      for (std::size_t k = 0; k < columns.size(); ++k) counts_[k] = require_count(columns[k]);
      num_counts_ = columns.size();
      has_header_ = true;
    } else if (!num_variables_) {
      num_variables_ = require_count(columns[0]);
      if (adds_ && *num_variables_ > system_.num_variables && *num_variables_ <= largest_variable_id() + 1)
        add_variables();
      if (*num_variables_ != system_.num_variables)
        throw InputError(
            adds_
                ? fmt::format("the header says {} variables; there are {}, and up to {} with further ones are possible",
                              *num_variables_, system_.num_variables, largest_variable_id() + 1)
                : fmt::format("the header says {} variables; there are {}, as the file of objects says",
                              *num_variables_, system_.num_variables));
    } else {
      num_constraints_ = require_count(columns[0]);
      has_header_ = true;
    }
  }
  void add_variables() {
    system_.num_variables = *num_variables_;
    if (!system_.variable_names.empty()) system_.variable_names.resize(system_.num_variables);
  }
  Offset num_read() const { return system_.num_constraints() - first_; }
  static Index require_count(Index count) {
    if (count < 0) throw InputError(fmt::format("the header has the count {}; 0 or more is needed", count));
    return count;
  }

  void read_constraint(Columns const& columns) {
    if (columns[0] != num_read())
      throw InputError(fmt::format("constraint {} where {} is next", columns[0], num_read()));
    if (columns[3] < 0 || columns[3] >= static_cast<Index>(points_to::num_constraint_kinds))
      throw InputError(fmt::format(
          "kind {} is unknown; known are 0 (address-of), 1 (copy), 2 (load), 3 (store), 4 (offset), 5 (any-offset) and "
          "6 (function-offset)",
          columns[3]));
    Constraint const constraint{static_cast<ConstraintKind>(columns[3]), columns[1], columns[2], columns[4]};
    if (auto const complaint = points_to::complaint_about(constraint, system_)) throw InputError(*complaint);
    system_.constraints.push_back(constraint);
    ++found_[static_cast<std::size_t>(columns[3])];
  }

  /// Kinds that a header does not count are counted with offsets.
  void check_counts() {
    if (num_constraints_) {
      if (*num_constraints_ != num_read())
        fail_truncated(source_.file,
                       fmt::format("has {} constraints; its header says {}", num_read(), *num_constraints_));
      return;
    }
    auto found = found_;
    for (auto k = num_counts_; k < found.size(); ++k) found[4] += std::exchange(found[k], 0);
    for (std::size_t k = 0; k < found.size(); ++k)
      if (found[k] != counts_[k])
        fail_truncated(source_.file, fmt::format("has {} constraints of kind {} ({}); its header says {}", found[k], k,
                                                 points_to::name_of(static_cast<ConstraintKind>(k)), counts_[k]));
  }

  NamedText source_;
  ConstraintSystem& system_;
  bool adds_;
  Offset first_;  // of the constraints that are read
  bool has_header_ = false;
  std::size_t num_counts_ = 0;
  std::optional<Index> num_variables_, num_constraints_;
  std::array<std::int64_t, points_to::num_constraint_kinds> counts_{}, found_{};
};

// --- names and places ---

/// Lines of an id, a tab and a text, which may be quoted.
template <class Function>
void for_each_label(NamedText const& source, Index num_ids, std::string_view what, Function const& function) {
  std::vector<bool> is_known(num_ids);
  for_each_entry(source, [&](std::string_view line) {
    auto const tab = line.find('\t');
    auto const id = require_number<Index>(trimmed(line.substr(0, tab)), fmt::format("the number of a {}", what));
    if (id < 0 || id >= num_ids)
      throw InputError(fmt::format("{} {} is unknown: there are 0 to {}", what, id, num_ids - 1));
    if (is_known[id]) throw InputError(fmt::format("{} {} is there a second time", what, id));
    is_known[id] = true;
    auto const word = word_of_line(tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1));
    if (!word)
      throw InputError(fmt::format(
          "nothing follows {} {}; a tab and a text are needed, in double quotes if it begins with #", what, id));
    function(id, word->text);
  });
}

/// Numbers places as they come.
class Places {
 public:
  explicit Places(std::vector<std::string>& places) : places_(places) {}
  Index operator()(std::string const& place) {
    auto const [at, is_new] = known_.try_emplace(place, static_cast<Index>(places_.size()));
    if (is_new) places_.push_back(place);
    return at->second;
  }

 private:
  std::vector<std::string>& places_;
  std::unordered_map<std::string, Index> known_;
};

void read_names(NamedText const& source, ConstraintSystem& system) {
  for_each_label(source, system.num_variables, "variable", [&](Index v, std::string const& name) {
    if (name.empty())
      throw InputError(fmt::format("the name of variable {} is empty; leave the line out if it has none", v));
    system.variable_names.resize(system.num_variables);
    system.variable_names[v] = name;
  });
}

void read_places(NamedText const& source, ConstraintSystem& system, Places& places) {
  for_each_label(source, static_cast<Index>(system.num_constraints()), "constraint",
                 [&](Index c, std::string const& place) {
                   system.place_of_constraint.resize(system.constraints.size(), -1);
                   system.place_of_constraint[c] = places(place);
                 });
}

/// A pointer a line, or a pointer, a tab and a place.
void read_calls(NamedText const& source, ConstraintSystem& system, Places& places) {
  for_each_entry(source, [&](std::string_view line) {
    auto const tab = line.find('\t');
    auto const pointer = require_number<Index>(trimmed(line.substr(0, tab)), "the number of a variable");
    if (pointer < 0 || pointer >= system.num_variables)
      throw InputError(fmt::format("variable {} is unknown: there are 0 to {}", pointer, system.num_variables - 1));
    auto const word = word_of_line(tab == std::string_view::npos ? std::string_view() : line.substr(tab + 1));
    system.calls.push_back({pointer, word ? places(word->text) : -1});
  });
}

// --- writing ---

std::string objects_text(ConstraintSystem const& system) {
  bool const have_bytes = !system.bytes_to_end.empty(), is_outside_known = have_bytes || system.outside >= 0,
             have_periods = is_outside_known || !system.object_periods.empty();
  auto text = fmt::format(
      "# number of variables; last object; last field of a function; id,size,isFunction{}{}{}\n{}\n{}\n{}\n",
      have_periods ? ",period" : "", is_outside_known ? ",isOutside" : "", have_bytes ? ",bytesToEnd" : "",
      system.num_variables, system.num_objects() - 1, last_field_of_functions(system));
  for (Index o = 0; o < system.num_objects(); ++o) {
    fmt::format_to(std::back_inserter(text), "{},{},{}", o, system.object_sizes[o], system.is_function[o]);
    if (have_periods) fmt::format_to(std::back_inserter(text), ",{}", system.period_of(o));
    if (is_outside_known) fmt::format_to(std::back_inserter(text), ",{}", o == system.outside ? 1 : 0);
    if (have_bytes) fmt::format_to(std::back_inserter(text), ",{}", system.bytes_to_end[o]);
    text += '\n';
  }
  return text;
}

std::string calls_text(ConstraintSystem const& system) {
  std::string text = "# pointer, tab, place\n";
  for (auto const& [pointer, place] : system.calls)
    text += place < 0 ? fmt::format("{}\n", pointer) : fmt::format("{}\t{}\n", pointer, as_line(system.places[place]));
  return text;
}

bool has_fields(ConstraintSystem const& system) {
  return std::ranges::any_of(system.object_sizes, [](Index size) { return size > 1; }) ||
         std::ranges::any_of(system.constraints, [](Constraint const& c) { return c.kind >= ConstraintKind::offset; });
}

std::string constraints_text(ConstraintSystem const& system) {
  std::array<Offset, points_to::num_constraint_kinds> counts{};
  for (auto const& c : system.constraints) ++counts[static_cast<std::size_t>(c.kind)];
  std::string text;
  if (!has_fields(system)) {
    text = fmt::format("{}\n{}\n", system.num_variables, system.num_constraints());
  } else {
    std::size_t const num_counts = counts[6] > 0 ? 7 : counts[5] > 0 ? 6 : 5;
    text = fmt::format("# nAddressOf,nCopy,nLoad,nStore,nGep{}{}; id,src,dst,type,offset\n{}\n",
                       num_counts > 5 ? ",nAnyOffset" : "", num_counts > 6 ? ",nFunctionOffset" : "",
                       fmt::join(std::span(counts).first(num_counts), ","));
  }
  for (std::size_t i = 0; i < system.constraints.size(); ++i) {
    auto const& c = system.constraints[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{}\n", i, c.source, c.destination, static_cast<int>(c.kind),
                   c.offset);
  }
  return text;
}

/// Lines of a number, a tab and a text; of those that have a text.
template <class Labels, class TextOf>
std::string labels_text(Labels const& labels, TextOf const& text_of) {
  std::string text = "# number, tab, text\n";
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (auto const* label = text_of(labels[i]))
      fmt::format_to(std::back_inserter(text), "{}\t{}\n", i, as_line(*label));
  return text;
}

std::optional<std::string> text_if_there(std::string const& file) {
  if (!exists(file)) return {};
  return read_text(file);
}

}  // namespace

bool is_constraint_text(std::string const& file) { return file.ends_with(constraints_ending); }

ConstraintFiles constraint_files(std::string const& file) {
  if (!is_constraint_text(file))
    throw InputError(
        file, "", fmt::format("is not named NAME{}, so that the files beside it cannot be found", constraints_ending));
  auto const name = file.substr(0, file.size() - constraints_ending.size());
  return {file, name + ".nodes.txt", name + ".objnames.txt", name + ".places.txt", name + ".calls.txt"};
}

ConstraintSystem parse_constraints(ConstraintTexts const& texts, ConstraintFiles const& files) {
  ConstraintSystem system;
  ObjectReader objects(system);
  objects.read({files.objects, texts.objects});
  points_to::validate(system, files.objects);
  objects.check_functions(files.objects);
  ConstraintReader({files.constraints, texts.constraints}, system, false).read();
  Places places(system.places);
  if (texts.names) read_names({files.names, *texts.names}, system);
  if (texts.places) read_places({files.places, *texts.places}, system, places);
  if (texts.calls) read_calls({files.calls, *texts.calls}, system, places);
  return system;
}

ConstraintTexts to_texts(ConstraintSystem const& system) {
  ConstraintTexts texts{constraints_text(system), objects_text(system), {}, {}, {}};
  if (!system.variable_names.empty())
    texts.names =
        labels_text(system.variable_names, [](std::string const& name) { return name.empty() ? nullptr : &name; });
  if (!system.place_of_constraint.empty())
    texts.places = labels_text(system.place_of_constraint,
                               [&](Index place) { return place < 0 ? nullptr : &system.places[place]; });
  if (!system.calls.empty()) texts.calls = calls_text(system);
  return texts;
}

ConstraintSystem read_constraint_text(ConstraintFiles const& files) {
  if (!exists(files.constraints)) throw InputError(files.constraints, "", "no such file");
  if (!exists(files.objects))
    throw InputError(
        files.objects, "",
        fmt::format("no such file; it says the number of variables and the objects of {}", files.constraints));
  return parse_constraints({read_text(files.constraints), read_text(files.objects), text_if_there(files.names),
                            text_if_there(files.places), text_if_there(files.calls)},
                           files);
}

void read_more_constraints(std::string const& file, ConstraintSystem& system) {
  if (is_hdf5(file))
    throw InputError(file, "",
                     "is HDF5 by its ending; constraints are added from text, which `hornbill convert` writes");
  auto const text = read_text(file);
  ConstraintReader({file, text}, system, true).read();
  if (!system.place_of_constraint.empty()) system.place_of_constraint.resize(system.constraints.size(), -1);
}

void write_constraint_text(ConstraintSystem const& system, ConstraintFiles const& files) {
  auto const texts = to_texts(system);
  std::vector<FileContents> contents;
  // One that is there already is not of these constraints: it gets what there is, if only a comment.
  auto const add_if_needed = [&](std::string const& file, std::optional<std::string> const& text) {
    if (text || exists(file)) contents.push_back({file, text.value_or("# none\n")});
  };
  add_if_needed(files.names, texts.names);
  add_if_needed(files.places, texts.places);
  add_if_needed(files.calls, texts.calls);
  contents.push_back({files.objects, texts.objects});
  contents.push_back({files.constraints, texts.constraints});
  write_together(contents);
}

}  // namespace hornbill::io
