// Lack of memory at the beginning and the end of a run: each allocation of one process fails in turn, or two
// in a row.
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "comm/message_run.hpp"
#include "comm/thread_processes.hpp"
#include "comm/traffic.hpp"
#include "core/status_of.hpp"
#include "policies/static_policy.hpp"

namespace {

thread_local int allocations_left = 0; // before some fail
thread_local int failures_left = 0;

void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
    if (espalier::depth_in_transport == 0 && failures_left > 0 && allocations_left-- <= 0) {
        --failures_left;
        throw std::bad_alloc();
    }
    void* const memory = std::aligned_alloc(alignment, (size / alignment + 1) * alignment);
    if (!memory) throw std::bad_alloc();
    return memory;
}
void* allocate_or_null(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
    try {
        return allocate(size, alignment);
    } catch (std::bad_alloc const&) {
        return nullptr;
    }
}

} // namespace

void* operator new(std::size_t size) {
    return allocate(size);
}
void* operator new[](std::size_t size) {
    return allocate(size);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
    return allocate_or_null(size);
}
void* operator new(std::size_t size, std::align_val_t alignment, std::nothrow_t const&) noexcept {
    return allocate_or_null(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::nothrow_t const&) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
    std::free(memory);
}

namespace espalier {
namespace {

struct Lack {
    int failing;  // the process that ends the run with an error; -1: none
    int in_a_row; // allocations that fail
};

// Takes two seconds. A process that waits for ever ends the program. If two allocations in a row fail, the
// notice of the first failure must need no memory. Neither must that of an error of the same process.
TEST(ExchangeWithoutMemory, EndsWithTheSameStatusOnAllOfManyProcesses) {
    ::alarm(60);
    constexpr int size = 14, poor = 3;
    for (Lack const& lack : {Lack{-1, 1}, Lack{9, 1}, Lack{poor, 1}, Lack{-1, 2}, Lack{9, 2}}) {
        int const failing = lack.failing, in_a_row = lack.in_a_row;
        int failures = 0;
        for (int k = 0; k < 40; ++k)
            run_processes(size, [&](Communicator const& comm) {
                Exchange exchange(comm, exchange_options(0), {.on_block = [](int, std::int64_t, Block&&) {}});
                exchange.start();
                std::optional<Error> mine;
                if (comm.rank() == failing) mine.emplace(Status::singular, "no pivot");
                if (comm.rank() == poor) {
                    allocations_left = k;
                    failures_left = in_a_row;
                }
                Outcome const outcome = exchange.finish(mine);
                bool const has_failed = comm.rank() == poor && failures_left < in_a_row;
                failures_left = 0;
                if (has_failed) ++failures;
                auto const status = static_cast<std::int64_t>(outcome.status);
                EXPECT_EQ(max(comm, status), status) << k;
                EXPECT_EQ(min(comm, status), status) << k;
                bool const lacked_memory = max(comm, std::int64_t{has_failed}) > 0;
                EXPECT_TRUE(outcome.status == (failing >= 0 ? Status::singular : Status::ok) ||
                            (lacked_memory && outcome.status == Status::out_of_memory))
                    << k << ": " << outcome.message;
            });
        EXPECT_GT(failures, 3) << failing << ' ' << in_a_row;
    }
    ::alarm(0);
}

// The others must not wait for a process that cannot take part in the exchange.
TEST(ExchangeWithoutMemory, EndsARunOnAllProcessesIfOneCannotBeginIt) {
    ::alarm(60);
    constexpr int size = 3, poor = 1;
    TaskGraph graph;
    connect_tasks(graph, 1, {});
    for (int const threads : {0, 1, 2}) {
        std::atomic<int> failures = 0;
        for (int k = 0; k < 40; ++k)
            run_processes(size, [&](Communicator const& comm) {
                WorkerTeam team(Topology::synthetic("core:1"), 1, false);
                StaticPolicy policy({{0}}, 1);
                Messaging const messaging{comm, exchange_options(threads)};
                MessageRun run(team, &messaging, [](int, std::int64_t, Block&&) {});
                if (comm.rank() == poor) {
                    allocations_left = k;
                    failures_left = 2;
                }
                Status const mine = status_of([&] {
                    all_succeed(&messaging, [&] { run.prepare(); });
                    run.run(graph, policy, [](TaskId, WorkerId) {}, {});
                });
                failures_left = 0;
                if (mine != Status::ok) ++failures;
                EXPECT_TRUE(mine == Status::ok || mine == Status::out_of_memory) << k << to_string(mine);
                auto const status = static_cast<std::int64_t>(mine);
                EXPECT_EQ(max(comm, status), min(comm, status)) << k;
            });
        EXPECT_GT(failures, 3 * size) << threads;
    }
    ::alarm(0);
}

} // namespace
} // namespace espalier
