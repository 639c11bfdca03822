// How long messages take between the processes of a communicator, as a cost model wants to know it.
#pragma once

#include <vector>

#include "espalier/communicator.hpp"

namespace espalier {

/// From process 0 to another one, the best that was seen: noise only ever adds.
struct LinkTiming {
    int process = 0;
    double latency = 0;   ///< Seconds of a message without contents.
    double bandwidth = 0; ///< Bytes per second of a long one.
};

/// Measures from process 0 to `most` others at most, evenly spread, one after the other; some tenths of a
/// second for each where the network is slow, a hundredth where it is not. Collective; the links on process
/// 0, nothing elsewhere or with one process.
std::vector<LinkTiming> time_links(Communicator const& comm, int most = 16);

/// The slowest in each respect, which a schedule has to reckon with. Of one link at least.
LinkTiming slowest(std::vector<LinkTiming> const& links);

} // namespace espalier
