#include "kernels/lapack.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "kernels/dense.hpp"

namespace espalier {
namespace {

using namespace testing;

// |A^H A - diag(expected)|, largest entry.
template <class T> Real<T> distance_from_diagonal(Dense<T> const& a, std::vector<Real<T>> const& expected) {
    Dense<T> difference(a.cols, a.cols);
    gemm<T>(Op::adjoint, Op::none, T(1), a.view(), a.view(), T(0), difference.view());
    for (Index i = 0; i < a.cols; ++i) difference(i, i) -= expected[i];
    return largest_entry(difference);
}

template <class T> class Lapack : public ::testing::Test {};
TYPED_TEST_SUITE(Lapack, Scalars);

TYPED_TEST(Lapack, OrthonormalizeKeepsTheSpaceAlsoWithAGapBetweenColumns) {
    using T = TypeParam;
    auto const a = random_dense<T>(30, 6, 3);
    auto q = a;
    orthonormalize(q.view());
    EXPECT_LE(distance_from_diagonal(q, std::vector<Real<T>>(6, 1)), 100 * epsilon<T>);
    Dense<T> projection(6, 6);
    gemm<T>(Op::adjoint, Op::none, T(1), q.view(), std::as_const(a).view(), T(0), projection.view());
    EXPECT_LE(largest_difference(product(q, projection), a), 100 * epsilon<T>); // Q Q^H A = A
    for (Index i = a.rows; i < a.ld; ++i) EXPECT_EQ(q.values[i], a.values[i]);
}

TYPED_TEST(Lapack, OrthonormalizeCompletesDependentColumns) {
    using T = TypeParam;
    Dense<T> q(10, 4);
    std::ranges::fill(q.values, T(1));
    orthonormalize(q.view());
    EXPECT_LE(distance_from_diagonal(q, std::vector<Real<T>>(4, 1)), 100 * epsilon<T>);
}

TYPED_TEST(Lapack, SingularValuesAndRightVectorsDiagonalize) {
    using T = TypeParam;
    for (Index const m : {12, 40}) {
        Index const n = 12;
        auto const a = random_dense<T>(m, n, 3);
        auto overwritten = a;
        Dense<T> right(n, n);
        auto sigma = singular_values<T>(overwritten.view(), right.view());
        ASSERT_EQ(sigma.size(), static_cast<std::size_t>(n));
        EXPECT_TRUE(std::is_sorted(sigma.rbegin(), sigma.rend()));
        for (Real<T>& value : sigma) value *= value;
        EXPECT_LE(distance_from_diagonal(product(a, right, Op::adjoint), sigma), 1000 * epsilon<T>);
    }
}

// Memory for `count` numbers, followed by a page that must not be accessed.
template <class T> class GuardedArray {
  public:
    explicit GuardedArray(Index count) {
        auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        std::size_t const bytes = count * sizeof(T), pages = (bytes + page - 1) / page * page;
        size_ = pages + page;
        memory_ = static_cast<char*>(
            mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(memory_ + pages, page, PROT_NONE);
        data_ = reinterpret_cast<T*>(memory_ + pages - bytes);
    }
    GuardedArray(GuardedArray const&) = delete;
    GuardedArray& operator=(GuardedArray const&) = delete;
    ~GuardedArray() { munmap(memory_, size_); }
    [[nodiscard]] T* data() const { return data_; }

  private:
    char* memory_;
    std::size_t size_;
    T* data_;
};

// Some complex kernels of OpenBLAS do so in gesvd.
TYPED_TEST(Lapack, SingularValuesDoNotReadPastTheMatrices) {
    using T = TypeParam;
    for (Index const m : {3, 7, 12, 40})
        for (Index const n : {3, 7, 12}) {
            auto const a = random_dense<T>(m, n, 3);
            GuardedArray<T> copy(m * n), right(n * n);
            for (Index j = 0; j < n; ++j) std::copy_n(a.view().column(j), m, copy.data() + j * m);
            auto const sigma = singular_values<T>({copy.data(), m, n, m}, {right.data(), n, n, n});
            EXPECT_GT(sigma.back(), 0);
        }
}

TYPED_TEST(Lapack, AcceptsEmptyMatrices) {
    using T = TypeParam;
    orthonormalize(MatrixView<T>{nullptr, 5, 0, 5});
    EXPECT_TRUE((singular_values<T>({nullptr, 5, 0, 5}, {nullptr, 0, 0, 0}).empty()));
}

TYPED_TEST(Lapack, MatrixTimesVectorWithEveryOp) {
    using T = TypeParam;
    auto const a = random_dense<T>(5, 4, 3);
    for (Op const op : {Op::none, Op::transpose, Op::adjoint}) {
        Index const columns = op == Op::none ? 4 : 5, rows = 9 - columns;
        auto const x = random_dense<T>(columns, 1, 5);
        std::vector<T> y(rows, T(1));
        gemv<T>(op, T(2), a.view(), std::span(x.values).first(columns), T(3), y);
        for (Index i = 0; i < rows; ++i) {
            T expected(3);
            for (Index j = 0; j < columns; ++j)
                expected += T(2) * (op == Op::none ? a(i, j) : conj_if(op == Op::adjoint, a(j, i))) * x(j, 0);
            EXPECT_NEAR(std::abs(y[i] - expected), 0, 100 * epsilon<T>);
        }
    }
}

} // namespace
} // namespace espalier
