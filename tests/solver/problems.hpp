// Small problems for every factorization, and options that cut them into many tasks and messages.
#pragma once

#include <vector>

#include "core/scalar.hpp"
#include "solver/systems.hpp"

namespace espalier {

// Options for narrow blocks and low thresholds.
inline Options many_tasks(SchedulePolicy schedule, Splitting splitting, int threads) {
    Options options = on_threads(threads);
    options.schedule = schedule;
    options.splitting = splitting;
    options.max_block_width = 16;
    options.min_block_width = 8;
    options.split_width = 6;
    options.split_rows = 12;
    options.split_seconds = 0;
    options.calibration = Toggle::off;
    return options;
}

// Each column is a block, so that no rows are interchanged.
inline Options one_column_at_a_time() {
    Options options = on_threads(1);
    options.matching = Toggle::off;
    options.ordering = OrderingMethod::natural;
    options.max_block_width = options.min_block_width = 1;
    options.amalgamation_fill = 0;
    return options;
}

struct Problem {
    char const* spec;
    Factorization kind;
};

template <class T> std::vector<Problem> problems() {
    using enum Factorization;
    if constexpr (is_complex<T>)
        return {{"helmholtz3d:6", ldlt},
                {"helmholtz3d:6", llt},
                {"hermitian3d:6", ldlh},
                {"helmholtz3d:6", lu},
                {"lap3d:7", llh}};
    else
        return {{"lap3d:8", llh}, {"elast3d:4", ldlt}, {"convdiff3d:6", lu}};
}

constexpr SchedulePolicy all_schedules[] = {SchedulePolicy::static_order, SchedulePolicy::dynamic_tree,
                                            SchedulePolicy::places, SchedulePolicy::nas};

} // namespace espalier
