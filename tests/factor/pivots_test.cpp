// Compares inertia with LAPACK's eigenvalues, and determinants with dense elimination.
#include "factor/pivots.hpp"

#include <algorithm>

#include "common/eigenvalues.hpp"
#include "common/matrices.hpp"
#include "matrix/entries.hpp"
#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;

// Options for one wide block. Pivots are chosen within blocks, so a zero diagonal without matching needs it.
SymbolicOptions one_block() {
    SymbolicOptions options;
    options.amalgamation_fill = options.max_extra_flops = 1000;
    return options;
}

template <class T> void expect_inertia(CscMatrix<T> const& a, Factorization kind,
                                       SymbolicOptions const& symbolic = narrow_cblks()) {
    Index positive = 0, negative = 0;
    auto const matrix = to_dense<std::complex<double>>(a);
    for (double const value : eigenvalues(matrix.values, static_cast<int>(a.cols)))
        ++(value > 0 ? positive : negative);
    for (int const workers : {1, 3}) {
        System<T> system(a, kind, workers, {}, symbolic);
        EXPECT_EQ(system.factorize({.pivot_threshold = 1e-7}).pivots_replaced, 0);
        auto const signs = pivot_signs(system.factor);
        EXPECT_EQ(signs.positive, positive) << to_string(kind);
        EXPECT_EQ(signs.negative, negative) << to_string(kind);
        EXPECT_EQ(signs.zero, 0);
    }
}

TEST(PivotSigns, AreThoseOfTheEigenvalues) {
    for (double const shift : {-0.3, 0.7, 1.9, 3.1, 4.4, 6.3, 12.5}) {
        expect_inertia(shifted(real("lap2d:8"), shift), Factorization::ldlt);
        expect_inertia(shifted(real("lap3d:4"), shift), Factorization::ldlh);
        expect_inertia(convert<float>(shifted(real("lap2d:8"), shift)), Factorization::ldlt);
        expect_inertia(shifted(complex("hermitian3d:4"), shift), Factorization::ldlh);
        expect_inertia(convert<std::complex<float>>(shifted(complex("hermitian3d:4"), shift)),
                       Factorization::ldlh);
    }
    expect_inertia(real("saddle3d:2"), Factorization::ldlt, one_block());
    expect_inertia(real("lap2d:8"), Factorization::llh);
    expect_inertia(complex("hermitian3d:3"), Factorization::llh);
}

// A matrix of order 6 with eigenvalues 3, 0, -2, 1, -1, 0. The pair 1, -1 is a 2x2 pivot.
CscMatrix<double> with_null_space() {
    return {6, 6, Symmetry::symmetric, {0, 1, 2, 3, 5, 6, 7}, {0, 1, 2, 3, 4, 4, 5}, {3, 0, -2, 0, 1, 0, 0}};
}

TEST(PivotSigns, CountReplacedPivotsAsZero) {
    for (auto const kind : {Factorization::ldlt, Factorization::ldlh}) {
        System<double> system(with_null_space(), kind, 1);
        EXPECT_EQ(system.factorize({.pivot_threshold = 0.1}).pivots_replaced, 2);
        auto const signs = pivot_signs(system.factor);
        EXPECT_EQ(signs.positive, 2);
        EXPECT_EQ(signs.negative, 2);
        EXPECT_EQ(signs.zero, 2);
        // 3 * 0.1 * (-2) * (-1) * 0.1
        EXPECT_NEAR(pivot_product(system.factor).result<double>().log_modulus, std::log(0.06), 1e-14);
    }
}

TEST(PivotSigns, NeedARealD) {
    System<double> lu(real("lap2d:4"), Factorization::lu, 1);
    System<std::complex<double>> ldlt(complex("helmholtz3d:2"), Factorization::ldlt, 1);
    lu.factorize();
    ldlt.factorize();
    EXPECT_THROW((void)pivot_signs(lu.factor), Error);
    EXPECT_THROW((void)pivot_signs(ldlt.factor), Error);
}

template <class T> void expect_determinant(CscMatrix<T> const& a, Factorization kind,
                                           std::vector<Index> const& schur = {},
                                           SymbolicOptions const& symbolic = narrow_cblks()) {
    auto reference = dense(convert<std::complex<double>>(a), interior_then(schur, a.cols));
    std::complex<double> phase = 1;
    double log_modulus = 0;
    for (auto const pivot : eliminate(reference, a.cols - std::ssize(schur))) {
        phase *= pivot / std::abs(pivot);
        log_modulus += std::log(std::abs(pivot));
    }
    System<T> system(a, kind, 2, schur, symbolic);
    system.factorize();
    auto const product = pivot_product(system.factor).template result<T>();
    double const tolerance = 1e3 * static_cast<double>(epsilon<T>);
    EXPECT_NEAR(product.log_modulus, log_modulus, tolerance * std::max(1.0, std::abs(log_modulus)))
        << to_string(kind);
    std::complex<double> const found(static_cast<double>(real_part(product.phase)),
                                     static_cast<double>(imag_part(product.phase)));
    EXPECT_NEAR(std::abs(found - phase), 0, is_complex<T> ? tolerance : 1e-12) << to_string(kind);
    EXPECT_NEAR(std::abs(found), 1, 4 * static_cast<double>(epsilon<T>));
}

