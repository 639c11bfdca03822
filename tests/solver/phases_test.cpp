// The phases of a solver, each used without a solver: numeric factors, refinement, factors without
// supernodes, incomplete factors, and the conversion of vectors.
#include <cmath>
#include <optional>
#include <utility>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/convert.hpp"
#include "matrix/spmv.hpp"
#include "solver/incomplete_preconditioner.hpp"
#include "solver/numeric_factor.hpp"
#include "solver/refiner.hpp"
#include "solver/simplicial_factor.hpp"

#include "analysis/analyzed.hpp"
#include "comm/thread_processes.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

using test::all_ops, test::to_dense;

// A context that is ready for a call, with one thread for each process.
struct Context : ProcessContext {
    explicit Context(Communicator comm = {}) : ProcessContext("", std::move(comm)) {
        set_threads(1, false);
        begin_call(Options());
    }
};

// The numeric factor of a matrix, which process 0 has.
template <class T> struct Factorized {
    Factorized(ProcessContext& context, CscMatrix<T> const& a, Options const& options = {},
               bool narrow = false, double pivot_threshold = 0)
        : factor(context), vectors(context, prepared(context, a, options)) {
        factor.set_assembly(working);
        FactorForm const form = context.on_root([&] { return analysis ? analysis->form : FactorForm(); });
        results = factor.factorize(working, {.form = form, .pivot_threshold = pivot_threshold}, narrow);
        vectors.set_system(analysis ? analysis->system : ScaledSystem<T>());
    }
    std::optional<Analysis<T>> analysis;
    CscMatrix<T> working;
    NumericFactor<T> factor;
    SystemVectors<T> vectors;
    std::vector<FactorResult> results;

  private:
    DistributedRows prepared(ProcessContext& context, CscMatrix<T> const& a, Options options) {
        options.supernodes = Toggle::on;
        if (context.is_root()) {
            analysis = analyzed(a, options, context.comm().size());
            working = analysis->system.apply(a);
        }
        return factor.prepare(analysis ? &*analysis : nullptr);
    }
};

Options with(Factorization kind) {
    Options options;
    options.factorization = kind;
    return options;
}

template <class T> CscMatrix<T> problem_matrix(Problem const& problem) {
    CscMatrix<T> a = generated<T>(problem.spec);
    if (problem.kind == Factorization::llh && is_complex<T>) a.symmetry = Symmetry::hermitian;
    return a;
}

// The backward error of x := op(B)^-1 b for a random b.
template <class T> double error_of_solve(Factorized<T>& factorized, MatrixOp op) {
    DistributedMatrix<T> const working(factorized.working);
    std::vector<T> const b = test::random_vector<T>(2 * working.order(), 7);
    std::vector<T> x = b;
    factorized.factor.solve(x, 2, op);
    return normwise_backward_error<T>(working, x, b, 2, op);
}

template <class T> class NumericFactorAlone : public ::testing::Test {};
TYPED_TEST_SUITE(NumericFactorAlone, test::Scalars);

TYPED_TEST(NumericFactorAlone, SolvesTheWorkingSystem) {
    using T = TypeParam;
    for (Problem const& problem : problems<T>()) {
        Context context;
        Factorized<T> factorized(context, problem_matrix<T>(problem), with(problem.kind));
        ASSERT_EQ(factorized.results.size(), 1U);
        EXPECT_EQ(factorized.results.front().stats.pivots_replaced, 0);
        for (MatrixOp const op : all_ops)
            EXPECT_LE(error_of_solve(factorized, op), 100 * static_cast<double>(epsilon<T>))
                << problem.spec << " " << to_string(problem.kind) << " " << to_string(op);
    }
}

TEST(NumericFactor, InLowerPrecisionHasTheErrorOfThatPrecision) {
    Context context;
    Factorized<double> factorized(context, generated<double>("lap3d:8"), {}, true);
    EXPECT_TRUE(factorized.factor.is_narrow());
    EXPECT_EQ(factorized.factor.accuracy(), InverseAccuracy::narrow);
    double const error = error_of_solve(factorized, MatrixOp::none);
    EXPECT_LE(error, 100 * static_cast<double>(epsilon<float>));
    EXPECT_GE(error, 100 * epsilon<double>);
}

