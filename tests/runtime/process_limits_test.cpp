#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include "io/reading.hpp"
#include "runtime/process_limits.hpp"

namespace espalier {
namespace {

class FakeRoot : public ::testing::Test {
  protected:
    void write(std::string const& path, std::string const& text) const {
        std::filesystem::path const full = root_ + path;
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }
    reading::TemporaryDirectory folder_;
    std::string root_ = folder_.file("");
};

TEST_F(FakeRoot, WithoutFilesThereIsNoLimit) {
    EXPECT_EQ(available_memory_bytes(root_), std::numeric_limits<std::uint64_t>::max());
    EXPECT_TRUE(std::isinf(cpu_quota(root_)));
}

TEST_F(FakeRoot, Version2LimitsOfAncestorsCount) {
    write("proc/meminfo", "MemTotal: 1000 kB\nMemAvailable:     900 kB\n");
    write("proc/self/cgroup", "0::/slice/job\n");
    EXPECT_EQ(available_memory_bytes(root_), 900u * 1024);
    write("sys/fs/cgroup/slice/job/memory.max", "max\n");
    write("sys/fs/cgroup/slice/job/memory.current", "300000\n");
    write("sys/fs/cgroup/slice/memory.max", "500000\n");
    write("sys/fs/cgroup/slice/memory.current", "300000\n");
    EXPECT_EQ(available_memory_bytes(root_), 200'000u);
    write("sys/fs/cgroup/slice/memory.stat", "anon 5\nactive_file 40000\ninactive_file 60000\n");
    EXPECT_EQ(available_memory_bytes(root_), 300'000u); // file cache can be reclaimed
    write("sys/fs/cgroup/slice/job/memory.max", "300000\n");
    EXPECT_EQ(available_memory_bytes(root_), 0u);

    EXPECT_TRUE(std::isinf(cpu_quota(root_)));
    write("sys/fs/cgroup/slice/job/cpu.max", "max 100000\n");
    EXPECT_TRUE(std::isinf(cpu_quota(root_)));
    write("sys/fs/cgroup/slice/cpu.max", "150000 100000\n");
    EXPECT_DOUBLE_EQ(cpu_quota(root_), 1.5);
}

TEST_F(FakeRoot, Version1LimitsCount) {
    write("proc/meminfo", "MemAvailable: 1000000 kB\n");
    write("proc/self/cgroup", "5:cpu,cpuacct:/box\n4:memory:/box\nnonsense\n0::/\n");
    write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "1000000\n");
    write("sys/fs/cgroup/memory/box/memory.usage_in_bytes", "400000\n");
    write("sys/fs/cgroup/memory/box/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
    write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "200000\n");
    write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(available_memory_bytes(root_), 700'000u);
    EXPECT_DOUBLE_EQ(cpu_quota(root_), 2.0);
    write("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
    EXPECT_TRUE(std::isinf(cpu_quota(root_)));
}

// Sanitizers have a malloc of their own. GCC defines macros, clang has features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_ALLOCATES
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZER_ALLOCATES
#endif
#endif

#ifndef SANITIZER_ALLOCATES
TEST(ProcessLimits, FreeMemoryOfTheHeapIsReturned) {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int b = 0; b < 32'000; ++b) {
        blocks.push_back(std::make_unique<char[]>(1000));
        blocks.back()[0] = 1;
    }
    std::unique_ptr<char[]> const last = std::make_unique<char[]>(1000); // keeps the end of the heap
    blocks.clear();
    std::uint64_t const before = current_rss_bytes();
    return_free_memory();
    EXPECT_LT(current_rss_bytes(), before - (24 << 20));
}
#endif

TEST(ProcessLimits, RecentMemoryIsReadAgainAfterTenMilliseconds) {
    ResidentMemory const before = recent_resident_memory();
    EXPECT_GT(before.current, std::uint64_t{100'000});
    EXPECT_GE(before.peak, before.current);
    std::size_t const bytes = before.peak - before.current + (32 << 20);
    std::vector<char> const large(bytes, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(12));
    ResidentMemory const after = recent_resident_memory();
    EXPECT_GT(after.current, before.current + bytes / 2);
    EXPECT_GT(after.peak, before.peak);
}

// Another thread makes the resident set larger while it is read, page by page.
TEST(ProcessLimits, RecentMemoryInUseIsNeverAboveItsPeak) {
    ResidentMemory const before = recent_resident_memory();
    std::vector<char> const highest(before.peak - before.current + (32 << 20), 1);
    constexpr std::size_t bytes = std::size_t{1} << 29;
    void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    std::atomic<bool> stop = false;
    std::thread grows([&] {
        for (std::size_t at = 0; at < bytes && !stop; at += 4096) static_cast<char volatile*>(pages)[at] = 1;
    });
    for (int k = 0; k < 5; ++k) {
        std::this_thread::sleep_for(std::chrono::milliseconds(11));
        ResidentMemory const now = recent_resident_memory();
        EXPECT_GE(now.peak, now.current);
    }
    stop = true;
    grows.join();
    munmap(pages, bytes);
}

TEST(ProcessLimits, OfThisProcessAreSane) {
    EXPECT_GT(peak_rss_bytes(), std::uint64_t{100'000});
    EXPECT_GT(available_memory_bytes(), std::uint64_t{1'000'000});
    EXPECT_GT(cpu_quota(), 0);
}

} // namespace
} // namespace espalier
