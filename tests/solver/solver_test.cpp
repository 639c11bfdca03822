// Tests the whole pipeline by the backward error, for every factorization, scalar, number of threads and
// ordering.
#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "core/scalar.hpp"
#include "core/status_of.hpp"
#include "distributed/backward_error.hpp"
#include "espalier/espalier.hpp"
#include "matrix/convert.hpp"
#include "refine/refine.hpp"

#include "solver/generated.hpp"
#include "solver/problems.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

// The bound of the documentation: 10 epsilon times a factor for growth inside diagonal blocks. See
// docs/algorithms.md, "Accuracy".
template <class T> constexpr double error_bound = 10 * static_cast<double>(epsilon<T>) * 10;

template <class T>
double solve_error(CscMatrix<T> const& a, Options const& options, Index nrhs = 1, Report* report = nullptr) {
    auto solver = factorized(a, options);
    std::vector<T> const b = random_vector<T>(a.cols * nrhs, 7);
    std::vector<T> x = solver.solve(b, nrhs);
    RefineReport const refined = solver.refine(a, b, x, nrhs);
    if (report) *report = solver.report();
    double const error = normwise_backward_error<T>(a, x, b, nrhs);
    // The solver sums the residual in the order of the working system, so the two differ by their rounding:
    // half an epsilon in each, or more in long rows.
    EXPECT_NEAR(refined.backward_error, error, 1e-3 * error + static_cast<double>(epsilon<T>));
    return error;
}

// Matrices that fit each factorization. Complex matrices are used only with complex scalars.
std::vector<Problem> cases(bool complex, bool double_precision) {
    using enum Factorization;
    std::vector<Problem> all = {
        {"lap2d:13", llh},        {"elast3d:4", llh},        {"lap3d:7", ldlt}, {"saddle3d:4", ldlt},
        {"convdiff3d:4", lu},     {"random:300:1500:3", lu}, {"lap2d:9", lu},   {"saddle3d:5", automatic},
        {"elast3d:3", automatic}, {"lap3d:6", llt},
    };
    // Coefficients over six decades leave nothing of single precision's seven digits.
    if (double_precision) all.push_back({"spe10like:5x4x3", automatic});
    if (complex) {
        all.insert(all.end(), {{"helmholtz3d:6", ldlt},
                               {"helmholtz3d:6", llt},
                               {"hermitian3d:6", llh},
                               {"hermitian3d:6", ldlh},
                               {"helmholtz3d:5", lu},
                               {"hermitian3d:5", automatic}});
    } else {
        all.push_back({"saddle3d:4", ldlh});
    }
    return all;
}

template <class T> class EveryScalar : public testing::Test {};
TYPED_TEST_SUITE(EveryScalar, test::Scalars);

template <class T> void check_all(Options options) {
    for (auto const& [spec, kind] : cases(is_complex<T>, sizeof(Real<T>) == sizeof(double))) {
        options.factorization = kind;
        EXPECT_LE(solve_error(generated<T>(spec), options), error_bound<T>)
            << to_string(kind) << " on " << spec << ", " << options.threads << " threads, ordering "
            << to_string(options.ordering);
    }
}

TYPED_TEST(EveryScalar, MeetsTheErrorBoundOnEveryOrderingAndNumberOfThreads) {
    for (OrderingMethod const ordering :
         {OrderingMethod::scotch, OrderingMethod::metis, OrderingMethod::amd, OrderingMethod::natural})
        for (int const threads : {1, 2, 4}) {
            Options options;
            options.ordering = ordering;
            options.threads = threads;
            check_all<TypeParam>(options);
        }
}

TYPED_TEST(EveryScalar, MeetsTheErrorBoundWithNarrowBlocks) {
    for (int const threads : {1, 3}) {
        Options options;
        options.threads = threads;
        options.max_block_width = 8;
        options.min_block_width = 4;
        options.amalgamation_fill = 0;
        check_all<TypeParam>(options);
    }
}

TYPED_TEST(EveryScalar, SolvesSeveralRightHandSides) {
    Options options;
    options.threads = 2;
    for (Index const nrhs : {Index{1}, Index{3}, Index{70}})
        for (char const* matrix : {"elast3d:3", "convdiff3d:3", "saddle3d:3"})
            EXPECT_LE(solve_error(generated<TypeParam>(matrix), options, nrhs), error_bound<TypeParam>)
                << matrix << " with " << nrhs << " right-hand sides";
}

