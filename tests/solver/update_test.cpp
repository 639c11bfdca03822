// Low-rank updates of the factors, compared with dense sums and products.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "comm/thread_processes.hpp"
#include "core/status_of.hpp"
#include "distributed/backward_error.hpp"
#include "solver/random_systems.hpp"

namespace espalier {
namespace {

using test::Dense, test::to_dense;

// Columns of W from their rows and values.
template <class T> CscMatrix<T> columns_of(Index n, std::vector<std::vector<std::pair<Index, T>>> columns) {
    CscMatrix<T> w;
    w.rows = n;
    for (auto& column : columns) {
        std::ranges::sort(column, {}, &std::pair<Index, T>::first);
        for (auto const& [row, value] : column) {
            w.row_ind.push_back(row);
            w.values.push_back(value);
        }
        w.col_ptr.push_back(std::ssize(w.values));
        ++w.cols;
    }
    return w;
}

// Random columns with patterns of some columns of the factor, multiplied by `size`.
template <class T>
CscMatrix<T> fitting_columns(Factors<T> const& factors, Index count, double size, unsigned seed) {
    std::mt19937 engine(seed);
    Index const n = factors.lower.cols;
    std::vector<std::vector<std::pair<Index, T>>> columns(count);
    for (auto& column : columns)
        for (Offset const p : factors.lower.entries_of(static_cast<Index>(engine() % n)))
            column.emplace_back(factors.row_permutation[factors.lower.row_ind[p]],
                                test::random_scalar<T>(engine) * static_cast<Real<T>>(size));
    return columns_of(n, columns);
}

// Returns A + sign W W^H, with W W^T for a symmetric matrix.
template <class T> Dense<T> updated(CscMatrix<T> const& a, CscMatrix<T> const& w, int sign) {
    Dense<T> sum = to_dense(a);
    auto const columns = to_dense(w);
    for (Index k = 0; k < w.cols; ++k)
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.cols; ++i)
                sum(i, j) += static_cast<Real<T>>(sign) * columns(i, k) *
                             conj_if(a.symmetry != Symmetry::symmetric, columns(j, k));
    return sum;
}

template <class T> double largest_difference(Dense<T> const& a, Dense<T> const& b) {
    double largest = 0;
    for (std::size_t k = 0; k < a.values.size(); ++k)
        largest = std::max(largest, static_cast<double>(std::abs(a.values[k] - b.values[k])));
    return largest;
}

// The largest |A(p, p) - L D L^op| divided by |L| |D| |L|^T.
template <class T> double error_of_factors(Factors<T> const& found, Dense<T> const& a, bool conjugate) {
    Index const n = a.cols;
    auto const l = to_dense(found.lower);
    auto const d = found.diagonal.cols > 0 ? to_dense(found.diagonal) : Dense<T>(0);
    double error = 0, size = 0;
    for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i) {
            T sum = -a(found.row_permutation[i], found.row_permutation[j]);
            double sizes = 0;
            for (Index r = 0; r < n; ++r)
                for (Index s = std::max<Index>(0, r - 1); s < std::min(n, r + 2); ++s) {
                    T const middle = d.cols > 0 ? d(r, s) : T(static_cast<Real<T>>(r == s));
                    T const term = l(i, r) * middle * conj_if(conjugate, l(j, s));
                    sum += term;
                    sizes += static_cast<double>(std::abs(term));
                }
            error = std::max(error, static_cast<double>(std::abs(sum)));
            size = std::max(size, sizes);
        }
    return error / size;
}

// An entry of the factors of order n is the result of at most n products and of 4 operations with each of
// `rank` columns in each of n steps.
template <class T> double roundoff(Index n, Index rank) {
    return static_cast<double>(n * (1 + 4 * rank)) * static_cast<double>(epsilon<T>);
}

template <class T> class Updates : public testing::Test {};
TYPED_TEST_SUITE(Updates, test::Scalars);

