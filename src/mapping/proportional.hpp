// Proportional mapping: the workers that may own each cblk. In: the tree of cblks, their costs, a machine.
// Out: for each cblk a contiguous range of candidate workers; the ranges are nested along the tree (Pothen,
// Sun 1993; Hénon, Ramet, Roman 2002).
//
// Each process is an interval of length 1 on a line. Every tree of the forest gets an interval of the line in
// proportion to its cost. The interval of a subtree is divided among its children in the same way, and the
// cost of its root is spread over the whole interval. So every piece of the line has work in proportion to
// its length. Then each process gets its unit, and each thread its part of that, with one exception: a cut
// that would separate a small part of a subtree moves to the end of that subtree. Small subtrees then have
// one candidate, and only the few on the paths to the remaining cuts are shared.
//
//     line          0                   1                   2       2 processes x 2 threads
//     root          |---------------------------------------|       candidates 0 1 2 3
//     its children  |--------------------|------------------|       the cut at 1 moves to the end of the
//     their children|----------|---------|-------|----------|       left child: candidates 0 1 and 2 3
#pragma once

#include <vector>

#include "core/worker_range.hpp"
#include "mapping/machine_model.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

/// A range of workers, or of processes.
using Candidates = WorkerRange;

/// Part of the line of workers.
struct Interval {
    double begin = 0;
    double end = 0;
    [[nodiscard]] double length() const { return end - begin; }
};

struct MappingOptions {
    /// No cut between processes separates less than half of this part of a process's work from a subtree. In
    /// [0, 1).
    double process_grain = 1.0 / 16;
    double thread_grain = 1.0 / 8; ///< Likewise for cuts between threads and the work of a thread.
};

struct Mapping {
    int processes = 1;
    int threads = 1;
    std::vector<Candidates> candidates; ///< Workers, by cblk.
    std::vector<Interval> intervals;    ///< By cblk, on the line [0, processes].
    std::vector<double> worker_begin;   ///< Worker w has [worker_begin[w], worker_begin[w + 1]) of it.

    [[nodiscard]] Candidates processes_of(CblkId k) const;
    /// The workers of the process that are candidates for k, or all of them if there are none.
    [[nodiscard]] Candidates workers_in(CblkId k, int process) const;
    /// The part of the cost of k that worker `worker` has on the line; the parts add up to 1.
    [[nodiscard]] double share(CblkId k, int worker) const;
};

/// `costs` has one entry for each cblk. The work of a worker, each cblk's cost counted by its share, differs
/// from the mean by at most the part (1 + process_grain)(1 + thread_grain) - 1. Kept cblks are mapped like
/// others. O(cblks log workers). Error{usage} as require_valid(machine) and for grains out of range,
/// Error{internal} for costs that are negative or not finite.
Mapping proportional_mapping(BlockStructure const& structure, std::vector<double> const& costs,
                             MachineModel const& machine, MappingOptions const& options = {});

} // namespace espalier
