// Factorizations with delayed columns: pivots, growth, inertia and Schur complements.
#include <cmath>
#include <random>

#include "common/eigenvalues.hpp"
#include "common/kkt.hpp"
#include "common/matrices.hpp"
#include "factor/delayed_assembly.hpp"
#include "factor/pivots.hpp"
#include "factor/schur.hpp"
#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;

FactorizeOptions delaying(double threshold) {
    FactorizeOptions options;
    options.pivot_threshold = threshold;
    options.delays.emplace();
    return options;
}

template <class T> double tiny() {
    return 100 * static_cast<double>(epsilon<T>);
}

// The largest entry of L in rows that are eliminated.
template <class T> double growth(Factor<T> const& factor) {
    double largest = 0;
    auto const add = [&](MatrixView<T> view, Index rows) {
        for (Index j = 0; j < view.cols; ++j)
            for (Index i = 0; i < rows; ++i)
                largest = std::max(largest, static_cast<double>(std::abs(view(i, j))));
    };
    for (CblkId k = 0; k < factor.structure().first_kept_cblk; ++k) {
        Index rows = 0;
        for (Blok const& blok : factor.structure().bloks_below(factor.cblk(k)))
            if (!factor.structure().is_kept(blok.facing_cblk)) rows += blok.height();
        add(factor.below(k), rows);
        if (auto const* const panel = factor.delayed(k)) add(panel->lower_left_over(), panel->left());
    }
    return largest;
}

template <class T> class DelayedTyped : public ::testing::Test {};
using Scalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DelayedTyped, Scalars);

TYPED_TEST(DelayedTyped, NoPivotIsReplacedAndGrowthIsBounded) {
    using T = TypeParam;
    for (Factorization const kind : factorizations_with_pivots)
        for (unsigned const seed : {1U, 2U, 3U}) {
            auto const a = kkt_system<T>(symmetry_for<T>(kind), 150, 60, seed);
            for (int const workers : {1, 3}) {
                System<T> system(a, kind, workers);
                EXPECT_GT(system.factorize({.pivot_threshold = tiny<T>()}).pivots_replaced, 0);
                auto const stats = system.factorize(delaying(tiny<T>()));
                EXPECT_EQ(stats.pivots_replaced, 0) << to_string(kind);
                EXPECT_GT(stats.pivots_delayed, 0);
                EXPECT_GT(stats.delayed_bytes, 0U);
                EXPECT_LE(growth(system.factor), 150) << "|Re| + |Im| is bounded by 100";
            }
        }
}

template <class T> void expect_exact_inertia(CscMatrix<T> const& a, Factorization kind) {
    Index positive = 0, negative = 0;
    for (double const value : eigenvalues(to_dense<std::complex<double>>(a).values, static_cast<int>(a.cols)))
        ++(value > 0 ? positive : negative);
    for (int const workers : {1, 3}) {
        System<T> system(a, kind, workers);
        auto const stats = system.factorize(delaying(tiny<T>()));
        EXPECT_EQ(stats.pivots_replaced, 0);
        auto const signs = pivot_signs(system.factor);
        EXPECT_EQ(signs.positive, positive);
        EXPECT_EQ(signs.negative, negative);
        EXPECT_EQ(signs.zero, 0);
        EXPECT_EQ(stats.negative_pivots, negative);
    }
}

TEST(Delayed, InertiaIsThatOfTheEigenvalues) {
    for (unsigned const seed : {1U, 2U, 3U, 4U, 5U}) {
        expect_exact_inertia(kkt_system<double>(Symmetry::symmetric, 150, 60, seed), Factorization::ldlt);
        expect_exact_inertia(kkt_system<float>(Symmetry::symmetric, 100, 40, seed), Factorization::ldlh);
        expect_exact_inertia(kkt_system<std::complex<double>>(Symmetry::hermitian, 150, 60, seed),
                             Factorization::ldlh);
    }
    expect_exact_inertia(real("saddle3d:4"), Factorization::ldlt);
}

