// How fast the kernels in use are here: factorize_panel and update of the kernel families are timed on a
// made-up structure with the shapes of real ones, in memory that is larger than caches. In: scalar and
// factorization. Out: samples for a cost model (mapping/calibration.hpp), and how much slower everything is
// when all workers compute at once.
#pragma once

#include "core/interrupt.hpp"
#include "factor/factor.hpp"
#include "mapping/calibration.hpp"
#include "runtime/worker_team.hpp"

namespace espalier {

struct TimingOptions {
    double seconds = 0.4;        ///< About so long for one worker, and once or twice that for all of them.
    double worker_bytes = 256e6; ///< Most memory of each worker; less where the system has less.
    Interrupt* interrupt = nullptr;
};

struct KernelTimings {
    KernelSamples samples; ///< Of one worker while the others are idle.
    double contention = 1; ///< Time of the same work on every worker at once, relative to that.
};

/// Expects a BLAS of one thread. Error{cancelled}, {out_of_memory}.
template <class T>
KernelTimings time_kernels(FactorForm form, WorkerTeam& team, TimingOptions const& options = {});

/// Bytes per second read and written by y += a x on vectors larger than caches.
struct MemoryRates {
    double one = 0; ///< By a worker alone.
    double all = 0; ///< By all workers at once, together.
};
MemoryRates time_memory(WorkerTeam& team, Interrupt* interrupt = nullptr);

} // namespace espalier
