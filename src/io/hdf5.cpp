#include "hdf5.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>

#include <unistd.h>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "memory.hpp"

namespace hornbill::io::hdf5 {
namespace {

template <class T>
hid_t native_type() {
  if constexpr (std::is_same_v<T, double>) return H5T_NATIVE_DOUBLE;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_NATIVE_INT64;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_NATIVE_INT32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_NATIVE_UINT8;
  if constexpr (std::is_same_v<T, std::int8_t>) return H5T_NATIVE_INT8;
}

template <class T>
hid_t file_type() {
  if constexpr (std::is_same_v<T, double>) return H5T_IEEE_F64LE;
  if constexpr (std::is_same_v<T, std::int64_t>) return H5T_STD_I64LE;
  if constexpr (std::is_same_v<T, std::int32_t>) return H5T_STD_I32LE;
  if constexpr (std::is_same_v<T, std::uint8_t>) return H5T_STD_U8LE;
  if constexpr (std::is_same_v<T, std::int8_t>) return H5T_STD_I8LE;
}

Handle string_type(std::size_t size) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), size);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

/// Whether a call failed because the checksum of an array is not that of its data.
bool is_checksum_wrong() {
  auto const look = [](unsigned, H5E_error2_t const* error, void* found) -> herr_t {
    if (std::string_view(error->desc).find("checksum") != std::string_view::npos) *static_cast<bool*>(found) = true;
    return 0;
  };
  bool found = false;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, look, &found);
  return found;
}

bool is_one_string(hid_t attribute, bool variable_length_too = true) {
  Handle type(H5Aget_type(attribute), H5Tclose);
  Handle space(H5Aget_space(attribute), H5Sclose);
  return H5Tget_class(type.get()) == H5T_STRING && H5Sget_simple_extent_npoints(space.get()) == 1 &&
         (variable_length_too || H5Tis_variable_str(type.get()) <= 0);
}

/// The name of what is in memory: a file of that name would be opened, or refused.
constexpr char const* no_file = "/dev/null/hornbill";

// The library would print its error stack; ours say more to a user.
void silence_library() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

}  // namespace

bool has_checksums(std::string const& file) {
  std::error_code ignored;
  auto const type = std::filesystem::status(file, ignored).type();
  using enum std::filesystem::file_type;
  if (type == fifo || type == character || type == socket)
    throw InputError(file, "", "is a pipe or a device, and an HDF5 file is not read in order; give a file");
  std::ifstream in(file, std::ios::binary);
  char begin[9] = {};
  in.read(begin, sizeof begin);
  constexpr int first_with_checksums = 2;  // versions of the superblock
  return in && begin[8] >= first_with_checksums;
}

Reader::Reader(std::string file) : file_(std::move(file)) {
  silence_library();
  namespace fs = std::filesystem;
  if (!fs::exists(file_)) throw InputError(file_, "", "no such file");
  if (fs::is_directory(file_)) throw InputError(file_, "", "is a folder; an HDF5 file is needed");
  if (::access(file_.c_str(), R_OK) != 0)
    throw InputError(file_, "", fmt::format("cannot be read: {}", std::strerror(errno)));
  if (H5Fis_hdf5(file_.c_str()) <= 0)
    throw InputError(
        file_, "",
        "is not an HDF5 file, though its ending says so; inputs/FORMAT.md lists the endings of other formats");
  handle_ = Handle(H5Fopen(file_.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  require_opened();
}

Reader::Reader(std::string file, std::string const& image) : file_(std::move(file)) {
  silence_library();
  constexpr std::size_t growth = std::size_t{1} << 20;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.get(), growth, false);
  H5Pset_file_image(access.get(), const_cast<char*>(image.data()), image.size());  // which is copied
  handle_ = Handle(H5Fopen(no_file, H5F_ACC_RDONLY, access.get()), H5Fclose);
  require_opened();
}

void Reader::require_opened() const {
  if (!handle_)
    throw InputError(
        file_, "",
        "is an HDF5 file but cannot be opened: it is truncated or damaged, or another program is writing it");
}

bool Reader::has(std::string const& path) const {
  // each part must exist before the next is asked for
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    if (H5Lexists(handle_.get(), path.substr(0, slash).c_str(), H5P_DEFAULT) <= 0) return false;
    if (slash == std::string::npos) return true;
  }
}