// The systems may be scaled. The second step reverts the first one.
TYPED_TEST(Updates, ChangeTheFactorsInPlace) {
    using T = TypeParam;
    constexpr Index n = 48, rank = 5;
    for (Factorization const kind : kinds<T>()) {
        if (kind == Factorization::lu || kind == Factorization::llt) continue;
        bool const conjugate = kind != Factorization::ldlt || !is_complex<T>;
        CscMatrix<T> matrix = random_matrix<T>(kind, n, 3);
        Options options = narrow_blocks(kind);
        options.pivoting = Pivoting::static_pivots;
        Solver<T> solver = factorized(matrix, options);
        auto const before = solver.factors();
        CscMatrix<T> const w = fitting_columns(before, rank, 0.5, 4);
        auto const original = to_dense(matrix);
        for (int const sign : {1, -1}) {
            auto const expected = updated(matrix, w, sign);
            EXPECT_TRUE(solver.update(matrix, w, sign)) << to_string(kind) << sign;
            matrix.validate();
            EXPECT_LE(largest_difference(to_dense(matrix), expected), 20 * rank * epsilon<T>);
            EXPECT_LE(error_of_factors(solver.factors(), to_dense(matrix), conjugate), roundoff<T>(n, rank))
                << to_string(kind) << sign;
            Solver<T> fresh = factorized(matrix, options);
            EXPECT_NEAR(solver.determinant().log_modulus, fresh.determinant().log_modulus,
                        n * roundoff<T>(n, rank));
            EXPECT_LE(std::abs(solver.determinant().phase - fresh.determinant().phase),
                      n * roundoff<T>(n, rank));
            if (kind == Factorization::llh || kind == Factorization::ldlh || !is_complex<T>) {
                EXPECT_EQ(solver.inertia(), fresh.inertia());
                Index const negative = kind == Factorization::llh ? 0 : fresh.inertia().negative;
                EXPECT_EQ(solver.report().factor.negative_pivots, negative);
            }
            EXPECT_NEAR(solver.reciprocal_condition(matrix), fresh.reciprocal_condition(matrix), 1e-3);
            auto const inverse = solver.selected_inverse(matrix), again = fresh.selected_inverse(matrix);
            EXPECT_LE(largest_difference(to_dense(inverse), to_dense(again)), 10 * roundoff<T>(n, rank));
            EXPECT_TRUE(solve_and_refine(solver, matrix, test::random_vector<T>(n, 5)).converged);
        }
        EXPECT_EQ(solver.report().factor.updates, 2);
        EXPECT_LE(largest_difference(to_dense(matrix), original), 20 * rank * epsilon<T>);
        if (kind == Factorization::llh) { // only these factors are unique
            EXPECT_LE(largest_difference(to_dense(solver.factors().lower), to_dense(before.lower)),
                      10 * roundoff<T>(n, rank));
        }
        // Both patterns can be factorized again without an analysis.
        solver.factorize(random_matrix<T>(kind, n, 3));
        EXPECT_EQ(solver.report().factor.updates, 0);
        EXPECT_TRUE(
            solve_and_refine(solver, random_matrix<T>(kind, n, 3), test::random_vector<T>(n, 5)).converged);
    }
}

// The update fails even if its first columns alone could be subtracted.
TYPED_TEST(Updates, LeaveCholeskyFactorsUnchangedWhenTheyFail) {
    using T = TypeParam;
    constexpr Index n = 48;
    CscMatrix<T> matrix = random_matrix<T>(Factorization::llh, n, 6); // the diagonal is 7
    Solver<T> solver = factorized(matrix, narrow_blocks(Factorization::llh));
    auto const b = test::random_vector<T>(n, 7);
    auto const x = solver.solve(b);
    CscMatrix<T> const same = matrix;
    auto const w = columns_of<T>(n, {{{3, T(1)}}, {{5, T(1)}}, {{5, T(2.7F)}}});
    EXPECT_TRUE(throws_error(Status::not_positive_definite, "row and column 6 of the matrix",
                             [&] { solver.downdate(matrix, w); }));
    EXPECT_EQ(solver.solve(b), x);
    EXPECT_EQ(matrix.values, same.values);
    // The pattern of these columns is not in the factors, and the attempt to factorize anew fails.
    std::vector<std::pair<Index, T>> wide;
    for (Index i = 0; i < n; ++i) wide.emplace_back(i, T(2));
    EXPECT_EQ(status_of([&] { solver.downdate(matrix, columns_of<T>(n, {wide})); }),
              Status::not_positive_definite);
    EXPECT_EQ(matrix.values, same.values);
    EXPECT_EQ(solver.solve(b), x);
}

