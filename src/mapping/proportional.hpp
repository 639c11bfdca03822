// Proportional mapping: which workers may own each cblk. In: the tree of cblks, the cost of each, a machine.
// Out: for each cblk a contiguous range of candidate workers, nested along the tree (Pothen, Sun 1993; Hénon,
// Ramet, Roman 2002).
//
// The processes stand on a line, each one unit long. Every tree of the forest gets an interval of it in
// proportion to its cost; a subtree's interval is divided among its children in the same way, and its root's
// own cost is spread over the whole of it. So every piece of the line carries work in proportion to its
// length. Then each process gets its unit, and each thread its part of that, with one freedom: where the end
// of a process or thread would cut a little off a subtree, it moves to the end of that subtree. Small
// subtrees then have one candidate, and only the few on the paths to the remaining cuts are shared.
//
//     line          0                   1                   2       2 processes x 2 threads
//     root          |---------------------------------------|       candidates 0 1 2 3
//     its children  |--------------------|------------------|       the cut at 1 moves to the end of the
//     theirs        |----------|---------|-------|----------|       left child: candidates 0 1 and 2 3
#pragma once

#include <vector>

#include "core/worker_range.hpp"
#include "mapping/machine_model.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

/// Of workers, or of processes.
using Candidates = WorkerRange;

/// Part of the line of workers.
struct Interval {
    double begin = 0;
    double end = 0;
    [[nodiscard]] double length() const { return end - begin; }
};

struct MappingOptions {
    /// Subtrees up to this part of a process's work stay in one process: half of it is never cut off.
    double process_grain = 1.0 / 16;
    double thread_grain = 1.0 / 8; ///< The same of a thread's work and threads. Both in [0, 1).
};

struct Mapping {
    int processes = 1;
    int threads = 1;
    std::vector<Candidates> candidates; ///< Workers, by cblk.
    std::vector<Interval> intervals;    ///< By cblk, on the line [0, processes].
    std::vector<double> worker_begin;   ///< Worker w has [worker_begin[w], worker_begin[w + 1]) of it.

    [[nodiscard]] Candidates processes_of(CblkId k) const;
    /// Those workers of process p that are candidates for k; all of them where p is no candidate itself.
    [[nodiscard]] Candidates workers_in(CblkId k, int process) const;
    /// The part of the own cost of k that lies on worker w: these add up to 1.
    [[nodiscard]] double share(CblkId k, int worker) const;
};

/// `costs` has one entry a cblk. The work of a worker, each cblk's cost counted by its share, differs from
/// the mean by at most the part (1 + process_grain)(1 + thread_grain) - 1. Kept cblks are mapped like others.
/// O(cblks log workers). Error{usage} as require_valid(machine) and for grains out of range, Error{internal}
/// for costs that are no times.
Mapping proportional_mapping(BlockStructure const& structure, std::vector<double> const& costs,
                             MachineModel const& machine, MappingOptions const& options = {});

} // namespace espalier
