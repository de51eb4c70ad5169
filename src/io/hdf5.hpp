// HDF5 with owned handles and errors that name the file, the dataset and the entry. Internal to src/io.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hdf5.h>

namespace hornbill::io::hdf5 {

/// An HDF5 identifier that is closed with the function it was opened for.
class Handle {
 public:
  Handle() = default;
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  /// \return false where that fails, e.g. what is to be written by then cannot be
  bool close() { return close_(std::exchange(id_, -1)) >= 0; }
  explicit operator bool() const { return id_ >= 0; }
  hid_t get() const { return id_; }

 private:
  hid_t id_ = -1;
  herr_t (*close_)(hid_t) = nullptr;
};

/// Whether a file has checksums of all but its data, as those of Hornbill have since format 2: what is damaged in
/// others may make the library fault or never end.
bool has_checksums(std::string const& file);

/// Numbers row by row.
struct Rows {
  std::vector<double> values;
  std::size_t columns = 0;
};

/// A file opened for reading. Paths are absolute, e.g. "/graph/p1".
class Reader {
 public:
  /// \throws InputError if the file is missing, not HDF5, truncated, or lacks read permission
  explicit Reader(std::string file);
  /// One that is in memory.   \param file  the name that errors speak of
  Reader(std::string file, std::string const& image);

  bool has(std::string const& path) const;
  /// Names of the groups (or datasets) directly below `path`; none if `path` is missing.
  std::vector<std::string> children(std::string const& path) const;
  /// A one-dimensional dataset; of any integer or floating-point type, converted.   \throws InputError, CapacityError
  template <class T>
  std::vector<T> read(std::string const& path) const;
  /// Of how many dimensions a dataset is.
  std::size_t rank(std::string const& path) const;
  /// A two-dimensional dataset.
  Rows read_rows(std::string const& path) const;
  /// Strings as Writer::write_strings() writes them. Once allow_variable_length() was called, also a dataset of strings
  /// of variable length.   \throws InputError
  std::vector<std::string> read_strings(std::string const& path) const;
  bool has_attribute(std::string const& object, std::string const& name) const;
  std::int64_t read_integer_attribute(std::string const& object, std::string const& name) const;
  std::string read_string_attribute(std::string const& object, std::string const& name) const;
  std::vector<std::pair<std::string, std::string>> string_attributes(std::string const& object) const;
  std::string const& file() const { return file_; }
  /// From now on strings of variable length are read too, as files of the first format have them, and h5py writes them.
  /// The library trusts what it finds where these lie: for processes that may die.
  void allow_variable_length() { allows_variable_length_ = true; }

 private:
  void require_opened() const;
  std::vector<std::string> strings_of_dataset(std::string const& path) const;
  Handle open_dataset(std::string const& path) const;
  std::vector<hsize_t> shape(hid_t dataset, std::string const& path, std::size_t rank,
                             std::size_t bytes_per_entry) const;
  void read_into(hid_t dataset, hid_t type, void* data, std::string const& path) const;

  std::string file_;
  bool allows_variable_length_ = false;
  Handle handle_;
};

template <>
/// \throws InputError for what is beyond 32 bits
std::vector<std::int32_t> Reader::read(std::string const& path) const;

/// A file being made in memory; groups are made as needed, arrays have checksums, large ones are compressed. In memory,
/// because the library cannot be left in peace with a file that does not fit on its disk.
class Writer {
 public:
  /// Where the library leaves the bytes of a file that is finished.
  struct Image {
    bool is_finished = false;
    std::string bytes;
  };

  /// \param file  the name that errors speak of
  explicit Writer(std::string file);

  template <class T>
  void write(std::string const& path, std::vector<T> const& values);
  void write_rows(std::string const& path, std::vector<double> const& values, hsize_t columns);
  /// A group of two arrays: `bytes` of all strings, and `offsets` of where each begins, and the last ends.
  void write_strings(std::string const& path, std::vector<std::string> const& values);
  void make_group(std::string const& path);
  void write_attribute(std::string const& object, std::string const& name, std::int64_t value);
  void write_attribute(std::string const& object, std::string const& name, std::string const& value);
  /// Finishes the file.   \return its bytes
  std::string image();

 private:
  void make_parents(std::string const& path);
  void write_array(std::string const& path, std::vector<hsize_t> const& shape, hid_t file_type, hid_t memory_type,
                   void const* data);
  void require(bool ok, std::string const& path, char const* what) const;

  std::string file_;
  std::unique_ptr<Image> image_;
  Handle handle_;
};

}  // namespace hornbill::io::hdf5
