#include <hornbill/tables/decode.hpp>

#include <algorithm>

namespace hornbill::tables {

std::vector<HostDecodeStep> decode_steps(HostReductions const& reductions, Index result) {
  std::vector<bool> seen(reductions.tables().size());
  std::vector<Index> open{result}, makers;
  while (!open.empty()) {
    Index const table = open.back(), maker = reductions.maker_of(table);
    open.pop_back();
    if (maker < 0 || seen[table]) continue;
    seen[table] = true;
    makers.push_back(maker);
    auto const& inputs = reductions.reductions()[maker].inputs;
    open.insert(open.end(), inputs.begin(), inputs.end());
  }
  std::sort(makers.begin(), makers.end());  // as they were added: after all that they need
  std::vector<HostDecodeStep> steps;
  for (Index maker : makers) {
    auto const& reduction = reductions.reductions()[maker];
    if (!reduction.eliminated.empty()) steps.push_back({reduction.inputs, reduction.eliminated});
  }
  return steps;
}

}  // namespace hornbill::tables
