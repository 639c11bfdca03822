// Checks that BLAS can be called from several threads at once. Some builds share buffers between callers
// without a lock and return a wrong result about once in a thousand calls, which refinement would hide.
#include <chrono>
#include <cstring>
#include <thread>

#include "kernels/dense.hpp"
#include "kernels/panel.hpp"

namespace espalier {
namespace {

using namespace testing;

constexpr Index n = 72;

// Runs trsm, rank-k update, gemm and Cholesky in sequence on data for `seed`.
template <class T> std::vector<T> chain(unsigned seed) {
    auto l = random_definite<T>(true, n, seed);
    auto b = random_dense<T>(2 * n, n, seed + 1);
    auto c = random_definite<T>(true, 2 * n, seed + 2);
    factor_cholesky<T>(true, l.view());
    trsm<T>(Side::right, Uplo::lower, Op::adjoint, Diag::non_unit, T(1), l.view(), b.view());
    rank_k_update<T>(true, -1, b.view(), 1, c.view());
    gemm<T>(Op::none, Op::adjoint, T(-1), b.view(), b.view(), T(1), c.view());
    trsm<T>(Side::left, Uplo::lower, Op::none, Diag::non_unit, T(1), l.view(),
            c.view().block(0, 0, n, 2 * n));
    return c.values;
}

// Number of wrong results among the runs of four threads during `time`.
template <class T> int count_wrong_results(std::chrono::milliseconds time) {
    constexpr unsigned num_threads = 4;
    std::atomic<int> wrong{0};
    auto const deadline = std::chrono::steady_clock::now() + time;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < num_threads; ++t) {
        threads.emplace_back([&wrong, deadline, t, expected = chain<T>(t)] {
            do {
                auto const values = chain<T>(t);
                if (std::memcmp(values.data(), expected.data(), values.size() * sizeof(T)) != 0) ++wrong;
            } while (std::chrono::steady_clock::now() < deadline);
        });
    }
    for (auto& thread : threads) thread.join();
    return wrong;
}

template <class T> class BlasThreads : public ::testing::Test {};
TYPED_TEST_SUITE(BlasThreads, Scalars);

TYPED_TEST(BlasThreads, ComputeTheSameBitsAtOnceAsOneAfterAnother) {
    set_blas_threads(1);
    EXPECT_EQ(count_wrong_results<TypeParam>(std::chrono::milliseconds(300)), 0)
        << "this BLAS (" << blas_info().config << ", " << blas_info().core
        << " kernels) gives wrong results when several threads call it at once, so no threaded factorization "
           "can "
           "be trusted with it. Debian's libopenblas0-serial is such a build: install libopenblas0-pthread";
}

} // namespace
} // namespace espalier
