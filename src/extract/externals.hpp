// What functions outside a program do with pointers: a table that users can extend. Internal to src/extract.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hornbill::extract {

/// Where a value comes from, or goes to.
struct ExternalValue {
  enum class Kind {
    passed,        ///< `2`
    within,        ///< `2+?`: any place of the object that an argument points to
    content,       ///< `*2`: what is stored there
    fresh,         ///< `new`, `new(0)`, `new(0*1)`: an object for each call, of the size in bytes that arguments say
    fixed,         ///< `static`: one object for all calls
    from_outside,  ///< `outside`
    null           ///< `null`: it may fail
  } kind = Kind::passed;
  int argument = 0;
  std::vector<int> sizes{};  ///< of `fresh`: arguments whose product is the size; none where it is not known
};

/// One effect of a call.
struct ExternalEffect {
  enum class Kind {
    returns,  ///< `return = VALUE`
    stores,   ///< `*0 = VALUE`
    assigns,  ///< `set optarg = VALUE`: a variable of the library
    copies,  ///< `copy 0 1 2`: memory at argument 0 gets that at argument 1, as many bytes as argument 2 says; or `copy
             ///< 0 1`
    fills,   ///< `fill 0`: the last `new` before it gets what is at argument 0, place by place
    calls,   ///< `call 0(VALUE, ...)`
    escapes,  ///< `escape 0`
    frees,    ///< `free 0`: memory at argument 0 is no longer there
    uses,     ///< `use 0`: there must be memory at argument 0
    writes,   ///< `write 0`: memory at argument 0 gets other data, but no pointers
    taints,   ///< `taint return`, `taint *0`, `taint *0...`, `taint *0 1*2`: data from outside, there, at all arguments
              ///< from there on, or so many bytes
    flows,    ///< `flow return 0`, `flow *0 1`, `flow *0 1...`: data of arguments, or at them, goes there
    ends,     ///< `end 0`: the program ends, unless argument 0 is 0
    zeroes,   ///< `zero return`: new memory that it returns is zero
    sinks     ///< `sink 0`: data from outside must not be argument 0, or at it; `sink *0`: nor at pointers there
  } kind = Kind::returns;
  int argument = 0, source = 0, size = -1;  ///< of `copies`, of which size may be -1: not known
  std::vector<ExternalValue> values{};
  std::string variable{};    ///< of `assigns`
  std::vector<int> sizes{};  ///< of `taints`: arguments whose product is the size; none where it is not known
  bool is_open = false;      ///< `...`: also of all further arguments
  bool is_content = false;   ///< of `sinks`: also what is at pointers there

  /// The number of an argument that stands for what is returned.
  static constexpr int result = -1;

  /// Whether a value of such a kind is returned.
  bool returns_a(ExternalValue::Kind value_kind) const {
    return kind == Kind::returns && values.front().kind == value_kind;
  }
  /// Whether an argument, or a place in its object, is returned.
  bool returns_argument(unsigned number) const {
    return (returns_a(ExternalValue::Kind::passed) || returns_a(ExternalValue::Kind::within)) &&
           values.front().argument == static_cast<int>(number);
  }
  /// Whether what is stored at an argument is returned, as by strsep.
  bool returns_content(unsigned number) const {
    return returns_a(ExternalValue::Kind::content) && values.front().argument == static_cast<int>(number);
  }
};

/// What each function does, by its name; one without effects does nothing with pointers.
using Externals = std::map<std::string, std::vector<ExternalEffect>>;

/// Those of the C library.
Externals standard_externals();
/// Adds the lines `NAME: EFFECT; EFFECT` of a text, `NAME NAME: ...` of several functions; # begins a comment.
/// \throws InputError naming the file and the line
void read_externals(std::string const& file, std::string const& text, Externals& externals);

}  // namespace hornbill::extract
