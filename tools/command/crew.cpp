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

Communicator const& crew() {
    return world;
}

void call_crew(Scalar scalar) {
    tell_others({.scalar = scalar});
}

int follow_crew() {
    for (;;) {
        Call call;
        broadcast_value(world, call, 0);
        if (call.dismissed) return call.exit_code;
        try {
            with_scalar(call.scalar, []<class T>(T) { Solver<T>::follow({}, world); });
        } catch (Error const&) { // process 0 tells
        }
    }
}

void dismiss_crew(int exit_code) {
    tell_others({.dismissed = true, .exit_code = exit_code});
    world = {}; // MPI is about to be finalised
}

} // namespace espalier::command
