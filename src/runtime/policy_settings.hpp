// Which policy, and what it can be told. Names and defaults only, and their spellings on the command line.
#pragma once

#include <cstdint>
#include <string_view>

#include "espalier/types.hpp"

namespace espalier {

/// `places`: where the tasks go that are ready at the beginning.
enum class PushInit {
    cyclicnuma, ///< To the NUMA nodes in turn.
    randnuma,   ///< Each to a NUMA node at random.
};

/// `places`: where a task goes that became ready.
enum class Push {
    loc,       ///< pLoc: the list of the core that made it ready.
    loc_num,   ///< pLocNum: the list of that core's NUMA node.
    numa_w,    ///< pNumaW: the list of the NUMA node where it writes.
    numa_wloc, ///< pNumaWLoc: the core's list if the core stands on that node, else the node's.
};

/// `places`: where a worker steals whose own lists are empty.
enum class Select {
    rand,      ///< sRand: from a random core.
    rand_numa, ///< sRandNuma: from a random NUMA node.
    proc,      ///< sProc: from cores, nearest first.
    numa,      ///< sNuma: from NUMA nodes, nearest first.
    proc_numa, ///< sProcNuma: node by node, nearest first, from the cores and then from the node.
    numa_proc, ///< sNumaProc: node by node, nearest first, from the node and then from the cores.
};

struct PolicySettings {
    SchedulePolicy kind = SchedulePolicy::dynamic_tree;
    PushInit push_init = PushInit::cyclicnuma;
    Push push = Push::numa_wloc;
    Select select = Select::numa_proc;
    bool strict = false;    ///< dynamic, places, nas: tasks do not leave their NUMA nodes.
    std::uint64_t seed = 0; ///< places: of randnuma, sRand and sRandNuma.
};

char const* to_string(PushInit value);
char const* to_string(Push value);
char const* to_string(Select value);

/// From the spellings that to_string gives; Error{usage} that lists them.
PushInit parse_push_init(std::string_view text);
Push parse_push(std::string_view text);
Select parse_select(std::string_view text);

} // namespace espalier
