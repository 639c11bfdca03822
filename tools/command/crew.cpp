#include "crew.hpp"

#include <cstdint>

#include "comm/collective.hpp"
#include "comm/network_timing.hpp"
#include "core/scalar.hpp"
#include "problem.hpp"

namespace espalier::command {

namespace {

Communicator world;

enum class Work : std::int32_t { solver, network, none };

struct Call {
    Work work = Work::solver;
    Scalar scalar = Scalar::d;
    std::int32_t processes = 1;
    std::int32_t exit_code = 0;
};

void tell_others(Call call) {
    if (world.size() > 1 && world.rank() == 0) broadcast_value(world, call, 0);
}

} // namespace

void set_crew(Communicator const& processes) {
    world = processes;
}

int crew_size() {
    return world.size();
}

Communicator call_crew(Scalar scalar, std::optional<int> processes) {
    int const count = processes.value_or(world.size());
    tell_others({.scalar = scalar, .processes = count});
    return first(world, count);
}

std::optional<Network> crew_network() {
    if (world.size() == 1) return std::nullopt;
    tell_others({.work = Work::network});
    LinkTiming const worst = slowest(time_links(world));
    return Network{worst.latency, worst.bandwidth};
}

int follow_crew() {
    for (;;) {
        Call call;
        broadcast_value(world, call, 0);
        if (call.work == Work::none) {
            world = {}; // MPI is about to be finalised
            return call.exit_code;
        }
        if (call.work == Work::network) {
            time_links(world);
            continue;
        }
        Communicator const part = first(world, call.processes);
        if (part.size() == 1) continue; // not needed this time
        try {
            with_scalar(call.scalar, [&part]<class T>(T) { Solver<T>::follow({}, part); });
        } catch (Error const&) { // process 0 tells
        }
    }
}

void dismiss_crew(int exit_code) {
    tell_others({.work = Work::none, .exit_code = exit_code});
    world = {}; // MPI is about to be finalised
}

} // namespace espalier::command