TEST(Update, ContinuesWithLdlIfTheFactorizationIsAutomatic) {
    auto matrix = random_matrix<double>(Factorization::llh, 48, 6);
    Solver<double> solver = factorized(matrix, narrow_blocks());
    ASSERT_EQ(solver.report().factorization, Factorization::llh);
    EXPECT_FALSE(solver.downdate(matrix, columns_of<double>(48, {{{5, 3.0}}})));
    EXPECT_EQ(solver.report().factorization, Factorization::ldlt);
    EXPECT_EQ(solver.inertia(), (Inertia{47, 1, 0}));
    DenseMatrix<double> dense{48, 2, std::vector<double>(96, 0.0)};
    dense.column(1)[5] = 3.0;
    EXPECT_TRUE(solver.update(matrix, dense));
    EXPECT_EQ(solver.inertia(), (Inertia{48, 0, 0}));
}

TEST(Update, FactorizesAnewIfTheStructureDoesNotFit) {
    constexpr Index n = 48;
    for (Factorization const kind : {Factorization::llh, Factorization::lu}) {
        CscMatrix<double> matrix = random_matrix<double>(kind, n, 3);
        Options options = narrow_blocks(kind);
        options.supernodes = kind == Factorization::lu ? Toggle::off : Toggle::automatic;
        options.ordering = OrderingMethod::natural;
        Solver<double> solver = factorized(matrix, options);
        std::vector<std::pair<Index, double>> wide;
        for (Index i = 0; i < n; i += 2) wide.emplace_back(i, 0.5);
        auto const w = columns_of<double>(n, {wide});
        auto const expected = updated(matrix, w, 1);
        EXPECT_FALSE(solver.update(matrix, w)) << to_string(kind);
        EXPECT_LE(largest_difference(to_dense(matrix), expected), 1e-15);
        EXPECT_NE(solver.report().notes.back().find("needed a new factorization"), std::string::npos);
        auto const b = random_vector<double>(n, 8);
        EXPECT_TRUE(solve_and_refine(solver, matrix, b).converged);
        solver.factorize(matrix);
    }
}

// The natural order begins with the pivot 2, which becomes zero.
TEST(Update, FactorizesAnewForPoorPivots) {
    auto matrix = matrix_from(Symmetry::symmetric, std::vector<std::vector<double>>{{2, 1}, {1, 0.1}});
    Options options = on_threads(1);
    options.factorization = Factorization::ldlt;
    options.matching = Toggle::off;
    Solver<double> solver = factorized(matrix, options);
    EXPECT_FALSE(solver.downdate(matrix, columns_of<double>(2, {{{0, std::sqrt(2.0)}}})));
    EXPECT_NE(solver.report().notes.back().find("pivots in the same order"), std::string::npos);
    EXPECT_EQ(solver.inertia(), (Inertia{1, 1, 0}));
    EXPECT_TRUE(solve_and_refine(solver, matrix, {1, 2}).converged);
}

