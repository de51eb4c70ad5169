/// \file
/// Sets flow along the edges of a pass: each node takes the sets of those before it.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/flow_graph.hpp>
#include <hornbill/points_to/detail/row_parts.hpp>
#include <hornbill/points_to/detail/set_worker.hpp>
#include <hornbill/points_to/detail/work_queue.hpp>

namespace hornbill::points_to::detail {

/// The union of sets that come one after another: of two it is looked up, of more it is formed from all at once.
template <class MemorySpace>
class Gathered {
 public:
  KOKKOS_FUNCTION Gathered(SetWorker<MemorySpace> const& worker, SharedSetId own) : worker_(worker) {
    if (own != shared_empty_set) add_one(own);
  }

  /// Each lane may have a set, or the empty one. All lanes call it together.
  KOKKOS_FUNCTION void add(SharedSetId set) {
    if (num_sets_ > 0 && set == first_) set = shared_empty_set;
    for (auto lanes = backend::lanes_where(set != shared_empty_set); lanes != 0;
         lanes = backend::lanes_where(set != shared_empty_set)) {
      auto const next = backend::shuffle(set, static_cast<int>(Kokkos::countr_zero(lanes)));
      if (set == next) set = shared_empty_set;
      add_one(next);
    }
  }
  /// All lanes have the same set.
  KOKKOS_FUNCTION void add_one(SharedSetId set) {
    if (set == shared_empty_set || (num_sets_ > 0 && (set == first_ || set == last_))) return;
    if (num_sets_ == max_list_of_sets) {
      first_ = take();
      num_sets_ = 0;
      put(first_);
    }
    if (num_sets_ == 0) first_ = set;
    last_ = set;
    put(set);
  }
  KOKKOS_FUNCTION SharedSetId take() const {
    if (num_sets_ == 0) return shared_empty_set;
    return num_sets_ <= 2 ? worker_.unite(first_, last_) : worker_.unite_all(worker_.list(), num_sets_);
  }

 private:
  KOKKOS_FUNCTION void put(SharedSetId set) {
    backend::sync_lanes();
    if (worker_.lane() == 0) worker_.list()[num_sets_] = set;
    ++num_sets_;
  }

  SetWorker<MemorySpace> const& worker_;
  SharedSetId first_ = shared_empty_set, last_ = shared_empty_set;
  std::uint32_t num_sets_ = 0;
};

/// Fields at an offset from an object, or at any number of steps.
struct DeviceOffset {
  static constexpr std::uint32_t steps = 0xffffffffu;
  std::uint32_t fields;  ///< the offset, or the length of a step, 0 for any
  std::uint32_t mask;    ///< the row of masks that has the objects with more fields than the offset; or `steps`
  bool of_functions;     ///< alone
};

template <class MemorySpace>
struct Offsets {
  Kokkos::View<DeviceOffset*, MemorySpace> list;
  Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, MemorySpace> masks;
  Kokkos::View<Index*, MemorySpace> object_sizes, bytes_to_end, object_periods, first_field;
  Kokkos::View<std::uint8_t*, MemorySpace> is_function;

  KOKKOS_FUNCTION SharedSetId apply(SetWorker<MemorySpace> const& worker, SharedSetId set, std::uint32_t number) const {
    auto const [fields, mask, of_functions] = list(number);
    ObjectFields const of{first_field.data(), object_sizes.data(),
                          bytes_to_end.extent(0) > 0 ? bytes_to_end.data() : nullptr,
                          object_periods.extent(0) > 0 ? object_periods.data() : nullptr, is_function.data()};
    if (mask == DeviceOffset::steps) return worker.fields(set, fields, of);
    if (of_functions) return worker.function_fields(set, fields, of);
    if (of.bytes_to_end) return worker.at_offset(set, fields, of);
    auto const within = worker.shift(set, fields, &masks(mask, 0));
    return of.periods ? worker.unite(within, worker.at_offset(set, fields, of)) : within;
  }
};

/// Adds to a node's set those of nodes before it, and its inputs. What a lane reads it asks for before it uses the
/// first of it: nodes wait for each other in long chains, and each answer of the memory takes as long as hundreds of
/// instructions.
template <class MemorySpace>
struct Pull {
  FlowGraph<MemorySpace> g;
  Offsets<MemorySpace> offsets;
  bool are_copies_final;  ///< whether sets that copies lead from do not change any more in this walk

