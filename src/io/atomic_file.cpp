#include <hornbill/io/atomic_file.hpp>

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::io {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(std::string const& file, char const* what = "cannot be written") {
  throw InputError(file, "", fmt::format("{}: {}", what, std::strerror(errno)));
}

std::optional<struct stat> status_of(std::string const& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

fs::path folder_of(fs::path const& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// What a name leads to, which need not be there yet: a link stays a link.
fs::path target_of(fs::path file) {
  std::error_code ignored;
  // an absolute one replaces the folder
  for (int links = 0; links < 40 && fs::is_symlink(file, ignored); ++links)
    file = folder_of(file) / fs::read_symlink(file, ignored);
  return file;
}

/// A device, a pipe: nothing is to be put in its place.
bool is_special(std::string const& file) {
  auto const status = status_of(file);
  return status && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode);
}

/// A file that is open for writing.
class Output {
 public:
  /// \param file  the name that errors speak of
  Output(std::string file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {
    if (descriptor_ < 0) fail(file_);
  }
  ~Output() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Output(Output const&) = delete;
  Output& operator=(Output const&) = delete;

  void write(std::string_view bytes) const {
    if (!write_all(descriptor_, bytes)) fail(file_);
  }
  /// Gives it the permissions of a file that it takes the place of, and its owner where that is allowed.
  void take_permissions(struct stat const& of) const {
    if (::fchown(descriptor_, of.st_uid, of.st_gid) != 0) errno = 0;  // only the superuser can
    if (::fchmod(descriptor_, of.st_mode & 0777) != 0) fail(file_, "cannot be given its permissions");
  }
  /// Data must be on disk before the name is, or a power cut could leave an empty file under the final name.
  void flush_to_disk() const {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(file_);
  }
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) fail(file_);
  }

 private:
  std::string file_;
  int descriptor_;
};

/// Removes a file unless told otherwise.
struct Removal {
  std::string file;
  bool is_due = true;
  ~Removal() {
    if (is_due) ::unlink(file.c_str());
  }
};

/// Makes a file that was not there; one that a process of the same number left behind is removed.
int make(std::string const& file) {
  for (bool again = true;; again = false) {
    int const descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST || !again) return descriptor;
    ::unlink(file.c_str());
  }
}

/// Writes to a standard stream, a device or a pipe.   \return false if a file is neither
bool write_in_place(std::string const& file, std::string_view bytes) {
  int const stream = standard_stream(file);
  if (stream < 0 && !is_special(file)) return false;
  Output out(file, stream >= 0 ? ::dup(stream) : ::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  out.write(bytes);
  out.close();
  return true;
}

/// Bytes that are on the disk, beside the file whose place they will take.
class Replacement {
 public:
  Replacement(std::string file, std::string_view bytes)
      : file_(std::move(file)),
        target_(target_of(file_)),
        temporary_{(folder_of(target_) /
                    fmt::format(".{}.{}.tmp{}", target_.stem().string(), ::getpid(), target_.extension().string()))
                       .string()} {
    auto const before = status_of(target_);
    Output out(file_, make(temporary_.file));
    if (before) out.take_permissions(*before);
    out.write(bytes);
    out.flush_to_disk();
    out.close();
  }
  void give_name() {
    if (::rename(temporary_.file.c_str(), target_.c_str()) != 0) fail(file_);
    temporary_.is_due = false;
  }
  void flush_name_to_disk() const {
    int const entry = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (entry >= 0) Output(file_, entry).flush_to_disk();  // a folder may be one to write in, and not to read
  }

 private:
  std::string file_;
  fs::path target_;
  Removal temporary_;
};

}  // namespace

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    auto const written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int standard_stream(std::string const& file) {
  auto const status = status_of(file);
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (status && ::fstat(stream, &open) == 0 && open.st_dev == status->st_dev && open.st_ino == status->st_ino)
      return stream;
  }
  return -1;
}

void require_writable(std::string const& file) {
  if (standard_stream(file) >= 0) return;
  if (is_special(file)) {
    if (::access(file.c_str(), W_OK) != 0) fail(file);
    return;
  }
  auto const target = target_of(file), folder = folder_of(target);
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw InputError(file, "", fmt::format("the folder {} does not exist", folder.string()));
  if (fs::is_directory(target, ignored)) throw InputError(file, "", "is a folder; the name of a file is needed");
  if (::access(folder.c_str(), W_OK) != 0) fail(file, "the folder cannot be written");
  if (fs::exists(target, ignored) && ::access(target.c_str(), W_OK) != 0) fail(file);
}

void write_atomically(std::string const& file, std::string_view bytes) {
  require_writable(file);
  if (write_in_place(file, bytes)) return;
  Replacement replacement(file, bytes);
  replacement.give_name();
  replacement.flush_name_to_disk();
}

void write_together(std::vector<FileContents> const& files) {
  for (auto const& [file, bytes] : files) require_writable(file);
  std::deque<Replacement> replacements;
  for (auto const& [file, bytes] : files)
    if (!write_in_place(file, bytes)) replacements.emplace_back(file, bytes);
  for (auto& replacement : replacements) replacement.give_name();
  for (auto const& replacement : replacements) replacement.flush_name_to_disk();
}

}  // namespace hornbill::io
