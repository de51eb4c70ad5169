/// \file
/// Points-to constraints of a program in LLVM bitcode (hornbill/extract/README.md).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <hornbill/points_to/constraints.hpp>
#include <hornbill/types.hpp>

namespace hornbill::extract {

/// Which integers may hold pointers.
enum class Integers {
  none,   ///< none: an address that becomes an integer goes outside, and an integer that becomes one comes from there
  casts,  ///< those as wide as a pointer; through arithmetic where they come from an address or become one
  all,    ///< all, through all arithmetic
};

/// What is called from outside.
enum class Entry {
  automatic,  ///< program where there is a `main`, or else library
  program,    ///< `main`
  library,    ///< all functions that other programs may call; they may change all variables that they see, too
};

struct Options {
  Entry entry = Entry::automatic;
  Integers integers = Integers::casts;
  /// Objects of more bytes are folded: a byte stands for those at multiples of this behind it.
  Index max_bytes = 3360;
  /// The same of objects whose size is not known, such as those that malloc(n) returns.
  Index unknown_bytes = 960;
  /// Whether small functions whose result says what became of pointers are put into their callers, for alarms. Then
  /// variables of such a function are those of its copies, too. And calls through variables that begin as `malloc`,
  /// `free` or the like are of these alone; blocks from there whose size is not constant share objects.
  bool are_choices_inlined = false;
  std::vector<std::string> externals;  ///< files that say what further functions outside do; a later one counts
};

/// Something that has no constraint, or not all that it would need.
struct Note {
  std::string what, place;  ///< of the program's source, or of a function where that is not known
};

struct Report {
  bool is_library = false;
  bool has_places = false;                                ///< whether debug information says where statements are
  std::map<std::string, std::int64_t> instructions;       ///< by their kind
  std::map<std::string, std::int64_t> unknown_externals;  ///< functions that no table has: how often each is called
  std::vector<Note> ignored, folded;                      ///< instructions; objects that are larger than a limit
};

struct Extracted {
  points_to::ConstraintSystem constraints;
  Report report;
};

/// A program that was read: its bitcode stays, so that more can be asked of it (hornbill/alarms).
class Program {
 public:
  /// Reads bitcode (.bc) or its text (.ll), links the files where there are several, and makes constraints: an object
  /// for each variable in memory, function, and place where memory is allocated; a field for each byte.
  /// \throws InputError naming the file, for what LLVM cannot read, verify or link, and for tables of externals
  explicit Program(std::vector<std::string> const& files, Options const& options = {});
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;
  ~Program();

  points_to::ConstraintSystem const& constraints() const { return constraints_; }
  Report const& report() const { return report_; }

  class Bitcode;  ///< of src/extract
  Bitcode const& bitcode() const { return *bitcode_; }

 private:
  friend Extracted extract(std::vector<std::string> const& files, Options const& options);

  points_to::ConstraintSystem constraints_;
  Report report_;
  std::unique_ptr<Bitcode> bitcode_;
};

/// Version of the LLVM that reads bitcode, e.g. "14.0.6": files of later ones are refused.
std::string llvm_version();

/// Constraints and a report alone.   \throws InputError as Program's constructor does
Extracted extract(std::vector<std::string> const& files, Options const& options = {});

}  // namespace hornbill::extract
