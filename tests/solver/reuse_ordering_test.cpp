// Analyses of a changed pattern that adapt the ordering of the analysis before.
#include <algorithm>

#include <gtest/gtest.h>

#include "comm/thread_processes.hpp"
#include "solver/generated.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

// A symmetric matrix with further entries of -0.01 at (i, j), i > j, which has none there.
CscMatrix<double> with_entries(CscMatrix<double> const& a,
                               std::vector<std::pair<Index, Index>> const& entries) {
    CscMatrix<double> b{a.rows, a.cols, a.symmetry, {0}, {}, {}};
    for (Index j = 0; j < a.cols; ++j) {
        std::vector<std::pair<Index, double>> column;
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p)
            column.emplace_back(a.row_ind[p], a.values[p]);
        for (auto const& [row, col] : entries)
            if (col == j) column.emplace_back(row, -0.01);
        std::ranges::sort(column);
        for (auto const& [row, value] : column) b.row_ind.push_back(row), b.values.push_back(value);
        b.col_ptr.push_back(std::ssize(b.row_ind));
    }
    return b;
}

bool was_adapted(Report const& report) {
    return std::ranges::any_of(report.notes,
                               [](auto const& note) { return note.starts_with("the ordering was adapted"); });
}

Options reusing(OrderingMethod method = OrderingMethod::automatic) {
    Options options = on_threads(2);
    options.reuse_ordering = true;
    options.supernodes = Toggle::on;
    options.ordering = method;
    return options;
}

std::vector<std::pair<Index, Index>> const few_contacts = {{1590, 3}, {1200, 40}, {900, 801}, {1111, 222}};

TEST(ReuseOrdering, AnalyzesAChangedPatternWithFewMoreOperations) {
    auto const before = generated<double>("lap2d:40");
    auto const after = with_entries(before, few_contacts);
    for (OrderingMethod const method : {OrderingMethod::automatic, OrderingMethod::dissection,
                                        OrderingMethod::metis, OrderingMethod::amd, OrderingMethod::scotch}) {
        Solver<double> solver(reusing(method));
        solver.analyze(before);
        EXPECT_FALSE(was_adapted(solver.report()));
        OrderingMethod const chosen = solver.report().ordering;
        solver.factorize(before);
        solver.analyze(after);
        EXPECT_TRUE(was_adapted(solver.report())) << to_string(method);
        EXPECT_EQ(solver.report().ordering, chosen);
        double const flops = factorized(after, on_threads(1)).report().analysis.flops;
        EXPECT_LE(solver.report().analysis.flops, 1.6 * flops) << to_string(method);
        solver.factorize(after);
        EXPECT_LE(solve_and_refine(solver, after, random_vector<double>(after.cols, 1)).backward_error,
                  1e-14);
    }
}

TEST(ReuseOrdering, IsAsGoodAsBeforeForTheSamePattern) {
    auto const a = generated<double>("elast3d:6");
    Solver<double> solver(reusing());
    solver.analyze(a);
    double const flops = solver.report().analysis.flops;
    for (int repetition = 0; repetition < 3; ++repetition) {
        solver.analyze(a);
        EXPECT_TRUE(was_adapted(solver.report()));
        EXPECT_LE(solver.report().analysis.flops, 1.01 * flops);
    }
}

TEST(ReuseOrdering, FindsANewOneForAPatternWithOtherSeparators) {
    auto const before = generated<double>("lap2d:40");
    std::vector<std::pair<Index, Index>> entries;
    for (Index k = 0; k < 800; ++k) entries.emplace_back(1599 - k, (k * 7) % 790);
    auto const after = with_entries(before, entries);
    Solver<double> solver(reusing());
    solver.analyze(before);
    solver.analyze(after);
    Solver<double> fresh(on_threads(2));
    fresh.analyze(after);
    EXPECT_LE(solver.report().analysis.flops, 1.5 * fresh.report().analysis.flops);
    solver.factorize(after);
    EXPECT_LE(solve_and_refine(solver, after, random_vector<double>(after.cols, 1)).backward_error, 1e-14);
}

TEST(ReuseOrdering, HasNoEffectWhereThereIsNoneToReuse) {
    auto const small = generated<double>("lap2d:10"), large = generated<double>("lap2d:12");
    Solver<double> solver(reusing());
    solver.analyze(small); // the first analysis
    EXPECT_FALSE(was_adapted(solver.report()));
    solver.analyze(large); // another number of rows
    EXPECT_FALSE(was_adapted(solver.report()));
    solver.set_options(reusing(OrderingMethod::natural));
    solver.analyze(large); // a given ordering
    EXPECT_FALSE(was_adapted(solver.report()));
    Options ilu = reusing();
    ilu.method = SolveMethod::ilu;
    solver.set_options(ilu);
    solver.analyze(large);
    solver.set_options(reusing());
    solver.analyze(large); // the analysis before had incomplete factors
    EXPECT_FALSE(was_adapted(solver.report()));
    Options new_ordering = reusing();
    new_ordering.reuse_ordering = false;
    solver.set_options(new_ordering);
    solver.analyze(large); // the default
    EXPECT_FALSE(was_adapted(solver.report()));
}

TEST(ReuseOrdering, KeepsMatchedPairsAndUnknownsOfASchurComplement) {
    auto const before = generated<double>("saddle3d:5");
    auto const after = with_entries(before, {{before.cols - 1, 2}, {before.cols - 9, 30}});
    Options options = reusing();
    options.schur = {5, 77, 123};
    Solver<double> solver(options);
    solver.factorize(before);
    solver.analyze(after);
    EXPECT_TRUE(was_adapted(solver.report()));
    solver.factorize(after);
    auto const fresh = factorized(after, [&] {
        Options o = options;
        o.reuse_ordering = false;
        return o;
    }());
    auto const schur = solver.schur_complement(), expected = fresh.schur_complement();
    ASSERT_EQ(schur.values.size(), 9U);
    for (std::size_t k = 0; k < 9; ++k)
        EXPECT_NEAR(schur.values[k], expected.values[k], 1e-9 * std::abs(expected.values[0]));
}

TEST(ReuseOrdering, WorksOnSeveralProcesses) {
    auto const before = generated<double>("lap3d:10");
    auto const after = with_entries(before, {{999, 0}, {500, 11}});
    run_processes(3, [&](Communicator const& comm) {
        Solver<double> solver(reusing(), comm);
        solver.factorize(on_process_0(comm, before));
        auto const mine = on_process_0(comm, after);
        solver.analyze(mine);
        EXPECT_EQ(was_adapted(solver.report()), true);
        solver.factorize(mine);
        std::vector<double> const b = on_process_0(comm, random_vector<double>(1000, 3));
        EXPECT_LE(solve_and_refine(solver, mine, b).backward_error, 1e-14);
    });
}

} // namespace
} // namespace espalier
