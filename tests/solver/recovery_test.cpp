// The state after a call that fails, is refused or is cancelled: the solver reports an error or can be used
// again, the caller's x is valid, and the report describes the work that was done.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "core/random.hpp"
#include "core/status_of.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/entries.hpp"
#include "refine/refine.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

using test::eliminate, test::pivot_ratio, test::to_dense;

// A cyclic matrix with large entries beside a weak diagonal, and with rows of very different size, so that lu
// permutes and scales it.
CscMatrix<double> permuted_and_scaled(Index n) {
    return matrix_of(n, Symmetry::general, [=](Index i, Index j) {
        double const value = i == j ? 1e-5 : i == (j + 1) % n ? 3 + 0.1 * static_cast<double>(j % 3) : 0.0;
        return std::ldexp(value, static_cast<int>(i % 7) * 6);
    });
}

// A regular tridiagonal matrix. Its first pivot is replaced when columns are eliminated one by one.
CscMatrix<double> with_a_tiny_pivot(Index n) {
    return matrix_of(n, Symmetry::general, [](Index i, Index j) {
        if (i == j) return j == 0 ? 1e-14 : 4.0;
        return std::abs(i - j) == 1 ? static_cast<double>(j - i) : 0.0;
    });
}

TEST(MixedPrecision, WithoutMemoryToFallBackLeavesNoFactors) {
    auto const a = generated<double>("lap2d:20");
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    Options options = on_threads(1);
    options.mixed_precision = true;
    options.tolerance = 1e-30; // cannot be reached
    Solver<double> solver(options);
    solver.analyze(a);
    options.max_memory = solver.report().analysis.memory_bytes;
    solver.set_options(options);
    solver.factorize(a);
    ASSERT_EQ(solver.report().factor.scalar, Scalar::s);
    auto x = solver.solve(b);
    EXPECT_EQ(status_of([&] { solver.refine(a, b, x); }), Status::out_of_memory);
    EXPECT_LT(normwise_backward_error<double>(a, x, b, 1), 1e-12); // x is the best iterate
    EXPECT_EQ(status_of([&] { (void)solver.solve(b); }), Status::usage);
    solver.factorize(a);
    EXPECT_EQ(solver.solve(b).size(), b.size());
}

TEST(MixedPrecision, MemoryIsLimitedForThePrecisionThatIsUsed) {
    auto const a = generated<double>("lap2d:20");
    Options options = on_threads(1);
    options.mixed_precision = true;
    Solver<double> solver(options);
    solver.analyze(a);
    options.max_memory = solver.report().analysis.memory_bytes;
    options.mixed_precision = false;
    solver.set_options(options);
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::out_of_memory);
}

TEST(Refine, LeavesAUsableSolutionWhenRefusedOrCancelled) {
    auto const a = permuted_and_scaled(50);
    std::vector<double> const b(50, 1.0);
    Options options = on_threads(1);
    options.supernodes = Toggle::on; // with scales in the working system
    auto solver = factorized(a, options);
    ASSERT_TRUE(solver.report().analysis.scaled);
    auto const solved = solver.solve(b);

    options.refine = RefineMethod::cg; // does not suit this matrix
    solver.set_options(options);
    auto x = solved;
    EXPECT_EQ(status_of([&] { solver.refine(a, b, x); }), Status::usage);
    EXPECT_EQ(x, solved);

    options.refine = RefineMethod::gmres;
    options.cancel = [] { return true; };
    solver.set_options(options);
    x.assign(50, 1.0); // so far from the solution that refinement has work to do
    EXPECT_EQ(status_of([&] { solver.refine(a, b, x); }), Status::cancelled);
    EXPECT_EQ(x, std::vector<double>(50, 1.0));
}

