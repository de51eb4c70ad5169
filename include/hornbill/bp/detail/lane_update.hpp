// Messages out of chunks of Horn factors, an edge a lane of a warp. The bits are those of chunk_update.hpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include <hornbill/bp/detail/fields.hpp>
#include <hornbill/bp/detail/odds_tree.hpp>
#include <hornbill/bp/detail/warp.hpp>

namespace hornbill::bp::detail {

/// The tree over the leaves of a chunk, each lane on the path from its own leaf to the root.
template <class Number>
struct LaneTree {
  static constexpr int max_levels = 5;
  Number sibling[max_levels];  // totals beside the path
  Number total;

  /// \param base    lane of the chunk's first edge
  /// \param levels  of the tallest tree in the warp; further levels of a smaller one change nothing
  KOKKOS_FUNCTION LaneTree(Number leaf, int position, int count, int base, int levels) : total(leaf) {
    for (int l = 0; l < max_levels; ++l) {
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
    for (int l = max_levels - 1; l >= 0; --l)
      if (l < levels) outside = odds_against_both(outside, sibling[l]);
    return outside;
  }
};

/// An edge of one evidence set, the sum of its variable and what the factor hears of it.
template <class F>
struct LaneInput {
  using Value = typename F::Value;
  bp::Lane lane;
  int id;  // of the lane in its warp
  Value before = 0, exponent = 0;
  bool ordinary = true;

  KOKKOS_FUNCTION LaneInput(bp::Lane const& l, int lane_id) : lane(l), id(lane_id) {}

  /// Reads message and sum, and what read_more() reads, before the first use of any, to wait for all together.
  template <class ReadMore>
  KOKKOS_FUNCTION void read(F const& f, ReadMore const& read_more) {
    if (!lane.is(bp::Lane::valid)) return;
    before = f.messages(lane.edge);
    Accumulator<Value> const sum = f.sums(lane.variable);
    read_more();
    Value const log_odds = f.variable_to_factor(lane.variable, sum, before);
    exponent = lane.is(bp::Lane::head) != lane.is(bp::Lane::disjunction) ? log_odds : -log_odds;
    ordinary = is_ordinary(exponent) && lane.is(bp::Lane::ordinary);
  }
  /// Odds against the member; of the head, its own.
  template <class Number>
  KOKKOS_FUNCTION Number odds() const {
    return lane.is(bp::Lane::valid) ? number_exp<Number>(exponent) : Number{};
  }
  template <class Number>
  KOKKOS_FUNCTION LaneTree<Number> tree(Number odds) const {
    return {lane.is(bp::Lane::head) ? Number{} : odds, lane.position(), lane.count(), id - lane.position(),
            lane.levels()};
  }
  KOKKOS_FUNCTION Value orient(Value message) const { return lane.is(bp::Lane::disjunction) ? -message : message; }
};

// What plain numbers do not suffice for are functions of their own, and no part of those that call them: they need many
// registers and much room among a kernel's instructions, and are seldom called.

/// Messages of narrow factors.
template <class F>
struct NarrowLane {
  using Value = typename F::Value;
  LaneInput<F> in;
  HornParameters<Value> p{};  // read by the head's lane

  KOKKOS_FUNCTION NarrowLane(F const& f, bp::Lane const& lane, int id) : in(lane, id) {
    in.read(f, [&] { read_parameters(f.graph.parameters); });
  }
  KOKKOS_FUNCTION Value message(F const& f) const {
    Value oriented = 0;
    if (!(all_lanes(in.ordinary) && message_in<Value>(oriented)))
      oriented = message_out_of_range(f.graph.parameters, in.lane, in.id, in.exponent);
    return in.orient(oriented);
  }

