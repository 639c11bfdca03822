#include "comm/clock_offsets.hpp"

#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "comm/collective.hpp"
#include "comm/ping_pong.hpp"
#include "trace/clock.hpp"

namespace espalier {

namespace {

using trace::ClockOffset;
using trace::Nanoseconds;

constexpr int rounds = 20;

ClockOffset measure(PingPong& messages, int process, ClockReader const& now, bool same_clock) {
    ClockOffset best{0, 0, std::numeric_limits<Nanoseconds>::max()};
    for (int round = 0; round < rounds; ++round) {
        Nanoseconds const asked = now();
        messages.send(process, round);
        Nanoseconds const answer = messages.receive();
        Nanoseconds const error = (now() - asked + 1) / 2;
        if (error < best.error) best = {answer, answer - (asked + error), error};
    }
    if (same_clock && std::abs(best.offset) <= best.error) best.offset = best.error = 0;
    return best;
}

// Identifies the running system, whose processes share a steady clock.
std::uint64_t system_identity() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id.empty() ? 0 : std::hash<std::string>{}(id) | 1;
}

} // namespace

std::vector<ClockOffset> measure_clock_offsets(Communicator const& comm, ClockReader const& now,
                                               std::uint64_t this_clock) {
    if (comm.size() == 1) return {{now(), 0, 0}};
    std::vector<std::int64_t> const clocks = all_gather(comm, static_cast<std::int64_t>(this_clock));
    std::vector<ClockOffset> offsets;
    std::optional<PingPong> made;
    all_succeed(comm, [&] {
        made.emplace(comm);
        offsets.reserve(clocks.size());
    });
    PingPong& messages = *made;
    if (comm.rank() == 0) {
        offsets.push_back({now(), 0, 0});
        for (int process = 1; process < comm.size(); ++process)
            offsets.push_back(
                measure(messages, process, now, this_clock != 0 && clocks[process] == clocks[0]));
    } else {
        for (int round = 0; round < rounds; ++round) {
            messages.receive();
            messages.send(0, now());
        }
    }
    barrier(comm);
    return offsets;
}

std::vector<ClockOffset> measure_clock_offsets(Communicator const& comm) {
    std::uint64_t const clock = all_succeed(comm, [] { return system_identity(); });
    return measure_clock_offsets(comm, trace::steady_now, clock);
}

} // namespace espalier
