// Scopes, and what must hold of them: smoothness and decomposability.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {

Index ScopeTable::intern(Bits bits) {
  std::uint64_t hash = 0;
  Index size = 0;
  for (auto word : bits) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
    size += std::popcount(word);
  }
  auto const [begin, end] = by_hash_.equal_range(hash);
  for (auto it = begin; it != end; ++it)
    if (std::equal(bits.begin(), bits.end(), this->bits(it->second))) return it->second;
  auto const scope = num_scopes();
  all_.insert(all_.end(), bits.begin(), bits.end());
  sizes_.push_back(size);
  by_hash_.emplace(hash, scope);
  return scope;
}

Index ScopeTable::singleton(Index variable) {
  Bits bits(words_);
  bits[static_cast<std::size_t>(variable) / 64] |= std::uint64_t{1} << (variable % 64);
  return intern(std::move(bits));
}

Index ScopeTable::united(Index a, Index b) {
  if (a == b) return a;
  auto const pair = static_cast<std::uint64_t>(std::min(a, b)) << 32 | static_cast<std::uint32_t>(std::max(a, b));
  if (auto const known = unions_.find(pair); known != unions_.end()) return known->second;
  Bits result(bits(a), bits(a) + words_);
  for (std::size_t w = 0; w < words_; ++w) result[w] |= bits(b)[w];
  return unions_[pair] = intern(std::move(result));
}

bool ScopeTable::are_disjoint(Index a, Index b) const {
  for (std::size_t w = 0; w < words_; ++w)
    if (bits(a)[w] & bits(b)[w]) return false;
  return true;
}

namespace {

std::vector<Index> variables_of_words(std::uint64_t const* words, std::size_t count, auto const& word_of) {
  std::vector<Index> result;
  for (std::size_t w = 0; w < count; ++w)
    for (auto word = word_of(words[w], w); word != 0; word &= word - 1)
      result.push_back(static_cast<Index>(w * 64) + std::countr_zero(word));
  return result;
}

/// "x0, x3 and 12 more".
std::string list_variables(Circuit const& circuit, std::vector<Index> const& variables) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(variables.size(), most); ++i)
    names.push_back(circuit.name_of_variable(variables[i]));
  auto const rest = variables.size() - names.size();
  return fmt::format("{}{}", fmt::join(names, ", "), rest == 0 ? "" : fmt::format(" and {} more", rest));
}

class ScopeFinder {
 public:
  ScopeFinder(Circuit const& circuit, std::string const& where)
      : circuit_(circuit), where_(where), scopes_{ScopeTable(circuit.num_variables), {}} {}

  Scopes find() && {
    for (auto const& vector : circuit_.vectors) {
      switch (vector.kind) {
        case NodeKind::input:
          scopes_.of_vector.push_back(scopes_.table.singleton(circuit_.input_of(vector).variable));
          break;
        case NodeKind::product: scopes_.of_vector.push_back(of_product(vector)); break;
        case NodeKind::sum: scopes_.of_vector.push_back(of_sum(vector)); break;
      }
    }
    return std::move(scopes_);
  }

 private:
  Index of_product(NodeVector const& vector) {
    auto const first = circuit_.factors.begin() + vector.begin, last = circuit_.factors.begin() + vector.end;
    auto scope = scope_of(circuit_.factor_of(*first, 0));
    for (auto factor = first + 1; factor != last; ++factor) {
      Index const child = circuit_.factor_of(*factor, 0), of_child = scope_of(child);
      if (!scopes_.table.are_disjoint(scope, of_child)) complain_about_overlap(vector, child, scope);
      scope = scopes_.table.united(scope, of_child);
    }
    return scope;
  }

  Index of_sum(NodeVector const& vector) {
    auto const& first = circuit_.blocks[static_cast<std::size_t>(vector.begin)];
    auto const scope = scope_of(first.child);
    for (auto b = vector.begin + 1; b < vector.end; ++b)
      if (auto const& block = circuit_.blocks[static_cast<std::size_t>(b)]; scope_of(block.child) != scope)
        complain_about_difference(first, block);
    return scope;
  }

  [[noreturn]] void complain_about_overlap(NodeVector const& vector, Index child, Index before) const {
    Index const scope = scope_of(child);
    throw InputError(
        where_, "",
        fmt::format("product node {} is not decomposable: its child {} of scope {{{}}} has {{{}}} in common "
                    "with the children before it",
                    vector.first, child, list_variables(circuit_, scopes_.table.variables(scope)),
                    list_variables(circuit_, scopes_.table.common(scope, before))));
  }

  /// Children of one node differ, or those of two nodes of a vector, which has one scope.
  [[noreturn]] void complain_about_difference(EdgeBlock const& a, EdgeBlock const& b) const {
    Index const scope_a = scope_of(a.child), scope_b = scope_of(b.child);
    auto const lacking = [&](Index child, Index in, Index other, Index of) {
      auto const missing = scopes_.table.missing(other, in);
      return missing.empty() ? std::string()
                             : fmt::format("; child {} lacks {{{}}}, which child {} has", child,
                                           list_variables(circuit_, missing), of);
    };
    throw InputError(
        where_, "",
        fmt::format("sum node {} is not smooth: its child {} has the scope {{{}}}, and child {}{} the scope "
                    "{{{}}}{}{}",
                    b.sum, b.child, list_variables(circuit_, scopes_.table.variables(scope_b)), a.child,
                    a.sum == b.sum ? "" : fmt::format(" of node {} beside it", a.sum),
                    list_variables(circuit_, scopes_.table.variables(scope_a)),
                    lacking(b.child, scope_b, scope_a, a.child), lacking(a.child, scope_a, scope_b, b.child)));
  }

  Index scope_of(Index node) const { return scopes_.of_vector[static_cast<std::size_t>(circuit_.vector_of(node))]; }

  Circuit const& circuit_;
  std::string const& where_;
  Scopes scopes_;
};

}  // namespace

std::vector<Index> ScopeTable::variables(Index scope) const {
  return variables_of_words(bits(scope), words_, [](std::uint64_t word, std::size_t) { return word; });
}
std::vector<Index> ScopeTable::common(Index a, Index b) const {
  return variables_of_words(bits(a), words_, [&](std::uint64_t word, std::size_t w) { return word & bits(b)[w]; });
}
std::vector<Index> ScopeTable::missing(Index a, Index b) const {
  return variables_of_words(bits(a), words_, [&](std::uint64_t word, std::size_t w) { return word & ~bits(b)[w]; });
}

Scopes find_scopes(Circuit const& circuit, std::string const& where) { return ScopeFinder(circuit, where).find(); }

}  // namespace hornbill::circuit
