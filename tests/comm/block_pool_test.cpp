// Blocks from memory that was touched before.
#include "comm/block_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "comm/block.hpp"

namespace espalier {
namespace {

std::size_t largest_gap(BlockPool& pool) {
    std::size_t bytes = pool.memory().size();
    for (; bytes > 0; bytes -= BlockPool::alignment)
        if (std::byte* const block = pool.take(bytes)) {
            pool.give(block, bytes);
            break;
        }
    return bytes;
}

TEST(BlockPool, HasRoomForItsSizeAndNoMore) {
    BlockPool pool(100);
    std::size_t const all = pool.memory().size();
    EXPECT_EQ(all, Arena::alignment);
    std::byte* const half = pool.take(all / 2);
    std::byte* const rest = pool.take(all / 2);
    EXPECT_NE(half, rest);
    EXPECT_EQ(pool.take(BlockPool::alignment), nullptr);
    pool.give(half, all / 2);
    EXPECT_EQ(pool.take(all), nullptr);
    pool.give(rest, all / 2);
    EXPECT_NE(pool.take(all), nullptr);
}

TEST(BlockPool, TakesTheSmallestGapThatIsLargeEnough) {
    BlockPool pool(1);
    constexpr std::size_t line = BlockPool::alignment;
    std::byte* const large = pool.take(8 * line);
    std::byte* const between = pool.take(line);
    std::byte* const small = pool.take(4 * line);
    std::byte* const last = pool.take(line);
    pool.give(large, 8 * line);
    pool.give(small, 4 * line);
    EXPECT_EQ(pool.take(4 * line), small);
    EXPECT_EQ(pool.take(8 * line), large);
    EXPECT_TRUE(between && last);
}

TEST(BlockPool, BlocksNeverOverlapAndGapsAreJoined) {
    BlockPool pool(4 << 20);
    std::byte* const begin = pool.memory().data();
    std::size_t const all = pool.memory().size();
    std::minstd_rand engine(3);
    std::map<std::byte*, std::size_t> taken;
    for (int step = 0; step < 4000; ++step) {
        if (engine() % 5 < 3) {
            std::size_t const bytes = (1 + engine() % 2000) * BlockPool::alignment;
            std::byte* const block = pool.take(bytes);
            if (!block) continue;
            ASSERT_EQ((block - begin) % static_cast<std::ptrdiff_t>(BlockPool::alignment), 0);
            ASSERT_TRUE(block >= begin && block + bytes <= begin + all);
            auto const after = taken.lower_bound(block);
            ASSERT_TRUE(after == taken.end() || block + bytes <= after->first);
            ASSERT_TRUE(after == taken.begin() ||
                        std::prev(after)->first + std::prev(after)->second <= block);
            std::memset(block, 0xff, bytes);
            taken[block] = bytes;
        } else if (!taken.empty()) {
            auto const at = std::next(taken.begin(), static_cast<std::ptrdiff_t>(engine() % taken.size()));
            pool.give(at->first, at->second);
            taken.erase(at);
        }
    }
    for (auto const& [block, bytes] : taken) pool.give(block, bytes);
    EXPECT_EQ(largest_gap(pool), all);
}

// The gaps of a pool, found by a search through all of them.
class SearchedGaps {
  public:
    explicit SearchedGaps(std::span<std::byte> memory) : gaps_{{memory.data(), memory.size()}} {}

    std::byte* take(std::size_t bytes) {
        auto best = gaps_.end();
        for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap)
            if (gap->second >= bytes && (best == gaps_.end() || gap->second < best->second)) best = gap;
        if (best == gaps_.end()) return nullptr;
        best->second -= bytes;
        std::byte* const block = best->first + best->second;
        if (best->second == 0) gaps_.erase(best);
        return block;
    }

    void give(std::byte* block, std::size_t bytes) {
        auto const gap = gaps_.emplace(block, bytes).first;
        auto const join = [&](auto before, auto after) {
            if (after == gaps_.end() || before->first + before->second != after->first) return;
            before->second += after->second;
            gaps_.erase(after);
        };
        join(gap, std::next(gap));
        if (gap != gaps_.begin()) join(std::prev(gap), gap);
    }

    [[nodiscard]] std::size_t count() const { return gaps_.size(); }

  private:
    std::map<std::byte*, std::size_t> gaps_;
};

TEST(BlockPool, TakesTheBlocksOfASearchThroughAllGaps) {
    BlockPool pool(4 << 20);
    SearchedGaps searched(pool.memory());
    std::minstd_rand engine(5);
    std::vector<std::pair<std::byte*, std::size_t>> taken;
    std::size_t most_gaps = 0;
    for (int step = 0; step < 20'000; ++step) {
        bool const grows = step % 8000 < 5000;
        if (engine() % 8 < (grows ? 6U : 3U)) {
            std::size_t const bytes = (1 + engine() % 30) * BlockPool::alignment;
            std::byte* const block = pool.take(bytes);
            ASSERT_EQ(block, searched.take(bytes)) << "step " << step;
            if (block) taken.emplace_back(block, bytes);
        } else if (!taken.empty()) {
            std::swap(taken[engine() % taken.size()], taken.back());
            auto const [block, bytes] = taken.back();
            taken.pop_back();
            std::memset(block, 0xff, bytes);
            pool.give(block, bytes);
            searched.give(block, bytes);
        }
        most_gaps = std::max(most_gaps, searched.count());
    }
    EXPECT_GT(most_gaps, 500U);
}

TEST(BlockPool, GivesMemoryToBlocksAndOutlivesThem) {
    auto pool = std::make_shared<BlockPool>(1);
    std::weak_ptr<BlockPool> const alive = pool;
    std::size_t const all = pool->memory().size();
    auto const is_inside = [memory = pool->memory()](Block const& block) {
        return block.data() >= memory.data() && block.data() < memory.data() + memory.size();
    };
    Block block = Block::allocate(1000, pool);
    EXPECT_TRUE(is_inside(block));
    EXPECT_EQ(block.size(), 1000U);
    EXPECT_FALSE(is_inside(Block::allocate(all, pool))); // too large: from the system
    EXPECT_FALSE(is_inside(Block::allocate(1000)));
    Block moved = std::move(block);
    moved = Block(std::move(moved));
    EXPECT_LT(largest_gap(*pool), all);
    pool.reset();
    EXPECT_FALSE(alive.expired());
    moved = {};
    EXPECT_TRUE(alive.expired());
}

TEST(BlockPool, IsWholeAfterItsBlocks) {
    auto const pool = std::make_shared<BlockPool>(1);
    {
        std::vector<Block> blocks;
        for (std::size_t bytes = 0; bytes < 5000; bytes += 77) blocks.push_back(Block::allocate(bytes, pool));
        std::swap(blocks.front(), blocks.back());
    }
    EXPECT_EQ(largest_gap(*pool), pool->memory().size());
}

} // namespace
} // namespace espalier