TEST(NumericFactor, CountsSignsAndMultipliesPivots) {
    // eigenvalues of [0 2; 2 0] are 2 and -2
    auto const a =
        matrix_from(Symmetry::symmetric, {{3, 0, 0, 0}, {0, 0, 2, 0}, {0, 2, 0, 0}, {0, 0, 0, -5}});
    Context context;
    Options options = with(Factorization::ldlt);
    options.matching = Toggle::off;
    options.scaling = Toggle::off;
    Factorized<double> factorized(context, a, options);
    EXPECT_EQ(factorized.factor.inertia(), (Inertia{2, 2, 0}));
    Determinant<double> const found = factorized.factor.determinant(); // 3 * -4 * -5
    EXPECT_EQ(found.phase, 1);
    EXPECT_NEAR(found.log_modulus, std::log(60), 1e-14);
}

TEST(NumericFactor, GivesASchurComplement) {
    auto const a = matrix_from(Symmetry::symmetric, {{4, 1, 2, 0}, {1, 5, 0, 1}, {2, 0, 6, 1}, {0, 1, 1, 7}});
    Options options = with(Factorization::llh);
    options.schur = {3, 1};
    Context context;
    Factorized<double> factorized(context, a, options);
    DenseMatrix<double> const s = factorized.factor.schur_complement(options.schur);
    // The interior block is [4 2; 2 6], with the inverse [6 -2; -2 4] / 20, and couples to unknowns 3 and 1
    // by [0 1; 1 0].
    ASSERT_EQ(s.rows, 2);
    EXPECT_NEAR(s.values[0], 7 - 4 / 20.0, 1e-14);
    EXPECT_NEAR(s.values[1], 1 + 2 / 20.0, 1e-14);
    EXPECT_NEAR(s.values[2], s.values[1], 1e-14);
    EXPECT_NEAR(s.values[3], 5 - 6 / 20.0, 1e-14);
}

// New values on the same pattern need no other assembly map.
TEST(NumericFactor, FactorizesOtherValuesWithItsPlan) {
    Context context;
    Factorized<double> factorized(context, generated<double>("convdiff3d:5"), with(Factorization::lu));
    for (std::size_t p = 0; p < factorized.working.values.size(); ++p)
        factorized.working.values[p] *= 1 + 0.001 * static_cast<double>(p % 7);
    EXPECT_GT(error_of_solve(factorized, MatrixOp::none), 1e-6);
    EXPECT_TRUE(factorized.factor.has_assembly());
    factorized.factor.factorize(factorized.working, {.form = {Factorization::lu}}, false);
    EXPECT_LE(error_of_solve(factorized, MatrixOp::none), 1e-14);
}

TEST(NumericFactor, OfSeveralProcessesSolvesAsThatOfOne) {
    auto const a = generated<double>("convdiff3d:7");
    std::vector<double> const b = test::random_vector<double>(a.rows, 3);
    Context context;
    Factorized<double> alone(context, a, with(Factorization::lu));
    auto const solve = [](Factorized<double>& factorized, std::span<double> rows) {
        LocalScaling const& scaling = factorized.vectors.scaling();
        scaling.to_working(rows, 1, MatrixOp::none);
        factorized.factor.solve(rows, 1, MatrixOp::none);
        scaling.from_working(rows, 1, MatrixOp::none);
    };
    std::vector<double> expected = alone.vectors.right_hand_sides(b, 1, MatrixOp::none);
    solve(alone, expected);
    run_processes(3, [&](Communicator const& comm) {
        Context own(comm);
        Factorized<double> part(own, on_process_0(comm, a), with(Factorization::lu));
        EXPECT_EQ(part.results.size(), comm.rank() == 0 ? 3U : 0U);
        EXPECT_LT(part.vectors.rows().count(), a.rows);
        std::vector<double> x = on_process_0(comm, b);
        part.vectors.set_callers_rows(std::ssize(x));
        std::vector<double> rows = part.vectors.right_hand_sides(x, 1, MatrixOp::none);
        EXPECT_EQ(std::ssize(rows), part.vectors.rows().count());
        solve(part, rows);
        part.vectors.return_solutions(rows, x, 1, MatrixOp::none);
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-12) << i;
    });
}

