// Messages out of chunks of Horn factors, an edge a lane of a warp. The bits are those of chunk_update.hpp.
#pragma once

#include <hornbill/detail/bp/fields.hpp>
#include <hornbill/detail/bp/odds_tree.hpp>
#include <hornbill/detail/bp/warp.hpp>

namespace hornbill::detail {

/// The tree over the leaves of a chunk, each lane on the path from its own leaf to the root.
template <class Number>
struct LaneTree {
  static constexpr int most_levels = 5;
  Number sibling[most_levels];  // totals beside the path
  Number total;

  /// \param base    lane of the chunk's first edge
  /// \param levels  of the tallest tree in the warp; further levels of a smaller one change nothing
  KOKKOS_FUNCTION LaneTree(Number leaf, int position, int count, int base, int levels) : total(leaf) {
    for (int l = 0; l < most_levels; ++l) {
      if (l < levels) {  // not in the loop's condition: it is to be unrolled, so that siblings stay in registers
        int const first = ((position >> l) ^ 1) << l;  // leaf of the sibling's block
        Number const other = from_lane(total, (base + first) & (bp::warp_size - 1));
        sibling[l] = first < count ? other : Number{};
        total = odds_against_both(total, sibling[l]);
      }
    }
  }
  /// Odds outside the leaf, from those outside the root.
  KOKKOS_FUNCTION Number leave_one_out(Number outside, int levels) const {
    for (int l = most_levels - 1; l >= 0; --l)
      if (l < levels) outside = odds_against_both(outside, sibling[l]);
    return outside;
  }
};

/// One lane's view of its chunk.
template <class Value, class MemorySpace>
struct LaneUpdate {
  using E = Extended<Value>;
  Fields<Value, MemorySpace> const& f;
  bp::Lane lane;
  int id;  // of the lane in its warp
  Value exponent = 0, before = 0;
  HornParameters<Value> p{};
  Node<Value> node{};
  bool ordinary = true;

  KOKKOS_FUNCTION LaneUpdate(Fields<Value, MemorySpace> const& fields, bp::Lane const& l, int lane_id) : f(fields), lane(l), id(lane_id) {
    if (!lane.is(bp::Lane::valid)) return;
    before = f.messages(lane.edge);
    Value const log_odds = f.variable_to_factor(lane.variable, before);
    exponent = lane.is(bp::Lane::head) != lane.is(bp::Lane::disjunction) ? log_odds : -log_odds;
    ordinary = is_ordinary(exponent) && lane.is(bp::Lane::ordinary);
  }
  /// What messages depend on beside the members.
  KOKKOS_FUNCTION void read_head() {
    if (!lane.is(bp::Lane::valid)) return;
    if (lane.is(bp::Lane::wide)) {
      node = f.nodes(lane.reference);
      ordinary = ordinary && node.outside.is_ordinary() && node.head.c1.is_ordinary() && node.head.c2.is_ordinary();
    } else if (lane.is(bp::Lane::head)) {
      p = f.graph.parameters(lane.reference);
    }
  }
  /// Odds against the chunk's members.
  KOKKOS_FUNCTION E total() const {
    if (all_lanes(ordinary)) {
      Value const plain = tree(odds<Value>()).total;
      if (all_lanes(suffices(plain))) return E::from(plain);
    }
    return tree(odds<E>()).total;
  }

  /// The message along the lane's edge.
  KOKKOS_FUNCTION Value message() const {
    Value oriented = 0;
    if (!(all_lanes(ordinary) && message_in<Value>(oriented))) message_in<E>(oriented);
    return lane.is(bp::Lane::disjunction) ? -oriented : oriented;
  }

 private:
  /// Odds against the member; of the head, its own.
  template <class Number>
  KOKKOS_FUNCTION Number odds() const {
    return lane.is(bp::Lane::valid) ? number_exp<Number>(exponent) : Number{};
  }
  template <class Number>
  KOKKOS_FUNCTION LaneTree<Number> tree(Number odds) const {
    return {lane.is(bp::Lane::head) ? Number{} : odds, lane.position(), lane.count(), id - lane.position(), lane.levels()};
  }
  /// False for all lanes if numbers of that kind do not suffice for one.
  template <class Number>
  KOKKOS_FUNCTION bool message_in(Value& oriented) const {
    bool const wide = lane.is(bp::Lane::wide), head = lane.is(bp::Lane::head);
    Number const odds = this->template odds<Number>();
    auto const tree = this->tree(odds);
    Number const outside = number_of<Number>(node.outside);
    if (!all_lanes(suffices(wide ? odds_against_both(tree.total, outside) : tree.total))) return false;
    HeadWeights<Number> weights{};
    if (head && !wide) weights = head_weights(p, odds);
    int const base = (id - lane.position()) & (bp::warp_size - 1);
    weights = {from_lane(weights.c1, base), from_lane(weights.c2, base)};
    if (wide) weights = weights_of<Number>(node.head);
    if (!lane.is(bp::Lane::wanted)) return true;
    OddsForm<Number> const form = head ? form_to_head<Number>(p) : form_to_body(weights);
    oriented = detail::message(form, head ? tree.total : tree.leave_one_out(outside, lane.levels()));
    return true;
  }
};

}  // namespace hornbill::detail