TYPED_TEST(EveryScalar, RefactorizesWithNewValuesOnTheSamePattern) {
    auto a = generated<TypeParam>("convdiff3d:4");
    Options options;
    options.threads = 2;
    Solver<TypeParam> solver(options);
    solver.analyze(a);
    auto const b = random_vector<TypeParam>(a.cols, 3);
    for (int round = 0; round < 3; ++round) {
        solver.factorize(a);
        EXPECT_LE(solve_and_refine(solver, a, b).backward_error, error_bound<TypeParam>) << "round " << round;
        for (auto& value : a.values) value *= TypeParam(Real<TypeParam>(1.5));
    }
}

TEST(Solver, GivesTheSameBitsEveryTime) {
    for (char const* spec : {"elast3d:5", "convdiff3d:5", "saddle3d:5"})
        for (Splitting const splitting : {Splitting::one_d, Splitting::two_d}) {
            auto const a = generated<double>(spec);
            auto const b = random_vector<double>(a.cols, 11);
            std::vector<double> first;
            for (int round = 0; round < 5; ++round) {
                auto solver = factorized(a, many_tasks(SchedulePolicy::static_order, splitting, 4));
                auto const x = solver.solve(b);
                if (round == 0) first = x;
                EXPECT_EQ(first, x) << spec << ", " << to_string(splitting) << ", round " << round;
            }
        }
}

TEST(Solver, FallsBackFromLlhToLdltWhenAutoMeetsANegativePivot) {
    // The matrix is indefinite although its diagonal is positive and |a_ij|^2 < a_ii a_jj: 1 on the diagonal,
    // -0.9 beside it.
    auto const a = matrix_of(40, Symmetry::symmetric, [](Index i, Index j) {
        return i == j ? 1.0 : i == j + 1 ? -0.9 : 0.0;
    });
    for (Toggle const supernodes : {Toggle::on, Toggle::off}) {
        Options options;
        options.supernodes = supernodes;
        Report report;
        EXPECT_LE(solve_error(a, options, 1, &report), 1e-14);
        EXPECT_EQ(report.factorization, Factorization::ldlt);
        EXPECT_TRUE(report.factor.fell_back);
        EXPECT_GT(report.factor.negative_pivots, 0);

        options.factorization = Factorization::llh;
        Solver<double> strict(options);
        EXPECT_TRUE(
            throws_error(Status::not_positive_definite, "row and column", [&] { strict.factorize(a); }));
    }
}

// A sequence of indefinite matrices would otherwise be factorized twice at each step.
TEST(Solver, DoesNotTryLlhAgainAfterItFailed) {
    auto a = matrix_of(40, Symmetry::symmetric, [](Index i, Index j) {
        return i == j ? 1.0 : i == j + 1 ? -0.9 : 0.0;
    });
    Options options;
    options.supernodes = Toggle::on;
    Solver<double> solver = factorized(a, options);
    Index const negative = solver.inertia().negative;
    std::string const reason = "auto keeps ldlt: earlier values were not positive definite";
    for (double const factor : {1.1, 3.0}) { // the second matrix is definite
        for (Index j = 0; j < a.cols; ++j) a.values[a.col_ptr[j]] = factor;
        solver.factorize(a);
        EXPECT_EQ(solver.report().factorization, Factorization::ldlt);
        EXPECT_FALSE(solver.report().factor.fell_back);
        EXPECT_EQ(solver.report().notes.front(), reason);
        EXPECT_EQ(solver.inertia().negative > 0, factor < 2);
    }
    EXPECT_GT(negative, 0);
    solver.analyze(a);
    solver.factorize(a);
    EXPECT_EQ(solver.report().factorization, Factorization::llh);
}

