#include "solver/working_matrix.hpp"

#include <gtest/gtest.h>

#include <utility>

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

} // namespace
} // namespace espalier
