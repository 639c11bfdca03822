// Whom to wake for a ready task. The runtime and the simulation ask the same question, of workers that sleep
// and of workers that are idle.
#pragma once

#include <utility>

#include "policies/task_graph.hpp"

namespace espalier {

/// Of the idle ones among the workers 0 .. workers - 1 the one that policy.push() named as `target`, or, if
/// that is any_worker, the first from the task's home on that serves the task: workers with near numbers are
/// near each other in the machine. any_worker when there is none. `first_idle(from, end)` tells the first
/// idle worker of a range, or `end`.
template <class FirstIdle> WorkerId whom_to_wake(Policy const& policy, TaskId task, WorkerId target,
                                                 WorkerId home, int workers, FirstIdle first_idle) {
    if (target >= 0 && target < workers)
        return first_idle(target, target + 1) == target ? target : any_worker;
    if (home < 0 || home >= workers) home = 0;
    for (auto const& [from, end] : {std::pair{home, WorkerId{workers}}, std::pair{WorkerId{0}, home}})
        for (WorkerId w = first_idle(from, end); w < end; w = first_idle(w + 1, end))
            if (policy.serves(w, task)) return w;
    return any_worker;
}

} // namespace espalier
