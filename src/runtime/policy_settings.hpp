// Which policy, and what it can be told. Names and defaults only, and their spellings on the command line.
#pragma once

#include <cstdint>
#include <string_view>

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

/// From the spellings that to_string gives; Error{usage} that lists them.
PushInit parse_push_init(std::string_view text);
PushStrategy parse_push(std::string_view text);
SelectStrategy parse_select(std::string_view text);

} // namespace espalier
