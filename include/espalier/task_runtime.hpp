// The runtimes that can run the tasks of an incomplete factorization.
#pragma once

namespace espalier {

/// Runtimes for the tasks of an incomplete factorization and of its triangular sweeps. Results have the same
/// bits on all of them.
enum class TaskRuntime {
    espalier, ///< Threads of Espalier, with the policy that ScheduleSettings::schedule names.
    tbb,      ///< Tasks of oneTBB, if the library was built with it.
    openmp    ///< Tasks of OpenMP, if the library was built with it.
};

} // namespace espalier
