#include "output.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace hornbill::cli {
namespace {

std::FILE* stream = stdout;
bool has_failed = false;

[[noreturn]] void fail_output() {
  int const reason = errno;
  has_failed = true;
  throw OutputError(
      fmt::format("standard {} cannot be written: {}", stream == stdout ? "output" : "error", std::strerror(reason)),
      reason == EPIPE);
}

}  // namespace

void open_standard_streams() {
  // The lowest number that is free is taken, so each gets its own.
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) == -1) ::open("/dev/null", number == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

void report_files_that_are_full() { std::signal(SIGXFSZ, SIG_IGN); }

void report_on_standard_error() { stream = stderr; }

void write_out_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size()) fail_output();
}

void flush_output() {
  if (!has_failed && std::fflush(stream) != 0) fail_output();
}

}  // namespace hornbill::cli
