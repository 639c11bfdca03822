#include "runtime/wake.hpp"

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#endif

namespace espalier {

#ifdef __linux__

namespace {

// struct sched_attr of sched_setattr(2) in its first version; not every C library has it.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0; // the time slice in ns
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

constexpr std::uint64_t shortest_slice = 100'000; // the shortest time slice that Linux accepts, in ns

} // namespace

void run_soon_after_waking() {
    SchedulingAttributes attributes;
    unsigned const no_flags = 0;
    if (syscall(SYS_sched_getattr, 0, &attributes, attributes.size, no_flags) != 0) return;
    if (attributes.policy != 0) return; // the user has chosen a policy
    attributes.runtime = shortest_slice;
    syscall(SYS_sched_setattr, 0, &attributes, no_flags); // no effect if it is refused
}

PreciseSleeps::PreciseSleeps() : tolerance_(prctl(PR_GET_TIMERSLACK)) {
    unsigned long const one_nanosecond = 1; // 0 would mean the default
    if (tolerance_ >= 0) prctl(PR_SET_TIMERSLACK, one_nanosecond);
}

PreciseSleeps::~PreciseSleeps() {
    if (tolerance_ >= 0) prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(tolerance_));
}

#else

void run_soon_after_waking() {}

PreciseSleeps::PreciseSleeps() = default;
PreciseSleeps::~PreciseSleeps() = default;

#endif

} // namespace espalier
