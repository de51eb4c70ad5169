// Standard output: all that commands print goes through here, so that what cannot be written is an error.
#pragma once

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::cli {

/// Output that cannot be written: exit code 3.
class OutputError : public Error {
 public:
  OutputError(std::string const& message, bool has_no_reader) : Error(message), has_no_reader(has_no_reader) {}
  bool has_no_reader;  ///< a pipe whose other end is closed
};

/// Opens what of standard input, output and error is closed, so that no file of ours takes its place: output to it
/// fails, and input ends.
void open_standard_streams();

/// From now on a file that may not grow any more is output that cannot be written, not the end of the program.
void report_files_that_are_full();

/// From now on what is written goes to standard error: standard output is for a file that is written to it.
void report_on_standard_error();

/// \throws OutputError naming the reason
void write_out_text(std::string_view text);
/// Writes as fmt::print does.   \throws OutputError naming the reason
template <class... Arguments>
void write_out(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_out_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}
/// Hands what was written to whoever reads. After an error there is nothing more to do.
/// \throws OutputError naming the reason
void flush_output();

}  // namespace hornbill::cli