TEST(Solver, DescribesTheFactorizationOfNewValues) {
    auto a = generated<double>("lap3d:4");
    std::vector<std::string> lines;
    Options options;
    options.supernodes = Toggle::on;
    options.log = [&](std::string_view line) { lines.emplace_back(line); };
    Solver<double> solver(options);
    solver.analyze(a);
    std::string const definite = "auto chose llh: symmetric with a positive diagonal";
    std::string const indefinite = "auto chose ldlt: symmetric, but a diagonal entry is not positive";
    for (double const value : {-6.0, 6.0, 6.0}) {
        lines.clear();
        auto const earlier = solver.report().factorization;
        a.values[a.col_ptr[10]] = value;
        solver.factorize(a);
        auto const& report = solver.report();
        EXPECT_EQ(report.factorization, value < 0 ? Factorization::ldlt : Factorization::llh);
        EXPECT_EQ(std::ranges::count(report.notes, definite), value < 0 ? 0 : 1);
        EXPECT_EQ(std::ranges::count(report.notes, indefinite), value < 0 ? 1 : 0);
        EXPECT_EQ(std::ranges::count(lines, value < 0 ? indefinite : definite),
                  report.factorization == earlier ? 0 : 1);
    }
}

TEST(Solver, HandlesOrdersZeroAndOne) {
    CscMatrix<double> empty;
    auto none = factorized(empty);
    EXPECT_TRUE(none.solve(std::vector<double>{}).empty());

    auto const one = matrix_from(Symmetry::symmetric, {{-4}});
    auto solver = factorized(one);
    EXPECT_EQ(solver.solve(std::vector<double>{8}), std::vector<double>{-2});
}

