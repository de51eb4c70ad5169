// Messages out of a chunk of a Horn factor, by one thread.
#pragma once

#include <hornbill/bp/detail/fields.hpp>
#include <hornbill/bp/detail/odds_tree.hpp>

namespace hornbill::bp::detail {

/// On CPUs, asks for what an update of the chunk reads from all over memory, and would wait for.
template <class F>
KOKKOS_INLINE_FUNCTION void prefetch([[maybe_unused]] F const& f, [[maybe_unused]] bp::Chunk const& chunk) {
  KOKKOS_IF_ON_HOST((for (Index e = chunk.first_edge; e < chunk.first_edge + chunk.count; ++e)
                         __builtin_prefetch(&f.sums(f.graph.factor_variables(e)));))
}
/// So many chunks ahead.
inline constexpr Index chunks_ahead = 8;

/// A chunk as one thread sees it: what its members say, read once.
template <class F>
class ChunkUpdate {
  using Value = typename F::Value;
  using E = Extended<Value>;

 public:
  KOKKOS_FUNCTION ChunkUpdate(F const& fields, bp::Chunk const& chunk) : f_(fields), chunk_(chunk) {
    for (int i = 0; i < chunk.count; ++i) {
      Index const edge = chunk.first_edge + i;
      before_[i] = f_.messages(edge);
      Value const l = f_.variable_to_factor(f_.graph.factor_variables(edge), before_[i]);
      exponent_[i] = is_head(i) != static_cast<bool>(chunk.disjunction) ? l : -l;
      ordinary_ = ordinary_ && is_ordinary(exponent_[i]);
    }
  }

  /// Odds against the chunk's members of the body.
  KOKKOS_FUNCTION E total() const {
    if (ordinary_) {
      Value const plain = total_in<Value>();
      if (suffices(plain)) return E::from(plain);
    }
    return total_in<E>();
  }

  /// All messages wanted.
  template <Write write>
  KOKKOS_FUNCTION void put_messages() const {
    if (chunk_.node < 0) {
      if (!(ordinary_ && chunk_.ordinary && put_narrow<write, Value>())) put_narrow<write, E>();
    } else {
      Node<Value> const node = f_.nodes(chunk_.node);
      bool const ordinary = node.outside.is_ordinary() && node.head.c1.is_ordinary() && node.head.c2.is_ordinary();
      if (!(ordinary_ && ordinary && put_wide<write, Value>(node))) put_wide<write, E>(node);
    }
  }

 private:
  KOKKOS_FUNCTION bool is_head(int i) const { return chunk_.head && i == 0; }
  template <class Number>
  KOKKOS_FUNCTION void fill(BlockTree<Number>& tree) const {
    tree.odds[0] = {};
    for (int i = 0; i < chunk_.count; ++i) tree.odds[i] = is_head(i) ? Number{} : number_exp<Number>(exponent_[i]);
  }
  template <class Number>
  KOKKOS_FUNCTION Number total_in() const {
    BlockTree<Number> tree;
    fill(tree);
    return tree.compose(chunk_.count);
  }

  /// False, and nothing done, if numbers of that kind do not suffice.
  template <Write write, class Number>
  KOKKOS_FUNCTION bool put_narrow() const {
    BlockTree<Number> tree;
    fill(tree);
    Number const total = tree.compose(chunk_.count);
    if (!suffices(total)) return false;
    auto const p = f_.graph.parameters(chunk_.factor);
    if (chunk_.wanted & 1u) put<write>(0, message(form_to_head<Number>(p), total));
    if (chunk_.wanted & ~1u) put_body<write>(tree, Number{}, head_weights(p, number_exp<Number>(exponent_[0])));
    return true;
  }
  template <Write write, class Number>
  KOKKOS_FUNCTION bool put_wide(Node<Value> const& node) const {
    BlockTree<Number> tree;
    fill(tree);
    auto const outside = number_of<Number>(node.outside);
    Number const total = tree.compose(chunk_.count);
    // infinity times zero is no number
    if (!suffices(total) || !suffices(odds_against_both(total, outside))) return false;
    put_body<write>(tree, outside, weights_of<Number>(node.head));
    return true;
  }
  template <Write write, class Number>
  KOKKOS_FUNCTION void put_body(BlockTree<Number>& tree, Number outside, HeadWeights<Number> const& weights) const {
    tree.leave_one_out(chunk_.count, outside);
    auto const form = form_to_body(weights);
    for (int i = chunk_.head; i < chunk_.count; ++i)
      if (chunk_.wanted >> i & 1u) put<write>(i, message(form, tree.odds[i]));
  }
  template <Write write>
  KOKKOS_FUNCTION void put(int i, Value oriented) const {
    Index const edge = chunk_.first_edge + i;
    put_message<write>(f_, edge, f_.graph.factor_variables(edge), before_[i],
                       chunk_.disjunction ? -oriented : oriented);
  }

  F const& f_;
  bp::Chunk const chunk_;
  Value exponent_[bp::chunk_size], before_[bp::chunk_size];
  bool ordinary_ = true;
};

}  // namespace hornbill::bp::detail
