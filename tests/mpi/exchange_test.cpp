
#include "comm/traffic.hpp"
#include "espalier/mpi.hpp"
#include "mpi/little_memory.hpp"

namespace espalier {
namespace {

class MpiExchange : public ::testing::Test {
  protected:
    // The numbers of communication threads that the library's thread level allows.
    [[nodiscard]] std::vector<int> possible_threads() const {
        std::vector<int> possible;
        for (int const threads : {0, 1, 2})
            if (choose_comm_threads(thread_level(all), threads).threads == threads)
                possible.push_back(threads);
        return possible;
    }
    Communicator const all = communicator(MPI_COMM_WORLD);
};

TEST_F(MpiExchange, CarriesSmallAndLargeBlocksBetweenAllProcesses) {
    for (int const threads : possible_threads()) {
        all_to_all(all, exchange_options(threads), {.blocks = 100, .largest = 20'000});
        all_to_all(all, exchange_options(threads), {.blocks = 8, .largest = 4'000'000});
    }
}

TEST_F(MpiExchange, KeepsToATinyBudgetWithASlowReceiver) {
    for (int const threads : possible_threads())
        for (int const slow : {-1, 0})
            all_to_all(all, exchange_options(threads, 10'000), {.blocks = 20, .slow_rank = slow});
}

TEST_F(MpiExchange, FinishDeliversBlocksUnderWay) {
    for (int const threads : possible_threads())
        all_to_all(all, exchange_options(threads, 10'000), {.blocks = 20, .may_finish_early = true});
}

TEST_F(MpiExchange, EndsOnAllRanksWithTheErrorOfTheFailedRank) {
    if (all.size() == 1) return;
    for (int const threads : possible_threads())
        for (std::size_t const budget : {10'000, 64'000'000}) {
            failing(all, exchange_options(threads, budget), {.largest = 500'000}, all.size() - 1, -1);
            all_to_all(all, exchange_options(threads), {.blocks = 5});
            failing(all, exchange_options(threads, budget), {.largest = 500'000}, 0, all.size() - 1);
            all_to_all(all, exchange_options(threads), {.blocks = 5});
        }
}

TEST_F(MpiExchange, CanBeRepeatedManyTimes) {
    for (unsigned round = 0; round < 60; ++round)
        for (int const threads : possible_threads())
            all_to_all(all, exchange_options(threads),
                       {.blocks = 2, .largest = 300, .seed = round, .senders = 1});
}

// The caller has messages under way, with the tags that the library uses.
TEST_F(MpiExchange, IsSeparateFromTheMessagesOfTheCaller) {
    int const next = (all.rank() + 1) % all.size();
    for (int const threads : possible_threads()) {
        constexpr int tags = 4;
        double sent[tags];
        double received[tags];
        MPI_Request requests[2 * tags];
        for (int tag = 0; tag < tags; ++tag) {
            sent[tag] = 10 * all.rank() + tag;
            MPI_Isend(&sent[tag], 1, MPI_DOUBLE, next, tag, MPI_COMM_WORLD, &requests[tag]);
        }
        all_to_all(all, exchange_options(threads), {.blocks = 20});
        for (int tag = 0; tag < tags; ++tag)
            MPI_Irecv(&received[tag], 1, MPI_DOUBLE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD,
                      &requests[tags + tag]);
        all_to_all(all, exchange_options(threads), {.blocks = 20});
        MPI_Waitall(2 * tags, requests, MPI_STATUSES_IGNORE);
        for (int tag = 0; tag < tags; ++tag)
            EXPECT_EQ(received[tag], 10 * ((all.rank() + all.size() - 1) % all.size()) + tag);
    }
}

TEST_F(MpiExchange, EndsOnAllRanksIfOneHasNoMemoryForABlock) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer reserves the address space";
#endif
    if (all.size() == 1) return;
    for (int const threads : possible_threads()) {
        Inbox inbox;
        Exchange exchange(all, exchange_options(threads), {.on_block = into(inbox)});
        exchange.start();
        std::optional<LittleMemory> limit;
        if (all.rank() == 0) {
            limit.emplace(std::size_t{16} << 20);
            for (int to = 1; to < all.size(); ++to) exchange.send(to, 0, Block::allocate(8)); // now
        } else {
            while (inbox.size() == 0) move_along(exchange);
            exchange.send(0, 1, Block::allocate(std::size_t{64} << 20));
        }
        while (!exchange.failed()) move_along(exchange);
        auto const outcome = exchange.finish();
        limit.reset();
        EXPECT_EQ(outcome.status, Status::out_of_memory);
        EXPECT_EQ(outcome.message, "process 0: not enough memory for a message of 67108928 bytes");
        all_to_all(all, exchange_options(threads), {.blocks = 5});
    }
}

TEST_F(MpiExchange, ReportsTheThreadsThatTheLibraryAllows) {
    auto const most = possible_threads().back();
    auto const choice = choose_comm_threads(thread_level(all), 2);
    EXPECT_EQ(choice.threads, most);
    EXPECT_EQ(choice.message.empty(), most == 2);
    if (all.size() == 1 || most == 2) return;
    EXPECT_THROW(Exchange(all, exchange_options(2), {}), Error);
}

} // namespace
} // namespace espalier
