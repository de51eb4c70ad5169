// Reductions as kernels see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::tables {

class HostReductions;

/// Items of work, such as blocks of rows, that are started together.
struct Launch {
  Offset first = 0, num_teams = 0;
  Offset items_of_team = 1;  ///< which it does in turn
};

namespace detail {

/// The widest team of any backend; a layout for narrower ones takes no more bytes.
inline constexpr int max_team_size = 256;

/// A reduction on the device. Its rows, and what is eliminated, are each in two digits, so that a place in an input is
/// a sum of four entries.
struct ReductionTask {
  Offset output = 0;      ///< of its first value
  Index output_high = 0;  ///< where the output's steps of the high digit begin
  Index table = 0;        ///< which the output is
  Index first_input = 0, num_inputs = 0;
  Index rows_low = 1, rows_high = 1;  ///< rows are rows_high * rows_low
  Index over_low = 1, over_high = 1;  ///< states of what is eliminated, likewise
  Index block_rows = 1;               ///< of the low digit, which a team works on
  Index blocks_of_row = 1;            ///< that the low digit takes
  Index highs_of_block = 1;           ///< states of the high digit that it works on, one after another
  Index shifts = -1;                  ///< as HostReduction::shifts
  /// states of the high digit, from each multiple of it on, for which all but the first inputs stay the same
  Index run = 1;
  std::int8_t num_apart = 0;   ///< those first inputs, where run is above 1: one or two
  std::int8_t log_lanes = 0;   ///< 2^this lanes share a row
  std::int8_t is_strided = 0;  ///< in each input, states of what is eliminated are equally far apart
};
struct ReductionInput {
  Offset begin = 0;  ///< of its table
  Index table = 0;
  Index has_rows_in_order = 0;  ///< a row's step is the row
  Index over_low = 0;           ///< how far apart states of what is eliminated are; or as below, where not strided
  Index row_low = 0, row_high = 0, over_high = 0;  ///< where its steps begin, by digit
};
// There are millions of them where a model has a million variables.
static_assert(sizeof(ReductionTask) == 64 && sizeof(ReductionInput) == 32);
/// A team's work.
struct BlockPlace {
  Index task = 0, block = 0;  ///< block within the task
};

/// Teams that a reduction takes.
Index blocks_of(ReductionTask const& task);

/// Inputs of all reductions together.
std::size_t num_inputs(HostReductions const& reductions);

/// Lays reductions out.
/// \param team_size  lanes of a team; with one, no row is shared
/// \param[out] tasks  one a reduction, in their order   \param[out] inputs  num_inputs() of them
/// \return steps: how far each state of a digit goes in an input, in cells   \throws CapacityError for 2^31 and more
std::vector<Index> lay_out(HostReductions const& reductions, Index team_size, std::span<ReductionTask> tasks,
                           std::span<ReductionInput> inputs);

/// Bytes of a layout and of what runs all of it.
std::size_t layout_bytes(HostReductions const& reductions, Index team_size);

}  // namespace detail
}  // namespace hornbill::tables
