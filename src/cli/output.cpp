#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace hornbill::cli {
namespace {

bool has_failed = false;

[[noreturn]] void fail_output() {
  int const reason = errno;
  has_failed = true;
  throw OutputError(fmt::format("standard output cannot be written: {}", std::strerror(reason)), reason == EPIPE);
}

}  // namespace

void open_standard_streams() {
  // The lowest number that is free is taken, so each gets its own.
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1) ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

void write_out_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) fail_output();
}

void flush_output() {
  if (!has_failed && std::fflush(stdout) != 0) fail_output();
}

}  // namespace hornbill::cli
