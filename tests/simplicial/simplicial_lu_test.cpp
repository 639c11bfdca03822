#include "simplicial/simplicial_lu.hpp"

#include <atomic>
#include <cstdlib>
#include <new>
#include <set>

#include "support.hpp"

namespace {
std::atomic<long> allocations{0};
}

// Counts the allocations of the whole program.
void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* const memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    ++allocations;
    return std::malloc(bytes > 0 ? bytes : 1);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace espalier {
namespace {

using namespace test;

template <class T> SimplicialLuOptions usual_options() {
    SimplicialLuOptions options;
    options.pivot_threshold = 32 * static_cast<double>(epsilon<T>);
    options.replacement = std::sqrt(static_cast<double>(epsilon<T>));
    return options;
}

template <class T> class SimplicialLuOf : public testing::Test {};
using Scalars = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SimplicialLuOf, Scalars);

template <class T> std::vector<T> random_block(Index entries, std::uint64_t seed) {
    SplitMix64 random(seed);
    std::vector<T> block(entries);
    for (T& value : block) value = random_value<T>(random);
    return block;
}

// The worst backward error of some solves with each op.
template <class T> double worst_error(SimplicialLu<T>& lu, CscMatrix<T> const& a, Index columns) {
    double worst = 0;
    Index const n = a.cols;
    for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose, MatrixOp::adjoint}) {
        auto const b = random_block<T>(n * columns, 5);
        auto x = b;
        lu.solve(x, columns, op);
        for (Index j = 0; j < columns; ++j)
            worst = std::max(worst, backward_error<T>(a, std::span<T const>(x).subspan(j * n, n),
                                                      std::span<T const>(b).subspan(j * n, n), op));
    }
    return worst;
}

// Pivots may be 1000 times as small as other entries of their column.
template <class T> double bound() {
    return 1e4 * static_cast<double>(epsilon<T>);
}

TYPED_TEST(SimplicialLuOf, SolvesIrregularSystems) {
    using T = TypeParam;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Index const n = 1 + static_cast<Index>(seed * 7 % 61);
        auto const a = irregular_matrix<T>(n, n * static_cast<Index>(seed % 4), seed % 3 == 0, seed);
        auto const plan = plan_simplicial_lu(pattern_of(a));
        ASSERT_TRUE(plan);
        SimplicialLu<T> lu;
        lu.set_plan(*plan);
        ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
        EXPECT_EQ(lu.pivots_replaced(), 0) << seed;
        EXPECT_LT(worst_error(lu, a, seed % 13), bound<T>()) << seed;
    }
}

TYPED_TEST(SimplicialLuOf, RefactorizationGivesTheSameFactors) {
    using T = TypeParam;
    auto const a = irregular_matrix<T>(200, 500, true, 8);
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<T> lu;
    lu.set_plan(*plan);
    ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
    ASSERT_TRUE(lu.can_refactorize());
    auto const first = lu.determinant();
    ASSERT_TRUE(lu.refactorize(a, usual_options<T>()));
    auto const second = lu.determinant();
    EXPECT_NEAR(first.log_modulus, second.log_modulus, 1e6 * static_cast<double>(epsilon<T>));
    EXPECT_LT(std::abs(first.phase - second.phase), 1e6 * epsilon<T>);
    EXPECT_LT(worst_error(lu, a, 3), bound<T>());
    auto other = a;
    for (Offset p = 0; p < other.stored(); ++p)
        other.values[p] *= Real<T>(1 + 0.02 * static_cast<double>(p % 5));
    ASSERT_TRUE(lu.refactorize(other, usual_options<T>()));
    EXPECT_LT(worst_error(lu, other, 3), bound<T>());
}

// Columns of L with many rows are eliminated together. The diagonal is weak, so that pivots outside of it
// order the rows of these columns anew.
TYPED_TEST(SimplicialLuOf, EliminatesColumnsWithTheSameRowsTogether) {
    using T = TypeParam;
    auto options = usual_options<T>();
    options.diagonal_preference = 0.1;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        auto a = irregular_matrix<T>(60, 900, seed % 2 == 0, seed);
        SplitMix64 random(seed);
        for (T& value : a.values)
            if (random.below(3) == 0) value *= Real<T>(1e-2);
        auto const plan = plan_simplicial_lu(pattern_of(a));
        SimplicialLu<T> lu;
        lu.set_plan(*plan);
        ASSERT_TRUE(lu.factorize(a, options));
        EXPECT_LT(worst_error(lu, a, 2), bound<T>()) << seed;
        ASSERT_TRUE(lu.refactorize(a, options));
        EXPECT_LT(worst_error(lu, a, 2), bound<T>()) << seed;
    }
}

