#include "hdf5_file.hpp"

#include <chrono>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/factor_graph_file.hpp>

#include "child_process.hpp"

namespace hornbill::io::hdf5 {

void write_format(Writer& out) { out.write_attribute("/", "hornbill_format", std::int64_t{file_format_version}); }

void require_format(Reader const& in) {
  if (!in.has_attribute("/", "hornbill_format"))
    throw InputError(
        in.file(), "/@hornbill_format",
        fmt::format("this attribute is missing; set it to {} if the file has the format of inputs/FORMAT.md",
                    file_format_version));
  auto const version = in.read_integer_attribute("/", "hornbill_format");
  if (version > file_format_version)
    throw InputError(
        in.file(), "/@hornbill_format",
        fmt::format("is {}, from a newer Hornbill; this one reads up to {}. Update Hornbill, or convert the file "
                    "with the newer one",
                    version, file_format_version));
  if (version < 1)
    throw InputError(in.file(), "/@hornbill_format",
                     fmt::format("is {}; known are 1 to {}", version, file_format_version));
}

std::string image_by_child(std::string const& file, std::function<std::string(Reader const&)> const& rewrite) {
  constexpr std::string_view good = "model", bad = "error", large = "large";
  std::error_code unknown;
  auto const size = std::filesystem::file_size(file, unknown);
  auto const megabytes = static_cast<int>(unknown ? 0 : size >> 20);
  auto const bytes = in_child_process(
      [&] {
        try {
          Reader in(file);
          in.allow_variable_length();
          return std::string(good) + rewrite(in);
        } catch (CapacityError const& e) {
          return std::string(large) + e.what();
        } catch (Error const& e) {
          return std::string(bad) + e.what();
        }
      },
      std::chrono::seconds(1 + megabytes));
  if (!bytes)
    throw InputError(
        file, "",
        "cannot be read: it is damaged, or there is no memory for it (it has no checksums, as it is not of "
        "the format that `hornbill convert` writes)");
  auto rest = bytes->substr(good.size());
  if (bytes->starts_with(large)) throw CapacityError(rest);
  if (bytes->starts_with(bad)) throw InputError(rest);
  return rest;
}

}  // namespace hornbill::io::hdf5
