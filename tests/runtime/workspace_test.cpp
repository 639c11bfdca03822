#include "runtime/workspace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "runtime/kept_pages.hpp"

namespace espalier {
namespace {

TEST(Workspace, GrowsAndKeepsMemoryThatIsLargeEnough) {
    Workspace memory;
    std::size_t const small = 1000, large = 3 * Arena::alignment + 5;
    for (std::size_t const bytes : {small, large}) {
        memory.grow(bytes);
        auto* const first = memory.as<std::byte>();
        std::fill_n(first, bytes, std::byte{7});
        memory.grow(bytes - 1);
        EXPECT_EQ(memory.as<std::byte>(), first);
        EXPECT_EQ(std::count(first, first + bytes, std::byte{7}), std::ptrdiff_t(bytes));
    }
}

TEST(Workspace, IsAlignedForVectors) {
    for (std::size_t bytes = 1; bytes < 100'000; bytes += 999) {
        Workspace memory;
        memory.grow(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.as<std::byte>()) % 64, 0U);
    }
}

TEST(Workspace, LargeMemoryIsUntouchedOnce) {
    release_kept_pages();
    Workspace memory;
    EXPECT_TRUE(memory.take_untouched().empty());
    memory.grow(1000);
    EXPECT_TRUE(memory.take_untouched().empty());
    memory.grow(2 * Arena::alignment);
    auto const pages = memory.take_untouched();
    EXPECT_EQ(pages.data(), memory.as<std::byte>());
    EXPECT_EQ(pages.size(), 2 * Arena::alignment);
    EXPECT_TRUE(memory.take_untouched().empty());
    memory.grow(3 * Arena::alignment);
    EXPECT_EQ(memory.take_untouched().size(), 3 * Arena::alignment);
}

TEST(Workspace, PagesOfEarlierWorkspacesNeedNoTouch) {
    release_kept_pages();
    std::byte* earlier = nullptr;
    {
        Workspace memory;
        memory.grow(5 * Arena::alignment);
        earlier = memory.as<std::byte>();
    }
    Workspace memory;
    memory.grow(5 * Arena::alignment);
    if (!has_one_node()) GTEST_SKIP() << "nothing is kept with several NUMA nodes";
    EXPECT_EQ(memory.as<std::byte>(), earlier);
    EXPECT_TRUE(memory.take_untouched().empty());
}

} // namespace
} // namespace espalier
