// Messages out of a chunk of a Horn factor, by one thread.
#pragma once

#include <type_traits>

#include <hornbill/detail/bp/fields.hpp>
#include <hornbill/detail/bp/odds_tree.hpp>

namespace hornbill::detail {

/// A chunk as one thread sees it: what its members say, read once. `capacity` bounds its edges; one below chunk_size is for GPUs,
/// which can keep so few numbers in registers.
template <class F, int capacity = bp::chunk_size>
class ChunkUpdate {
  using Value = typename F::Value;
  using E = Extended<Value>;
  template <class Number>
  using Tree = std::conditional_t<capacity == bp::chunk_size, BlockTree<Number>, FullTree<Number, capacity>>;

 public:
  KOKKOS_FUNCTION ChunkUpdate(F const& fields, bp::Chunk const& chunk) : f_(fields), chunk_(chunk) {
    for_each_edge([&](int i) {
      Index const edge = chunk_.first_edge + i;
      before_[i] = f_.messages(edge);
      Value const l = f_.variable_to_factor(f_.graph.factor_variables(edge), before_[i]);
      exponent_[i] = is_head(i) != static_cast<bool>(chunk_.disjunction) ? l : -l;
      ordinary_ = ordinary_ && is_ordinary(exponent_[i]);
    });
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
  /// With a bound that the compiler knows, where it is to be unrolled.
  template <class Body>
  KOKKOS_FUNCTION void for_each_edge(Body const& body) const {
    if constexpr (capacity == bp::chunk_size) {
      for (int i = 0; i < chunk_.count; ++i) body(i);
    } else {
      for (int i = 0; i < capacity; ++i)
        if (i < chunk_.count) body(i);
    }
  }
  template <class Number>
  KOKKOS_FUNCTION void fill(Tree<Number>& tree) const {
    if constexpr (capacity == bp::chunk_size) tree.odds[0] = {};
    else tree.clear();
    for_each_edge([&](int i) { tree.odds[i] = is_head(i) ? Number{} : number_exp<Number>(exponent_[i]); });
  }
  template <class Number>
  KOKKOS_FUNCTION Number total_in() const {
    Tree<Number> tree;
    fill<Number>(tree);
    return tree.compose(chunk_.count);
  }

  /// False, and nothing done, if numbers of that kind do not suffice.
  template <Write write, class Number>
  KOKKOS_FUNCTION bool put_narrow() const {
    Tree<Number> tree;
    fill<Number>(tree);
    Number const total = tree.compose(chunk_.count);
    if (!suffices(total)) return false;
    auto const p = f_.graph.parameters(chunk_.factor);
    if (chunk_.wanted & 1u) put<write>(0, message(form_to_head<Number>(p), total));
    if (chunk_.wanted & ~1u) put_body<write, Number>(tree, Number{}, head_weights(p, number_exp<Number>(exponent_[0])));
    return true;
  }
  template <Write write, class Number>
  KOKKOS_FUNCTION bool put_wide(Node<Value> const& node) const {
    Tree<Number> tree;
    fill<Number>(tree);
    auto const outside = number_of<Number>(node.outside);
    Number const total = tree.compose(chunk_.count);
    if (!suffices(total) || !suffices(odds_against_both(total, outside))) return false;  // infinity times zero is no number
    put_body<write, Number>(tree, outside, weights_of<Number>(node.head));
    return true;
  }
  template <Write write, class Number>
  KOKKOS_FUNCTION void put_body(Tree<Number>& tree, Number outside, HeadWeights<Number> const& weights) const {
    tree.leave_one_out(chunk_.count, outside);
    auto const form = form_to_body(weights);
    for_each_edge([&](int i) {
      if (!is_head(i) && chunk_.wanted >> i & 1u) put<write>(i, message(form, tree.odds[i]));
    });
  }
  template <Write write>
  KOKKOS_FUNCTION void put(int i, Value oriented) const {
    Index const edge = chunk_.first_edge + i;
    put_message<write>(f_, edge, f_.graph.factor_variables(edge), before_[i], chunk_.disjunction ? -oriented : oriented);
  }

  F const& f_;
  bp::Chunk const chunk_;
  Value exponent_[capacity], before_[capacity];
  bool ordinary_ = true;
};

template <class F>
ChunkUpdate(F const&, bp::Chunk const&) -> ChunkUpdate<F>;

/// All messages wanted of a chunk, by one thread. Of several evidence sets, neighbouring threads take the same way.
template <Write write, class F>
KOKKOS_INLINE_FUNCTION void update_chunk(F const& f, bp::Chunk const& chunk) {
  if constexpr (F::of_many) {
    if (chunk.node < 0 && chunk.count <= 4) return ChunkUpdate<F, 4>(f, chunk).template put_messages<write>();
    if (chunk.node < 0 && chunk.count <= 8) return ChunkUpdate<F, 8>(f, chunk).template put_messages<write>();
  }
  ChunkUpdate<F>(f, chunk).template put_messages<write>();
}

}  // namespace hornbill::detail
