#include "crew.hpp"

#include <cstdint>

#include "comm/collective.hpp"
#include "core/scalar.hpp"
#include "problem.hpp"

namespace espalier::command {

namespace {

Communicator world;

struct Call {
    bool dismissed = false;
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

int follow_crew() {
    for (;;) {
        Call call;
        broadcast_value(world, call, 0);
        if (call.dismissed) {
            world = {}; // MPI is about to be finalised
            return call.exit_code;
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
    tell_others({.dismissed = true, .exit_code = exit_code});
    world = {}; // MPI is about to be finalised
}

} // namespace espalier::command
