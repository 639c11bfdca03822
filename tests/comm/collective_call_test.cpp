// The protocol of collective calls. Threads play the role of processes.
#include "comm/collective_call.hpp"

#include <new>
#include <utility>

#include "comm/thread_processes.hpp"
#include "core/status_of.hpp"

namespace espalier {
namespace {

struct Arguments {
    int number = 0;
};

void ignored(Arguments const&) {}

TEST(OnRoot, ReturnsTheResultOfProcess0OnAllProcesses) {
    for (int const size : {1, 3})
        run_processes(size, [](Communicator const& comm) {
            int const number = on_root(comm, [&] { return 7 + comm.rank(); });
            EXPECT_EQ(number, 7);
            auto const texts =
                on_root(comm, [&] { return std::vector<std::string>{"a", std::to_string(comm.rank())}; });
            EXPECT_EQ(texts, (std::vector<std::string>{"a", "0"}));
            int runs = 0;
            on_root(comm, [&] { ++runs; });
            EXPECT_EQ(runs, comm.rank() == 0 ? 1 : 0);
        });
}

TEST(OnRoot, ThrowsTheErrorOfProcess0OnAllProcesses) {
    run_processes(3, [](Communicator const& comm) {
        EXPECT_TRUE(throws_error(Status::bad_input, "line 3", [&] {
            on_root(comm, []() -> int { throw Error(Status::bad_input, "line 3"); });
        }));
        EXPECT_EQ(status_of([&] { on_root(comm, [] { throw std::bad_alloc(); }); }), Status::out_of_memory);
        EXPECT_EQ(on_root(comm, [] { return 5; }), 5); // the processes still make the same calls
    });
}

TEST(AllSucceed, ReturnsTheResultOfEachProcess) {
    run_processes(3, [](Communicator const& comm) {
        EXPECT_EQ(all_succeed(comm, [&] { return std::to_string(comm.rank()); }),
                  std::to_string(comm.rank()));
        EXPECT_EQ(status_of([&] {
                      (void)all_succeed(comm, [&]() -> int {
                          if (comm.rank() == 2) throw std::bad_alloc();
                          return 0;
                      });
                  }),
                  Status::out_of_memory);
    });
}

TEST(CollectiveCalls, TakeTheArgumentsOfProcess0) {
    for (int const size : {1, 3})
        run_processes(size, [](Communicator const& comm) {
            CollectiveCalls<Arguments> const calls(comm);
            int number = 0;
            calls.begin("solve", Arguments{comm.rank() + 10},
                        [&](Arguments const& of_0) { number = of_0.number; });
            EXPECT_EQ(number, 10);
        });
}

TEST(CollectiveCalls, AreRefusedOnAllProcessesIfTheyDiffer) {
    run_processes(3, [](Communicator const& comm) {
        CollectiveCalls<Arguments> const calls(comm);
        Arguments const arguments{comm.rank()};
        EXPECT_TRUE(
            throws_error(Status::usage, "process 1: analyze was called while process 0 calls factorize", [&] {
                calls.begin(comm.rank() == 1 ? "analyze" : "factorize", arguments, ignored);
            }));
        int number = -1;
        calls.begin("solve", arguments, [&](Arguments const& of_0) { number = of_0.number; });
        EXPECT_EQ(number, 0);
    });
}

TEST(CollectiveCalls, AreRefusedOnAllProcessesIfOneCannotAdoptTheArguments) {
    run_processes(3, [](Communicator const& comm) { // process 2 follows
        CollectiveCalls<Arguments> const calls(comm);
        bool fails = comm.rank() == 1;
        auto const adopt = [&](Arguments const&) {
            if (std::exchange(fails, false)) throw std::bad_alloc();
        };
        if (comm.rank() == 2) {
            EXPECT_EQ(calls.next(adopt).view(), "second");
            return;
        }
        EXPECT_EQ(status_of([&] { calls.begin("first", {}, adopt); }), Status::out_of_memory);
        calls.begin("second", {}, adopt);
    });
}

TEST(CollectiveCalls, AreFollowedUntilProcess0Ends) {
    run_processes(3, [](Communicator const& comm) {
        CollectiveCalls<Arguments> const calls(comm);
        if (comm.rank() == 0) {
            for (int i = 0; i < 3; ++i) {
                calls.begin("add", Arguments{i}, ignored);
                EXPECT_EQ(sum(comm, std::int64_t{i}), 3 * i);
            }
            return calls.end({42});
        }
        int number = -1, expected = 0;
        auto const adopt = [&](Arguments const& of_0) { number = of_0.number; };
        for (CallName call; !(call = calls.next(adopt)).view().empty(); ++expected) {
            EXPECT_EQ(call.view(), "add");
            EXPECT_EQ(number, expected);
            (void)sum(comm, std::int64_t{number});
        }
        EXPECT_EQ(expected, 3);
        EXPECT_EQ(number, 42);
    });
}

TEST(CollectiveCalls, ThatAreRefusedDoNotReachFollowers) {
    run_processes(3, [](Communicator const& comm) { // process 1 follows, process 2 makes its own calls
        CollectiveCalls<Arguments> const calls(comm);
        if (comm.rank() == 1) {
            EXPECT_EQ(calls.next(ignored).view(), "second");
            return;
        }
        EXPECT_EQ(status_of([&] { calls.begin(comm.rank() == 0 ? "first" : "other", {}, ignored); }),
                  Status::usage);
        calls.begin("second", {}, ignored);
    });
}

} // namespace
} // namespace espalier