  /// \return whether the set has grown
  KOKKOS_FUNCTION bool operator()(SetWorker<MemorySpace> const& worker, std::uint32_t slot) const {
    auto const own = backend::read_shared(g.sets(g.active(slot)));
    auto const row = row_of(slot);
    auto const first = source(row, worker.lane(), row.length);
    Gathered<MemorySpace> gathered(worker, own);
    gather(worker, first, gathered);
    add_sources(worker, row, lanes(), row.length, gathered);
    return keep(worker, slot, own, gathered);
  }
  /// Adds up a part of the row. Who is the last to do so adds up all of them.
  /// \return whether that is this worker
  KOKKOS_FUNCTION bool add_up(SetWorker<MemorySpace> const& worker, std::uint32_t part, bool& grows) const {
    auto const slot = g.in.slot_of_part(part);
    auto const row = row_of(slot);
    auto const first = g.in.first_part(slot), count = num_parts(row.length, size);
    auto const begin = (part - first) * size, end = begin + size;
    Gathered<MemorySpace> of_part(worker, shared_empty_set);
    add_sources(worker, row, begin, end < row.length ? end : row.length, of_part);
    auto const set = of_part.take();
    std::uint32_t left = 0;
    if (worker.lane() == 0) {
      backend::write_shared(g.part_sets(part), set);
      backend::order_memory();
      left = Kokkos::atomic_fetch_sub(&g.parts_left(slot), 1u);
    }
    if (backend::shuffle(left, 0) != 1) return false;
    backend::order_memory();
    auto const own = backend::read_shared(g.sets(g.active(slot)));
    Gathered<MemorySpace> gathered(worker, own);
    for (std::uint32_t base = 0; base < count; base += lanes()) {
      auto const k = base + worker.lane();
      gathered.add(k < count ? backend::read_shared(g.part_sets(first + k)) : shared_empty_set);
    }
    grows = keep(worker, slot, own, gathered);
    return true;
  }

 private:
  static constexpr std::uint32_t size = part_size<MemorySpace>;

  /// Where entries are: edges, then inputs.
  struct Row {
    std::uint32_t edges, num_edges, inputs, length;
  };
  /// What an entry adds: a set, or fields at an offset from what it has and another one has not.
  struct Source {
    SharedSetId set = shared_empty_set, sent = shared_empty_set;
    std::uint32_t offset = no_offset;
  };
  KOKKOS_FUNCTION static std::uint32_t lanes() { return static_cast<std::uint32_t>(backend::lanes_together()); }

