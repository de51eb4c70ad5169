#include "child_process.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hornbill/io/atomic_file.hpp>

namespace hornbill::io {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int success = 0, failure = 1;
constexpr int patience = 60;  // a process may wait for others, and for its disk

/// In the child: nothing that it says when it dies is for the user.
[[noreturn]] void run(std::function<std::string()> const& make, int out, std::chrono::seconds limit) {
  rlimit const none{0, 0}, processor{static_cast<rlim_t>(limit.count()), static_cast<rlim_t>(limit.count())};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &processor);
  for (int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL}) std::signal(signal, SIG_DFL);
  if (int const quiet = ::open("/dev/null", O_WRONLY); quiet >= 0) ::dup2(quiet, STDERR_FILENO);
  try {
    ::_exit(write_all(out, make()) ? success : failure);
  } catch (...) {
    ::_exit(failure);
  }
}

/// All that the other end writes before it closes; nothing if that is not by the deadline.
std::optional<std::string> read_all(int in, Clock::time_point deadline) {
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{in, POLLIN, 0};
    int const count = left > 0 ? ::poll(&ready, 1, static_cast<int>(left)) : 0;
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return {};
    auto const got = ::read(in, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace

std::optional<std::string> in_child_process(std::function<std::string()> const& make, std::chrono::seconds limit) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  pid_t const child = ::fork();
  if (child == 0) run(make, ends[1], limit);
  ::close(ends[1]);
  auto bytes = child > 0 ? read_all(ends[0], Clock::now() + patience * limit) : std::nullopt;
  ::close(ends[0]);
  if (child < 0) return {};
  if (!bytes) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == success ? bytes : std::nullopt;
}

}  // namespace hornbill::io
