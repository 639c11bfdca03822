// Measures the kernels on this machine: factorize_panel and update of the kernel families, on an artificial
// structure with the shapes of real ones, in memory larger than the caches. In: scalar and factorization.
// Out: samples for a cost model (mapping/calibration.hpp), and the slowdown when all workers compute at once.
#pragma once

#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "mapping/calibration.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

struct TimingOptions {
    double seconds = 0.4;        ///< Approximate time for one worker; all together take once or twice that.
    double worker_bytes = 256e6; ///< Maximum memory of each worker; less if the system has less.
    Interrupt* interrupt = nullptr;
};

struct KernelTimings {
    KernelSamples samples; ///< From one worker while the others are idle.
    double contention = 1; ///< Time of this work on all workers at once, relative to one.
};

/// Requires a BLAS with one thread. Error{cancelled}, {out_of_memory}.
template <class T>
KernelTimings time_kernels(FactorForm form, WorkerTeam& team, TimingOptions const& options = {});

/// Bytes per second read and written by y += a x on vectors larger than caches.
struct MemoryRates {
    double one = 0; ///< By one worker alone.
    double all = 0; ///< Sum over all workers at once.
};
MemoryRates time_memory(WorkerTeam& team, Interrupt* interrupt = nullptr);

} // namespace espalier