TEST(PivotProduct, IsTheDeterminant) {
    using C = std::complex<float>;
    for (double const shift : {0.0, 1.9, 3.1, 4.4, 6.3}) {
        expect_determinant(shifted(real("lap2d:7"), shift), Factorization::ldlt);
        expect_determinant(shifted(real("convdiff3d:2"), shift), Factorization::lu);
        expect_determinant(shifted(complex("hermitian3d:3"), shift), Factorization::ldlh);
        expect_determinant(shifted(complex("helmholtz3d:3"), shift), Factorization::ldlt);
        expect_determinant(convert<C>(shifted(complex("helmholtz3d:3"), shift)), Factorization::lu);
    }
    for (int const seed : {1, 2, 3, 4, 5, 6})
        expect_determinant(real("random:60:300:" + std::to_string(seed)), Factorization::lu);
    expect_determinant(real("saddle3d:2"), Factorization::ldlt, {}, one_block());
    expect_determinant(convert<float>(real("lap2d:7")), Factorization::llh);
    expect_determinant(complex("hermitian3d:3"), Factorization::llh);
    expect_determinant(complex("helmholtz3d:3"), Factorization::llt);
}

void expect_range(PivotRange const& range, double smallest, double largest) {
    EXPECT_DOUBLE_EQ(range.smallest, smallest);
    EXPECT_DOUBLE_EQ(range.largest, largest);
}

TEST(PivotRange, HasThePivotsOfTheMatrixAndTheirOrigin) {
    CscMatrix<double> const diagonal{3, 3, Symmetry::symmetric, {0, 1, 2, 3}, {0, 1, 2}, {4, 9, 0.25}};
    System<double> cholesky(diagonal, Factorization::llh, 1);
    expect_range(cholesky.factorize().pivots, 0.25, 9);
    std::vector<double> const origin{8, 9, 1};
    expect_range(pivot_range<double>(cholesky.factor, origin), 0.25, 1);
    std::vector<double> const zero(3);
    expect_range(pivot_range<double>(cholesky.factor, zero), 0, 0);
    // The pivots 3, -2 and a pair with determinant -16 + 0.5.
    CscMatrix<double> const pair{
        4, 4, Symmetry::symmetric, {0, 1, 2, 4, 5}, {0, 1, 2, 3, 3}, {3, -2, 0.5, 4, 1}};
    System<double> ldl(pair, Factorization::ldlt, 1);
    expect_range(ldl.factorize().pivots, 2, 4);
    expect_range(System<double>(diagonal, Factorization::lu, 1).factorize().pivots, 0.25, 9);
}

// Scales the row and the column of the first column of cblk k by `factor`.
void scale_pivot(System<double>& system, CblkId k, double factor) {
    Index const unknown = system.structure.inverse[system.structure.cblks[k].first_col];
    for_each_entry(system.matrix, [&](Index i, Index j, Offset p) {
        if (i == unknown) system.matrix.values[p] *= factor;
        if (j == unknown) system.matrix.values[p] *= factor;
    });
}

// The largest pivot is in a panel that a single task factorizes, the smallest one in a panel that is cut, or
// the other way round.
TEST(PivotRange, IsTakenByTheTasks) {
    for (auto const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu})
        for (double const factor : {1e3, 1e-3}) {
            System<double> system(real("lap2d:12"), kind, 3);
            MachineModel machine;
            machine.threads = 3;
            ScheduleOptions options;
            options.splitting = Splitting::two_d;
            options.split_width = options.split_rows = 1;
            system.plan = make_factor_plan(system.structure, CostModel{}, machine, options);
            auto const& tasks = system.plan.factor.tasks;
            auto const diagonal = std::ranges::find(tasks, TaskKind::diagonal, &FactorTask::kind);
            ASSERT_NE(diagonal, tasks.end());
            scale_pivot(system, cblk_of(*diagonal, system.plan.partition), factor);
            scale_pivot(system, 0, 1 / factor);
            PivotRange const range = system.factorize().pivots;
            PivotRange const of_factor = pivot_range<double>(system.factor, std::span<double const>());
            expect_range(range, of_factor.smallest, of_factor.largest);
            EXPECT_LT(range.smallest, 0.1);
            EXPECT_GT(range.largest, 100);
        }
}

TEST(PivotProduct, CountsLocalInterchangesOfLu) { // cyclic permutations have determinant (-1)^(n - 1)
    for (Index const n : {2, 3, 4, 5, 12}) {
        auto const a =
            matrix_of(n, Symmetry::general, [n](Index i, Index j) { return i == (j + 1) % n ? 2 : 0; });
        System<double> system(a, Factorization::lu, 1, {}, one_block());
        ASSERT_EQ(system.structure.num_cblks(), 1);
        system.factorize();
        auto const product = pivot_product(system.factor).result<double>();
        EXPECT_EQ(product.phase, n % 2 == 0 ? -1 : 1) << n;
        EXPECT_NEAR(product.log_modulus, static_cast<double>(n) * std::log(2.0), 1e-13);
    }
}

TEST(PivotProduct, NeitherOverflowsNorUnderflows) {
    for (double const scale : {1e-30, 1e30}) {
        auto a = convert<float>(shifted(real("lap2d:9"), 2.1));
        for (float& value : a.values) value *= static_cast<float>(scale);
        expect_determinant(a, Factorization::ldlt);
        expect_determinant(a, Factorization::lu);
    }
}

TEST(PivotProduct, IsThatOfTheInteriorWithASchurComplement) {
    expect_determinant(shifted(real("lap2d:7"), 2.1), Factorization::ldlt, {0, 8, 16, 30, 31, 32});
    expect_determinant(real("random:60:300:9"), Factorization::lu, {5, 6, 7, 50});
}

} // namespace
} // namespace espalier
