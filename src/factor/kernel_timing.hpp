// Measures the kernels on this machine: factorize_panel and update of the kernel families, on block
// structures in memory larger than the caches. In: structures, scalar and factorization. Out: samples for a
// cost model (mapping/calibration.hpp), and the slowdown when all workers compute at once.
#pragma once

#include <span>

#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "mapping/calibration.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

struct TimingOptions {
    /// Approximate time for each structure with one worker; all workers together take as long again.
    double seconds = 0.2;
    Interrupt* interrupt = nullptr;
};

struct KernelTimings {
    KernelSamples samples; ///< Measured on one worker while the others are idle.
    double contention = 1; ///< Time of this work on all workers at once, divided by the time on one.
};

/// The operations of T per second (a multiply-add counts as two) that kernels may reach: half the rate of a
/// product.
template <class T> double kernel_rate();

/// Measures each kernel twice, once just before its target is factorized and once right after its source was
/// factorized. If a structure takes longer than the time, a part of its cblks is measured. Each worker has
/// panels of its own. Requires a BLAS with one thread. Error{cancelled}, {out_of_memory}.
template <class T> KernelTimings time_kernels(std::span<BlockStructure const> structures, FactorForm form,
                                              WorkerTeam& team, TimingOptions const& options = {});

/// Bytes per second on vectors larger than caches.
struct MemoryRates {
    double one = 0;         ///< Read and written by one worker alone in y += a x, ...
    double all = 0;         ///< ... and the sum over all workers at once.
    double read_one = 0;    ///< Read by one worker alone in x^T x, ...
    double read_all = 0;    ///< ... and the sum over all workers at once.
    double first_touch = 0; ///< Cleared by one worker in blocks of messages that it has just allocated.
};
MemoryRates time_memory(WorkerTeam& team, Interrupt* interrupt = nullptr);

} // namespace espalier
