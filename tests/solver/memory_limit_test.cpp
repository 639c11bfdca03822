// Options::max_memory bounds whole calls: analysis, right-hand sides, and the vectors of methods.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "core/status_of.hpp"
#include "espalier/distributed.hpp"
#include "espalier/espalier.hpp"

#include "comm/thread_processes.hpp"
#include "mpi/little_memory.hpp"
#include "runtime/process_limits.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

std::vector<double> ones(Index n, Index columns = 1) {
    return std::vector<double>(static_cast<std::size_t>(n * columns), 1.0);
}

std::uint64_t predicted(CscMatrix<double> const& a, Options options) {
    options.max_memory = 0;
    Solver<double> solver(options);
    solver.analyze(a);
    return solver.report().analysis.memory_bytes;
}

TEST(MemoryLimit, AtThePredictionAllowsOneRightHandSideAndRefuses500) {
    auto const a = generated<double>("lap3d:16");
    Options options = on_threads(1);
    options.max_memory = predicted(a, options);
    Solver<double> solver(options);
    solver.factorize(a);
    auto const b = ones(a.rows);
    auto x = solver.solve(b);
    EXPECT_TRUE(solver.refine(a, b, x).converged);

    auto const many = ones(a.rows, 500);
    EXPECT_TRUE(throws_error(Status::out_of_memory, "a solve with 500 right-hand sides needs",
                             [&] { (void)solver.solve(many, 500); }));
    std::vector<double> out = many;
    EXPECT_TRUE(throws_error(Status::out_of_memory, "a refinement with 500 right-hand sides needs",
                             [&] { (void)solver.refine(a, many, out, 500); }));
    EXPECT_EQ(out, many); // x is unchanged
    EXPECT_EQ(solver.solve(b), x);
}

// The basis of GMRES has the length that the limit allows.
TEST(MemoryLimit, BoundsTheVectorsOfGmres) {
    auto const a = generated<double>("convdiff3d:12");
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    options.refine = RefineMethod::gmres;
    std::uint64_t const vector = static_cast<std::uint64_t>(a.rows) * sizeof(double);
    std::uint64_t const least = predicted(a, options);
    int refused = 0, passed = 0;
    for (std::uint64_t const vectors : {0, 40}) {
        options.max_memory = least + vectors * vector;
        Solver<double> solver(options);
        solver.factorize(a);
        auto const b = ones(a.rows);
        auto x = b; // is not a solution
        auto const status = status_of([&] { passed += solver.refine(a, b, x).converged; });
        refused += status == Status::out_of_memory;
    }
    EXPECT_EQ(refused, 1);
    EXPECT_EQ(passed, 1);
}

// GMRES restarts when it has no more vectors, and needs more steps then.
TEST(MemoryLimit, BoundsTheVectorsBetweenRestartsOfGmres) {
    auto const a = generated<double>("lap2d:60");
    Options options = on_threads(1);
    options.method = SolveMethod::ilu;
    options.refine = RefineMethod::gmres;
    auto solver = factorized(a, options);
    auto const b = ones(a.rows);
    auto const steps_with = [&](std::uint64_t limit) {
        options.max_memory = limit;
        solver.set_options(options);
        auto x = b;
        RefineReport const report = solver.refine(a, b, x);
        EXPECT_TRUE(report.converged);
        return report.iterations;
    };
    int const unlimited = steps_with(0);
    std::uint64_t const vector = static_cast<std::uint64_t>(a.rows) * sizeof(double);
    std::uint64_t limit = vector;
    int with_least = 0;
    while (status_of([&] { with_least = steps_with(limit); }) == Status::out_of_memory) limit += vector;
    EXPECT_GT(2 * with_least, 3 * unlimited);
    EXPECT_EQ(steps_with(limit + 1000 * vector), unlimited);
}

// The errors of more than four solutions need rows of 96 instead of 32 bytes.
TEST(MemoryLimit, CountsTheErrorsOfSeveralSolutions) {
    auto const a = generated<double>("lap3d:10");
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    auto solver = factorized(a, options);
    options.max_memory = 1;
    solver.set_options(options);
    auto const needed = [&](Index columns) {
        auto const b = ones(a.rows, columns);
        auto x = b;
        try {
            (void)solver.refine(a, b, x, columns);
        } catch (Error const& error) {
            std::string const message = error.what();
            return std::stoll(message.substr(message.find("needs ") + 6));
        }
        return 0LL;
    };
    EXPECT_EQ((needed(5) - needed(4)) - (needed(4) - needed(3)), 64 * a.rows);
}

TEST(MemoryLimit, CountsTheAnalysis) {
    auto const a = generated<double>("lap2d:60");
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    options.max_memory = 100'000;
    Solver<double> solver(options);
    EXPECT_TRUE(throws_error(Status::out_of_memory, "the analysis needs", [&] { solver.analyze(a); }));
    options.method = SolveMethod::ilu;
    solver.set_options(options);
    EXPECT_TRUE(throws_error(Status::out_of_memory, "the analysis needs", [&] { solver.analyze(a); }));
}