TEST(Delayed, FactorsWithoutDelaysHaveTheBitsOfStaticOnes) {
    for (auto const kind : factorizations_with_pivots) {
        System<double> one(real("elast3d:4"), kind, 2), two(real("elast3d:4"), kind, 2);
        one.factorize({.pivot_threshold = 1e-8});
        EXPECT_EQ(two.factorize(delaying(1e-14)).pivots_delayed, 0);
        expect_equal_factors(one.factor, two.factor);
    }
}

TEST(Delayed, StaticSchedulesGiveTheSameBits) {
    auto const a = kkt_system<double>(Symmetry::general, 200, 80, 7);
    System<double> one(a, Factorization::lu, 3), two(a, Factorization::lu, 3);
    one.factorize(delaying(1e-14));
    two.factorize(delaying(1e-14));
    two.factorize(delaying(1e-14)); // the second time in the memory of the first
    for (CblkId k = 0; k < one.structure.num_cblks(); ++k) {
        auto const p = one.factor.below(k), q = two.factor.below(k);
        ASSERT_EQ(p.cols, q.cols);
        for (Index j = 0; j < p.cols; ++j)
            ASSERT_TRUE(std::equal(p.column(j), p.column(j) + p.rows, q.column(j))) << "cblk " << k;
    }
}

// The largest error of the Schur complement of five unknowns relative to its largest entry.
double error_of_schur_complement(Factorization kind, unsigned seed) {
    std::vector<Index> const schur{3, 50, 51, 77, 100};
    auto const a = kkt_system<double>(symmetry_for<double>(kind), 100, 30, seed);
    auto reference = dense(a, interior_then(schur, a.cols));
    Index const interior = a.cols - std::ssize(schur);
    eliminate(reference, interior);
    System<double> system(a, kind, 2, schur);
    auto const stats = system.factorize(delaying(1e-14));
    EXPECT_GT(stats.pivots_delayed, 0);
    EXPECT_EQ(stats.pivots_replaced, 0);
    auto const s = schur_complement(system.factor, schur);
    double error = 0, largest = 0;
    for (Index j = 0; j < std::ssize(schur); ++j)
        for (Index i = 0; i < std::ssize(schur); ++i) {
            auto const exact = static_cast<double>(reference(interior + i, interior + j));
            error = std::max(error, std::abs(s.column(j)[i] - exact));
            largest = std::max(largest, std::abs(exact));
        }
    return error / largest;
}

// Errors depend on the condition of each system. Their geometric mean is about 4e-14.
TEST(Delayed, SchurComplementsAreThoseOfDenseElimination) {
    for (auto const kind : factorizations_with_pivots) {
        double sum = 0;
        for (unsigned seed = 1; seed <= 40; ++seed) {
            double const error = error_of_schur_complement(kind, seed);
            EXPECT_LE(error, 1e-9) << to_string(kind) << " " << seed;
            sum += std::log10(std::max(error, 1e-17));
        }
        EXPECT_LE(sum / 40, -12.5) << to_string(kind);
    }
}

// A matrix of rank n - 1. Row 0 is repeated at the end; column 0 is repeated at the end or, for a general
// matrix, elsewhere.
CscMatrix<double> of_rank_n_minus_1(CscMatrix<double> const& nonsingular, Index column) {
    Index const n = nonsingular.cols;
    auto const whole = to_dense(nonsingular);
    return matrix_of(n + 1, nonsingular.symmetry, [&](Index i, Index j) {
        return whole(i == n ? 0 : i, j == column ? 0 : j < column ? j : j - 1);
    });
}

void expect_one_replaced_pivot(CscMatrix<double> const& a, Factorization kind, std::string const& what) {
    System<double> system(a, kind, 2);
    EXPECT_EQ(system.factorize(delaying(1e-13)).pivots_replaced, 1) << what;
    if (kind == Factorization::lu) return;
    EXPECT_EQ(pivot_signs(system.factor).zero, 1) << what;
}