std::vector<std::string> Reader::children(std::string const& path) const {
  std::vector<std::string> names;
  if (!has(path)) return names;
  auto add_name = [](hid_t, char const* name, H5L_info_t const*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  Handle group(H5Gopen2(handle_.get(), path.c_str(), H5P_DEFAULT), H5Gclose);
  if (!group) throw InputError(file_, path, "is not a group");
  H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names);
  return names;
}

Handle Reader::open_dataset(std::string const& path) const {
  if (!has(path)) throw InputError(file_, path, "is missing");
  Handle dataset(H5Dopen2(handle_.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) throw InputError(file_, path, "is not a dataset");
  return dataset;
}

std::vector<hsize_t> Reader::shape(hid_t dataset, std::string const& path, std::size_t rank,
                                   std::size_t bytes_per_entry) const {
  Handle space(H5Dget_space(dataset), H5Sclose);
  int const actual = H5Sget_simple_extent_ndims(space.get());
  if (actual != static_cast<int>(rank))
    throw InputError(file_, path, fmt::format("has {} dimensions; {} are needed", actual, rank));
  std::vector<hsize_t> dims(rank);
  H5Sget_simple_extent_dims(space.get(), dims.data(), nullptr);
  long double bytes = static_cast<long double>(bytes_per_entry);
  for (hsize_t d : dims) bytes *= static_cast<long double>(d);
  if (bytes > static_cast<long double>(host_memory_bytes()))
    throw CapacityError(fmt::format("{}:{}: does not fit: {:.0f} bytes are needed, this machine has {}", file_, path,
                                    static_cast<double>(bytes), host_memory_bytes()));
  // deflate makes an array at most a thousand times as small; a larger one was never written
  constexpr long double always = 1 << 20, compression = 2000;
  hsize_t file_size = 0;
  bool const is_known = H5Fget_filesize(handle_.get(), &file_size) >= 0;
  if (is_known && bytes > always + compression * static_cast<long double>(file_size))
    throw InputError(
        file_, path,
        fmt::format("is said to have {:.0f} bytes, more than a file of {} bytes holds: it is damaged, or was never "
                    "written",
                    static_cast<double>(bytes), file_size));
  return dims;
}

void Reader::read_into(hid_t dataset, hid_t type, void* data, std::string const& path) const {
  Handle stored(H5Dget_type(dataset), H5Tclose);
  H5T_class_t const stored_class = H5Tget_class(stored.get()), wanted_class = H5Tget_class(type);
  bool const numbers = (stored_class == H5T_INTEGER || stored_class == H5T_FLOAT || stored_class == H5T_ENUM);
  if (wanted_class == H5T_INTEGER && stored_class == H5T_FLOAT)
    throw InputError(file_, path, "holds floating-point numbers; integers are needed");
  if (wanted_class != H5T_STRING && !numbers) throw InputError(file_, path, "does not hold numbers");
  if (H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) return;
  throw InputError(file_, path,
                   is_checksum_wrong() ? "the checksum is not that of the data: the file is damaged"
                                       : "cannot be read: the file is truncated or damaged");
}

template <class T>
std::vector<T> Reader::read(std::string const& path) const {
  Handle dataset = open_dataset(path);
  std::vector<T> values(shape(dataset.get(), path, 1, sizeof(T))[0]);
  read_into(dataset.get(), native_type<T>(), values.data(), path);
  return values;
}
template std::vector<double> Reader::read(std::string const&) const;
template std::vector<std::int64_t> Reader::read(std::string const&) const;
template std::vector<std::uint8_t> Reader::read(std::string const&) const;

// The library would clip what does not fit, and an entry that is not in the file would be reported, or none.
template <>
std::vector<std::int32_t> Reader::read(std::string const& path) const {
  auto const wide = read<std::int64_t>(path);
  std::vector<std::int32_t> values(wide.size());
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (wide[i] < std::numeric_limits<std::int32_t>::min() || wide[i] > std::numeric_limits<std::int32_t>::max())
      throw InputError(file_, path, fmt::format("entry {} is {}, which is beyond 32 bits", i, wide[i]));
    values[i] = static_cast<std::int32_t>(wide[i]);
  }
  return values;
}

