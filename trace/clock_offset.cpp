#include "trace/clock_offset.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::trace {

void set_clock(TraceParts& parts, ClockOffset const& first, ClockOffset const& last, Nanoseconds zero) {
    auto const drift = last.at > first.at ? static_cast<double>(last.offset - first.offset) /
                                                static_cast<double>(last.at - first.at)
                                          : 0.0;
    auto const set = [&](Nanoseconds& time) {
        Nanoseconds const since = std::clamp(time, first.at, std::max(first.at, last.at)) - first.at;
        time -= first.offset + std::llround(static_cast<double>(since) * drift) + zero;
    };
    for (State& state : parts.states) set(state.start), set(state.end);
    for (Link& link : parts.links) set(link.start), set(link.end);
    for (MessageEnd& end : parts.message_ends) set(end.time);
    for (Sample& sample : parts.samples) set(sample.time);
}

} // namespace espalier::trace