 private:
  using Parameters = std::decay_t<decltype(F::graph.parameters)>;
  KOKKOS_FUNCTION NarrowLane(bp::Lane const& lane, int id) : in(lane, id) {}
  KOKKOS_FUNCTION void read_parameters(Parameters const& parameters) {
    if (in.lane.is(bp::Lane::head)) p = parameters(in.lane.factor);
  }
  /// False for all lanes if numbers of that kind do not suffice for one.
  template <class Number>
  KOKKOS_FUNCTION bool message_in(Value& oriented) const {
    bool const head = in.lane.is(bp::Lane::head);
    Number const odds = in.template odds<Number>();
    auto const tree = in.tree(odds);
    if (!all_lanes(suffices(tree.total))) return false;
    HeadWeights<Number> weights{};
    if (head) weights = head_weights(p, odds);
    int const base = (in.id - in.lane.position()) & (bp::warp_size - 1);
    weights = {from_lane(weights.c1, base), from_lane(weights.c2, base)};
    OddsForm<Number> const form = head ? form_to_head<Number>(p) : form_to_body(weights);
    Number const against = head ? tree.total : tree.leave_one_out(Number{}, in.lane.levels());
    if (in.lane.is(bp::Lane::wanted)) oriented = detail::message(form, against);
    return true;
  }
  [[gnu::noinline]] static KOKKOS_FUNCTION Value message_out_of_range(Parameters const& parameters, bp::Lane lane,
                                                                      int id, Value exponent) {
    NarrowLane narrow(lane, id);
    narrow.in.exponent = exponent;
    if (lane.is(bp::Lane::valid)) narrow.read_parameters(parameters);
    Value oriented = 0;
    narrow.template message_in<Extended<Value>>(oriented);
    return oriented;
  }
};

/// A chunk's edges as lanes of a warp that it has for itself.
template <class F>
KOKKOS_FUNCTION bp::Lane lane_of(F const& f, bp::Chunk const& chunk, int id) {
  using bp::Lane;
  std::uint32_t const levels = Lane::pack_levels(LaneTree<typename F::Value>::max_levels);
  if (id >= chunk.count) return {0, 0, 0, levels};
  Index const edge = chunk.first_edge + id;
  return {edge, f.graph.factor_variables(edge), chunk.factor,
          Lane::valid | (chunk.wanted >> id & 1u ? Lane::wanted : 0u) | (chunk.head && id == 0 ? Lane::head : 0u) |
              (chunk.disjunction ? Lane::disjunction : 0u) | (chunk.ordinary ? Lane::ordinary : 0u) |
              Lane::pack(id, chunk.count) | levels};
}

/// Totals and messages of a chunk of a wide factor, which has the warp for itself.
template <class F>
struct WideLane {
  using Value = typename F::Value;
  using E = Extended<Value>;
  LaneInput<F> in;

  KOKKOS_FUNCTION WideLane(F const& f, bp::Chunk const& chunk, int id) : in(lane_of(f, chunk, id), id) {
    in.read(f, [] {});
  }
  /// Odds against the chunk's members.
  KOKKOS_FUNCTION E total() const {
    if (all_lanes(in.ordinary)) {
      Value const plain = in.tree(in.template odds<Value>()).total;
      if (all_lanes(suffices(plain))) return E::from(plain);
    }
    return total_out_of_range(in);
  }
  KOKKOS_FUNCTION Value message(Node<Value> const& node) const {
    bool const ordinary =
        in.ordinary && node.outside.is_ordinary() && node.head.c1.is_ordinary() && node.head.c2.is_ordinary();
    Value oriented = 0;
    if (!(all_lanes(ordinary) && message_in<Value>(in, node, oriented))) oriented = message_out_of_range(in, node);
    return in.orient(oriented);
  }

 private:
  template <class Number>
  static KOKKOS_FUNCTION bool message_in(LaneInput<F> const& in, Node<Value> const& node, Value& oriented) {
    auto const outside = number_of<Number>(node.outside);
    auto const tree = in.tree(in.template odds<Number>());
    if (!all_lanes(suffices(tree.total) && suffices(odds_against_both(tree.total, outside)))) return false;
    oriented =
        detail::message(form_to_body(weights_of<Number>(node.head)), tree.leave_one_out(outside, in.lane.levels()));
    return true;
  }
  [[gnu::noinline]] static KOKKOS_FUNCTION E total_out_of_range(LaneInput<F> in) {
    return in.tree(in.template odds<E>()).total;
  }
  [[gnu::noinline]] static KOKKOS_FUNCTION Value message_out_of_range(LaneInput<F> in, Node<Value> node) {
    Value oriented = 0;
    message_in<E>(in, node, oriented);
    return oriented;
  }
};

}  // namespace hornbill::bp::detail
