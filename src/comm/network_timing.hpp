// Measures latency and bandwidth between the processes of a communicator, for a cost model.
#pragma once

#include <vector>

#include "espalier/communicator.hpp"

namespace espalier {

/// The timing of the link from process 0 to another process. It is the best of several measurements, because
/// noise only adds time.
struct LinkTiming {
    int process = 0;
    double latency = 0;   ///< Seconds of an empty message.
    double bandwidth = 0; ///< Bytes per second of a long message.
};

/// Measures the links from process 0 to at most `most` others, evenly spread, one after the other. Each takes
/// a hundredth of a second, or some tenths on a slow network. Collective. Returns the links on process 0, and
/// nothing on the others or with one process.
std::vector<LinkTiming> time_links(Communicator const& comm, int most = 16);

/// The largest latency and the smallest bandwidth of the links, of which there is at least one.
LinkTiming slowest(std::vector<LinkTiming> const& links);

} // namespace espalier
