// Solves, condensation and expansion with factors that have delayed columns.
#include <limits>

#include "common/kkt.hpp"
#include "solve/solve_sparse.hpp"
#include "solve/system.hpp"

namespace espalier {
namespace {

using namespace testing;

template <class T> struct Delayed : Factorized<T> {
    Delayed(CscMatrix<T> const& a, Factorization chosen, int workers)
        : Factorized<T>(a, chosen, workers, 5, delaying<T>()) {
        EXPECT_GT(this->stats.pivots_delayed, 0);
        EXPECT_EQ(this->stats.pivots_replaced, 0);
    }
};

template <class T> class DelayedSolveTyped : public ::testing::Test {};
using AllScalars = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DelayedSolveTyped, AllScalars);

// For solutions of systems with condition numbers of about 1e4, where L is bounded by 100.
template <class T>
void expect_close(std::vector<T> const& x, std::vector<T> const& y, std::string const& what) {
    EXPECT_LE(difference(x, y), 1e6 * epsilon<T>) << what;
}

// |A x - b| / |x| in infinity norms. The entries of A are at most 1.
template <class T>
double backward_error(Dense<T> const& a, std::vector<T> const& x, std::vector<T> const& b) {
    double largest = 0;
    for (T const value : x) largest = std::max(largest, static_cast<double>(std::abs(value)));
    auto const image = product(a, x);
    double error = 0;
    for (std::size_t i = 0; i < b.size(); ++i)
        error = std::max(error, static_cast<double>(std::abs(image[i] - b[i])));
    return error / largest;
}

TYPED_TEST(DelayedSolveTyped, SolvesWithEveryOperator) {
    using T = TypeParam;
    for (Factorization const kind : factorizations_with_pivots)
        for (unsigned const seed : {1U, 2U, 3U}) {
            auto const a = kkt_system<T>(symmetry_for<T>(kind), 80, 30, seed);
            Delayed<T> one(a, kind, 1), three(a, kind, 3);
            for (MatrixOp const op : all_ops) {
                auto const whole = to_dense(a, op);
                for (Index const nrhs : seed == 1 ? std::vector<Index>{1, 3, 65} : std::vector<Index>{1, 3}) {
                    auto const solution = random_vector<T>(a.cols * nrhs, 2);
                    auto const b = product(whole, solution);
                    for (Delayed<T>* const f : {&one, &three}) {
                        auto const what = std::string(to_string(kind)) + " " + to_string(op) + " " +
                                          std::to_string(nrhs) + " " + std::to_string(seed);
                        auto x = b, halves = b;
                        solve<T>(f->factor, f->plan, f->view(x), f->team, {op, nullptr});
                        EXPECT_LE(backward_error(whole, x, b), 1e5 * static_cast<double>(epsilon<T>)) << what;
                        expect_close(x, solution, what);
                        condense<T>(f->factor, f->plan, f->view(halves), f->team, {op, nullptr});
                        expand<T>(f->factor, f->plan, f->view(halves), f->team, {op, nullptr});
                        EXPECT_EQ(halves, x) << what;
                    }
                }
            }
        }
}

TYPED_TEST(DelayedSolveTyped, DeterminantIsThatOfDenseElimination) {
    using T = TypeParam;
    for (Factorization const kind : factorizations_with_pivots) {
        int compared = 0;
        for (unsigned seed = 1; seed <= 10; ++seed) {
            auto const a = kkt_system<T>(symmetry_for<T>(kind), 100, 40, seed);
            Delayed<T> f(a, kind, 2);
            auto const unit = unit_vectors<T>(a.cols);
            auto x = to_dense(a).values;
            solve<T>(f.factor, f.plan, f.view(x), f.team, {});
            LogDeterminant const found = pivot_product(f.factor).template result<std::complex<double>>();
            double const error = determinant_error(x, unit, a.cols, [](auto const&) {});
            compared += expect_close_determinants<T>(found, dense_determinant(a), error,
                                                     fmt::format("{} {}", to_string(kind), seed));
        }
        EXPECT_GE(compared, 7) << to_string(
            kind); // a few of the systems are ill-conditioned for single precision
    }
}

TYPED_TEST(DelayedSolveTyped, SolvesForSparseRightHandSides) {
    using T = TypeParam;
    for (Factorization const kind : factorizations_with_pivots) {
        auto const a = kkt_system<T>(symmetry_for<T>(kind), 150, 60, 4);
        Delayed<T> f(a, kind, 2);
        Index const n = a.cols, nrhs = 70;
        CscMatrix<T> b{n, nrhs, Symmetry::general, {0}, {}, {}};
        for (Index j = 0; j < nrhs; ++j) {
            b.row_ind.push_back(3 * j);
            b.values.push_back(T(1));
            b.col_ptr.push_back(j + 1);
        }
        for (MatrixOp const op : all_ops) {
            auto expected = to_dense(b).values;
            solve<T>(f.factor, f.plan, f.view(expected), f.team, {op, nullptr});
            std::vector<T> x(expected.size(), std::numeric_limits<Real<T>>::quiet_NaN());
            solve_sparse<T>(f.factor, f.plan, b, f.view(x), f.team, {op, nullptr});
            expect_close(x, expected, to_string(kind));
        }
    }
}

TYPED_TEST(DelayedSolveTyped, CondensesAndExpands) {
    using T = TypeParam;
    for (Factorization const kind : factorizations_with_pivots) {
        std::vector<Index> const schur{5, 60, 61, 90, 121};
        auto const a = kkt_system<T>(symmetry_for<T>(kind), 100, 30, 3);
        Index const n = a.cols, k = std::ssize(schur), interior = n - k;
        System<T> f(a, kind, 3, schur);
        EXPECT_GT(f.factorize(delaying<T>()).pivots_delayed, 0);
        for (MatrixOp const op : all_ops) {
            auto const whole = to_dense(a, op);
            auto const solution = random_vector<T>(n, 2);
            auto x = product(whole, solution);
            // [A b] eliminated: the last column then has the condensed right-hand side.
            auto const order = interior_then(schur, n);
            Dense<T> extended(n + 1);
            for (Index i = 0; i < n; ++i) {
                for (Index j = 0; j < n; ++j) extended(i, j) = whole(order[i], order[j]);
                extended(i, n) = x[order[i]];
            }
            eliminate(extended, interior);
            MatrixView<T> const view{x.data(), n, 1, n};
            condense<T>(f.factor, f.plan, view, f.team, {op, nullptr});
            for (Index i = 0; i < k; ++i)
                EXPECT_LE(std::abs(x[schur[i]] - extended(interior + i, n)), 1e6 * epsilon<T>)
                    << to_string(kind) << " " << to_string(op); // the bound of expect_close()
            for (Index const i : schur) x[i] = solution[i];
            expand<T>(f.factor, f.plan, view, f.team, {op, nullptr});
            expect_close(x, solution, to_string(kind));
        }
    }
}

} // namespace
} // namespace espalier
