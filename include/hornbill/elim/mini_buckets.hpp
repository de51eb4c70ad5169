/// \file
/// Bounds where exact elimination is too wide: buckets in parts.
#pragma once

#include <span>
#include <vector>

#include <hornbill/elim/elimination.hpp>

namespace hornbill::elim {

struct MiniBucketOptions {
  int max_variables = 10;  ///< z: of the tables of one part together, the variable that is eliminated included
  /// parts of a bucket agree on what each state of its variable costs before they go apart, which tightens the bounds
  /// of some models and loosens those of others
  bool match_moments = false;
};

/// How the tables of a bucket that is too wide go into parts.
class Partitioner {
 public:
  virtual ~Partitioner() = default;
  /// \param reductions  planned so far   \param variable  that is eliminated   \param tables  of its bucket
  /// \param place  of each variable in the order of elimination, in which all tables list them
  /// \return the tables in parts
  virtual std::vector<std::vector<Index>> divide(tables::HostReductions const& reductions, Index variable,
                                                 std::vector<Index> const& tables, std::span<Index const> place) = 0;
};

/// Plans elimination by mini-buckets, MBE(z): where a bucket's tables have more than z variables together, they go into
/// parts, each eliminated by itself. The result is at most the least cost, or at least the largest product; what the
/// assignment comes to (value_of) is the other bound. Tables go into parts by the size of their scopes: the widest
/// first, each where it fits. A table of more than z variables is a part.
///
/// With match_moments, costs are shifted between the parts of a bucket so that their least costs by state of the
/// variable are equal.
/// \source Dechter and Rish: Mini-buckets: a general scheme for bounded inference, 2003; Ihler, Flerova, Dechter and
/// Otten: Join-graph based cost-shifting schemes, 2012, section 4.1
/// \throws InputError for parts of no variable, CapacityError
HostPlan make_mini_bucket_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                               Order order, MiniBucketOptions const& options = {});

/// The same with parts chosen by somebody else.   \param partitioner  is asked where a bucket has more than z variables
/// \throws Error unless it puts each table into one part; otherwise the same
HostPlan make_mini_bucket_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                               Order order, MiniBucketOptions const& options, Partitioner& partitioner);

/// The same with parts chosen by what their tables say: of the pairs of parts that fit together, always those whose
/// result loses most where they are apart, by the mean over its cells of the cost, or of the logarithm, that is lost.
/// What becomes impossible by it counts more than any cost. Tables are computed for it, so that planning takes longer
/// than the run.
/// \param exec  where tables are computed; waits for it
/// \throws the same, and ShapeError for an order of other variables
/// \source Rollon and Dechter: New mini-bucket partitioning heuristics for bounding the probability of evidence, 2010
template <class Semiring, class ExecutionSpace>
HostPlan make_content_plan(ExecutionSpace const& exec, tables::TableNetwork<typename Semiring::Value> const& network,
                           Order order, MiniBucketOptions const& options);

/// The same by the size of scopes, but only the first variables of the order are eliminated: what is left are tables
/// over the others.
/// \param num_eliminated  from 0 to V   \throws the same, and ShapeError for more than there are
HostPlan make_partial_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                           Order order, Index num_eliminated, MiniBucketOptions const& options = {});

}  // namespace hornbill::elim

#include <hornbill/elim/detail/content.hpp>