// Factorizations choose indefinite pivots of size 2, and an update makes this one definite.
TEST(Update, CountsTheSignsOfDefinitePivots) {
    for (double const sign : {1.0, -1.0}) {
        auto matrix =
            matrix_from(Symmetry::symmetric, std::vector<std::vector<double>>{{0, -sign}, {-sign, sign / 3}});
        Options options = on_threads(1);
        options.factorization = Factorization::ldlt;
        Solver<double> solver = factorized(matrix, options);
        EXPECT_EQ(solver.inertia(), (Inertia{1, 1, 0}));
        auto const w = columns_of<double>(2, {{{0, 0.7}, {1, 0.8}}, {{0, 0.5}, {1, 0.4}}});
        ASSERT_TRUE(solver.update(matrix, w, static_cast<int>(sign)));
        EXPECT_EQ(solver.inertia(), (sign > 0 ? Inertia{2, 0, 0} : Inertia{0, 2, 0}));
        EXPECT_EQ(solver.report().factor.negative_pivots, sign > 0 ? 0 : 2);
    }
}

// The factors are those of a Hermitian matrix, which A + W W^T is not.
TEST(Update, FactorizesAnewIfAHermitianMatrixBecomesSymmetric) {
    using T = std::complex<double>;
    for (double const diagonal : {-0.5, 4.0}) { // ldlh and llh
        auto matrix = matrix_of<T>(3, Symmetry::symmetric, [&](Index i, Index j) {
            return T(i == j ? diagonal : std::abs(i - j) == 1 ? 1 : 0);
        });
        Options options = on_threads(1);
        options.supernodes = Toggle::on;
        Solver<T> solver = factorized(matrix, options);
        EXPECT_FALSE(solver.update(matrix, columns_of<T>(3, {{{0, T(0, 1)}, {1, T(1, 1)}}})));
        EXPECT_EQ(solver.report().factorization, Factorization::ldlt);
        std::vector<T> const b{1, T(0, 2), 3};
        EXPECT_LE(normwise_backward_error<T>(matrix, solver.solve(b), b), 1e-14);
    }
}

// Threads share wide panels, which does not change the numbers.
TEST(Update, WithManyColumnsIsTheSameOnTwoThreads) {
    constexpr Index n = 240, rank = 48;
    auto const a = matrix_of<double>(n, Symmetry::symmetric, [](Index i, Index j) { return i == j ? 2 : 1; });
    auto const w = [&] {
        std::vector<std::vector<std::pair<Index, double>>> columns(rank);
        for (Index k = 0; k < rank; ++k)
            for (Index i = k; i < n; i += 3) columns[k].emplace_back(i, 1.0 / static_cast<double>(i + k + 1));
        return columns_of<double>(n, columns);
    }();
    std::vector<std::vector<double>> found;
    for (int const threads : {1, 2}) {
        Options options = on_threads(threads);
        options.factorization = Factorization::llh;
        options.max_block_width = 80;
        CscMatrix<double> matrix = a;
        Solver<double> solver = factorized(matrix, options);
        EXPECT_TRUE(solver.update(matrix, w));
        found.push_back(solver.solve(random_vector<double>(n, 9)));
        auto const report = solve_and_refine(solver, matrix, random_vector<double>(n, 9));
        EXPECT_LE(report.history.front(), roundoff<double>(n, rank));
    }
    EXPECT_EQ(found[0], found[1]);
}

TEST(Update, ChangesFactorsInSinglePrecision) {
    auto matrix = random_matrix<double>(Factorization::llh, 48, 3);
    Options options = narrow_blocks(Factorization::llh);
    options.mixed_precision = true;
    Solver<double> solver = factorized(matrix, options);
    ASSERT_EQ(solver.report().factor.scalar, Scalar::s);
    EXPECT_TRUE(solver.update(matrix, columns_of<double>(48, {{{5, 3.0}}, {{7, 1.0}}})));
    auto const report = solve_and_refine(solver, matrix, random_vector<double>(48, 9));
    EXPECT_TRUE(report.converged);
    EXPECT_LE(report.history.front(), roundoff<float>(48, 2));
}