  KOKKOS_FUNCTION Row row_of(std::uint32_t slot) const {
    auto const edges = g.in.begin(slot), end = g.in.begin(slot + 1), inputs = g.input_begin(slot);
    return {edges, end - edges, inputs, end - edges + g.input_begin(slot + 1) - inputs};
  }
  KOKKOS_FUNCTION Source source(Row const& row, std::uint32_t i, std::uint32_t end) const {
    Source source;
    if (i < end && i < row.num_edges) {
      auto& edge = g.edges(row.edges + i);
      auto const set = backend::read_shared(g.sets(edge.from));
      source = {set, edge.sent, edge.offset};
      if (set == edge.sent)
        source.set = shared_empty_set;
      else
        edge.sent = set;
    } else if (i < end) {
      auto& input = g.row_inputs(row.inputs + i - row.num_edges);
      source.set = input;
      input = shared_empty_set;  // not again in this pass
    }
    return source;
  }
  /// Each lane has a source.
  KOKKOS_FUNCTION void gather(SetWorker<MemorySpace> const& worker, Source const& source,
                              Gathered<MemorySpace>& gathered) const {
    bool const is_copy = source.offset == no_offset;
    auto others = backend::lanes_where(!is_copy && source.set != shared_empty_set);
    // A set may have been formed after this worker took its item: what is read of it must not be older than its number.
    if (others != 0 || !are_copies_final) backend::order_memory();
    gathered.add(is_copy ? source.set : shared_empty_set);
    for (; others != 0; others &= others - 1) {
      auto const one = static_cast<int>(Kokkos::countr_zero(others));
      auto const fresh = worker.subtract(backend::shuffle(source.set, one), backend::shuffle(source.sent, one));
      gathered.add_one(offsets.apply(worker, fresh, backend::shuffle(source.offset, one)));
    }
  }
  /// Entries of the row from one to another.
  KOKKOS_FUNCTION void add_sources(SetWorker<MemorySpace> const& worker, Row const& row, std::uint32_t begin,
                                   std::uint32_t end, Gathered<MemorySpace>& gathered) const {
    for (auto base = begin; base < end; base += lanes())
      gather(worker, source(row, base + worker.lane(), end), gathered);
  }
  KOKKOS_FUNCTION bool keep(SetWorker<MemorySpace> const& worker, std::uint32_t slot, SharedSetId own,
                            Gathered<MemorySpace> const& gathered) const {
    auto const set = gathered.take();
    if (set == own || worker.is_full_for_all()) return false;
    if (worker.lane() == 0) backend::write_shared(g.sets(g.active(slot)), set);
    return true;
  }
};

/// Nodes in topological order (Kahn's algorithm), each once, when those before it are done. Those on cycles, or behind
/// some, are left. Edges with offsets do not count: a node takes what has come by then. Most nodes have no news, and
/// pass only that on.
template <class MemorySpace>
struct Propagate {
  Pull<MemorySpace> pull;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, QueueWorker<MemorySpace>& items,
                                  std::uint32_t item) const {
    auto const& g = pull.g;
    auto const slot = slot_of_item(g, item);
    bool const is_out_part = (item & out_part_flag) != 0;
    auto now = backend::shuffle(backend::read_shared(g.news(slot)), 0);  // others may change it while lanes look
    if (!is_out_part && !look(worker, items, item, slot, now)) return;
    bool const has_news = now == news_leave;
    for_each_edge_out(g, items, is_out_part ? item : slot, [&](std::uint32_t to, bool is_entry, bool is_copy) {
      if (has_news) {
        if (is_entry) Kokkos::atomic_compare_exchange(&g.news(to), std::uint32_t{no_news}, std::uint32_t{news_arrive});
        backend::order_memory();  // the set, too, is there before those behind it are released
      }
      items.add(is_copy && Kokkos::atomic_fetch_sub(&g.waiting_in(to), 1u) == 1, to);
    });
  }
  /// \param news  of the slot; afterwards whether they leave
  /// \return whether the node is done
  KOKKOS_FUNCTION bool look(SetWorker<MemorySpace> const& worker, QueueWorker<MemorySpace>& items, std::uint32_t item,
                            std::uint32_t slot, std::uint32_t& news) const {
    auto const& g = pull.g;
    bool grows = false;
    if (item & in_part_flag) {
      if (!pull.add_up(worker, item & ~in_part_flag, grows)) return false;
    } else if (news == no_news) {
      return true;
    } else if (g.in.first_part(slot) != no_part) {
      add_parts(items, g.in.first_part(slot), num_parts(g.num_sources(slot), part_size<MemorySpace>), in_part_flag,
                [](std::uint32_t) { return true; });
      return false;
    } else {
      grows = pull(worker, slot);
    }
    news = grows ? news_leave : no_news;
    if (worker.lane() == 0) backend::write_shared(g.news(slot), news);
    backend::sync_lanes();
    return true;
  }
};

/// Nodes in any order, again and again until no set grows.
template <class MemorySpace>
struct Settle {
  enum State : std::uint32_t { at_rest, waits, runs, runs_again };
  Pull<MemorySpace> pull;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, QueueWorker<MemorySpace>& items,
                                  std::uint32_t item) const {
    auto const& g = pull.g;
    if (item & out_part_flag) {
      add_targets(items, item);
      return;
    }
    auto& state = g.state(item);
    // Who changes a set looks at the states behind it afterwards; who changes its state looks at the sets before it
    // afterwards. Either the first finds that the node runs, or the second finds the set: not even both may be late.
    if (worker.lane() == 0) backend::write_shared(state, std::uint32_t{runs});
    backend::sync_lanes();
    Kokkos::memory_fence();
    if (pull(worker, item)) {
      backend::sync_lanes();
      Kokkos::memory_fence();
      add_targets(items, item);
    }
    bool const again = worker.lane() == 0 &&
                       Kokkos::atomic_compare_exchange(&state, std::uint32_t{runs}, std::uint32_t{at_rest}) != runs;
    if (again) backend::write_shared(state, std::uint32_t{waits});
    items.add(again, item);
  }
  KOKKOS_FUNCTION void add_targets(QueueWorker<MemorySpace>& items, std::uint32_t item) const {
    for_each_edge_out(pull.g, items, item, [&](std::uint32_t to, bool is_entry, bool) {
      items.add(is_entry && must_run(pull.g.state(to)), to);
    });
  }
  /// \return whether the node is to be added to the queue
  KOKKOS_FUNCTION static bool must_run(std::uint32_t& state) {
    for (auto now = backend::read_shared(state);;) {
      if (now == waits || now == runs_again) return false;
      auto const next = std::uint32_t{now == at_rest ? waits : runs_again};
      auto const found = Kokkos::atomic_compare_exchange(&state, now, next);
      if (found == now) return now == at_rest;
      now = found;
    }
  }
};

