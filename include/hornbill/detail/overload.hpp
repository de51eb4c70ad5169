// One function object of several, for std::visit.
#pragma once

namespace hornbill::detail {

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

}  // namespace hornbill::detail
