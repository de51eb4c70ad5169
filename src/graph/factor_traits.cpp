#include <hornbill/graph/factor_traits.hpp>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill {

void fail_on_factor_type(FactorType type) {
  throw Error(fmt::format("a factor of type {} has no answer to this: validate() the graph, or ask what it is first",
                          static_cast<int>(type)));
}

std::string known_factor_types() {
  std::string text;
  for (std::size_t type = 0; type < num_factor_types; ++type)
    text += fmt::format("{}{} ({})",
                        type == 0                     ? ""
                        : type + 1 < num_factor_types ? ", "
                                                      : " and ",
                        type, name_of(static_cast<FactorType>(type)));
  return text;
}

}  // namespace hornbill