// The components of x differ by 24 orders of magnitude, and steps for some rows spoil others.
TEST(Refine, KeepsAnAcceptedSolutionThatBetterRowsWouldSpoil) {
    auto const a = matrix_from<float>(Symmetry::general,
                                      {
                                          {0, 1, -0.02F, 0, 0, 1, 0, 0, 1, 0, -1.24F, 2.7F, 0},
                                          {1, -3e-11F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                          {0.6F, 0, -9e-23F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9.029F},
                                          {1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1},
                                          {3e-4F, 0, 0, 0, -2e-8F, 0, 0, 0, 0, 0, 0, 0, -0.015F},
                                          {-2e-14F, 0, 0, 0, 0, 3.79357277e-22F, 0, 0, 0, 0, 0, 0, 1e-15F},
                                          {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1},
                                          {1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
                                          {10, 0, 0, 0, 0, 0, 0, 0, -3e-12F, 0, 0, 0, 1},
                                          {-7e-13F, 0, 0, 0, 0, 0, 0, 0, 0, 2e-23F, 0, 0, -0.16F},
                                          {-0.1F, 0, 0, 0, 0, 0, 0, 0, 0, 0, -8e-26F, 0, 0.01F},
                                          {-7e-13F, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -6e-23F, 8e-14F},
                                          {1, 0, 0, 0, -3.3F, -0.011F, 1, 0, 0, 0.506F, -1.5F, 0, 1},
                                      });
    std::vector<float> const b{0, 0, -0.5F, 0, 0, 1, 0, 0, 0, -0.6F, -0.88F, 0.4F, 0};
    Options options = on_threads(1);
    options.ordering = OrderingMethod::natural;
    auto solver = factorized(a, options);
    auto x = solver.solve(b);
    RefineReport const report = solver.refine(a, b, x);
    EXPECT_TRUE(report.converged);
    auto const errors = normwise_backward_error<float>(DistributedMatrix<float>(a), x, b, 1, MatrixOp::none);
    EXPECT_LE(errors, default_tolerance<float>());
    EXPECT_LE(report.backward_error, default_tolerance<float>());
}

TEST(Refine, TakesOnlyThePatternThatWasFactorized) {
    auto const a = generated<double>("lap2d:10");
    std::vector<double> const b(100, 1.0);
    auto solver = factorized(a, on_threads(1));
    auto x = solver.solve(b);
    auto outside = a, without_values = a, without_columns = a;
    outside.row_ind.back() = Index(1) << 40;
    without_values.values.clear();
    without_columns.col_ptr.clear();
    for (auto const* broken : {&outside, &without_values, &without_columns}) {
        EXPECT_EQ(status_of([&] { solver.refine(*broken, b, x); }), Status::usage);
        EXPECT_EQ(status_of([&] { (void)solver.reciprocal_condition(*broken); }), Status::usage);
        EXPECT_EQ(status_of([&] { (void)solver.null_space(*broken); }), Status::usage);
        EXPECT_NE(status_of([&] { solver.factorize(*broken); }), Status::ok);
        solver.factorize(a);
    }
    EXPECT_EQ(solver.refine(a, b, x).status, Status::ok);
}

// A random matrix with a pattern for each `pattern`. A third of its diagonal is weak, which depends on
// `values`.
CscMatrix<double> with_weak_diagonal(unsigned pattern, unsigned values) {
    std::mt19937 where(pattern), what(values);
    constexpr Index n = 60;
    CscMatrix<double> a;
    a.rows = a.cols = n;
    for (Index j = 0; j < n; ++j) {
        std::set<Index> const rows{j, static_cast<Index>(where() % n), static_cast<Index>(where() % n)};
        for (Index const i : rows) {
            double const off_diagonal = static_cast<double>(what() % 2001) / 1000 - 1;
            a.row_ind.push_back(i);
            a.values.push_back(i != j ? off_diagonal : what() % 3 == 0 ? 1e-3 : 9.0);
        }
        a.col_ptr.push_back(static_cast<Offset>(a.row_ind.size()));
    }
    return a;
}

TEST(Refactorization, CorrectsScalesOfOtherValues) {
    Options options = on_threads(1);
    options.matching = Toggle::on;
    std::vector<double> const b(60, 1.0);
    for (unsigned seed = 0; seed < 40; ++seed) {
        Solver<double> solver(options);
        solver.analyze(with_weak_diagonal(seed, seed + 1000));
        auto const a = with_weak_diagonal(seed, seed + 2000);
        solver.factorize(a);
        for (auto const op : {MatrixOp::none, MatrixOp::transpose}) {
            auto x = solver.solve(b, 1, op);
            auto const report = solver.refine(a, b, x, 1, op);
            EXPECT_EQ(report.status, Status::ok) << seed;
            EXPECT_LT(normwise_backward_error<double>(a, x, b, 1, op), 1e-12) << seed;
        }
    }
}

template <class T> bool has_note(Solver<T> const& solver, std::string_view beginning) {
    return std::ranges::any_of(solver.report().notes,
                               [&](auto const& note) { return note.starts_with(beginning); });
}

// A matrix may be refused before anything is computed. Then there are no factors of the earlier one either.
TEST(Refactorization, LeavesNoFactorsIfItFails) {
    auto const a = generated<double>("convdiff3d:4");
    CscMatrix<double> zero_row = a;
    for (std::size_t k = 0; k < a.values.size(); ++k)
        if (a.row_ind[k] == 5) zero_row.values[k] = 0;
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    CscMatrix<double> infinite = a;
    infinite.values[3] = infinity;
    auto const other = generated<double>("lap3d:4");
    struct Refusal {
        CscMatrix<double> const& matrix;
        Status status;
    };
    for (Toggle const supernodes : {Toggle::on, Toggle::off})
        for (Refusal const& refusal :
             {Refusal{zero_row, Status::singular}, Refusal{a, Status::out_of_memory},
              Refusal{infinite, Status::bad_input}, Refusal{other, Status::usage}}) {
            Options options = on_threads(1);
            options.supernodes = supernodes;
            auto solver = factorized(a, options);
            if (refusal.status == Status::out_of_memory) options.max_memory = 1000;
            solver.set_options(options);
            EXPECT_EQ(status_of([&] { solver.factorize(refusal.matrix); }), refusal.status);
            options.max_memory = 0;
            solver.set_options(options);
            EXPECT_EQ(status_of([&] { (void)solver.solve(b); }), Status::usage);
            solver.factorize(a);
            EXPECT_LT(normwise_backward_error<double>(a, solver.solve(b), b), 1e-14);
        }
}

TEST(Overflow, IsAvoidedByScalingAndNotReportedAsSingularity) {
    auto a = matrix_from<float>(Symmetry::symmetric, {{1e38f, 3e38f}, {3e38f, 2e38f}});
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
        Options options = on_threads(1);
        options.factorization = kind;
        std::vector<float> const b{4, 5};
        auto const x = solve<float>(a, b, 1, options);
        EXPECT_LT(normwise_backward_error<float>(a, x.x, b), 1e-6);
    }
    // With the first entry as a pivot, the update of the last entry overflows: 1 - 3e38^2 / 1e36.
    a.values = {1e36f, 3e38f, 1};
    Options options = one_column_at_a_time();
    options.scaling = Toggle::off;
    for (Factorization const kind : {Factorization::ldlt, Factorization::lu}) {
        options.factorization = kind;
        auto solver = factorized(a, options);
        EXPECT_TRUE(has_note(solver, "the factorization overflows"));
        std::vector<float> const b{4, 5};
        EXPECT_LT(normwise_backward_error<float>(a, solver.solve(b), b), 1e-6) << to_string(kind);
    }
    a.values = {3e38f, 3e38f, -3e38f}; // overflows with any pivot
    options.factorization = Factorization::lu;
    Solver<float> solver(options);
    std::string message;
    EXPECT_EQ(status_of([&] { solver.factorize(a); }, &message), Status::inaccurate);
    EXPECT_NE(message.find("overflows"), std::string::npos) << message;
}

// A cyclic matrix with one strong entry in each column, on the diagonal or below it.
CscMatrix<double> with_two_transversals(Index n, double diagonal, double below) {
    return matrix_of(n, Symmetry::general, [=](Index i, Index j) {
        return i == j ? diagonal : i == (j + 1) % n ? below : 0.0;
    });
}

TEST(Refactorization, AnalyzesAgainIfTheMatchingIsOutdated) {
    Options options = one_column_at_a_time();
    auto const notes_about_it = [](Solver<double> const& solver) {
        return std::ranges::count_if(solver.report().notes,
                                     [](auto const& note) { return note.starts_with("analyzed again"); });
    };
    for (Index const n : {12, 60}) { // without a new analysis, entries of 60 columns overflow
        auto const analyzed = with_two_transversals(n, 4, 1), a = with_two_transversals(n, 1e-14, 4);
        options.matching = Toggle::automatic;
        auto solver = factorized(analyzed, options);
        EXPECT_FALSE(solver.report().analysis.matched);
        for (int i = 0; i < 2; ++i) {
            solver.factorize(a);
            EXPECT_TRUE(solver.report().analysis.matched);
            EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
            EXPECT_EQ(notes_about_it(solver), 1);
        }
        std::vector<double> const b(n, 1.0);
        auto const x = solver.solve(b);
        EXPECT_LT(normwise_backward_error<double>(a, x, b), 1e-15);
        options.matching = Toggle::off;
        Solver<double> unmatched(options);
        unmatched.analyze(analyzed);
        status_of([&] { unmatched.factorize(a); });
        EXPECT_EQ(notes_about_it(unmatched), 0);
    }
}

// With the scales of the first values, the condition of the second matrix is that of a singular one in single
// precision. The matching is the same.
TEST(Refactorization, AnalyzesAgainIfTheScalesAreOutdated) {
    using T = std::complex<float>;
    CscMatrix<T> a;
    a.rows = a.cols = 3;
    a.symmetry = Symmetry::symmetric;
    a.col_ptr = {0, 2, 4, 4};
    a.row_ind = {1, 2, 1, 2};
    a.values = {{3239.785f, -552.245f}, 1, 256, {-0.060105f, 0.028064f}};
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    options.factorization = Factorization::ldlt;
    auto solver = factorized(a, options);
    a.values = {
        {0.539643f, -0.191526f}, {0.36232f, 0.891644f}, {-0.143136f, -0.109592f}, {0.814918f, -0.57288f}};
    solver.factorize(a);
    EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
    EXPECT_FALSE(solver.report().factor.numerically_singular);
    EXPECT_GT(solver.reciprocal_condition(a), 0.1);
}

// The first matrix needs no scales, because they would be uniform.
TEST(Refactorization, ScalesNewValuesOfASystemThatNeededNoScales) {
    auto const scale = [](Index i) {
        return std::ldexp(1.0, static_cast<int>(SplitMix64::at(3, i) % 401) - 200);
    };
    for (Factorization const kind : {Factorization::lu, Factorization::ldlt})
        for (Pivoting const pivoting : {Pivoting::static_pivots, Pivoting::delayed}) {
            auto first = generated<double>(kind == Factorization::lu ? "convdiff3d:4" : "lap3d:4");
            if (kind == Factorization::ldlt) // indefinite
                for_each_entry(first, [&](Index i, Index j, Offset p) {
                    if (i == j) first.values[p] = i % 3 == 0 ? -6 : 6;
                });
            auto a = first;
            scale_values(a, [&](Index i, Index j) { return scale(i) * scale(j); });
            Options options = on_threads(1);
            options.factorization = kind;
            options.pivoting = pivoting;
            options.supernodes = Toggle::on;
            auto solver = factorized(first, options), fresh = factorized(a, options);
            solver.factorize(a);
            EXPECT_TRUE(solver.report().analysis.scaled);
            EXPECT_FALSE(has_note(solver, "analyzed again")); // which would also choose scales
            EXPECT_EQ(solver.determinant().phase, fresh.determinant().phase);
            EXPECT_NEAR(solver.determinant().log_modulus, fresh.determinant().log_modulus, 1e-8);
            if (kind == Factorization::ldlt) {
                EXPECT_EQ(solver.inertia(), fresh.inertia());
            }
            std::vector<double> b(a.cols);
            for (Index i = 0; i < a.cols; ++i) b[i] = scale(i);
            auto x = solver.solve(b);
            auto const report = solver.refine(a, b, x);
            EXPECT_EQ(report.status, Status::ok);
            EXPECT_LT(report.componentwise_error, 1e-10);
        }
}

// With the scales of the first values, all entries underflow.
TEST(Refactorization, IsNotSingularIfValuesUnderflowWithTheOldScales) {
    auto a = matrix_from(Symmetry::symmetric, {{2.0, 1.0, 0.0}, {1.0, -3.0, 1.0}, {0.0, 1.0, 5.0}});
    for (Factorization const kind : {Factorization::lu, Factorization::ldlt}) {
        auto large = a, small = a;
        for (double& value : large.values) value *= 0x1p600;
        for (double& value : small.values) value *= 0x1p-600;
        Options options = on_threads(1);
        options.factorization = kind;
        options.supernodes = Toggle::on;
        auto solver = factorized(large, options);
        solver.factorize(small);
        EXPECT_FALSE(solver.report().factor.numerically_singular);
        std::vector<double> const b{3 * 0x1p-600, -1 * 0x1p-600, 6 * 0x1p-600};
        auto x = solver.solve(b);
        EXPECT_EQ(solver.refine(small, b, x).status, Status::ok);
        for (double const value : x) EXPECT_NEAR(value, 1, 1e-14);
    }
}

TEST(Underflow, OfARightHandSideIsNotASolution) {
    auto const is_solved = []<class T>(CscMatrix<T> const& a, std::vector<T> const& b, MatrixOp op) {
        Options options = on_threads(1);
        options.supernodes = Toggle::on;
        options.factorization = Factorization::lu;
        auto solver = factorized(a, options);
        auto x = solver.solve(b, 1, op);
        return solver.refine(a, b, x, 1, op).status == Status::ok;
    };
    for (MatrixOp const op : {MatrixOp::none, MatrixOp::transpose}) {
        auto const a = matrix_from(Symmetry::general, {{1e200, 1.0}, {-1.0, 2e-200}});
        EXPECT_FALSE(is_solved(a, {1e-230, 0.0}, op));
        EXPECT_TRUE(is_solved(a, {1e-30, 0.0}, op));
        auto const single = matrix_from<float>(Symmetry::general, {{1e20f, 1}, {-1, 2e-20f}});
        EXPECT_FALSE(is_solved(single, {1e-37f, 0}, op));
        EXPECT_TRUE(is_solved(single, {1, 0}, op));
    }
}

TEST(Overflow, OfASolutionIsNotReplacedByZeros) {
    auto const a = matrix_from(Symmetry::symmetric, {{1e-200}});
    std::vector<double> const b{1e200};
    for (RefineMethod const method : {RefineMethod::automatic, RefineMethod::gmres, RefineMethod::bicgstab})
        for (SolveMethod const solve : {SolveMethod::direct, SolveMethod::ilu}) {
            Options options = on_threads(1);
            options.refine = method;
            options.method = solve;
            auto solver = factorized(a, options);
            auto x = solver.solve(b);
            EXPECT_EQ(solver.refine(a, b, x).status, Status::inaccurate);
            EXPECT_FALSE(std::isfinite(x[0]));
        }
}

// Without interchanges between blocks, entries grow to 2^n. No pivot is small, so none is replaced, and the
// diagonal is not weak enough for a matching.
TEST(Growth, LeadsToDelayedColumnsIfTheFactorsAreUseless) {
    for (Index const n : {200, 2000}) { // with 2000 columns, numbers overflow
        auto const a = with_two_transversals(n, 2, 4);
        for (Pivoting const pivoting : {Pivoting::static_pivots, Pivoting::automatic}) {
            Options options = on_threads(1);
            options.supernodes = Toggle::on;
            options.pivoting = pivoting;
            options.ordering = OrderingMethod::amd;
            auto solver = factorized(a, options);
            EXPECT_EQ(
                has_note(solver, n == 200 ? "the factors are inaccurate" : "the factorization overflows"),
                pivoting == Pivoting::static_pivots);
            EXPECT_LE(solve_and_refine(solver, a, random_vector<double>(n, 1)).backward_error, 1e-14);
        }
    }
}

// Wilkinson's matrix, whose last column doubles in each step even with partial pivoting. Columns of split
// panels cannot be delayed.
TEST(Growth, IsReportedIfColumnsCannotBeDelayed) {
    auto const a = matrix_of(100, Symmetry::general, [](Index i, Index j) {
        return i == j || j == 99 ? 1.0 : i > j ? -1.0 : 0.0;
    });
    Options options = many_tasks(SchedulePolicy::dynamic_tree, Splitting::two_d, 4);
    options.factorization = Factorization::lu;
    auto const solver = factorized(a, options);
    EXPECT_TRUE(has_note(solver, "the factors are inaccurate"));
    EXPECT_EQ(status_of([&] { (void)solver.determinant(); }), Status::inaccurate);
}

// Delayed columns bound the growth of each step only. In column blocks of one column, 2 is accepted beside 4.
// Stricter pivots are then taken, also if the growth ends in a replaced pivot, as with u = 0.001 and rows
// that grow faster.
TEST(Growth, LeadsToStricterPivotsIfDelayedColumnsAllowIt) {
    Options options = one_column_at_a_time();
    options.supernodes = Toggle::on;
    for (auto const& [below, tolerance] : {std::pair(4.0, 0.01), std::pair(1900.0, 0.001)}) {
        options.pivot_tolerance = tolerance;
        for (Pivoting const pivoting : {Pivoting::static_pivots, Pivoting::delayed}) {
            options.pivoting = pivoting;
            auto const a = with_two_transversals(60, 2, below);
            auto solver = factorized(a, options);
            EXPECT_TRUE(std::ranges::any_of(solver.report().notes, [](auto const& note) {
                return note.ends_with("delayed pivots and u = 1");
            }));
            EXPECT_FALSE(solver.report().factor.numerically_singular);
            EXPECT_LE(solve_and_refine(solver, a, random_vector<double>(60, 1)).backward_error, 1e-14);
            EXPECT_NEAR(solver.determinant().log_modulus, 60 * std::log(below), 1e-10 * 60 * std::log(below));
        }
    }
}

// The errors of earlier factors are no reason to change the precision or the pivots of the next ones.
TEST(Growth, ConcernsOnlyTheFactorsInWhichItWasFound) {
    Options options = one_column_at_a_time();
    options.supernodes = Toggle::on;
    auto const growing = with_two_transversals(20, 2, 4), harmless = with_two_transversals(20, 4, 2);
    auto solver = factorized(growing, options);
    options.condition = true;
    solver.set_options(options);
    solver.factorize(growing);
    EXPECT_TRUE(has_note(solver, "inertia and determinant are not known: the factors are inaccurate"));
    options.condition = false;
    solver.set_options(options);
    solver.factorize(growing);
    options.condition = options.mixed_precision = true;
    solver.set_options(options);
    solver.factorize(harmless);
    EXPECT_FALSE(solver.report().factor.precision_fell_back);
}

// Random patterns with values of very different size, factorized with the matching of other values.
TEST(Growth, MakesNoDeterminantWrong) {
    std::mt19937_64 random(5);
    auto const uniform = [&](double low, double high) {
        return std::uniform_real_distribution(low, high)(random);
    };
    Index const n = 60;
    int judged = 0;
    for (int trial = 0; trial < 150; ++trial) {
        std::set<std::pair<Index, Index>> entries;
        for (Index i = 0; i < n; ++i) {
            entries.insert({i, i});
            for (int k = 0; k < 2; ++k) entries.insert({i, static_cast<Index>(random() % n)});
        }
        auto const next_values = [&] {
            return matrix_of(n, Symmetry::general, [&](Index i, Index j) {
                return entries.contains({i, j}) ? uniform(-1, 1) * std::pow(10.0, uniform(-6, 0)) : 0.0;
            });
        };
        auto const first = next_values(), second = next_values();
        auto dense = to_dense(second);
        double const ratio = pivot_ratio(dense);
        if (ratio < 1e-9) continue;
        double log_modulus = 0;
        for (double const pivot : eliminate(dense, n)) log_modulus += std::log(std::abs(pivot));
        Options options = one_column_at_a_time();
        options.supernodes = Toggle::on;
        options.factorization = Factorization::lu;
        auto solver = factorized(first, options);
        solver.factorize(second);
        double found = log_modulus;
        Status const status = status_of([&] { found = solver.determinant().log_modulus; });
        EXPECT_TRUE(status == Status::ok || status == Status::inaccurate);
        EXPECT_NEAR(found, log_modulus, 1e-3) << trial << ", pivots differ by " << ratio;
        judged += status == Status::ok;
    }
    EXPECT_GE(judged, 20);
}

TEST(Singularity, IsNotConcludedFromRightHandSidesThatAreNotFinite) {
    auto const a = with_a_tiny_pivot(60);
    auto solver = factorized(a, one_column_at_a_time());
    ASSERT_EQ(solver.report().factor.pivots_replaced, 1);
    std::vector<double> b(60, 1.0);
    b[3] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::inaccurate);
    b[3] = 1;
    EXPECT_EQ(solve_and_refine(solver, a, b).status, Status::ok);
    EXPECT_FALSE(solver.report().factor.numerically_singular);
    EXPECT_EQ(status_of([&] { (void)solver.determinant(); }), Status::inaccurate) << "not zero";
}