// The second column has as many rows as the first one, and its pivot row is the first row there.
TYPED_TEST(SimplicialLuOf, TellsColumnsWithEquallyManyRowsApart) {
    using T = TypeParam;
    std::set<std::pair<Index, Index>> places; // column and row
    for (Index k = 0; k <= 10; ++k) places.emplace(k, k);
    for (Index i = 1; i <= 5; ++i) places.emplace(0, i);
    for (Index i = 6; i <= 9; ++i) places.emplace(1, i);
    for (Index j = 2; j <= 9; ++j) places.emplace(j, 10);
    places.insert({{10, 0}, {10, 1}});
    auto a = fill_pattern<T>(11, places, 1);
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j)) a.values[p] = a.row_ind[p] == j ? T(4) : T(1);
    auto const plan = plan_simplicial_lu(pattern_of(a), false);
    SimplicialLu<T> lu;
    lu.set_plan(*plan);
    ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
    EXPECT_LT(worst_error(lu, a, 1), bound<T>());
}

TYPED_TEST(SimplicialLuOf, StopsIfPreferredPivotsLetEntriesGrow) {
    using T = TypeParam;
    auto a = fill_pattern<T>(2, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 1);
    T const weak(Real<T>(0.01));
    a.values = {weak, T(1), T(1), weak};
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<T> lu;
    lu.set_plan(*plan);
    auto options = usual_options<T>();
    options.most_growth = 10;
    EXPECT_FALSE(lu.factorize(a, options));
    EXPECT_FALSE(lu.has_factors());
    EXPECT_FALSE(lu.can_refactorize());
    options.diagonal_preference = 0.1;
    ASSERT_TRUE(lu.factorize(a, options));
    EXPECT_LT(worst_error(lu, a, 1), bound<T>());
}

TYPED_TEST(SimplicialLuOf, BadReusedPivotsAreRefused) {
    using T = TypeParam;
    // [ 1 1 ; 1 p ] with its pivots on the diagonal, and then with a tiny first pivot.
    auto a = fill_pattern<T>(2, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 1);
    a.values = {T(1), T(1), T(1), T(3)};
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<T> lu;
    lu.set_plan(*plan);
    ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
    auto b = a;
    auto const set_diagonal = [&b](Real<T> value) { b.values[0] = b.values[3] = T(value); };
    // The entries grow by the inverse of the first pivot.
    Real<T> const least = std::sqrt(epsilon<T>);
    set_diagonal(30 * least);
    EXPECT_TRUE(lu.refactorize(b, usual_options<T>()));
    auto careful = usual_options<T>();
    careful.most_growth = 100;
    set_diagonal(Real<T>(1e-3));
    EXPECT_FALSE(lu.refactorize(b, careful));
    ASSERT_TRUE(lu.factorize(a, careful));
    set_diagonal(Real<T>(0.02));
    EXPECT_TRUE(lu.refactorize(b, careful));
    set_diagonal(least / 30);
    EXPECT_FALSE(lu.refactorize(b, usual_options<T>()));
    set_diagonal(1);
    ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
    set_diagonal(Real<T>(1e-30));
    EXPECT_FALSE(lu.refactorize(b, usual_options<T>()));
    EXPECT_FALSE(lu.has_factors());
    EXPECT_FALSE(lu.can_refactorize());
    ASSERT_TRUE(lu.factorize(b, usual_options<T>()));
    EXPECT_EQ(lu.pivots_replaced(), 0);
    EXPECT_LT(worst_error(lu, b, 1), bound<T>());
}

TYPED_TEST(SimplicialLuOf, ReplacesAndCountsPivotsOfSingularMatrices) {
    using T = TypeParam;
    auto a = fill_pattern<T>(3, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 2}, {2, 0}}, 1);
    a.values = {T(1), T(2), T(2), T(4), T(1), T(7)};
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<T> lu;
    lu.set_plan(*plan);
    ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
    EXPECT_EQ(lu.pivots_replaced(), 1);
    EXPECT_FALSE(lu.can_refactorize());
    for (T& value : a.values) value = T(0);
    ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
    EXPECT_EQ(lu.pivots_replaced(), 3);
    auto x = random_block<T>(3, 1);
    lu.solve(x, 1, MatrixOp::none);
    for (T const value : x) EXPECT_TRUE(is_finite(value));
}