// The inverse of the diagonal of a matrix.
struct Jacobi : WorkingInverse<double> {
    explicit Jacobi(CscMatrix<double> const& a) : diagonal(a.cols) {
        for (Index j = 0; j < a.cols; ++j)
            for (Offset const p : a.entries_of(j))
                if (a.row_ind[p] == j) diagonal[j] = a.values[p];
    }
    void solve(std::span<double> block, Index columns, MatrixOp) override {
        ++solves;
        Index const n = std::ssize(diagonal);
        for (Index k = 0; k < n * columns; ++k) block[k] /= diagonal[k % n];
    }
    [[nodiscard]] InverseAccuracy accuracy() const override { return quality; }
    std::vector<double> diagonal;
    InverseAccuracy quality = InverseAccuracy::full;
    int solves = 0;
};

// A refiner for a matrix that is its own working system, with the inverse of its diagonal. The matrix must
// outlive it.
struct Refined {
    explicit Refined(CscMatrix<double> const& a)
        : inverse(a), vectors(context, DistributedRows(a.cols)), refiner(context, inverse, vectors) {
        vectors.set_system(ScaledSystem<double>());
        refiner.set_matrix(a);
    }
    Context context;
    Jacobi inverse;
    SystemVectors<double> vectors;
    Refiner<double> refiner;
};

CscMatrix<double> diagonal_matrix(std::vector<double> const& entries) {
    return matrix_of(std::ssize(entries), Symmetry::general,
                     [&](Index i, Index j) { return i == j ? entries[i] : 0; });
}

TEST(Refiner, ConvergesWithAPoorInverse) {
    auto const a = matrix_of(30, Symmetry::general, [](Index i, Index j) {
        return i == j ? 100.0 : std::abs(i - j) == 1 ? -1.0 : 0;
    });
    Refined refined(a);
    std::vector<double> const solution = test::random_vector<double>(30, 1);
    std::vector<double> b(30, 0), x(30, 0);
    multiply<double>(MatrixOp::none, 1, a, solution, 0, b);
    RefineReport const report = refined.refiner.refine(b, x, 1, {});
    EXPECT_TRUE(report.converged);
    EXPECT_EQ(report.method, RefineMethod::ir);
    EXPECT_GT(report.iterations, 3); // a step divides the error by about fifty
    EXPECT_EQ(std::ssize(report.history), report.iterations + 1);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], solution[i], 1e-13);
    DistributedMatrix<double> const matrix(a);
    EXPECT_DOUBLE_EQ(report.backward_error, normwise_backward_error<double>(matrix, x, b));
}

TEST(Refiner, SaysIfAMethodWasNotAllowedEnoughSteps) {
    auto const a = matrix_of(30, Symmetry::general, [](Index i, Index j) {
        return i == j ? 2.1 : std::abs(i - j) == 1 ? -1.0 : 0;
    });
    Refined refined(a);
    std::vector<double> const b(30, 1);
    std::vector<double> x(30, 0);
    RefineOptions options;
    options.method = RefineMethod::gmres;
    options.max_iterations = 3;
    RefineReport const report = refined.refiner.refine(b, x, 1, options);
    EXPECT_FALSE(report.converged);
    EXPECT_EQ(report.status, Status::inaccurate);
    EXPECT_EQ(report.iterations, 3);
}

// Errors are those of the system of the caller. The working system is the unit matrix.
TEST(Refiner, RefinesInScaledRowsAndMeasuresInThoseOfTheCaller) {
    auto const a = diagonal_matrix({0x1p-20, 1, 0x1p20});
    ScaledSystem<double> const system(
        a, {.kind = Factorization::lu, .matching = Toggle::on, .scaling = Toggle::on});
    ASSERT_TRUE(system.is_scaled());
    Context context;
    auto const working = system.apply(a);
    Jacobi inverse(working);
    SystemVectors<double> vectors(context, DistributedRows(3));
    vectors.set_system(system);
    Refiner<double> refiner(context, inverse, vectors);
    refiner.set_matrix(working);
    std::vector<double> const b = {0x1p-20, 2, 3 * 0x1p20};
    std::vector<double> x = b;
    refiner.apply_inverse(x, 1, MatrixOp::none);
    EXPECT_EQ(x, (std::vector<double>{1, 2, 3}));
    x[0] = 1.5; // the residual of this row is small in the system of the caller only
    RefineReport const report = refiner.refine(b, x, 1, {});
    EXPECT_EQ(x, (std::vector<double>{1, 2, 3}));
    EXPECT_GE(report.iterations, 1);
    EXPECT_EQ(report.backward_error, 0);
}

