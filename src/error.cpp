#include <hornbill/error.hpp>

#include <fmt/format.h>

namespace hornbill {

InputError::InputError(std::string_view file, std::string_view place, std::string_view message,
                       std::source_location where)
    : Error(place.empty() ? fmt::format("{}: {}", file, message) : fmt::format("{}:{}: {}", file, place, message),
            where) {}

ShapeError::ShapeError(std::string_view name, std::size_t expected, std::size_t actual, std::source_location where)
    : Error(fmt::format("{} has {} entries; {} are needed", name, actual, expected), where) {}

CapacityError::CapacityError(std::string_view what, std::size_t bytes_needed, std::size_t bytes_available,
                             std::source_location where)
    : Error(fmt::format("{} does not fit: {} bytes are needed, {} are available", what, bytes_needed, bytes_available),
            where) {}

}  // namespace hornbill
