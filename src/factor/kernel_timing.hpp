// Measures the kernels on this machine: factorize_panel and update of the kernel families, on block structures in
// memory larger than the caches. In: structures, scalar and factorization. Out: samples for a cost model
// (mapping/calibration.hpp), and the slowdown when all workers compute at once.
#pragma once

#include <span>

#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "mapping/calibration.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

struct TimingOptions {
    double seconds = 0.2; ///< Approximate time for each structure and one worker; all together take about as long.
    Interrupt* interrupt = nullptr;
};

struct KernelTimings {
    KernelSamples samples; ///< From one worker while the others are idle.
    double contention = 1; ///< Time of this work on all workers at once, relative to one.
};

/// Operations of T per second (a multiply-add counts as two) that kernels may reach: half the rate of a product.
template <class T> double kernel_rate();

/// Each kernel is called twice, once just before its target is factorized and once right after its source was.
/// Structures that take longer than the time are measured in a part of their cblks. Each worker has panels of its
/// own. Requires a BLAS with one thread. Error{cancelled}, {out_of_memory}.
template <class T>
KernelTimings time_kernels(std::span<BlockStructure const> structures, FactorForm form, WorkerTeam& team,
                           TimingOptions const& options = {});

/// Bytes per second on vectors larger than caches.
struct MemoryRates {
    double one = 0;      ///< Read and written by one worker alone in y += a x, ...
    double all = 0;      ///< ... and the sum over all workers at once.
    double read_one = 0; ///< Read by one worker alone in x^T x, ...
    double read_all = 0; ///< ... and the sum over all workers at once.
};
MemoryRates time_memory(WorkerTeam& team, Interrupt* interrupt = nullptr);

} // namespace espalier
