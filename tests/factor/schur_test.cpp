// Partial factorization. The Schur complement is compared with dense elimination.
#include "factor/schur.hpp"

#include <random>

#include "support.hpp"

namespace espalier {
namespace {

using namespace testing;

std::vector<Index> every(Index step, Index n) {
    std::vector<Index> unknowns;
    for (Index i = step - 1; i < n; i += step) unknowns.push_back(i);
    return unknowns;
}

template <class T> void expect_schur(CscMatrix<T> const& a, Factorization kind, std::vector<Index> schur) {
    std::shuffle(schur.begin(), schur.end(), std::mt19937(7)); // the caller may give any order
    auto const k = static_cast<Index>(schur.size());
    Index const first = a.cols - k;
    Dense<T> reference = dense(a, interior_then(schur, a.cols));
    double const scale = largest(reference);
    eliminate(reference, first);
    for (int const workers : {1, 3}) {
        System<T> system(a, kind, workers, schur);
        ASSERT_EQ(system.structure.num_kept_cols(), k);
        system.factorize();
        auto const s = schur_complement<T>(system.factor, schur);
        ASSERT_EQ(s.rows, k);
        ASSERT_EQ(s.cols, k);
        for (Index j = 0; j < k; ++j)
            for (Index i = 0; i < k; ++i)
                ASSERT_LE(std::abs(s.column(j)[i] - reference(first + i, first + j)),
                          300 * static_cast<double>(epsilon<T>) * scale)
                    << to_string(kind) << ", " << workers << " workers, n " << a.cols << ", k " << k
                    << ", entry " << i << ", " << j;
    }
}

template <class T> void expect_schur_of_sizes(CscMatrix<T> const& a, Factorization kind) {
    for (Index const step : {3, 11}) // several cblks, and one
        expect_schur(a, kind, every(step, a.cols));
}

TEST(Schur, IsThatOfDenseEliminationForEveryFactorizationAndScalar) {
    using C = std::complex<float>;
    expect_schur_of_sizes(real("elast3d:2"), Factorization::llh);
    expect_schur_of_sizes(real("lap3d:4"), Factorization::llt);
    expect_schur_of_sizes(shifted(real("lap2d:9"), 2.1), Factorization::ldlt);
    expect_schur_of_sizes(real("convdiff3d:3"), Factorization::lu);
    expect_schur_of_sizes(convert<float>(real("lap2d:9")), Factorization::llh);
    expect_schur_of_sizes(convert<float>(real("lap3d:4")), Factorization::ldlh);
    expect_schur_of_sizes(convert<float>(real("random:80:200:5")), Factorization::lu);
    expect_schur_of_sizes(complex("hermitian3d:4"), Factorization::llh);
    expect_schur_of_sizes(shifted(complex("hermitian3d:4"), 2.1), Factorization::ldlh);
    expect_schur_of_sizes(complex("helmholtz3d:4"), Factorization::ldlt);
    expect_schur_of_sizes(complex("helmholtz3d:4"), Factorization::llt);
    expect_schur_of_sizes(complex("helmholtz3d:4"), Factorization::lu);
    expect_schur_of_sizes(convert<C>(complex("hermitian3d:4")), Factorization::ldlh);
    expect_schur_of_sizes(convert<C>(complex("helmholtz3d:4")), Factorization::lu);
}

TEST(Schur, IsTheMatrixItselfWhenNothingIsEliminated) {
    for (auto const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu})
        expect_schur(real("lap2d:6"), kind, every(1, 36));
}

TEST(Schur, IsEmptyWhenAllIsEliminated) {
    System<double> system(real("lap2d:6"), Factorization::llh, 2);
    system.factorize();
    EXPECT_TRUE(schur_complement<double>(system.factor, {}).values.empty());
}

TEST(Schur, LeavesDisconnectedPartsUnchanged) {
    auto const a = side_by_side(side_by_side(real("lap2d:7"), real("lap2d:5")), real("lap2d:1"));
    std::vector<Index> const in_the_first{3, 10, 17, 24, 31, 38, 45};
    for (auto const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu}) {
        expect_schur(a, kind, in_the_first);
        expect_schur(a, kind, {a.cols - 1}); // an unknown without neighbors
        expect_schur(a, kind, {60, a.cols - 1, 2});
    }
}

TEST(Schur, NeedsOnlyADefiniteInterior) {
    auto a = real("lap2d:7");
    std::vector<Index> const schur{0, 8, 16, 24};
    for (Index const i : schur) // the first entry of a column is its diagonal one
        a.values[a.col_ptr[i]] = -1;
    expect_schur(a, Factorization::llh, schur);
}

TEST(Schur, RefusesUnknownsThatWereNotKept) {
    System<double> system(real("lap2d:6"), Factorization::llh, 1, {3, 9, 20});
    system.factorize();
    for (std::vector<Index> const& wrong :
         std::vector<std::vector<Index>>{{3, 9}, {3, 9, 21}, {3, 9, 9}, {3, 9, -1}, {3, 9, 36}})
        EXPECT_EQ(status_of([&] { (void)schur_complement<double>(system.factor, wrong); }), Status::usage);
}

TEST(Factors, CanHaveAnotherScalarThanTheirAnalysis) { // mixed precision
    auto const a = real("elast3d:2");
    System<double> wide(a, Factorization::llh, 2);
    System<float> narrow(convert<float>(a), Factorization::llh, 2);
    Factor<float> factor(wide.structure);
    factor.allocate({Factorization::llh}, wide.plan.owner_of_cblk, Allocation::local, wide.team);
    factorize(narrow.matrix, wide.assembly, wide.plan, factor, wide.team, {});
    narrow.factorize();
    ASSERT_EQ(narrow.structure.perm, wide.structure.perm);
    expect_equal_factors(factor, narrow.factor);
}

} // namespace
} // namespace espalier
