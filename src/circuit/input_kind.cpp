#include <hornbill/circuit/input_kind.hpp>

#include <array>

namespace hornbill::circuit {
namespace {

constexpr std::array<char const*, num_input_kinds> names{"categorical",          "bernoulli", "binomial", "gaussian",
                                                         "discretised logistic", "indicator", "literal"};

}  // namespace

char const* name_of(InputKind kind) { return names.at(static_cast<std::size_t>(kind)); }

Index num_parameters(InputKind kind, Index num_categories) {
  switch (kind) {
    case InputKind::categorical: return num_categories;
    case InputKind::bernoulli:
    case InputKind::binomial: return 1;
    case InputKind::gaussian:
    case InputKind::discretised_logistic: return 2;
    case InputKind::indicator:
    case InputKind::literal: break;
  }
  return 0;
}

Index num_statistics(InputKind kind, Index num_categories) {
  if (is_indicator(kind)) return 0;
  return kind == InputKind::gaussian ? 3 : num_categories;
}

}  // namespace hornbill::circuit
