// The protocol of collective calls, among threads in place of processes.
#include "comm/collective_call.hpp"

#include <new>

#include "comm/thread_processes.hpp"
#include "core/status_of.hpp"

namespace espalier {
namespace {

struct Arguments {
    int number = 0;
};

TEST(OnRoot, ReturnsTheResultOfProcess0OnAllProcesses) {
    for (int const size : {1, 3})
        run_processes(size, [](Communicator const& comm) {
            int const number = on_root(comm, [&] { return 7 + comm.rank(); });
            EXPECT_EQ(number, 7);
            auto const texts = on_root(comm, [&] {
                return std::vector<std::string>{"a", std::to_string(comm.rank())};
            });
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
        EXPECT_EQ(on_root(comm, [] { return 5; }), 5); // the processes are still in step
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
            Arguments arguments{comm.rank() + 10};
            calls.begin("solve", arguments);
            EXPECT_EQ(arguments.number, 10);
        });
}

TEST(CollectiveCalls, AreRefusedOnAllProcessesIfTheyDiffer) {
    run_processes(3, [](Communicator const& comm) {
        CollectiveCalls<Arguments> const calls(comm);
        Arguments arguments{comm.rank()};
        EXPECT_TRUE(
            throws_error(Status::usage, "process 1: analyze was called while process 0 calls factorize",
                         [&] { calls.begin(comm.rank() == 1 ? "analyze" : "factorize", arguments); }));
        calls.begin("solve", arguments);
        EXPECT_EQ(arguments.number, 0);
    });
}

TEST(CollectiveCalls, AreFollowedUntilProcess0Ends) {
    run_processes(3, [](Communicator const& comm) {
        CollectiveCalls<Arguments> const calls(comm);
        Arguments arguments;
        if (comm.rank() == 0) {
            for (int i = 0; i < 3; ++i) {
                arguments.number = i;
                calls.begin("add", arguments);
                EXPECT_EQ(sum(comm, std::int64_t{i}), 3 * i);
            }
            return calls.end({42});
        }
        int expected = 0;
        for (std::string call; !(call = calls.next(arguments)).empty(); ++expected) {
            EXPECT_EQ(call, "add");
            EXPECT_EQ(arguments.number, expected);
            (void)sum(comm, std::int64_t{arguments.number});
        }
        EXPECT_EQ(expected, 3);
        EXPECT_EQ(arguments.number, 42);
    });
}

TEST(CollectiveCalls, ThatAreRefusedDoNotReachFollowers) {
    run_processes(3, [](Communicator const& comm) { // process 1 follows, process 2 makes its own calls
        CollectiveCalls<Arguments> const calls(comm);
        Arguments arguments;
        if (comm.rank() == 1) {
            EXPECT_EQ(calls.next(arguments), "second");
            return;
        }
        EXPECT_EQ(status_of([&] { calls.begin(comm.rank() == 0 ? "first" : "other", arguments); }),
                  Status::usage);
        calls.begin("second", arguments);
    });
}

} // namespace
} // namespace espalier
