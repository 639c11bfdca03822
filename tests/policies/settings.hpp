// The settings of the dynamic policies, for tests.
#pragma once

#include <vector>

#include "espalier/schedule_settings.hpp"

namespace espalier {

/// The two other policies, and places with each selection and push strategy, each strict and loose.
inline std::vector<ScheduleSettings> dynamic_settings() {
    std::vector<ScheduleSettings> all;
    for (int i = 0; i < 16; ++i)
        all.push_back({.schedule = i < 2   ? SchedulePolicy::dynamic_tree
                                   : i < 4 ? SchedulePolicy::nas
                                           : SchedulePolicy::places,
                       .push_init = static_cast<PushInit>(i / 2 % 2),
                       .push = static_cast<PushStrategy>(i / 2 % 4),
                       .select = static_cast<SelectStrategy>(i / 2 % 6),
                       .strict = i % 2 == 1,
                       .seed = 11});
    return all;
}

} // namespace espalier