TEST(Singularity, IsDetectedInARowOfZeros) {
    for (auto const symmetry : {Symmetry::general, Symmetry::symmetric}) {
        CscMatrix<double> const a{2, 2, symmetry, {0, 1, 2}, {0, 1}, {1, 0}};
        Options options = on_threads(1);
        options.allow_singular = true;
        auto solver = factorized(a, options);
        EXPECT_TRUE(solver.report().factor.numerically_singular);
        EXPECT_EQ(solver.determinant().phase, 0);
    }
}

TEST(ConditionOption, HasNoErrorBoundForASolutionThatIsNotUnique) {
    auto const a = matrix_from(Symmetry::symmetric, {{1, 1}, {1, 1}});
    Options options = on_threads(1);
    options.condition = true;
    auto solver = factorized(a, options);
    auto const report = solve_and_refine(solver, a, {1, 1});
    EXPECT_EQ(report.status, Status::singular);
    EXPECT_EQ(report.forward_error, std::numeric_limits<double>::infinity());
}

TEST(Refactorization, HasOnlyItsOwnNotes) {
    auto const a = with_a_tiny_pivot(60);
    auto solver = factorized(a, one_column_at_a_time());
    auto const notes = solver.report().notes;
    for (int i = 0; i < 3; ++i) solver.factorize(a);
    EXPECT_EQ(solver.report().notes, notes);
}

