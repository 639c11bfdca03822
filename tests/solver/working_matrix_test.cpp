#include "solver/working_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>

#include "common/allocation_failure.hpp"
#include "common/matrices.hpp"

namespace espalier {
namespace {

TEST(WorkingMatrix, IsMadeAgainAfterALackOfMemory) {
    auto const a = matrix_of(12, Symmetry::general, [](Index i, Index j) {
        auto const sum = static_cast<double>(i + j);
        return i == j ? 500 * (sum + 2) : 1 / sum;
    });
    auto changed = a;
    for (Offset p : a.entries_of(2)) changed.values[p] *= 1e9;
    ScaledSystem<double> const first(a, {.kind = Factorization::lu});
    ASSERT_TRUE(first.is_scaled());
    int failures = 0;
    for (bool succeeds = false; !succeeds; failures += !succeeds) {
        auto system = first;
        WorkingMatrix<double> working(false);
        working.set(a, system);
        failing_new::countdown = failures;
        try {
            EXPECT_TRUE(working.set_and_rescale(changed, system, {}));
            succeeds = true;
        } catch (...) { // repeated below
        }
        failing_new::countdown = -1;
        working.set_and_rescale(changed, system, {});
        ASSERT_EQ(working.of(changed).values, system.apply(changed).values) << failures;
    }
    EXPECT_GT(failures, 0);
}

template <class T> class WorkingMatrixTyped : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(WorkingMatrixTyped, Scalars);

// Other signs and exponents change the same few bits of all numbers.
TYPED_TEST(WorkingMatrixTyped, HasTheValuesAfterEqualChangesOfManyEntries) {
    using T = TypeParam;
    using R = Real<T>;
    auto const real = matrix_of(9, Symmetry::general, [](Index i, Index j) {
        return static_cast<double>(i == j ? 500 * (i + 1) : 1 + i + 2 * j);
    });
    CscMatrix<T> a{real.rows, real.cols, real.symmetry, real.col_ptr, real.row_ind, {}};
    for (double const value : real.values) {
        auto const x = static_cast<R>(value);
        if constexpr (is_complex<T>)
            a.values.emplace_back(x, R(3) + x / 4);
        else
            a.values.push_back(x);
    }
    ScaledSystem<T> const system(a, {.kind = Factorization::lu});
    ASSERT_TRUE(system.is_scaled());
    for (R const factor : {R(-1), R(2), R(-0.5), std::ldexp(R(1), -32), -std::ldexp(R(1), -32)})
        for (Offset const last : {Offset(1), Offset(2), Offset(9), a.stored()}) {
            auto changed = a;
            for (Offset p = 0; p < last; ++p) changed.values[p] *= factor;
            WorkingMatrix<T> working(false);
            working.set(a, system);
            EXPECT_FALSE(working.has_values_of(changed)) << factor << " " << last;
            working.set(changed, system);
            EXPECT_EQ(working.of(changed).values, system.apply(changed).values) << factor << " " << last;
        }
}

} // namespace
} // namespace espalier
