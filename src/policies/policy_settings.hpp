// Which policy, and what it can be told. Names and defaults only.
#pragma once

#include <cstdint>

#include "espalier/types.hpp"

namespace espalier {

struct PolicySettings {
    SchedulePolicy kind = SchedulePolicy::dynamic_tree;
    PushInit push_init = PushInit::cyclicnuma;
    PushStrategy push = PushStrategy::numa_wloc;
    SelectStrategy select = SelectStrategy::numa_proc;
    bool strict = false;    ///< dynamic, places, nas: tasks do not leave their NUMA nodes.
    std::uint64_t seed = 0; ///< places: of randnuma, sRand and sRandNuma.
};

} // namespace espalier
