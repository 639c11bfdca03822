#include "incomplete/symmetric_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/matrices.hpp"
#include "incomplete/incomplete_factor.hpp"
#include "matrix/convert.hpp"

namespace espalier {
namespace {

template <class T> class SymmetricRows : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SymmetricRows, Scalars);

constexpr Index size = 60;

/// A stored triangle with about four entries in each row and a dominant, real diagonal.
template <class T> CscMatrix<T> triangle(Symmetry symmetry, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<T> values(size * size, T(0));
    for (T& value : values) {
        if (random() % size >= 4) continue;
        value = T(static_cast<Real<T>>(uniform(random)));
        if constexpr (is_complex<T>) value += T(0, static_cast<Real<T>>(uniform(random)));
    }
    return matrix_of<T>(size, symmetry, [&](Index i, Index j) {
        return i == j ? T(Real<T>(8)) : values[std::max(i, j) + std::min(i, j) * size];
    });
}

template <class T> std::vector<T> solution(CscMatrix<T> const& a, IncompleteOptions const& options) {
    WorkerTeam team(Topology::detect(), 2);
    IncompleteFactor<T> factor(a, options, team);
    EXPECT_EQ(factor.factorize(a).replaced, 0);
    std::vector<T> x(a.rows);
    for (Index i = 0; i < a.rows; ++i) x[i] = T(static_cast<Real<T>>(1 + i % 5));
    factor.solve(x.data(), x.data());
    return x;
}

/// Returns the matrix with the entries of each column in descending order.
template <class T> CscMatrix<T> with_descending_columns(CscMatrix<T> a) {
    for (Index j = 0; j < a.cols; ++j) {
        std::reverse(a.row_ind.begin() + a.col_ptr[j], a.row_ind.begin() + a.col_ptr[j + 1]);
        std::reverse(a.values.begin() + a.col_ptr[j], a.values.begin() + a.col_ptr[j + 1]);
    }
    return a;
}

TYPED_TEST(SymmetricRows, GiveTheFactorOfTheFullMatrix) {
    using T = TypeParam;
    std::vector<Index> shuffled(size);
    std::iota(shuffled.begin(), shuffled.end(), Index(0));
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(7));
    for (Symmetry const symmetry : {Symmetry::symmetric, Symmetry::hermitian})
        for (Index const levels : {0, 1, 2})
            for (auto const& positions : {std::vector<Index>(), shuffled}) {
                auto const a = triangle<T>(symmetry, 3);
                IncompleteOptions const options{.levels = levels, .positions = positions};
                auto const expected = solution(expand_symmetric(a), options);
                auto const agree = [&](std::vector<T> const& x) {
                    for (Index i = 0; i < size; ++i)
                        EXPECT_LT(std::abs(x[i] - expected[i]), 20 * epsilon<T>)
                            << "row " << i << ", level " << levels;
                };
                agree(solution(a, options));
                agree(solution(with_descending_columns(a), options));
            }
}

TEST(SymmetricPivots, AreComparedWithTheEntriesOnBothSidesOfTheDiagonal) {
    // The second pivot is 0.3 - 2 * 2 / 8 = -0.2, beside an entry of 2. The third one is small only in
    // comparison with another row.
    auto const a = matrix_from<double>(Symmetry::symmetric,
                                       {{8, 2, 0, 0}, {2, 0.3, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 100}});
    WorkerTeam team(Topology::detect(), 1);
    for (auto const& positions : {std::vector<Index>(), std::vector<Index>{2, 3, 0, 1}}) {
        IncompleteFactor<double> factor(a, {.positions = positions}, team);
        EXPECT_EQ(factor.factorize(a, {.threshold = 0.25, .max_restarts = 0}).replaced, 1);
        // L U has the diagonal block [8 2; 2 0], because -0.5 replaces the second pivot.
        std::vector<double> x{10, 2, 1, 100};
        factor.solve(x.data(), x.data());
        EXPECT_EQ(x, (std::vector<double>{1, 1, 1, 1}));
    }
}

} // namespace
} // namespace espalier