// The change is 2^40 times as large as the first row and column.
TEST(Update, FactorizesAnewIfTheScalesDoNotSuit) {
    double const small = std::ldexp(1.0, -40), coupling = std::ldexp(1.0, -21), large = std::ldexp(1.0, 30);
    auto matrix =
        matrix_from(Symmetry::symmetric,
                    std::vector<std::vector<double>>{{small, coupling, 0}, {coupling, 1, 0}, {0, 0, large}});
    Options options = on_threads(1);
    options.factorization = Factorization::llh;
    options.mixed_precision = true;
    options.scaling = Toggle::on;
    Solver<double> solver = factorized(matrix, options);
    EXPECT_FALSE(solver.update(matrix, columns_of<double>(3, {{{0, 1.0}}})));
    EXPECT_NE(solver.report().notes.back().find("scales"), std::string::npos);
    double const determinant = large * (small + 1 - coupling * coupling);
    EXPECT_NEAR(solver.determinant().log_modulus, std::log(determinant), 1e-6);
    // Downdating gives the old matrix, whose first row has become small again.
    EXPECT_FALSE(solver.downdate(matrix, columns_of<double>(3, {{{0, 1.0}}})));
    EXPECT_NEAR(solver.determinant().log_modulus, std::log(large * (small - coupling * coupling)), 1e-6);
}