std::size_t Reader::rank(std::string const& path) const {
  Handle dataset = open_dataset(path);
  Handle space(H5Dget_space(dataset.get()), H5Sclose);
  return static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space.get())));
}

Rows Reader::read_rows(std::string const& path) const {
  Handle dataset = open_dataset(path);
  auto const dims = shape(dataset.get(), path, 2, sizeof(double));
  Rows rows{std::vector<double>(dims[0] * dims[1]), dims[1]};
  read_into(dataset.get(), H5T_NATIVE_DOUBLE, rows.values.data(), path);
  return rows;
}

std::vector<std::string> Reader::read_strings(std::string const& path) const {
  if (!has(path + "/offsets")) {
    if (!allows_variable_length_)
      throw InputError(file_, path, "is no group of `bytes` and `offsets`, as strings are kept since format 2");
    return strings_of_dataset(path);
  }
  auto const bytes = read<std::uint8_t>(path + "/bytes");
  auto const offsets = read<std::int64_t>(path + "/offsets");
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != std::ssize(bytes))
    throw InputError(file_, path + "/offsets",
                     fmt::format("do not go from 0 to the number of bytes, {}", bytes.size()));
  std::vector<std::string> values;
  values.reserve(offsets.size() - 1);
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    if (offsets[i + 1] < offsets[i])
      throw InputError(file_, path + "/offsets",
                       fmt::format("entry {} decreases ({} -> {})", i + 1, offsets[i], offsets[i + 1]));
    values.emplace_back(bytes.begin() + offsets[i], bytes.begin() + offsets[i + 1]);
  }
  return values;
}

std::vector<std::string> Reader::strings_of_dataset(std::string const& path) const {
  Handle dataset = open_dataset(path);
  auto const count = shape(dataset.get(), path, 1, sizeof(char*))[0];
  Handle stored(H5Dget_type(dataset.get()), H5Tclose);
  if (H5Tget_class(stored.get()) != H5T_STRING || H5Tis_variable_str(stored.get()) <= 0)
    throw InputError(file_, path, "does not hold strings of variable length");
  Handle type = string_type(H5T_VARIABLE);
  H5Tset_cset(type.get(), H5Tget_cset(stored.get()));
  std::vector<char*> raw(count, nullptr);
  read_into(dataset.get(), type.get(), raw.data(), path);
  std::vector<std::string> values(count);
  for (hsize_t i = 0; i < count; ++i)
    if (raw[i]) values[i] = raw[i];
  return values;
}

