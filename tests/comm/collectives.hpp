// Checks of the collective functions, for threads or real processes as in traffic.hpp.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "comm/collective.hpp"

namespace espalier {

inline std::vector<std::byte> bytes_of(int rank, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i * 5 + rank);
    return bytes;
}

/// Exchanges blocks from each rank to each other, some of them empty, and joins the blocks of all ranks.
inline void every_pair(Communicator const& comm, std::size_t large) {
    int const size = comm.size();
    int const rank = comm.rank();
    auto const block = [&](int from, int to) {
        bool const none = (from + to) % 3 == 2;
        return std::vector<std::int64_t>(none ? 0 : (from == 0 && to == size - 1 ? large / 8 : 2 + to),
                                         from * 1000 + to);
    };
    std::vector<std::vector<std::int64_t>> blocks, expected;
    std::vector<std::int64_t> joined;
    for (int other = 0; other < size; ++other) {
        blocks.push_back(block(rank, other));
        expected.push_back(block(other, rank));
        joined.insert(joined.end(), static_cast<std::size_t>(other % 3), other);
    }
    EXPECT_EQ(all_to_all(comm, blocks), expected);
    std::vector<std::int64_t> const mine(static_cast<std::size_t>(rank % 3), rank);
    EXPECT_EQ(gather_joined<std::int64_t>(comm, mine, size - 1),
              rank == size - 1 ? joined : std::vector<std::int64_t>());
    blocks.pop_back();
    EXPECT_THROW(all_to_all(comm, blocks), Error); // on all ranks
}

/// Tries reductions, broadcasts, gather and scatter of blocks of different sizes, with every rank as root.
inline void all_collectives(Communicator const& comm, std::size_t large) {
    int const size = comm.size();
    int const rank = comm.rank();
    EXPECT_EQ(sum(comm, std::int64_t{rank}), size * (size - 1) / 2);
    EXPECT_EQ(max(comm, rank + 0.5), size - 0.5);
    EXPECT_EQ(min(comm, rank + 0.5), 0.5);
    EXPECT_EQ(min(comm, std::int64_t{rank} - (std::int64_t{1} << 60)), -(std::int64_t{1} << 60));
    std::vector<double> values{1, double(rank)};
    sum(comm, std::span(values));
    EXPECT_EQ(values, (std::vector<double>{double(size), size * (size - 1) / 2.0}));
    for (int root = 0; root < size; ++root) {
        std::vector<int> numbers(rank == root ? large / 4 : 3);
        if (rank == root) std::iota(numbers.begin(), numbers.end(), root);
        broadcast(comm, numbers, root);
        ASSERT_EQ(numbers.size(), large / 4);
        EXPECT_EQ(numbers.back(), root + static_cast<int>(large / 4) - 1);
        std::string text = rank == root ? "from " + std::to_string(root) : "";
        broadcast(comm, text, root);
        EXPECT_EQ(text, "from " + std::to_string(root));

        auto const size_of = [&](int of) { return of % 2 == 0 ? large + of : std::size_t(of / 2); };
        auto const all = gather(comm, bytes_of(rank, size_of(rank)), root);
        ASSERT_EQ(all.size(), rank == root ? std::size_t(size) : 0U);
        for (int of = 0; of < static_cast<int>(all.size()); ++of)
            EXPECT_EQ(all[of], bytes_of(of, size_of(of)));
        EXPECT_EQ(scatter(comm, all, root), bytes_of(rank, size_of(rank)));
    }
    every_pair(comm, large);
    barrier(comm);
}

/// First no rank fails, then each rank alone, then several. The error of the lowest rank is reported.
inline void all_agreements(Communicator const& comm) {
    EXPECT_TRUE(agree(comm, std::nullopt).ok());
    for (int lowest = 0; lowest < comm.size(); ++lowest) {
        std::optional<Error> mine;
        if (comm.rank() >= lowest) mine.emplace(Status::bad_input, "line " + std::to_string(comm.rank()));
        auto const outcome = agree(comm, mine);
        EXPECT_EQ(outcome.status, Status::bad_input);
        EXPECT_EQ(outcome.rank, lowest);
        std::string const line = "line " + std::to_string(lowest);
        EXPECT_EQ(outcome.message,
                  comm.size() == 1 ? line : "process " + std::to_string(lowest) + ": " + line);
        EXPECT_THROW(outcome.raise(), Error);
    }
    std::vector<std::vector<std::byte>> const none;
    EXPECT_THROW(scatter(comm, none, 0), Error); // on all ranks, not only on the root
}

} // namespace espalier