// Each call below is refused at the limit that suffices for the factorization, names itself, and leaves the
// factors as they are. It succeeds if the limit is raised by what it needs.
template <class Call>
void expect_counted(CscMatrix<double> const& a, Options options, char const* name, Call const& call) {
    SCOPED_TRACE(name);
    for (bool const is_enough : {false, true}) {
        options.max_memory = 0;
        Solver<double> probe(options);
        probe.factorize(a);
        auto const delayed = static_cast<std::uint64_t>(probe.report().factor.delayed_bytes);
        options.max_memory =
            probe.report().analysis.memory_bytes + delayed + (is_enough ? std::uint64_t{1} << 30 : 0);
        Solver<double> solver(options);
        solver.factorize(a);
        if (is_enough)
            call(solver);
        else
            EXPECT_TRUE(throws_error(Status::out_of_memory, name, [&] { call(solver); }));
        auto const b = ones(a.rows);
        std::vector<double> x = solver.solve(b);
        EXPECT_LE(solver.refine(a, b, x).backward_error, 1e-12);
    }
}

TEST(MemoryLimit, CountsCopiesOfTheFactors) {
    for (char const* const spec : {"lap3d:10", "convdiff3d:8"}) {
        Options options = on_threads(1);
        options.supernodes = Toggle::on;
        auto const a = generated<double>(spec);
        expect_counted(a, options, "the factors as sparse matrices needs",
                       [](auto& solver) { (void)solver.factors(); });
    }
}

TEST(MemoryLimit, CountsTheSelectedInverseAndItsResult) {
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    auto const a = generated<double>("convdiff3d:8");
    expect_counted(a, options, "the selected inverse needs",
                   [&](auto& solver) { (void)solver.selected_inverse(a); });
    expect_counted(a, options, "the selected inverse needs",
                   [&](auto& solver) { (void)solver.inverse_diagonal(); });
    // delayed columns: by copies of the factors
    options.pivoting = Pivoting::delayed;
    options.matching = Toggle::off;
    options.factorization = Factorization::ldlt;
    auto const saddle = generated<double>("saddle3d:5");
    expect_counted(saddle, options, "the selected inverse needs",
                   [&](auto& solver) { (void)solver.selected_inverse(saddle); });
}

TEST(MemoryLimit, CountsConditionEstimatesAndErrorBounds) {
    Options options = on_threads(1);
    options.supernodes = Toggle::on;
    auto const a = generated<double>("lap3d:10");
    expect_counted(a, options, "the condition estimate needs",
                   [&](auto& solver) { (void)solver.reciprocal_condition(a); });
    expect_counted(a, options, "the error bound with 1 right-hand side needs", [&](auto& solver) {
        Options const before = solver.options();
        Options bounded = before;
        bounded.condition = true;
        solver.set_options(bounded);
        auto const b = ones(a.rows);
        auto x = b;
        std::optional<Error> problem;
        try {
            (void)solver.refine(a, b, x);
        } catch (Error const& error) {
            problem = error;
        }
        solver.set_options(before);
        if (problem) throw *problem;
    });
}

TEST(MemoryLimit, CountsUpdatesNullSpacesAndSparseRightHandSides) {
    Options options = on_threads(1);
    auto const a = generated<double>("lap3d:10");
    expect_counted(a, options, "the update needs", [&](auto& solver) {
        CscMatrix<double> changed = a,
                          w{a.rows, 1, Symmetry::general, {0, 1}, {60}, {0.1}}; // keeps the pattern
        (void)solver.update(changed, w);
        (void)solver.downdate(changed, w);
    });
    expect_counted(a, options, "a null space of this dimension needs",
                   [&](auto& solver) { EXPECT_EQ(solver.null_space(a).basis.cols, 0); });
    expect_counted(a, options, "a solve with 400 right-hand sides needs", [&](auto& solver) {
        CscMatrix<double> b{a.rows, 400, Symmetry::general, {}, {}, std::vector<double>(400, 1.0)};
        for (Index j = 0; j < 400; ++j) b.row_ind.push_back(j);
        for (Index j = 0; j <= 400; ++j) b.col_ptr.push_back(j);
        (void)solver.solve(b);
    });
}

