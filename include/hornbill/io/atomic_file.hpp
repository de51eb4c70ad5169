/// \file
/// Files that appear whole or not at all.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace hornbill::io {

/// Checks that a file can be made under this name: its folder exists and can be written; or that it is a device or pipe
/// that can be.
/// \throws InputError
void require_writable(std::string const& file);

/// Calls `write(temporary)` with a name beside `file`, then renames the result to `file`.
///
/// If `write` throws, the temporary file is removed and `file` is as it was. Links are followed; devices and pipes are
/// written themselves.
/// \throws InputError if the folder cannot be written
void write_atomically(std::string const& file, std::function<void(std::string const& temporary)> const& write);

/// The same for a text that is ready.
void write_text_atomically(std::string const& file, std::string_view text);

}  // namespace hornbill::io
