#include "comm/network_timing.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "comm/ping_pong.hpp"

namespace espalier {

namespace {

constexpr int short_rounds = 100, long_rounds = 10;
constexpr std::size_t long_lines = (std::size_t{4} << 20) / sizeof(MessageHeader); // above any eager limit
constexpr double max_seconds = 0.2; // spent on the long messages of one link
constexpr std::int64_t end_of_test = -1;

double seconds_between(trace::Nanoseconds from, trace::Nanoseconds to) {
    return static_cast<double>(to - from) * 1e-9;
}

// Seconds from sending a message with `ballast` lines to receiving an empty answer.
double round_trip(PingPong& messages, int process, std::size_t ballast) {
    auto const begin = trace::steady_now();
    messages.send(process, 0, ballast);
    messages.receive();
    return seconds_between(begin, trace::steady_now());
}

LinkTiming time_link(PingPong& messages, int process) {
    double shortest = std::numeric_limits<double>::infinity(), longest = shortest;
    for (int round = 0; round < short_rounds; ++round)
        shortest = std::min(shortest, round_trip(messages, process, 0));
    auto const begin = trace::steady_now();
    for (int round = 0; round < long_rounds; ++round) {
        longest = std::min(longest, round_trip(messages, process, long_lines));
        if (seconds_between(begin, trace::steady_now()) > max_seconds) break;
    }
    messages.send(process, end_of_test);
    double const extra = std::max(longest - shortest, 1e-9);
    return {process, shortest / 2, static_cast<double>(long_lines * sizeof(MessageHeader)) / extra};
}

} // namespace

std::vector<LinkTiming> time_links(Communicator const& comm, int most) {
    if (comm.size() == 1) return {};
    int const others = comm.size() - 1, count = std::min(others, most);
    std::vector<LinkTiming> links;
    std::optional<PingPong> made;
    all_succeed(comm, [&] {
        made.emplace(comm).reserve(long_lines);
        links.reserve(count);
    });
    PingPong& messages = *made;
    for (int i = 0; i < count; ++i) { // the last process is always among them
        int const process = static_cast<int>(static_cast<std::int64_t>(others) * (i + 1) / count);
        if (comm.rank() == 0) links.push_back(time_link(messages, process));
        if (comm.rank() == process)
            while (messages.receive() != end_of_test) messages.send(0, 0);
    }
    barrier(comm);
    return links;
}

LinkTiming slowest(std::vector<LinkTiming> const& links) {
    LinkTiming worst = links.at(0);
    for (LinkTiming const& link : links) {
        if (link.bandwidth < worst.bandwidth) worst.process = link.process;
        worst.latency = std::max(worst.latency, link.latency);
        worst.bandwidth = std::min(worst.bandwidth, link.bandwidth);
    }
    return worst;
}

} // namespace espalier