TEST(Solver, ReportsMisuse) {
    auto a = generated<double>("lap2d:4");
    Solver<double> solver;
    EXPECT_EQ(status_of([&] { std::ignore = solver.solve(std::vector<double>(16)); }), Status::usage);
    solver.factorize(a);
    EXPECT_EQ(status_of([&] { std::ignore = solver.solve(std::vector<double>(15)); }), Status::usage);
    EXPECT_EQ(status_of([&] { solver.factorize(generated<double>("lap2d:5")); }), Status::usage);
    auto unsymmetric = generated<double>("convdiff3d:2");
    Options options;
    options.factorization = Factorization::llh;
    EXPECT_EQ(status_of([&] { Solver<double>(options).analyze(unsymmetric); }), Status::usage);
    options.factorization = Factorization::automatic;
    options.max_memory = 1000;
    EXPECT_EQ(status_of([&] { Solver<double>(options).analyze(generated<double>("lap3d:8")); }),
              Status::out_of_memory);
    a.values[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(status_of([&] { Solver<double>().factorize(a); }), Status::bad_input);
    CscMatrix<double> const wide{2, 3, Symmetry::general, {0, 0, 0, 0}, {}, {}};
    EXPECT_EQ(status_of([&] { Solver<double>().analyze(wide); }), Status::bad_input);
}

TEST(Solver, ReportsSingularMatrices) {
    CscMatrix<double> const empty_column{3, 3, Symmetry::general, {0, 1, 2, 2}, {0, 1}, {1, 1}};
    CscMatrix<double> const stored_zero{3, 3, Symmetry::general, {0, 1, 2, 3}, {0, 1, 2}, {1, 1, 0}};
    for (auto const* a : {&empty_column, &stored_zero})
        EXPECT_EQ(status_of([&] { Solver<double>().factorize(*a); }), Status::singular);
}

// A matrix with the pattern of `graph`, in which each row is replaced by `unknowns` rows.
CscMatrix<double> with_many_unknowns(CscMatrix<double> const& graph, Index unknowns) {
    CscMatrix<double> a;
    a.rows = a.cols = graph.cols * unknowns;
    a.symmetry = Symmetry::symmetric;
    for (Index j = 0; j < a.cols; ++j) {
        Index const node = j / unknowns;
        for (Offset k = graph.col_ptr[node]; k < graph.col_ptr[node + 1]; ++k)
            for (Index i = graph.row_ind[k] * unknowns; i < (graph.row_ind[k] + 1) * unknowns; ++i)
                if (i >= j) a.row_ind.push_back(i);
        a.col_ptr.push_back(std::ssize(a.row_ind));
    }
    a.values.assign(a.row_ind.size(), 1.0);
    return a;
}

// The edge between the first and the last point hides the lattice from the ordering.
CscMatrix<double> with_long_edge(char const* lattice) {
    auto a = generated<double>(lattice);
    a.row_ind.insert(a.row_ind.begin() + a.col_ptr[1], a.cols - 1);
    a.values.insert(a.values.begin() + a.col_ptr[1], -1.0);
    for (Index j = 1; j <= a.cols; ++j) ++a.col_ptr[j];
    return a;
}

Report analysis_with(CscMatrix<double> const& a, OrderingMethod ordering) {
    Options options;
    options.ordering = ordering;
    options.calibration = Toggle::off;
    Solver<double> solver(options);
    solver.analyze(a);
    return solver.report();
}

TEST(Solver, OrdersAgainOnlyIfTheFactorizationIsLong) {
    // The elimination of a graph of few vertices with many unknowns takes much longer than its ordering.
    auto const find_best = [](CscMatrix<double> const& a) {
        OrderingMethod best = OrderingMethod::amd;
        double least = analysis_with(a, best).analysis.flops;
        for (OrderingMethod const other : {OrderingMethod::dissection, OrderingMethod::scotch})
            if (double const flops = analysis_with(a, other).analysis.flops; flops < least) {
                least = flops;
                best = other;
            }
        Report const chosen = analysis_with(a, OrderingMethod::automatic);
        EXPECT_EQ(chosen.ordering, best);
        EXPECT_EQ(chosen.analysis.flops, least);
        return best;
    };
    std::set<OrderingMethod> found;
    for (char const* const spec : {"lap2d:12", "lap2d:14", "lap2d:16", "lap3d:6"})
        found.insert(find_best(with_many_unknowns(with_long_edge(spec), 20)));
    EXPECT_GT(found.size(), 1);

    int left_alone = 0; // short factorizations that keep their ordering although another one is better
    for (char const* const spec : {"lap2d:30", "lap2d:34", "lap2d:40", "lap2d:46", "lap3d:9", "lap3d:11"}) {
        auto const a = with_long_edge(spec);
        Report const chosen = analysis_with(a, OrderingMethod::automatic);
        EXPECT_EQ(chosen.ordering, OrderingMethod::amd);
        EXPECT_EQ(chosen.analysis.flops, analysis_with(a, OrderingMethod::amd).analysis.flops);
        if (analysis_with(a, OrderingMethod::scotch).analysis.flops < chosen.analysis.flops) ++left_alone;
    }
    EXPECT_GT(left_alone, 0);
}

// A dissection of a graph in the plane takes longer than it saves, unlike that of one in space.
TEST(Solver, OrdersGraphsWithFewNeighborsByMinimumDegreeFirst) {
    auto const plane = with_long_edge("lap2d:200"), space = with_long_edge("lap3d:32");
    EXPECT_EQ(analysis_with(plane, OrderingMethod::automatic).ordering, OrderingMethod::amd);
    Report const chosen = analysis_with(space, OrderingMethod::automatic);
    EXPECT_EQ(chosen.ordering, OrderingMethod::dissection);
    EXPECT_LT(chosen.analysis.flops, analysis_with(space, OrderingMethod::amd).analysis.flops);
}

// A matching leaves scales that drift from row to row, so the factors satisfy some rows hardly at all
// although the residual is small in norm. Without one, the scales of the system are found.
TEST(Solver, SatisfiesAllRowsOfABadlyScaledSystem) {
    auto a = expand_symmetric(generated<double>("lap2d:100"));
    auto const scale = [](std::uint64_t kind, Index i) {
        return std::ldexp(1.0, static_cast<int>(std::lround(SplitMix64::uniform_at(kind, i, -60, 60))));
    };
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p : a.entries_of(j)) a.values[p] *= scale(1, a.row_ind[p]) * scale(2, j);
    auto const b = random_vector<double>(a.cols, 7);
    for (Toggle const matching : {Toggle::on, Toggle::automatic}) {
        Options options = on_threads(1);
        options.matching = matching;
        auto solver = factorized(a, options);
        for (int repeat = 0; repeat < 2; ++repeat) {
            auto x = solver.solve(b, 1);
            RefineReport const refined = solver.refine(a, b, x, 1);
            EXPECT_TRUE(refined.converged);
            EXPECT_LE(refined.componentwise_error, largest_row_error<double>);
            EXPECT_EQ(refined.iterations > 0, matching == Toggle::on);
            EXPECT_EQ(std::ssize(refined.history), refined.iterations + 1);
        }
        if (matching == Toggle::automatic) {
            EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
        }
    }
}

} // namespace
} // namespace espalier