TEST(Refiner, EstimatesConditionAndForwardError) {
    auto const a = diagonal_matrix({1, 2, 4, 1e-3});
    Refined refined(a);
    ConditionEstimate const estimate = refined.refiner.reciprocal_condition();
    EXPECT_TRUE(estimate.is_sure);
    EXPECT_NEAR(estimate.rcond, 1e-3 / 4, 1e-12);
    std::vector<double> const b = {1, 2, 4, 1e-3};
    std::vector<double> x = {1, 1, 1, 1 + 1e-9};
    double const bound = refined.refiner.forward_error(b, x, 1, MatrixOp::none);
    EXPECT_GE(bound, 1e-9 * 0.999);
    EXPECT_LE(bound, 2e-9);
}

TEST(Refiner, BoundsTheVectorsOfRefinedProductsInEstimates) {
    auto const a = matrix_of(30, Symmetry::general, [](Index i, Index j) {
        return i == j ? 2.1 : std::abs(i - j) == 1 ? -1.0 : 0;
    });
    Refined refined(a);
    refined.refiner.forget_factors(1); // products are refined if a pivot was replaced
    std::vector<double> const b(30, 1);
    for (bool const is_enough : {false, true}) {
        Status const expected = is_enough ? Status::ok : Status::out_of_memory;
        refined.refiner.limit_vectors(is_enough ? 50'000 : 1);
        EXPECT_EQ(status_of([&] { (void)refined.refiner.reciprocal_condition(); }), expected);
        EXPECT_EQ(status_of([&] { (void)refined.refiner.forward_error(b, b, 1, MatrixOp::none); }), expected);
    }
}

TEST(Refiner, FindsTheNullSpace) {
    auto const a = diagonal_matrix({1, 1e-20, 3, 2});
    Refined refined(a);
    NullSpaceOptions options;
    options.first_block = 2;
    NullSpaceResult<double> const found = refined.refiner.null_space(options);
    ASSERT_EQ(found.basis.cols, 1);
    EXPECT_NEAR(std::abs(found.basis.values[1]), 1, 1e-12);
}

// A pivot of 1e-20 beside entries of 1 is zero to working precision.
TEST(Refiner, NoticesThatReplacedPivotsBelongToASingularMatrix) {
    auto const regular = matrix_from(Symmetry::symmetric, {{2, 1}, {1, 2}});
    auto const singular = matrix_from(Symmetry::symmetric, {{1, 1}, {1, 1}});
    for (auto const* a : {&regular, &singular}) {
        Context context;
        Options options = with(Factorization::ldlt);
        options.allow_singular = true;
        Factorized<double> factorized(context, *a, options, false, 1e-8);
        Refiner<double> refiner(context, factorized.factor, factorized.vectors);
        refiner.set_matrix(factorized.working);
        bool const is_singular = a == &singular;
        EXPECT_EQ(factorized.results.front().stats.pivots_replaced, is_singular ? 1 : 0);
        refiner.examine(factorized.factor, is_singular ? 1 : 0, true, {}, factorized.working);
        EXPECT_EQ(refiner.verdict().singularity.lacks_unique_solutions, is_singular);
        EXPECT_EQ(refiner.verdict().singularity.condition_estimate > 1e12, is_singular);
    }
}

TEST(SimplicialFactor, ReusesPivotsOnlyForThePatternOfItsPlan) {
    auto a = generated<double>("convdiff3d:4");
    auto const plan = plan_simplicial_lu({a.col_ptr, a.row_ind});
    ASSERT_TRUE(plan);
    Context context;
    SimplicialFactor<double> factor(context);
    EXPECT_EQ(factor.prepare(a, *plan).count(), a.rows);
    EXPECT_FALSE(factor.factorize(a, -1, {}));
    for (double& value : a.values) value *= 1.25;
    factor.check(a);
    EXPECT_TRUE(factor.factorize(a, -1, {}));
    for (MatrixOp const op : all_ops) {
        std::vector<double> const b = test::random_vector<double>(a.rows, 5);
        std::vector<double> x = b;
        factor.solve(x, 1, op);
        EXPECT_LE(normwise_backward_error<double>(DistributedMatrix<double>(a), x, b, 1, op), 1e-14);
    }
    auto other = a;
    other.row_ind[1] += 1;
    EXPECT_EQ(status_of([&] { factor.check(other); }), Status::usage);
    a.values[4] = std::nan("");
    EXPECT_EQ(status_of([&] { factor.check(a); }), Status::bad_input);
}

// ILU(0) of a tridiagonal matrix has all entries of the factors.
TEST(IncompletePreconditioner, OfATridiagonalMatrixIsItsInverse) {
    auto const a = matrix_of(20, Symmetry::general, [](Index i, Index j) {
        return i == j ? 3.0 : std::abs(i - j) == 1 ? -1.0 - static_cast<double>(j) / 50 : 0;
    });
    Context context;
    IncompletePreconditioner<double> preconditioner(context);
    EXPECT_EQ(preconditioner.prepare(a, {}).count(), 20);
    EXPECT_EQ(preconditioner.factorize(a, {}).replaced, 0);
    EXPECT_EQ(preconditioner.accuracy(), InverseAccuracy::incomplete);
    for (MatrixOp const op : all_ops) {
        std::vector<double> const b = test::random_vector<double>(20, 5);
        std::vector<double> x = b;
        preconditioner.solve(x, 1, op);
        EXPECT_LE(normwise_backward_error<double>(DistributedMatrix<double>(a), x, b, 1, op), 1e-15);
    }
    IncompleteReport report;
    preconditioner.fill(report);
    EXPECT_EQ(report.nnz_factor, 58);
}

// Additive Schwarz is the inverse if the blocks of the processes are not connected.
TEST(IncompletePreconditioner, OfSeparateBlocksIsTheirInverse) {
    auto const a = matrix_of(24, Symmetry::general, [](Index i, Index j) {
        return i / 12 != j / 12 ? 0 : i == j ? 3.0 : std::abs(i - j) == 1 ? -1.0 : 0;
    });
    std::vector<double> const b = test::random_vector<double>(24, 5);
    run_processes(2, [&](Communicator const& comm) {
        Context context(comm);
        IncompletePreconditioner<double> preconditioner(context);
        auto const mine = on_process_0(comm, a);
        DistributedRows const rows = preconditioner.prepare(mine, {});
        EXPECT_EQ(rows.count(), 12);
        preconditioner.factorize(mine, {});
        std::vector<double> own_b;
        for (Index l = 0; l < rows.count(); ++l) own_b.push_back(b[rows.number(l)]);
        std::vector<double> x = own_b;
        preconditioner.solve(x, 1, MatrixOp::none);
        DistributedMatrix<double> const matrix(rows, comm.rank() == 0 ? &mine : nullptr);
        EXPECT_LE(normwise_backward_error<double>(matrix, x, own_b), 1e-15);
    });
}

// With rows permuted, right-hand sides move and solutions do not.
TEST(SystemVectors, MoveRightHandSidesToTheRowsOfTheWorkingSystem) {
    auto const a = matrix_from(Symmetry::general, {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}});
    ScaledSystem<double> const system(a, {.kind = Factorization::lu, .matching = Toggle::on});
    ASSERT_TRUE(system.is_permuted());
    run_processes(2, [&](Communicator const& comm) {
        Context context(comm);
        // process 0 owns rows 1 and 2 of the working system, and has row 0 of the caller
        bool const is_root = comm.rank() == 0;
        SystemVectors<double> vectors(context,
                                      {comm, is_root ? std::vector<Index>{1, 2} : std::vector<Index>{0}});
        vectors.set_system(is_root ? system : ScaledSystem<double>());
        std::vector<double> const given = is_root ? std::vector<double>{10} : std::vector<double>{11, 12};
        vectors.set_callers_rows(std::ssize(given));
        EXPECT_FALSE(vectors.is_in_place());
        EXPECT_EQ(vectors.solutions(given, 1, MatrixOp::none),
                  is_root ? (std::vector<double>{11, 12}) : (std::vector<double>{10}));
        std::vector<double> expected;
        for (Index l = 0; l < vectors.rows().count(); ++l)
            for (Index i = 0; i < 3; ++i)
                if (system.row_place(i) == vectors.rows().number(l))
                    expected.push_back(10 + static_cast<double>(i));
        EXPECT_EQ(vectors.right_hand_sides(given, 1, MatrixOp::none), expected);
        std::vector<double> back(given.size());
        vectors.return_solutions(vectors.solutions(given, 1, MatrixOp::none), back, 1, MatrixOp::none);
        EXPECT_EQ(back, given);
    });
}

} // namespace
} // namespace espalier
