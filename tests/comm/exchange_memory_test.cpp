// Lack of memory at the end of a run: each allocation of one process fails in turn.
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "comm/thread_processes.hpp"
#include "comm/traffic.hpp"

namespace {

thread_local int allocations_left = -1; // before one fails; negative: none fails

void* allocate(std::size_t size) {
    if (espalier::depth_in_transport == 0 && allocations_left >= 0 && allocations_left-- == 0)
        throw std::bad_alloc();
    void* const memory = std::malloc(size > 0 ? size : 1);
    if (!memory) throw std::bad_alloc();
    return memory;
}

} // namespace

void* operator new(std::size_t size) {
    return allocate(size);
}
void* operator new[](std::size_t size) {
    return allocate(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace espalier {
namespace {

// Takes a second. A process that waits for ever ends the program.
TEST(ExchangeWithoutMemory, EndsWithTheSameStatusOnAllOfManyProcesses) {
    ::alarm(60);
    constexpr int size = 14, poor = 3, failing = 9;
    int failures = 0;
    for (bool const fails : {false, true})
        for (int k = 0; k < 40; ++k)
            run_processes(size, [&](Communicator const& comm) {
                Exchange exchange(comm, exchange_options(0), {.on_block = [](int, std::int64_t, Block&&) {}});
                std::optional<Error> mine;
                if (fails && comm.rank() == failing) mine.emplace(Status::singular, "no pivot");
                if (comm.rank() == poor) allocations_left = k;
                Outcome const outcome = exchange.finish(mine);
                bool const has_failed = comm.rank() == poor && allocations_left < 0;
                allocations_left = -1;
                if (has_failed) ++failures;
                auto const status = static_cast<std::int64_t>(outcome.status);
                EXPECT_EQ(max(comm, status), status) << k;
                EXPECT_EQ(min(comm, status), status) << k;
                bool const lacked_memory = max(comm, std::int64_t{has_failed}) > 0;
                EXPECT_TRUE(outcome.status == (fails ? Status::singular : Status::ok) ||
                            (lacked_memory && outcome.status == Status::out_of_memory))
                    << k << ": " << outcome.message;
            });
    EXPECT_GT(failures, 5);
    ::alarm(0);
}

} // namespace
} // namespace espalier