#if !defined(ESPALIER_SANITIZED) // sanitizers need more address space
// Without a limit, each of two processes alone would find enough memory for its half of the factor of an
// arrow, which is dense in the natural order. The address space is limited in case that they try.
TEST(MemoryLimit, ProcessesOfAComputerCheckTheAvailableMemoryTogether) {
    double const available = static_cast<double>(available_memory_bytes());
    auto const n = static_cast<Index>(std::sqrt(1.3 * available / sizeof(double) * 2));
    CscMatrix<double> arrow{n, n, Symmetry::symmetric, {0}, {}, {}};
    for (Index j = 0; j < n; ++j) {
        for (Index i = j; i < (j == 0 ? n : j + 1); ++i) {
            arrow.row_ind.push_back(i);
            arrow.values.push_back(i == j ? static_cast<double>(n) : 1.0);
        }
        arrow.col_ptr.push_back(std::ssize(arrow.row_ind));
    }
    Options options = on_threads(1);
    options.ordering = OrderingMethod::natural;
    options.calibration = Toggle::off;
    LittleMemory const limited(static_cast<std::size_t>(1.1 * available));
    run_processes(2, [&](Communicator const& comm) {
        Solver<double> solver(options, comm);
        CscMatrix<double> const mine = on_process_0(comm, arrow);
        EXPECT_TRUE(throws_error(Status::out_of_memory, "the 2 processes of a computer together need",
                                 [&] { solver.factorize(mine); }));
    });
}
#endif

// With many levels, the factor is so large that even its pattern would exceed the limit.
TEST(MemoryLimit, EndsTheSearchForFill) {
    auto const a = generated<double>("lap3d:20");
    Options options = on_threads(2);
    options.levels = 20;
    options.max_memory = 8'000'000;
    for (auto const method : {SolveMethod::ilu, SolveMethod::automatic})
        for (int const processes : {1, 2})
            run_processes(processes, [&](Communicator const& comm) {
                Options mine = options;
                mine.method = method;
                Solver<double> solver(mine, comm);
                auto const part = on_process_0(comm, a);
                EXPECT_TRUE(throws_error(Status::out_of_memory,
                                         "level of fill 20 needs more memory than the limit of 8000000 bytes",
                                         [&] { solver.analyze(part); }));
                mine.levels = 0;
                solver.set_options(mine);
                solver.factorize(part);
                EXPECT_EQ(solver.report().method, SolveMethod::ilu);
            });
}

// The limit admits what the report states, also if the processes have different shares.
TEST(MemoryLimit, AdmitsTheIncompleteFactorThatWasPredicted) {
    auto const a = generated<double>("lap3d:12");
    Options options = on_threads(1);
    options.method = SolveMethod::ilu;
    options.levels = 3;
    for (int const processes : {1, 3}) {
        Options limited = options;
        run_processes(processes, [&](Communicator const& comm) {
            Solver<double> solver(options, comm);
            solver.analyze(on_process_0(comm, a));
            if (comm.rank() != 0) return;
            auto const& report = solver.report().analysis;
            auto const& needs = report.memory_bytes_of_process;
            limited.max_memory =
                std::max(report.memory_bytes, std::accumulate(needs.begin(), needs.end(), std::uint64_t{0}));
        });
        run_processes(processes, [&](Communicator const& comm) {
            Solver<double> solver(limited, comm);
            EXPECT_EQ(status_of([&] { solver.analyze(on_process_0(comm, a)); }), Status::ok);
        });
    }
}

// Process 0 has a scaled copy of the matrix.
TEST(MemoryLimit, CountsTheScaledMatrixOfAnIncompleteFactor) {
    auto const a = generated<double>("spe10like:6x6x4");
    Options options = on_threads(1);
    options.method = SolveMethod::ilu;
    for (int const processes : {1, 3})
        run_processes(processes, [&](Communicator const& comm) {
            auto const needs = [&](Toggle scaling) {
                Options mine = options;
                mine.scaling = scaling;
                Solver<double> solver(mine, comm);
                solver.analyze(on_process_0(comm, a));
                AnalysisReport const& report = solver.report().analysis;
                EXPECT_EQ(report.memory_bytes, std::ranges::max(report.memory_bytes_of_process));
                return report.memory_bytes_of_process;
            };
            auto expected = needs(Toggle::off);
            expected.front() += static_cast<double>(a.stored() * (sizeof(double) + sizeof(Index)));
            EXPECT_EQ(needs(Toggle::on), expected);
        });
}

// The processes of one computer share its memory, and the limit.
TEST(MemoryLimit, AppliesToAllProcessesOfAComputer) {
    auto const a = generated<double>("lap3d:8");
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 1);
    std::uint64_t sum = 0, most = 0;
    for (int turn = 0; turn < 3; ++turn) {
        if (turn > 0) options.max_memory = turn == 1 ? (sum + most) / 2 : sum;
        run_processes(2, [&](Communicator const& comm) {
            Solver<double> solver(options, comm);
            CscMatrix<double> const mine = on_process_0(comm, a);
            Status const status = status_of([&] { solver.factorize(mine); });
            EXPECT_EQ(status, turn == 1 ? Status::out_of_memory : Status::ok);
            if (turn > 0 || comm.rank() != 0) return;
            auto const& needs = solver.report().analysis.memory_bytes_of_process;
            sum = std::accumulate(needs.begin(), needs.end(), std::uint64_t{0});
            most = solver.report().analysis.memory_bytes;
        });
        ASSERT_LT(most, sum);
    }
}

} // namespace
} // namespace espalier
