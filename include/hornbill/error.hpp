/// \file
/// What Hornbill throws. All errors derive from hornbill::Error; messages name the thing in the user's terms.
#pragma once

#include <cstddef>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

#include <hornbill/types.hpp>

namespace hornbill {

/// Base of all errors; `where()` is the place in Hornbill's source that found the trouble.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string const& message, std::source_location where = std::source_location::current())
      : std::runtime_error(message), where_(where) {}
  std::source_location const& where() const noexcept { return where_; }

 private:
  std::source_location where_;
};

/// Input that cannot be used: names the file, the dataset or line, the entry, and the remedy where there is one.
class InputError : public Error {
 public:
  explicit InputError(std::string const& message, std::source_location where = std::source_location::current())
      : Error(message, where) {}
  /// "<file>:<dataset>: <message>"
  InputError(std::string_view file, std::string_view place, std::string_view message,
             std::source_location where = std::source_location::current());
};

/// An array of the wrong size was passed to a function.
class ShapeError : public Error {
 public:
  ShapeError(std::string_view name, std::size_t expected, std::size_t actual,
             std::source_location where = std::source_location::current());
};

/// Something does not fit; nothing has been done. Says the bytes needed and the bytes there are.
class CapacityError : public Error {
 public:
  CapacityError(std::string_view what, std::size_t bytes_needed, std::size_t bytes_available,
                std::source_location where = std::source_location::current());
  explicit CapacityError(std::string const& message, std::source_location where = std::source_location::current())
      : Error(message, where) {}
};

/// The numbers themselves are in trouble: which variable, which iteration.
class NumericError : public Error {
 public:
  explicit NumericError(std::string const& message, std::source_location where = std::source_location::current())
      : Error(message, where) {}
};

}  // namespace hornbill
