#include "policies/policy.hpp"

namespace espalier {

WorkerId Policy::worker_to_wake(TaskId task, WorkerId target, WorkerId home, int workers,
                                IdleWorkers const& idle) const {
    if (target >= 0 && target < workers) return idle.first_in({target, target + 1});
    if (home < 0 || home >= workers) home = 0;
    for (WorkerRange const range : {WorkerRange{home, workers}, WorkerRange{0, home}})
        for (WorkerId w = idle.first_in(range); w != any_worker; w = idle.first_in({w + 1, range.end}))
            if (may_run(w, task)) return w;
    return any_worker;
}

} // namespace espalier
