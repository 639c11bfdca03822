// The settings of a schedule, which a solver and a simulation share.
#pragma once

#include <cstdint>

#include "espalier/types.hpp"

namespace espalier {

/// Which worker runs which task, where coefficients are stored, and how wide column blocks become tasks.
struct ScheduleSettings {
    /// `static_order`: lists made in advance by a simulation. `automatic`: simulations choose the policy, the
    /// splitting and, unless max_block_width is set, the widths. Workers follow the other policies as they
    /// run.
    SchedulePolicy schedule = SchedulePolicy::static_order;
    PushInit push_init = PushInit::cyclicnuma;         ///< Only for SchedulePolicy::places.
    PushStrategy push = PushStrategy::numa_wloc;       ///< Only for places.
    SelectStrategy select = SelectStrategy::numa_proc; ///< Only for places.
    bool strict = false;    ///< No stealing across NUMA nodes; for dynamic_tree, places and nas.
    std::uint64_t seed = 0; ///< Seed of the random choices of places.
    Allocation allocation = Allocation::local; ///< Where coefficients are stored; see the user guide.
    /// `two_d`: the panel of a wide column block that several threads are candidates for is cut into groups
    /// of rows, and each group becomes a task of its own. `dynamic`: a task that works on such a panel is
    /// divided by groups when it starts, if enough candidates are idle.
    Splitting splitting = Splitting::one_d;
    Index split_width = 48; ///< two_d, dynamic: the minimum number of columns of a column block that is cut.
    Index split_rows = 384; ///< two_d, dynamic: the minimum number of rows of a group.
    Index split_idle = 1;   ///< dynamic: the minimum number of idle candidates.
    double split_seconds = 1e-4; ///< dynamic: the minimum predicted time of a task that is divided.
    /// Wider supernodes are split into column blocks. 0: wide blocks where a subtree belongs to one worker,
    /// narrower ones for supernodes that many workers share.
    Index max_block_width = 0;
    /// Least width of the column blocks of a split supernode, at most max_block_width if that is not 0. If
    /// both cannot hold, column blocks are wider than max_block_width. 0: half of the largest.
    Index min_block_width = 0;
    /// A subtree of the elimination tree becomes one task if it costs at most the whole factorization divided
    /// by the number of workers and by this number.
    Index subtrees_per_worker = 3;
    /// With several processes: communication threads of each process. 1 thread sends and receives, and needs
    /// MPI_THREAD_SERIALIZED. With 2, one sends and one receives, which needs MPI_THREAD_MULTIPLE. With 0,
    /// workers move messages between tasks. There are fewer if MPI does not support the number. The thread
    /// that calls the solver makes the MPI calls that begin and end a run.
    int comm_threads = 1;
    /// Only for plans and predictions: whether communication threads have cores of their own. Otherwise they
    /// use the cores of workers and slow their tasks down. `automatic`: if a process has enough cores without
    /// a worker.
    Toggle comm_own_core = Toggle::automatic;
};

} // namespace espalier