bool Reader::has_attribute(std::string const& object, std::string const& name) const {
  return (object == "/" || has(object)) &&
         H5Aexists_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

std::int64_t Reader::read_integer_attribute(std::string const& object, std::string const& name) const {
  std::string const place = object + "@" + name;
  if (!has_attribute(object, name)) throw InputError(file_, place, "this attribute is missing");
  Handle attribute(H5Aopen_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  Handle stored(H5Aget_type(attribute.get()), H5Tclose);
  Handle space(H5Aget_space(attribute.get()), H5Sclose);
  std::int64_t value = 0;
  if (H5Tget_class(stored.get()) != H5T_INTEGER || H5Sget_simple_extent_npoints(space.get()) != 1 ||
      H5Aread(attribute.get(), H5T_NATIVE_INT64, &value) < 0)
    throw InputError(file_, place, "is not one integer");
  return value;
}

std::string Reader::read_string_attribute(std::string const& object, std::string const& name) const {
  std::string const place = object + "@" + name;
  if (!has_attribute(object, name)) throw InputError(file_, place, "this attribute is missing");
  Handle attribute(H5Aopen_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  Handle stored(H5Aget_type(attribute.get()), H5Tclose);
  if (!is_one_string(attribute.get())) throw InputError(file_, place, "is not one string");
  if (H5Tis_variable_str(stored.get()) > 0) {
    if (!allows_variable_length_)
      throw InputError(file_, place, "is a string of variable length; write one of fixed length, as numpy.bytes_ is");
    char* raw = nullptr;
    if (H5Aread(attribute.get(), stored.get(), &raw) < 0 || !raw) throw InputError(file_, place, "cannot be read");
    std::string value(raw);
    H5free_memory(raw);
    return value;
  }
  std::string value(H5Tget_size(stored.get()), '\0');
  if (H5Aread(attribute.get(), stored.get(), value.data()) < 0) throw InputError(file_, place, "cannot be read");
  return value.c_str();  // up to the first NUL
}

std::vector<std::pair<std::string, std::string>> Reader::string_attributes(std::string const& object) const {
  std::vector<std::string> names;
  auto add_name = [](hid_t, char const* name, H5A_info_t const*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  {
    Handle at(H5Oopen(handle_.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
    H5Aiterate2(at.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add_name, &names);
    std::erase_if(names, [&](std::string const& name) {
      Handle attribute(H5Aopen(at.get(), name.c_str(), H5P_DEFAULT), H5Aclose);
      return !is_one_string(attribute.get(), allows_variable_length_);
    });
  }
  std::vector<std::pair<std::string, std::string>> attributes;
  for (auto const& name : names) attributes.emplace_back(name, read_string_attribute(object, name));
  return attributes;
}

namespace {

/// Of a file that is closed, where the superblock of versions 2 and 3 has it.
std::size_t size_of(char const* file) {
  std::uint64_t end = 0;
  for (int i = 8; i-- > 0;) end = end << 8 | static_cast<unsigned char>(file[28 + i]);
  return static_cast<std::size_t>(end);
}

void* allocate(std::size_t size, H5FD_file_image_op_t, void*) { return std::malloc(size); }
void* reallocate(void* memory, std::size_t size, H5FD_file_image_op_t, void*) { return std::realloc(memory, size); }
void* copy(void* to, void const* from, std::size_t size, H5FD_file_image_op_t, void*) {
  return std::memcpy(to, from, size);
}
void* same(void* data) { return data; }
herr_t keep(void*) { return 0; }
/// Takes the bytes of the file when it is closed: before that, it would be marked as being written.
herr_t release(void* memory, H5FD_file_image_op_t operation, void* data) {
  auto& image = *static_cast<Writer::Image*>(data);
  if (image.is_finished && operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE && memory)
    image.bytes.assign(static_cast<char*>(memory), size_of(static_cast<char*>(memory)));
  std::free(memory);
  return 0;
}

/// Properties of what is to be created, without the time at which it was: equal contents have equal bytes.
Handle untimed(hid_t type) {
  Handle properties(H5Pcreate(type), H5Pclose);
  H5Pset_obj_track_times(properties.get(), false);
  return properties;
}

}  // namespace

Writer::Writer(std::string file) : file_(std::move(file)), image_(std::make_unique<Image>()) {
  silence_library();
  constexpr std::size_t growth = std::size_t{4} << 20;
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_core(access.get(), growth, false);
  H5FD_file_image_callbacks_t callbacks{allocate, copy, reallocate, release, same, keep, image_.get()};
  H5Pset_file_image_callbacks(access.get(), &callbacks);
  H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);  // checksums of all but data, too
  Handle creation = untimed(H5P_FILE_CREATE);
  handle_ = Handle(H5Fcreate(no_file, H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose);
  require(static_cast<bool>(handle_), "", "cannot be made in memory");
}

void Writer::require(bool ok, std::string const& path, char const* what) const {
  if (!ok) throw InputError(file_, path, what);
}

void Writer::write_array(std::string const& path, std::vector<hsize_t> const& shape, hid_t file_type, hid_t memory_type,
                         void const* data) {
  make_parents(path);
  Handle properties = untimed(H5P_DATASET_CREATE);
  constexpr hsize_t rows_per_chunk = 1 << 16, worth_compressing = 1024;
  if (shape[0] > 0) {
    std::vector<hsize_t> chunk = shape;
    chunk[0] = std::min(shape[0], rows_per_chunk);
    H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
    if (shape[0] >= worth_compressing) {
      H5Pset_shuffle(properties.get());
      H5Pset_deflate(properties.get(), 4);
    }
    H5Pset_fletcher32(properties.get());
  }
  Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), H5Sclose);
  Handle dataset(
      H5Dcreate2(handle_.get(), path.c_str(), file_type, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose);
  require(static_cast<bool>(dataset), path, "cannot be created");
  if (shape[0] > 0)
    require(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, path, "cannot be written");
}

template <class T>
void Writer::write(std::string const& path, std::vector<T> const& values) {
  write_array(path, std::vector<hsize_t>{values.size()}, file_type<T>(), native_type<T>(), values.data());
}
template void Writer::write(std::string const&, std::vector<double> const&);
template void Writer::write(std::string const&, std::vector<std::int64_t> const&);
template void Writer::write(std::string const&, std::vector<std::int32_t> const&);
template void Writer::write(std::string const&, std::vector<std::uint8_t> const&);
template void Writer::write(std::string const&, std::vector<std::int8_t> const&);

void Writer::write_rows(std::string const& path, std::vector<double> const& values, hsize_t columns) {
  write_array(path, std::vector<hsize_t>{values.size() / columns, columns}, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
              values.data());
}

void Writer::write_strings(std::string const& path, std::vector<std::string> const& values) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> offsets{0};
  for (auto const& s : values) {
    bytes.insert(bytes.end(), s.begin(), s.end());
    offsets.push_back(std::ssize(bytes));
  }
  write(path + "/bytes", bytes);
  write(path + "/offsets", offsets);
}

void Writer::make_group(std::string const& path) {
  make_parents(path);
  Handle properties = untimed(H5P_GROUP_CREATE);
  Handle group(H5Gcreate2(handle_.get(), path.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Gclose);
  require(static_cast<bool>(group), path, "cannot be created");
}

void Writer::make_parents(std::string const& path) {
  auto const last = path.rfind('/');
  if (last == 0 || last == std::string::npos) return;
  auto const parent = path.substr(0, last);
  make_parents(parent);
  if (H5Lexists(handle_.get(), parent.c_str(), H5P_DEFAULT) <= 0) make_group(parent);
}

void Writer::write_attribute(std::string const& object, std::string const& name, std::int64_t value) {
  Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle attribute(H5Acreate_by_name(handle_.get(), object.c_str(), name.c_str(), H5T_STD_I64LE, space.get(),
                                     H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
  require(attribute && H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value) >= 0, object,
          "an attribute cannot be written");
}

void Writer::write_attribute(std::string const& object, std::string const& name, std::string const& value) {
  Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  Handle type = string_type(value.size() + 1);
  Handle attribute(H5Acreate_by_name(handle_.get(), object.c_str(), name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT),
                   H5Aclose);
  require(attribute && H5Awrite(attribute.get(), type.get(), value.c_str()) >= 0, object,
          "an attribute cannot be written");
}

std::string Writer::image() {
  image_->is_finished = true;
  require(handle_.close() && !image_->bytes.empty(), "", "cannot be made in memory");
  return std::move(image_->bytes);
}

}  // namespace hornbill::io::hdf5