/// Counts edges whose sets have grown since they were taken along.
template <class MemorySpace>
struct CountUnsettled {
  FlowGraph<MemorySpace> g;
  bool again;

  KOKKOS_FUNCTION void operator()(std::size_t chunk) const {
    auto& counters = g.counters();
    std::uint32_t count = 0;
    for_each_of_chunk<MemorySpace>(chunk, counters.kept,
                                   [&](std::size_t e) { count += g.edges(e).sent != g.sets(g.edges(e).from) ? 1 : 0; });
    if (count > 0) Kokkos::atomic_add(again ? &counters.still_unsettled : &counters.unsettled, count);
  }
};

/// Nodes wait for those before them.
template <class MemorySpace>
struct Wait {
  FlowGraph<MemorySpace> g;
  bool again;  ///< only if there is anything to do

  KOKKOS_FUNCTION void operator()(std::uint32_t slot) const {
    if (again && g.counters().unsettled == 0) return;
    g.waiting_in(slot) = g.copies_in(slot);
    g.parts_left(slot) = num_parts(g.num_sources(slot), part_size<MemorySpace>);
    g.news(slot) = g.input_begin(slot) == g.input_begin(slot + 1) ? no_news : news_arrive;
  }
};

/// There are news where a set has grown since it went along an edge.
template <class MemorySpace>
struct FindNews {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (i >= g.counters().kept) return;
    auto const& edge = g.edges(i);
    if (edge.sent != g.sets(edge.from)) backend::write_shared(g.news(g.slot_of(edge.to)), std::uint32_t{news_arrive});
  }
};

/// Those that wait for no other begin; without news they are done at once.
template <class MemorySpace>
struct BeginPropagation {
  FlowGraph<MemorySpace> g;
  bool with_sets;  ///< else only the order counts
  bool again;      ///< only if there is anything to do

  KOKKOS_FUNCTION void operator()(std::uint32_t slot, QueueSeeds<MemorySpace>& seeds) const {
    if ((again && g.counters().unsettled == 0) || g.copies_in(slot) != 0) return;
    if ((with_sets && g.news(slot) != no_news) || g.out.first_part(slot) != no_part) {
      seeds.add(slot);
      return;
    }
    for (auto e = g.out.begin(slot); e < g.out.begin(slot + 1); ++e)
      if (auto const to = g.out.others(e); (to & offset_flag) == 0)
        if (Kokkos::atomic_fetch_sub(&g.waiting_in(to), 1u) == 1) seeds.add(to);
  }
};

/// Nodes begin that have inputs, or into which an edge leads whose set has changed.
template <class MemorySpace>
struct BeginSettling {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::size_t i, QueueSeeds<MemorySpace>& seeds) const {
    g.visit(
        i, g.counters().kept,
        [&](std::size_t e) {
          if (auto const& edge = g.edges(e); edge.sent != g.sets(edge.from)) begin(edge.to, seeds);
        },
        [&](std::uint32_t node, SharedSetId) { begin(node, seeds); });
  }
  KOKKOS_FUNCTION void begin(std::uint32_t node, QueueSeeds<MemorySpace>& seeds) const {
    auto const slot = g.slot_of(node);
    auto& state = g.state(slot);
    if (backend::read_shared(state) == 0 && Kokkos::atomic_exchange(&state, 1u) == 0) seeds.add(slot);
  }
};

}  // namespace hornbill::points_to::detail