TEST(Delayed, OnlyPivotsOfSingularMatricesAreReplaced) {
    for (auto const kind : factorizations_with_pivots)
        for (unsigned seed = 1; seed <= 20; ++seed) {
            auto const nonsingular = kkt_system<double>(symmetry_for<double>(kind), 60, 20, seed);
            auto const what = fmt::format("{} {}", to_string(kind), seed);
            expect_one_replaced_pivot(of_rank_n_minus_1(nonsingular, nonsingular.cols), kind, what);
            if (kind != Factorization::lu) continue;
            for (Index const column : {20, 40, 60})
                expect_one_replaced_pivot(of_rank_n_minus_1(nonsingular, column), kind, what);
        }
}

// The panels that delayed panels replace are memory for the next ones.
TEST(Delayed, PanelsTakeTheMemoryOfThosePanelsThatOthersReplace) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 150, 60, 1);
    System<double> system(a, Factorization::ldlt, 1);
    for (int const run : {1, 2}) {
        system.factorize(delaying(1e-14));
        auto const arena = system.factor.arena_of(0).bytes();
        int inside = 0;
        for (CblkId k = 0; k < system.factor.structure().num_cblks(); ++k)
            if (auto const* const panel = system.factor.delayed(k);
                panel && panel->columns() > system.factor.cblk(k).width()) {
                auto const* const data = reinterpret_cast<std::byte const*>(panel->lower().data);
                inside += data >= arena.data() && data < arena.data() + arena.size();
            }
        EXPECT_GT(inside, 0) << run;
    }
    EXPECT_GT(system.factor.delayed_memory_bytes(), 0U);
    system.factorize({.pivot_threshold = 1e-8});
    EXPECT_EQ(system.factor.delayed_memory_bytes(), 0U) << "static pivots need none";
}

// A panel without columns of its children is that of the cblk itself. It takes no memory from others. In a
// larger panel of lu, U stays there if its new columns fit before it.
TEST(Delayed, PanelsWithoutColumnsOfChildrenStayInPlace) {
    for (auto const kind : factorizations_with_pivots) {
        auto const a = kkt_system<double>(symmetry_for<double>(kind), 150, 60, 1);
        System<double> system(a, kind, 2);
        system.factorize(delaying(1e-14));
        int in_place = 0, larger = 0, stays = 0;
        for (CblkId k = 0; k < system.factor.structure().num_cblks(); ++k) {
            auto const* const panel = system.factor.delayed(k);
            if (!panel) continue;
            bool const is_larger = panel->columns() > system.factor.cblk(k).width();
            ++(is_larger ? larger : in_place);
            EXPECT_EQ(panel->lower().data == system.factor.lower(k).data, !is_larger) << k;
            auto const own = system.factor.panel(k);
            MatrixView<double> const upper = panel->whole_upper();
            stays += is_larger && upper.rows > 0 &&
                     reinterpret_cast<std::byte const*>(upper.column(upper.cols)) == own.data() + own.size();
        }
        EXPECT_GT(in_place, 0);
        EXPECT_GT(larger, 0);
        EXPECT_EQ(stays > 0, kind == Factorization::lu);
    }
}

TEST(Delayed, MemoryIsBounded) {
    auto const a = kkt_system<double>(Symmetry::symmetric, 150, 60, 1);
    System<double> system(a, Factorization::ldlt, 2);
    auto options = delaying(1e-14);
    auto const needed = system.factorize(options).delayed_bytes;
    options.delays->most_bytes = needed;
    EXPECT_EQ(system.factorize(options).delayed_bytes, needed);
    options.delays->most_bytes = needed - 1;
    EXPECT_EQ(status_of([&] { system.factorize(options); }), Status::out_of_memory);
    EXPECT_EQ(system.factorize({.pivot_threshold = 1e-8}).delayed_bytes, 0U);
}

} // namespace
} // namespace espalier
