// Lack of memory in METIS, which raises SIGABRT if malloc() fails: allocations of an ordering fail in turn.
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "ordering/graphs.hpp"
#include "ordering/methods.hpp"

#if !defined(ESPALIER_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

namespace {

thread_local int allocations_left = -1; // before one fails; negative: none fails

} // namespace

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* malloc(std::size_t size) {
    if (allocations_left >= 0 && allocations_left-- == 0) return nullptr;
    return __libc_malloc(size);
}

namespace espalier {
namespace {

TEST(OrderingWithoutMemory, IsAnErrorAndDoesNotEndTheProgram) {
    Graph const graph = test::grid(10, 10, 10);
    std::vector<Index> const expected = order_by_metis(graph);
    int in_metis = 0;
    bool has_failed = true;
    for (int k = 0; has_failed; k += 1 + k / 10) {
        ASSERT_LT(k, 100'000);
        testing::internal::CaptureStderr(); // METIS prints a message
        allocations_left = k;
        try {
            EXPECT_EQ(order_by_metis(graph), expected);
        } catch (std::bad_alloc const&) {
        } catch (Error const& error) {
            EXPECT_EQ(error.status(), Status::out_of_memory);
            ++in_metis;
        }
        has_failed = allocations_left < 0;
        allocations_left = -1;
        testing::internal::GetCapturedStderr();
    }
    EXPECT_GT(in_metis, 10);
}

} // namespace
} // namespace espalier

#endif