TEST(Schur, ReportsASingularInterior) {
    auto a = matrix_from(Symmetry::symmetric, {{1, 1, 1}, {1, 1, 2}, {1, 2, 0}}); // the second pivot changes
    Options options = on_threads(1);
    options.schur = {2};
    for (auto const kind : {Factorization::ldlt, Factorization::lu}) {
        options.factorization = kind;
        Solver<double> solver(options);
        a.values[3] = 1;
        solver.factorize(a);
        EXPECT_TRUE(solver.report().factor.numerically_singular) << to_string(kind);
        a.values[3] = 2;
        solver.factorize(a);
        EXPECT_FALSE(solver.report().factor.numerically_singular) << to_string(kind);
        EXPECT_DOUBLE_EQ(solver.schur_complement().values[0], -2);
    }
}

TEST(Options, RefuseInvalidNumbers) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double infinite = std::numeric_limits<double>::infinity();
    auto const refused = [](auto change) {
        Options options;
        change(options);
        return status_of([&] { Solver<double>{options}; }) == Status::usage;
    };
    for (double const value : {nan, infinite, -1.0})
        EXPECT_TRUE(refused([&](Options& o) { o.tolerance = value; }));
    for (double const value : {nan, infinite})
        EXPECT_TRUE(refused([&](Options& o) { o.pivot_threshold = value; }));
    for (double const value : {nan, infinite, 0.0, -0.1, 0.51})
        EXPECT_TRUE(refused([&](Options& o) { o.pivot_tolerance = value; }));
    EXPECT_FALSE(refused([](Options& o) { o.pivot_tolerance = 0.5; }));
    EXPECT_TRUE(refused([](Options& o) { o.max_refine_iterations = -1; }));
    EXPECT_FALSE(refused([](Options& o) { o.pivot_threshold = -1; }));
}

} // namespace
} // namespace espalier
