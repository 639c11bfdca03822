
#include "comm/thread_processes.hpp"
#include "comm/traffic.hpp"
#include "core/status_of.hpp"

namespace espalier {
namespace {

TEST(Exchange, CarriesAllBlocksBetweenAllProcesses) {
    for (int const size : {2, 3, 4})
        for (int const threads : {0, 1, 2})
            run_processes(size,
                          [&](Communicator const& comm) { all_to_all(comm, exchange_options(threads), {}); });
}

TEST(Exchange, ReceivesIntoAPool) {
    for (int const threads : {0, 1, 2})
        run_processes(3, [&](Communicator const& comm) {
            auto options = exchange_options(threads);
            options.pool = std::make_shared<BlockPool>(1);
            all_to_all(comm, options, {});
            EXPECT_NE(options.pool->take(options.pool->memory().size()),
                      nullptr); // all blocks were given back
        });
}

TEST(Exchange, KeepsToATinyBudgetWithASlowReceiver) {
    for (int const slow : {-1, 1})
        for (int const threads : {0, 1, 2})
            run_processes(3, [&](Communicator const& comm) {
                all_to_all(comm, exchange_options(threads, 1000), {.blocks = 20, .slow_rank = slow});
            });
}

TEST(Exchange, FinishDeliversBlocksUnderWay) {
    for (int const threads : {0, 1, 2})
        run_processes(3, [&](Communicator const& comm) {
            all_to_all(comm, exchange_options(threads, 1000), {.may_finish_early = true});
        });
}

TEST(Exchange, EndsOnAllRanksWithTheErrorOfTheFailedRank) {
    for (int const threads : {0, 1, 2})
        for (std::size_t const budget : {1000, 10'000'000})
            run_processes(3, [&](Communicator const& comm) {
                failing(comm, exchange_options(threads, budget), {}, 1, -1);
                all_to_all(comm, exchange_options(threads), {.blocks = 5});
                failing(comm, exchange_options(threads, budget), {}, 0, 2);
                all_to_all(comm, exchange_options(threads), {.blocks = 5});
            });
}

TEST(Exchange, CanBeRepeatedManyTimes) {
    for (int const threads : {0, 1, 2})
        run_processes(2, [&](Communicator const& comm) {
            for (unsigned round = 0; round < 50; ++round)
                all_to_all(comm, exchange_options(threads),
                           {.blocks = 2, .largest = 100, .seed = round, .senders = 1});
        });
}

// Rank 1 starts when rank 0 has queued three blocks, and keeps the first. Rank 0 has nothing else to do.
TEST(Exchange, LeavesBlocksBeyondTheBudgetWithTheirSenderUntilTheReceiverIsIdle) {
    for (int const threads : {0, 1, 2}) {
        std::atomic<bool> handed_in{false};
        run_processes(2, [&](Communicator const& comm) {
            Inbox inbox;
            std::atomic<bool> idle{false};
            while (comm.rank() == 1 && !handed_in) std::this_thread::yield();
            Exchange exchange(comm, exchange_options(threads, 1000),
                              {.on_block = into(inbox), .idle = [&] { return idle.load(); }});
            exchange.start();
            auto const wait_for = [&](std::size_t count, int milliseconds) {
                auto const end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
                while (inbox.size() < count && std::chrono::steady_clock::now() < end) move_along(exchange);
                return inbox.size();
            };
            if (comm.rank() == 0) {
                for (int id = 0; id < 3; ++id) exchange.send(1, id, Block::allocate(5000));
                handed_in = true;
            } else {
                EXPECT_EQ(wait_for(1, 10'000), 1U);
                EXPECT_EQ(wait_for(2, 20), 1U);
                exchange.received_done(5000);
                EXPECT_EQ(wait_for(2, 10'000), 2U);
                EXPECT_EQ(wait_for(3, 20), 2U);
                idle = true;
                EXPECT_EQ(wait_for(3, 10'000), 3U);
            }
            EXPECT_TRUE(exchange.finish().ok());
            auto const statistics = exchange.statistics();
            EXPECT_EQ(statistics.peak_received, comm.rank() == 1 ? 5000 + 5056 + 64 : 0);
            EXPECT_EQ(statistics.peak_waiting, comm.rank() == 0 ? 15'000 : 0);
        });
    }
}

// Without wake() and worker_waits() the sleeps of a communication thread would grow to hours.
TEST(Exchange, PollsAfterWakeAndOftenWhileAWorkerWaits) {
    for (int const threads : {1, 2})
        run_processes(2, [&](Communicator const& comm) {
            std::atomic<int> looks{0};
            std::atomic<bool> waits{false};
            ExchangeHandlers handlers;
            handlers.on_block = [](int, std::int64_t, Block&&) {};
            handlers.worker_waits = [&] {
                ++looks;
                return waits.load();
            };
            ExchangeOptions options = exchange_options(threads);
            options.max_sleep = std::chrono::hours(1);
            Exchange exchange(comm, options, std::move(handlers));
            exchange.start();
            auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
            auto const come_to = [&](int count) {
                while (looks < count && std::chrono::steady_clock::now() < deadline)
                    std::this_thread::yield();
                return looks >= count;
            };
            for (int i = 0; i < 100; ++i) {
                int const before = looks;
                exchange.wake();
                EXPECT_TRUE(come_to(before + 1));
            }
            waits = true;
            exchange.wake();
            EXPECT_TRUE(come_to(looks + 100));
            EXPECT_TRUE(exchange.finish().ok());
        });
}

// A poll takes the core from a worker. Wakes, waiting workers and messages still lead to polls.
TEST(Exchange, DoesNotPollWhileAllWorkersOfASharedCoreAreBusy) {
    for (int const threads : {1, 2})
        run_processes(2, [&](Communicator const& comm) {
            std::atomic<int> looks{0}, received{0};
            std::atomic<bool> waits{false};
            ExchangeHandlers handlers;
            handlers.on_block = [&](int, std::int64_t, Block&&) { ++received; };
            handlers.worker_waits = [&] {
                ++looks;
                return waits.load();
            };
            ExchangeOptions options = exchange_options(threads);
            options.shares_core = true;
            options.rest = std::chrono::hours(1);
            Exchange exchange(comm, options, std::move(handlers));
            exchange.start();
            auto const come_to = [&](std::atomic<int> const& count, int least) {
                auto const deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
                while (count < least && std::chrono::steady_clock::now() < deadline)
                    std::this_thread::yield();
                return count >= least;
            };
            EXPECT_TRUE(come_to(looks, 1));
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            EXPECT_LE(looks, 3); // the ends of sleeps of at most 1 ms would be at least 50
            int const before = looks;
            exchange.wake();
            EXPECT_TRUE(come_to(looks, before + 1));
            exchange.send(1 - comm.rank(), 7, Block::allocate(100));
            waits = true;
            exchange.wake();
            EXPECT_TRUE(come_to(received, 1));
            EXPECT_TRUE(come_to(looks, looks + 20));
            EXPECT_TRUE(exchange.finish().ok());
        });
}

// Rank 1 starts when all but the first two blocks of rank 0 wait.
TEST(Exchange, LetsUrgentBlocksOvertakeWaitingOnes) {
    std::atomic<bool> handed_in{false};
    run_processes(2, [&](Communicator const& comm) {
        Inbox inbox;
        ExchangeOptions options = exchange_options(1);
        options.send_window = 1000;
        while (comm.rank() == 1 && !handed_in) std::this_thread::yield();
        Exchange exchange(comm, options, {.on_block = into(inbox)});
        exchange.start();
        if (comm.rank() == 0) {
            int id = 0;
            for (double const priority : {4.0, 4.0, 2.0, 3.0, 2.0, 3.0})
                exchange.send(1, id++, Block::allocate(5000), {.priority = priority});
            handed_in = true;
        }
        EXPECT_TRUE(exchange.finish().ok());
        if (comm.rank() == 1) {
            std::vector<std::int64_t> came;
            while (auto const one = inbox.take()) came.push_back(one->id);
            EXPECT_EQ(came, (std::vector<std::int64_t>{0, 1, 3, 5, 2, 4}));
        }
    });
}

TEST(Exchange, TurnsAnExceptionOfAHandlerIntoAFailureOfTheRank) {
    for (int const threads : {0, 1, 2})
        run_processes(3, [&](Communicator const& comm) {
            std::atomic<int> told{0};
            ExchangeHandlers handlers;
            handlers.on_block = [&](int, std::int64_t, Block&&) {
                if (comm.rank() == 2) throw std::bad_alloc();
            };
            handlers.on_abort = [&](Error const& error) {
                EXPECT_EQ(error.status(), Status::out_of_memory);
                ++told;
            };
            Exchange exchange(comm, exchange_options(threads), std::move(handlers));
            exchange.start();
            for (int to = 0; to < 3; ++to)
                if (to != comm.rank()) exchange.send(to, 0, Block::allocate(100));
            while (!exchange.failed()) move_along(exchange);
            auto const outcome = exchange.finish();
            EXPECT_EQ(outcome.status, Status::out_of_memory);
            EXPECT_EQ(outcome.message, "process 2: out of memory");
            EXPECT_EQ(told, 1);
        });
}

TEST(Exchange, AbandonedByAnExceptionFailsOnAllRanks) {
    run_processes(2, [&](Communicator const& comm) {
        Exchange exchange(comm, exchange_options(1), {.on_block = [](int, std::int64_t, Block&&) {}});
        exchange.start();
        if (comm.rank() == 0) return;
        auto const outcome = exchange.finish();
        EXPECT_EQ(outcome.message, "process 0: a run was abandoned before its end");
    });
}

TEST(Exchange, ReportsALongErrorInFullAtTheEnd) {
    run_processes(2, [&](Communicator const& comm) {
        std::string const text(5000, 'x');
        Exchange exchange(comm, exchange_options(1), {});
        exchange.start();
        auto const outcome =
            exchange.finish(comm.rank() == 1 ? std::optional(Error(Status::io_error, text)) : std::nullopt);
        EXPECT_EQ(outcome.message, "process 1: " + text);
    });
}

TEST(Exchange, RefusesBlocksForInvalidRanksAndAfterTheEnd) {
    run_processes(2, [&](Communicator const& comm) {
        Exchange exchange(comm, exchange_options(0), {});
        exchange.start();
        for (int const to : {-1, comm.rank(), 2})
            EXPECT_THROW(exchange.send(to, 0, Block::allocate(8)), Error);
        EXPECT_TRUE(exchange.finish().ok());
        EXPECT_THROW(exchange.send(1 - comm.rank(), 0, Block::allocate(8)), Error);
    });
}

TEST(Exchange, DoesNothingWithOneProcess) {
    Exchange exchange(Communicator(), exchange_options(2), {});
    exchange.start();
    EXPECT_FALSE(exchange.poll());
    EXPECT_THROW(exchange.send(0, 0, Block::allocate(8)), Error);
    auto const outcome = exchange.finish(Error(Status::singular, "pivot 3"));
    EXPECT_EQ(outcome.status, Status::singular);
    EXPECT_EQ(outcome.message, "pivot 3");
}

TEST(Exchange, UsesOnlyAsManyThreadsAsTheLibraryAllows) {
    EXPECT_EQ(choose_comm_threads(ThreadLevel::multiple, 2).threads, 2);
    auto const one = choose_comm_threads(ThreadLevel::serialized, 2);
    EXPECT_EQ(one.threads, 1);
    EXPECT_EQ(one.message, "2 communication threads need MPI_THREAD_MULTIPLE, but the MPI library runs with "
                           "MPI_THREAD_SERIALIZED: one communication thread is used");
    EXPECT_EQ(choose_comm_threads(ThreadLevel::serialized, 1).message, "");
    EXPECT_EQ(choose_comm_threads(ThreadLevel::funneled, 1).threads, 0);
    EXPECT_EQ(choose_comm_threads(Communicator(), 2).threads, 0);
    run_processes(
        2, [](Communicator const& comm) { EXPECT_THROW(Exchange(comm, exchange_options(2), {}), Error); },
        ThreadLevel::serialized);
}

TEST(Exchange, IsBoundToTheMainThreadIfTheLibraryIs) {
    run_processes(
        2,
        [](Communicator const& comm) {
            Inbox inbox;
            Exchange exchange(comm, exchange_options(0), {.on_block = into(inbox)});
            exchange.start();
            exchange.send(1 - comm.rank(), 7, Block::allocate(8));
            std::thread([&] {
                EXPECT_FALSE(exchange.poll());
                EXPECT_THROW(Exchange(comm, exchange_options(0), {}), Error);
            }).join();
            while (inbox.size() == 0) exchange.poll();
            EXPECT_TRUE(exchange.finish().ok());
        },
        ThreadLevel::funneled);
}

TEST(Block, IsAlignedAndReportsALackOfMemory) {
    for (std::size_t const bytes : {0, 1, 64, 65, 1000}) {
        Block const block = Block::allocate(bytes);
        EXPECT_EQ(block.size(), bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % Block::alignment, 0U);
    }
    EXPECT_EQ(Block::allocate(80).as<double>().size(), 10U);
    EXPECT_TRUE(throws_error(Status::out_of_memory,
                             "not enough memory for a message of 18446744073709551615 bytes",
                             [] { Block::allocate(std::size_t(-1)); }));
}

} // namespace
} // namespace espalier
