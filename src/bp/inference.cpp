#include <hornbill/bp/inference.hpp>

#include <cmath>

#include <fmt/format.h>

#include <hornbill/bp/detail/horn_message.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp::detail {

void require_like_probabilities(std::vector<double> const& before, std::vector<double> const& after) {
  if (before.size() != after.size()) throw ShapeError("probabilities of factors", before.size(), after.size());
  for (std::size_t a = 0; a < before.size(); ++a) {
    if (!(std::isgreaterequal(after[a], 0) && std::islessequal(after[a], 1)))
      throw InputError(fmt::format("factor {} cannot have the probability {}, which is not in [0, 1]", a, after[a]));
    bool const is_like = (before[a] == 0) == (after[a] == 0) && (before[a] == 1) == (after[a] == 1) &&
                         (are_ordinary(after[a], 0) || !are_ordinary(before[a], 0));
    if (!is_like)
      throw InputError(
          fmt::format("factor {} cannot have the probability {} in place of {}: only certainty can be certain, and "
                      "none may become so small; make the inference anew",
                      a, after[a], before[a]));
  }
}

}  // namespace hornbill::bp::detail
