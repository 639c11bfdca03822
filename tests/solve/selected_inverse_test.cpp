// Compares the selected inverse with inverses by dense elimination.
#include "solve/selected_inverse.hpp"

#include "common/kkt.hpp"
#include "core/status_of.hpp"
#include "solve/system.hpp"

namespace espalier {
namespace {

using namespace testing;

// Compares all entries on the structure with the inverse, and counts them.
template <class T>
Index count_correct(Factorized<T> const& f, SelectedInverse<T> const& found, std::string const& what) {
    auto const expected = inverse(to_dense<Extended<T>>(f.matrix));
    double size = 0;
    for (auto const value : expected.values) size = std::max(size, static_cast<double>(std::abs(value)));
    Index const n = f.matrix.cols;
    Index entries = 0;
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i) {
            auto const entry = found.entry(f.structure.perm[i], f.structure.perm[j]);
            if (!entry) continue;
            ++entries;
            auto const error = static_cast<double>(std::abs(Extended<T>(*entry) - expected(i, j)));
            EXPECT_LE(error, 1e4 * static_cast<double>(epsilon<T>) * size) << what << " " << i << " " << j;
            if (::testing::Test::HasFailure()) return entries;
        }
    return entries;
}

template <class T> class SelectedInverseTyped : public ::testing::Test {};
using AllScalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SelectedInverseTyped, AllScalars);

TYPED_TEST(SelectedInverseTyped, AgreesWithTheInverse) {
    using T = TypeParam;
    for (Factorization const kind : all_factorizations)
        for (int const workers : {1, 3}) {
            auto const what = std::string(to_string(kind)) + " with " + std::to_string(workers);
            bool const definite = kind == Factorization::llh || kind == Factorization::llt;
            Factorized<T> f(shifted(random_system<T>(kind, 90, 2), definite ? 0 : -3), kind, workers);
            SelectedInverse<T> const found(f.factor, f.plan, f.team);
            Index const entries = count_correct(f, found, what);
            EXPECT_GE(entries, f.matrix.nnz()) << what;
            EXPECT_LT(entries, 90 * 90) << what; // entries outside of the structure are not computed
        }
}

// Workers share the products of the upper panels, and whole columns of blocks face wide supernodes.
TEST(SelectedInverse, DividesLargeProducts) {
    auto const a = shifted(real("lap3d:9"), -0.1);
    for (Factorization const kind : {Factorization::llh, Factorization::lu}) {
        System<double> one(a, kind, 1, {}, {}, Topology::detect(), OrderingMethod::metis),
            three(a, kind, 3, {}, {}, Topology::detect(), OrderingMethod::metis);
        one.factorize();
        three.factorize();
        SelectedInverse<double> const expected(one.factor, one.plan, one.team);
        SelectedInverse<double> const found(three.factor, three.plan, three.team);
        auto unit = std::vector<double>(a.cols, 0.0);
        unit[300] = 1;
        solve<double>(one.factor, one.plan, {unit.data(), a.cols, 1, a.cols}, one.team);
        for (Index i = 0; i < a.cols; ++i) {
            Index const row = one.structure.perm[i];
            EXPECT_NEAR(*found.entry(row, row), *expected.entry(row, row), 1e-13);
            if (auto const entry = found.entry(row, three.structure.perm[300])) {
                EXPECT_NEAR(*entry, unit[i], 1e-13);
            }
        }
    }
}

TEST(SelectedInverse, RefusesDelayedColumnsAndSchurComplements) {
    FactorizeOptions delaying;
    delaying.pivot_threshold = 1e-14;
    delaying.delays.emplace();
    Factorized<double> delayed(kkt_system<double>(Symmetry::symmetric, 80, 30, 1), Factorization::ldlt, 1, 5,
                               delaying);
    ASSERT_GT(delayed.stats.pivots_delayed, 0);
    EXPECT_EQ(status_of([&] { SelectedInverse<double>(delayed.factor, delayed.plan, delayed.team); }),
              Status::unsupported);
    System<double> kept(real("lap3d:4"), Factorization::llh, 1, {0, 5, 9});
    kept.factorize();
    EXPECT_EQ(status_of([&] { SelectedInverse<double>(kept.factor, kept.plan, kept.team); }), Status::usage);
}

TEST(SelectedInverse, CanBeCancelled) {
    Factorized<double> f(real("lap3d:6"), Factorization::llh, 2);
    Interrupt interrupt;
    interrupt.request();
    EXPECT_EQ(status_of([&] { SelectedInverse<double>(f.factor, f.plan, f.team, &interrupt); }),
              Status::cancelled);
}

} // namespace
} // namespace espalier
