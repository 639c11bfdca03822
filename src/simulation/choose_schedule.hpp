// SchedulePolicy::automatic: simulates the factorization under several widths of column blocks, splittings
// and policies, and takes the settings with the shortest predicted time. In: the supernodes, the cost model,
// and the machine, possibly in several shapes (numbers of processes and threads). Out: settings for a plan.
//
// A search by coordinates: the best splitting with the default widths, then the best width, then the other
// policies, sizes of row groups, and shapes. Its length is bounded by the number of simulated tasks, not by
// time, so that equal inputs have equal results.
#pragma once

#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "simulation/schedule.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier {

struct ScheduleChoice {
    ScheduleSettings settings; ///< The settings to plan with. The policy is not automatic.
    std::size_t machine = 0;   ///< The shape, among the machines of the search.
    // Unless a policy was given:
    double seconds = -1;         ///< The predicted time of the factorization with these settings.
    double default_seconds = -1; ///< The predicted time with the default settings on the first machine.
    int tried = 0;               ///< Simulated schedules.
    double search_seconds = 0;   ///< Time of the search.
};

/// The settings of `options`, if their policy is not automatic. Otherwise chooses schedule, splitting,
/// split_rows, subtrees_per_worker and, unless max_block_width is set, the width of column blocks.
/// Allocation, strict and the communication threads are as given; other settings of policies and splittings
/// have their defaults. The default schedule on the first machine is kept unless another one is predicted to
/// be clearly faster. Takes about a second, or longer if three simulations do. Error{cancelled}.
ScheduleChoice choose_schedule(SupernodalStructure const& whole, CostModel const& model,
                               std::span<MachineModel const> machines, ScheduleOptions const& options,
                               Interrupt* interrupt = nullptr);

/// The bounds of the widths of column blocks that these settings ask for, by supernode. The minimum width is
/// obeyed everywhere: where the default largest width is less, it is raised.
std::vector<PieceWidths> piece_widths(Supernodes const& supernodes, ScheduleSettings const& settings,
                                      int workers);

} // namespace espalier
