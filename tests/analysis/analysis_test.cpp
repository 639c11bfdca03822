// The analysis of a matrix, without a solver.
#include "analysis/analysis.hpp"

#include <algorithm>
#include <complex>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "distributed/distributed_matrix.hpp"
#include "refine/call_memory.hpp"
#include "refine/refine.hpp"

#include "analysis/analyzed.hpp"
#include "common/matrices.hpp"
#include "solver/generated.hpp"

namespace espalier {
namespace {

using enum Factorization;

CscMatrix<double> tridiagonal(Index n, double diagonal, double beside) {
    return matrix_of(n, Symmetry::symmetric, [&](Index i, Index j) {
        return i == j ? diagonal : i == j + 1 ? beside : 0;
    });
}

TEST(Analysis, CountsTheEntriesAndOperationsOfATridiagonalFactor) {
    Options options;
    options.ordering = OrderingMethod::natural;
    options.amalgamation_fill = 0;
    Analysis<double> const analysis = analyzed(tridiagonal(6, 2, -1), options);
    EXPECT_EQ(analysis.form.kind, llh);
    EXPECT_TRUE(analysis.system.is_identity());
    EXPECT_EQ(analysis.structure.n, 6);
    EXPECT_EQ(analysis.structure.nnz_factor, 11);
    EXPECT_EQ(analysis.structure.perm, (std::vector<Index>{0, 1, 2, 3, 4, 5}));
    AnalysisReport report;
    analysis.fill(report, analysis.planned());
    EXPECT_EQ(report.nnz_factor, 11);
    EXPECT_GE(report.nnz_stored, report.nnz_factor);
    EXPECT_GE(report.factor_bytes, 8 * static_cast<std::uint64_t>(report.nnz_stored));
    EXPECT_GT(report.memory_bytes, report.factor_bytes);
    EXPECT_EQ(report.cblks, analysis.structure.num_cblks());
    EXPECT_GT(analysis.plan.tasks, 0);
    EXPECT_GT(report.predicted_factor_s, 0);
}

TEST(Analysis, ChoosesTheKindAndSaysWhy) {
    auto const kind_of = [](auto const& a, std::string const& reason, Options const& options = {}) {
        AnalysisEnvironment environment;
        auto const kind = analyze(a, options, environment.context).form.kind;
        EXPECT_TRUE(!environment.notes.empty() && environment.notes.front().find(reason) != std::string::npos)
            << "the first note does not contain: " << reason;
        return kind;
    };
    EXPECT_EQ(kind_of(tridiagonal(5, 2, -1), "auto chose llh"), llh);
    EXPECT_EQ(
        kind_of(tridiagonal(5, -1, 0.5), "auto chose ldlt: symmetric, but a diagonal entry is not positive"),
        ldlt);
    EXPECT_EQ(kind_of(tridiagonal(5, 1, -2),
                      "auto chose ldlt: symmetric, but an off-diagonal entry is too large "
                      "for a positive definite matrix"),
              ldlt);
    EXPECT_EQ(kind_of(generated<double>("convdiff3d:3"), "auto chose lu"), lu);
    auto const hermitian = matrix_of<std::complex<double>>(5, Symmetry::hermitian, [](Index i, Index j) {
        return i == j ? std::complex<double>(1) : i == j + 1 ? std::complex<double>(0, 2) : 0;
    });
    EXPECT_EQ(kind_of(hermitian, "auto chose ldlh: Hermitian, but an off-diagonal entry"), ldlh);
    Options singular;
    singular.allow_singular = true;
    EXPECT_EQ(kind_of(tridiagonal(5, 2, -1), "auto chose ldlt: symmetric and perhaps singular", singular),
              ldlt);
    EXPECT_EQ(kind_of(generated<std::complex<double>>("hermitian3d:3"),
                      "auto chose ldlh: Hermitian and perhaps singular", singular),
              ldlh);
}

TEST(Analysis, PlansThePartsOfAllProcesses) {
    auto const a = generated<double>("lap3d:9");
    Analysis<double> const alone = analyzed(a), shared = analyzed(a, {}, 3);
    ASSERT_EQ(std::ssize(shared.plans.of_process), 3);
    ASSERT_EQ(std::ssize(shared.needs), 3);
    Index rows = 0;
    for (auto const& needs : shared.needs) rows += needs.rows;
    EXPECT_EQ(rows, a.rows);
    for (std::int32_t p = 0; p < 3; ++p) {
        EXPECT_EQ(std::ssize(shared.plans.structures[p].unknowns), shared.needs[p].rows);
        EXPECT_TRUE(std::ranges::count(shared.plans.process_of_cblk, p) > 0)
            << "process " << p << " has no cblk";
        EXPECT_LT(shared.plan.memory_of_process[p], alone.memory_bytes(Scalar::d, 0));
    }
    EXPECT_EQ(std::ssize(shared.plans.process_of_cblk), shared.structure.num_cblks());
}

TEST(Analysis, PlansTheTimeOfChecksWhereColumnsMayBeDelayed) {
    auto const a = generated<double>("saddle3d:5");
    auto const planned_cost = [&](Pivoting pivoting) {
        Options options;
        options.factorization = Factorization::lu;
        options.supernodes = Toggle::on;
        options.pivoting = pivoting;
        return analyzed(a, options).plan.total_cost();
    };
    double const usual = planned_cost(Pivoting::static_pivots);
    EXPECT_EQ(planned_cost(Pivoting::automatic), usual) << "tries static pivots first";
    EXPECT_GT(planned_cost(Pivoting::delayed), 1.01 * usual);
}

TEST(Analysis, KnowsWhetherItsMatchingSuitsOtherValues) {
    // The large entries of a column are those of one of two permutations.
    auto const with_large = [](Index shift) {
        return matrix_of(6, Symmetry::general, [&](Index i, Index j) {
            Index const distance = (i - j + 6) % 6;
            return distance == shift ? 10.0 : distance <= 2 ? 0.1 + 0.01 * static_cast<double>(j) : 0.0;
        });
    };
    Options options;
    options.supernodes = Toggle::on;
    options.matching = Toggle::on;
    Analysis<double> const analysis = analyzed(with_large(1), options);
    ASSERT_TRUE(analysis.system.is_permuted());
    EXPECT_FALSE(analysis.has_stale_scaling(with_large(1), nullptr));
    EXPECT_TRUE(analysis.has_stale_scaling(with_large(2), nullptr));
    auto twice = with_large(1);
    for (double& value : twice.values) value *= 2;
    EXPECT_FALSE(analysis.has_stale_scaling(twice, nullptr));
}

TEST(Analysis, SaysThatAGivenOrderDoesNotKeepPairsTogether) {
    auto const a = generated<double>("saddle3d:3");
    for (OrderingMethod const ordering : {OrderingMethod::automatic, OrderingMethod::natural}) {
        AnalysisEnvironment environment;
        Options options;
        options.supernodes = Toggle::on;
        options.ordering = ordering;
        analyze(a, options, environment.context);
        std::string const& note = environment.notes.back();
        EXPECT_EQ(note, ordering == OrderingMethod::automatic
                            ? "27 pairs of rows kept together for 2x2 pivots, by a maximum-product matching"
                            : "27 pairs of rows found by a maximum-product matching, but not kept together "
                              "by the requested ordering");
    }
}

TEST(Analysis, EndsWithTheOrderForIncompleteFactors) {
    Options options;
    options.method = SolveMethod::ilu;
    options.levels = 2;
    auto const a = generated<double>("convdiff3d:4");
    Analysis<double> const analysis = analyzed(a, options);
    ASSERT_TRUE(analysis.incomplete.has_value());
    EXPECT_EQ(analysis.incomplete->levels, 2);
    EXPECT_EQ(analysis.structure.num_cblks(), 0);
    EXPECT_EQ(analysis.form.kind, lu);
}

TEST(Analysis, PlansFactorsWithoutSupernodesIfRequested) {
    Options options;
    options.supernodes = Toggle::off;
    auto const a = generated<double>("convdiff3d:4");
    Analysis<double> const analysis = analyzed(a, options);
    ASSERT_TRUE(analysis.simplicial_lu.has_value());
    EXPECT_GE(analysis.simplicial_lu->nnz_factor, a.nnz());
    EXPECT_EQ(analysis.structure.num_cblks(), 0);
}

TEST(Analysis, RefusesWhatCannotBeFactorized) {
    auto const empty_row =
        matrix_of(4, Symmetry::general, [](Index i, Index j) { return i == 2 ? 0.0 : 1.0 + (i == j); });
    auto const message = [&](CscMatrix<double> const& a, Options const& options = {}) -> std::string {
        try {
            (void)analyzed(a, options);
        } catch (Error const& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_EQ(status_of([&] { (void)analyzed(empty_row); }), Status::singular);
    EXPECT_NE(message(empty_row).find("its structural rank is 3 of 4"), std::string::npos)
        << message(empty_row);
    CscMatrix<double> flat = empty_row;
    flat.rows = 5;
    EXPECT_EQ(status_of([&] { (void)analyzed(flat); }), Status::bad_input);
    Options twice;
    twice.schur = {1, 3, 1};
    EXPECT_NE(message(tridiagonal(5, 2, -1), twice).find("unknown 1 is listed twice"), std::string::npos);
}

// A solve with refinement needs the factors, vectors, and the memory of residuals.
TEST(Analysis, CountsTheMemoryOfResiduals) {
    for (int const processes : {1, 2})
        for (char const* const spec : {"lap2d:30", "convdiff3d:8"}) {
            Options options;
            options.supernodes = Toggle::on;
            auto const analysis = analyzed(generated<double>(spec), options, processes);
            bool const is_scaled = analysis.system.is_scaled();
            VectorLayout const layout{processes == 1, processes > 1 || analysis.system.is_permuted(),
                                      is_scaled};
            CallMemory const vectors = memory_of_refinement(layout, 1, 1, least_vectors(RefineMethod::ir));
            for (int p = 0; p < processes; ++p) {
                Index const rows = analysis.needs[p].rows;
                EXPECT_EQ(analysis.memory_bytes(Scalar::d, p),
                          analysis.factor_bytes(Scalar::d, p) + analysis.call_bytes(vectors, Scalar::d, p) +
                              DistributedMatrix<double>::residual_bytes(
                                  rows, analysis.working_entries / processes, analysis.plan.machine.threads,
                                  is_scaled))
                    << spec << " on process " << p << " of " << processes;
            }
        }
}

TEST(Analysis, StopsAtItsLimitOfMemoryAndIfCancelled) {
    auto const a = generated<double>("lap3d:9");
    AnalysisEnvironment small, cancelled;
    small.context.max_bytes = 1000;
    EXPECT_EQ(status_of([&] { (void)analyze(a, Options(), small.context); }), Status::out_of_memory);
    cancelled.context.interrupt->request();
    EXPECT_EQ(status_of([&] { (void)analyze(a, Options(), cancelled.context); }), Status::cancelled);
}

} // namespace
} // namespace espalier