// Says when the factorization begins, and delays it, so that Options::cancel is called.
class FactorizationBegins : public ProgressSink {
  public:
    void begin(std::string_view phase, double) override {
        if (phase != "factorization") return;
        is_seen = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    void advance(double) override {}
    void end() override {}
    bool is_seen = false;
};

// The update is cancelled after an analysis of the changed pattern, which does not fit the former matrix.
TEST(Update, LeavesASolverThatCanFactorizeWhenItIsCancelled) {
    constexpr Index n = 48;
    std::vector<std::pair<Index, double>> wide;
    for (Index i = 0; i < n; i += 2) wide.emplace_back(i, 0.5);
    for (Factorization const kind : {Factorization::llh, Factorization::lu}) {
        auto const a = random_matrix<double>(kind, n, 3);
        for (int const processes : {1, 2})
            run_processes(processes, [&](Communicator const& comm) {
                CscMatrix<double> matrix = on_process_0(comm, a);
                FactorizationBegins begins;
                Options options = narrow_blocks(kind);
                options.ordering = OrderingMethod::natural;
                Solver<double> solver = factorized(matrix, options, comm);
                options.progress = &begins;
                options.cancel = [&begins] { return begins.is_seen; };
                solver.set_options(options);
                CscMatrix<double> const w = on_process_0(comm, columns_of<double>(n, {wide}));
                EXPECT_EQ(status_of([&] { solver.update(matrix, w); }), Status::cancelled);
                EXPECT_EQ(matrix.values, on_process_0(comm, a).values);
                begins.is_seen = false;
                options.cancel = {};
                solver.set_options(options);
                solver.factorize(matrix);
                auto const b = on_process_0(comm, random_vector<double>(n, 9));
                EXPECT_TRUE(solve_and_refine(solver, matrix, b).converged);
            });
    }
}

// A system without supernodes is analyzed with supernodes when its update fails. That analysis fails, too.
TEST(Update, KeepsTheOptionsOfTheSolverWhenItFails) {
    constexpr Index n = 10;
    CscMatrix<double> matrix = matrix_of<double>(n, Symmetry::general, [](Index i, Index j) {
        return i == j ? 1.0 : i == 6 && j == 5 ? 0.5 : 0.0;
    });
    Options options = on_threads(1);
    options.factorization = Factorization::lu;
    Solver<double> solver = factorized(matrix, options);
    ASSERT_EQ(solver.report().factor_path, "simplicial");
    auto const w = columns_of<double>(n, {{{0, 1.0}}, {{2, 1.0}, {3, 1.0}}});
    EXPECT_EQ(status_of([&] { solver.downdate(matrix, w); }), Status::singular);
    EXPECT_EQ(solver.report().notes, std::vector<std::string>{"lu as requested"});
}

// One process calls and the other follows. Both keep the factors after a failure.
TEST(Update, FactorizesAnewOnSeveralProcesses) {
    constexpr Index n = 48;
    auto const a = random_matrix<double>(Factorization::llh, n, 3);
    for (bool const follows : {false, true})
        run_processes(2, [&](Communicator const& comm) {
            if (follows && comm.rank() == 1) return Solver<double>::follow(narrow_blocks(), comm);
            CscMatrix<double> matrix = on_process_0(comm, a);
            Solver<double> solver = factorized(matrix, narrow_blocks(Factorization::llh), comm);
            CscMatrix<double> const w = on_process_0(comm, columns_of<double>(n, {{{5, 3.0}, {7, 1.0}}}));
            EXPECT_FALSE(solver.update(matrix, w));
            auto const b = on_process_0(comm, random_vector<double>(n, 9));
            EXPECT_TRUE(solve_and_refine(solver, matrix, b).converged);
            CscMatrix<double> const large = on_process_0(comm, columns_of<double>(n, {{{9, 9.0}}}));
            EXPECT_EQ(status_of([&] { solver.downdate(matrix, large); }), Status::not_positive_definite);
            EXPECT_TRUE(solve_and_refine(solver, matrix, b).converged);
        });
}

// Neither is an overflow taken for a poor pivot, nor does it end a new factorization.
TEST(Update, RefusesSumsThatOverflow) {
    constexpr Index n = 48;
    auto const b = random_vector<double>(n, 7);
    for (Factorization const kind : {Factorization::llh, Factorization::ldlt, Factorization::lu}) {
        CscMatrix<double> matrix = random_matrix<double>(kind, n, 6);
        Solver<double> solver = factorized(matrix, narrow_blocks(kind));
        auto const x = solver.solve(b);
        CscMatrix<double> const same = matrix;
        auto const one = columns_of<double>(n, {{{5, 1e200}}}),
                   two = columns_of<double>(n, {{{3, 1e200}, {40, 1e200}}}),
                   together = columns_of<double>(n, {{{5, 1.2e154}}, {{5, 1.2e154}}});
        for (auto const& w : {one, two, together})
            EXPECT_TRUE(throws_error(Status::bad_input, "too large for its precision",
                                     [&] { solver.update(matrix, w); }));
        EXPECT_EQ(matrix.values, same.values);
        EXPECT_EQ(matrix.row_ind, same.row_ind);
        EXPECT_EQ(solver.solve(b), x);
    }
}

TEST(Update, ReportsWrongArguments) {
    auto matrix = random_matrix<double>(Factorization::llh, 48, 3);
    auto const w = columns_of<double>(48, {{{5, 3.0}}});
    Solver<double> unready(narrow_blocks());
    EXPECT_EQ(status_of([&] { unready.update(matrix, w); }), Status::usage);
    Solver<double> solver = factorized(matrix, narrow_blocks());
    auto const short_columns = columns_of<double>(47, {}),
               unknown = columns_of<double>(48, {{{5, std::nan("")}}});
    EXPECT_TRUE(throws_error(Status::usage, "with 48 rows", [&] { solver.update(matrix, short_columns); }));
    EXPECT_TRUE(throws_error(Status::usage, "1 or -1", [&] { solver.update(matrix, w, 2); }));
    auto other = random_matrix<double>(Factorization::llh, 48, 4);
    EXPECT_EQ(status_of([&] { solver.update(other, w); }), Status::usage);
    EXPECT_EQ(status_of([&] { solver.update(matrix, unknown); }), Status::bad_input);
    EXPECT_TRUE(solver.update(matrix, columns_of<double>(48, {}))); // an empty update
    EXPECT_TRUE(solver.update(matrix, DenseMatrix<double>{48, 2, std::vector<double>(96, 0.0)}));
    EXPECT_EQ(status_of([&] { solver.update(matrix, DenseMatrix<double>{48, 2, {}}); }), Status::usage);
    Options keeps = narrow_blocks(Factorization::llh);
    keeps.schur = {3};
    EXPECT_EQ(status_of([&] { factorized(matrix, keeps).update(matrix, w); }), Status::usage);
}

} // namespace
} // namespace espalier