TYPED_TEST(SimplicialLuOf, BadlyScaledRowsAndColumnsDoNotMatter) {
    using T = TypeParam;
    auto a = irregular_matrix<T>(60, 150, false, 4);
    constexpr int range = 10;
    SplitMix64 random(9);
    std::vector<Real<T>> rows(60), columns(60);
    for (auto* const list : {&rows, &columns})
        for (auto& scale : *list)
            scale = std::ldexp(Real<T>(1), static_cast<int>(random.below(2 * range)) - range);
    auto scaled = a;
    for (Index j = 0; j < a.cols; ++j)
        for (Offset const p : a.entries_of(j)) scaled.values[p] *= rows[a.row_ind[p]] * columns[j];
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<T> lu;
    lu.set_plan(*plan);
    ASSERT_TRUE(lu.factorize(scaled, usual_options<T>()));
    EXPECT_EQ(lu.pivots_replaced(), 0);
    auto const b = random_block<T>(60, 3);
    auto x = b;
    for (Index i = 0; i < 60; ++i) x[i] *= rows[i];
    lu.solve(x, 1, MatrixOp::none);
    for (Index j = 0; j < 60; ++j) x[j] *= columns[j];
    EXPECT_LT(backward_error<T>(a, x, b, MatrixOp::none), bound<T>());
}

TYPED_TEST(SimplicialLuOf, DeterminantIsThatOfDenseElimination) {
    using T = TypeParam;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Index const n = 1 + static_cast<Index>(seed);
        auto const a = irregular_matrix<T>(n, 2 * n, false, seed);
        std::complex<double> expected = 1;
        auto dense = to_dense<std::complex<double>>(a);
        for (auto const pivot : eliminate(dense, n)) expected *= pivot;
        auto const plan = plan_simplicial_lu(pattern_of(a));
        SimplicialLu<T> lu;
        lu.set_plan(*plan);
        ASSERT_TRUE(lu.factorize(a, usual_options<T>()));
        auto const found = lu.determinant();
        auto const value = std::complex<double>(found.phase) * std::exp(found.log_modulus);
        EXPECT_LT(std::abs(value - expected), 1e4 * static_cast<double>(epsilon<T>) * std::abs(expected))
            << seed;
    }
}

TEST(SimplicialLu, RefactorizationAndSolveDoNotAllocate) {
    auto const a = irregular_matrix<double>(300, 900, true, 8);
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<double> lu;
    lu.set_plan(*plan);
    auto const options = usual_options<double>();
    ASSERT_TRUE(lu.factorize(a, options));
    auto x = random_block<double>(300, 1);
    lu.solve(x, 1, MatrixOp::none);
    long const before = allocations;
    ASSERT_TRUE(lu.refactorize(a, options));
    lu.solve(x, 1, MatrixOp::none);
    lu.solve(x, 1, MatrixOp::transpose);
    EXPECT_EQ(allocations, before);
}

TEST(SimplicialLu, MemoryIsAtMostWhatThePlanPredicts) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        auto a = irregular_matrix<double>(400, 1200, true, seed);
        auto const plan = plan_simplicial_lu(pattern_of(a));
        // The diagonal dominates, so pivots are on it.
        for (std::int32_t k = 0; k < 400; ++k)
            for (Offset const p : a.entries_of(plan->form.column[k]))
                if (a.row_ind[p] == plan->form.row[k]) a.values[p] = 1000;
        SimplicialLu<double> lu;
        lu.set_plan(*plan);
        ASSERT_TRUE(lu.factorize(a, usual_options<double>()));
        EXPECT_LE(lu.nnz(), plan->nnz_factor);
        EXPECT_LE(lu.flops(), plan->flops);
        EXPECT_LE(lu.bytes(), plan->bytes(sizeof(double), a.stored()));
    }
}

TEST(SimplicialLu, HonorsALimitOfMemory) {
    auto const a = irregular_matrix<double>(400, 1200, true, 3);
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<double> lu;
    lu.set_plan(*plan);
    auto options = usual_options<double>();
    options.max_bytes = 1000;
    EXPECT_EQ(status_of([&] { (void)lu.factorize(a, options); }), Status::out_of_memory);
    EXPECT_FALSE(lu.has_factors());
}

TEST(SimplicialLu, CanBeCancelled) {
    auto const a = irregular_matrix<double>(400, 1200, true, 3);
    auto const plan = plan_simplicial_lu(pattern_of(a));
    SimplicialLu<double> lu;
    lu.set_plan(*plan);
    Interrupt interrupt;
    auto options = usual_options<double>();
    options.interrupt = &interrupt;
    ASSERT_TRUE(lu.factorize(a, options));
    interrupt.request();
    EXPECT_EQ(status_of([&] { (void)lu.refactorize(a, options); }), Status::cancelled);
    EXPECT_EQ(status_of([&] { (void)lu.factorize(a, options); }), Status::cancelled);
    EXPECT_FALSE(lu.has_factors());
}

} // namespace
} // namespace espalier
