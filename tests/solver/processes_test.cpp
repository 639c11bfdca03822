// Solvers of several processes, which are threads of the test. All calls of a solver are made by 2 to 4
// processes, and compared with the backward error and with a single process.
#include <algorithm>
#include <atomic>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/scalar.hpp"
#include "core/status_of.hpp"
#include "espalier/distributed.hpp"

#include "comm/thread_processes.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"
#include "solver/systems.hpp"

namespace espalier {
namespace {

using enum SchedulePolicy;

template <class T> struct Answer {
    std::vector<T> x;
    Report report;
};

// Analyzes, factorizes, solves and refines. Returns the results of process 0.
template <class T> Answer<T> solve_among(int processes, CscMatrix<T> const& matrix, std::vector<T> const& b,
                                         Index nrhs, Options const& options, MatrixOp op = MatrixOp::none) {
    Answer<T> answer;
    run_processes(processes, [&](Communicator const& comm) {
        Solver<T> solver(options, comm);
        CscMatrix<T> const mine = on_process_0(comm, matrix);
        std::vector<T> const right = on_process_0(comm, b);
        solver.analyze(mine);
        solver.factorize(mine);
        std::vector<T> x = solver.solve(right, nrhs, op);
        RefineReport const refined = solver.refine(mine, right, x, nrhs, op);
        EXPECT_EQ(x.size(), right.size());
        EXPECT_EQ(solver.report().processes, processes);
        EXPECT_LE(refined.backward_error, 1e3 * static_cast<double>(epsilon<T>));
        if (comm.rank() == 0) answer = {x, solver.report()};
    });
    return answer;
}

template <class T> class Processes : public ::testing::Test {};
TYPED_TEST_SUITE(Processes, test::Scalars);

TYPED_TEST(Processes, SolveEveryFactorizationUnderEverySchedule) {
    using T = TypeParam;
    // Each combination has one of the shapes, numbers of communication threads, and ops.
    constexpr std::pair<int, int> shapes[] = {{2, 2}, {3, 1}, {4, 2}};
    int turn = 0;
    for (auto const& [spec, kind] : problems<T>()) {
        CscMatrix<T> matrix = generated<T>(spec);
        if (kind == Factorization::llh && is_complex<T>) matrix.symmetry = Symmetry::hermitian;
        std::vector<T> const b(static_cast<std::size_t>(matrix.rows) * 3, T(1));
        for (SchedulePolicy const schedule : all_schedules)
            for (Splitting const splitting : {Splitting::one_d, Splitting::two_d, Splitting::dynamic}) {
                auto const [processes, threads] = shapes[turn / 2 % std::size(shapes)];
                SCOPED_TRACE(fmt::format("{} {} {} {} {} x {}", spec, to_string(kind), to_string(schedule),
                                         to_string(splitting), processes, threads));
                Options options = many_tasks(schedule, splitting, threads);
                options.factorization = kind;
                options.refine = RefineMethod::none;
                options.comm_threads = (turn + turn / 3) % 3;
                MatrixOp const op = test::all_ops[turn++ / 3 % 3];
                Answer<T> const answer = solve_among(processes, matrix, b, 3, options, op);
                EXPECT_GT(answer.report.factor.messages, 0);
            }
    }
}

TEST(SolverOnProcesses, StaticSchedulesGiveTheSameBits) {
    auto const matrix = generated<double>("lap3d:9");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    for (Splitting const splitting : {Splitting::one_d, Splitting::two_d}) {
        Options options = many_tasks(static_order, splitting, 2);
        options.refine = RefineMethod::none;
        auto const first = solve_among(3, matrix, b, 1, options);
        for (int repeat = 0; repeat < 5; ++repeat) {
            options.comm_threads = repeat % 3;
            EXPECT_EQ(solve_among(3, matrix, b, 1, options).x, first.x);
        }
    }
}

TEST(SolverOnProcesses, StaticSchedulesSendThePredictedMessages) {
    auto const matrix = generated<double>("convdiff3d:8");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    for (int const processes : {2, 4}) {
        Options const options = many_tasks(static_order, Splitting::one_d, 2);
        Solver<double> alone(options);
        alone.analyze(matrix);
        Prediction const predicted = alone.predict(processes, 2);
        Report const report = solve_among(processes, matrix, b, 1, options).report;
        EXPECT_EQ(report.factor.messages, predicted.messages);
        EXPECT_EQ(static_cast<double>(report.factor.message_bytes), predicted.message_bytes);
    }
}

TEST(SolverOnProcesses, ReportsTheWorkOfAllProcesses) {
    auto const matrix = generated<double>("lap3d:9");
    constexpr int processes = 3, threads = 2;
    auto const sum = [](std::vector<double> const& list) {
        return std::accumulate(list.begin(), list.end(), 0.0);
    };
    for (int const comm_threads : {0, 1}) {
        Options options = many_tasks(static_order, Splitting::one_d, threads);
        options.topology = "numa:2 core:1"; // the cores of each process
        options.comm_threads = comm_threads;
        run_processes(processes, [&](Communicator const& comm) {
            auto solver = factorized(on_process_0(comm, matrix), options, comm);
            FactorReport const& factor = solver.report().factor;
            for (auto const* const list : {&factor.busy_s_of_process, &factor.waiting_s_of_process,
                                           &factor.communication_s_of_process, &factor.messages_of_process,
                                           &factor.message_bytes_of_process, &factor.local_share_of_process})
                ASSERT_EQ(list->size(), static_cast<std::size_t>(processes));
            EXPECT_EQ(sum(factor.messages_of_process), static_cast<double>(factor.messages));
            EXPECT_EQ(sum(factor.message_bytes_of_process), static_cast<double>(factor.message_bytes));
            EXPECT_DOUBLE_EQ(sum(factor.busy_s_of_process), factor.busy_s);
            EXPECT_DOUBLE_EQ(sum(factor.waiting_s_of_process), factor.waiting_s);
            EXPECT_NEAR(factor.busy_s + factor.waiting_s, processes * threads * factor.time_s,
                        1e-9 * factor.time_s);
            for (int p = 0; p < processes; ++p) {
                EXPECT_GT(factor.busy_s_of_process[p], 0);
                EXPECT_GT(factor.communication_s_of_process[p], 0);
            }
            // Every panel is on one of two nodes, and each process has a worker on both.
            ASSERT_EQ(factor.node_bytes.size(), 2u);
            EXPECT_EQ(sum(factor.node_bytes), 8.0 * static_cast<double>(solver.report().analysis.nnz_stored));
            EXPECT_EQ(factor.local_share_of_worker.size(), static_cast<std::size_t>(processes * threads));
            auto const [least, most] = std::minmax_element(factor.local_share_of_process.begin(),
                                                           factor.local_share_of_process.end());
            EXPECT_GT(*least, 0);
            EXPECT_LE(*least, factor.local_share);
            EXPECT_GE(*most, factor.local_share);
        });
    }
}

TEST(SolverOnProcesses, AgreesOnInertiaDeterminantConditionAndSchurComplement) {
    auto const matrix = generated<double>("elast3d:3");
    Options options = many_tasks(dynamic_tree, Splitting::one_d, 1);
    options.factorization = Factorization::ldlt;
    auto alone = factorized(matrix, options);
    Inertia const inertia = alone.inertia();
    auto const determinant = alone.determinant();
    double const rcond = alone.reciprocal_condition(matrix);
    Options with_schur = options;
    with_schur.schur = {5, 17, 30, 2};
    auto condensing = factorized(matrix, with_schur);
    auto const s = condensing.schur_complement();
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    auto const condensed = condensing.condense(b);
    auto const expanded = condensing.expand(b, std::vector<double>{1, 2, 3, 4});
    auto const near = [](std::vector<double> const& one, std::vector<double> const& other) {
        ASSERT_EQ(one.size(), other.size());
        for (std::size_t i = 0; i < one.size(); ++i)
            EXPECT_NEAR(one[i], other[i], 1e-9 * (1 + std::abs(one[i])));
    };
    run_processes(3, [&](Communicator const& comm) {
        CscMatrix<double> const mine = on_process_0(comm, matrix);
        std::vector<double> const right = on_process_0(comm, b);
        auto solver = factorized(mine, options, comm);
        EXPECT_EQ(solver.inertia(), inertia);
        EXPECT_NEAR(solver.determinant().log_modulus, determinant.log_modulus, 1e-9);
        EXPECT_EQ(solver.determinant().phase, determinant.phase);
        EXPECT_NEAR(solver.reciprocal_condition(mine), rcond, 1e-6 * rcond);
        auto other = factorized(mine, with_schur, comm);
        auto const found = other.schur_complement();
        auto const down = other.condense(right);
        auto const up = other.expand(right, on_process_0(comm, std::vector<double>{1, 2, 3, 4}));
        if (comm.rank() > 0) return;
        near(found.values, s.values);
        near(down, condensed);
        near(up, expanded);
    });
}

TEST(SolverOnProcesses, FailsOnAllProcessesAndContinues) {
    auto const matrix = generated<double>("lap3d:7");
    std::vector<double> const ones(static_cast<std::size_t>(matrix.rows), 1);
    for (int const comm_threads : {0, 1, 2})
        run_processes(3, [&](Communicator const& comm) {
            CscMatrix<double> const good = on_process_0(comm, matrix);
            CscMatrix<double> bad = good;
            scale_values(bad, [](Index i, Index j) { return i == 100 && j == 100 ? -1 : 1; });
            std::vector<double> const b = on_process_0(comm, ones);
            Options options = many_tasks(static_order, Splitting::one_d, 2);
            options.factorization = Factorization::llh;
            options.comm_threads = comm_threads;
            Solver<double> solver(options, comm);
            solver.analyze(good);
            for (int repeat = 0; repeat < 3; ++repeat)
                EXPECT_TRUE(throws_error(Status::not_positive_definite, "row and column 101",
                                         [&] { solver.factorize(bad); }));
            EXPECT_THROW((void)solver.solve(b), Error);
            solver.factorize(good);
            EXPECT_LE(solve_and_refine(solver, good, b).backward_error, 1e-14);
        });
}

TEST(SolverOnProcesses, EndsOnAllProcessesWhenOneIsCancelled) {
    auto const matrix = generated<double>("lap3d:12");
    run_processes(3, [&](Communicator const& comm) {
        CscMatrix<double> const mine = on_process_0(comm, matrix);
        Options options = many_tasks(dynamic_tree, Splitting::one_d, 1);
        bool asked = false;
        if (comm.rank() == 2) options.cancel = [&] { return asked; };
        Solver<double> solver(options, comm);
        solver.analyze(mine);
        asked = true;
        EXPECT_EQ(status_of([&] { solver.factorize(mine); }), Status::cancelled);
    });
}

TEST(SolverOnProcesses, RefusesDifferentCalls) {
    auto const matrix = generated<double>("lap3d:5");
    run_processes(2, [&](Communicator const& comm) {
        Solver<double> solver(many_tasks(static_order, Splitting::one_d, 1), comm);
        auto const call = [&] { comm.rank() == 0 ? solver.analyze(matrix) : solver.factorize(matrix); };
        EXPECT_EQ(status_of(call), Status::usage);
    });
}

TEST(SolverOnProcesses, MayFollow) {
    auto const matrix = generated<double>("lap3d:7");
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    run_processes(3, [&](Communicator const& comm) {
        if (comm.rank() > 0) return Solver<double>::follow({}, comm);
        Solver<double> solver(many_tasks(dynamic_tree, Splitting::two_d, 2), comm);
        EXPECT_THROW((void)solver.solve(b), Error);
        for (bool const mixed : {false, true}) {
            Options options = solver.options();
            options.threads = mixed ? 1 : 2;
            options.mixed_precision = mixed;
            solver.set_options(options);
            solver.factorize(matrix);
            EXPECT_EQ(solver.report().factor.scalar, mixed ? Scalar::s : Scalar::d);
            EXPECT_EQ(solver.report().threads, options.threads);
            EXPECT_LE(solve_and_refine(solver, matrix, b).backward_error, mixed ? 1e-12 : 1e-14);
            EXPECT_EQ(solver.inertia().positive, matrix.rows);
        }
    });
}

// Process 0 does not measure its Schur complement again with delayed pivots, so the others must not either.
TEST(SolverOnProcesses, UsesThePivotingOfProcess0WhenOthersFollow) {
    auto const matrix = generated<double>("lap3d:5");
    run_processes(3, [&](Communicator const& comm) {
        if (comm.rank() > 0) return Solver<double>::follow({}, comm);
        Options options = many_tasks(static_order, Splitting::one_d, 1);
        options.factorization = Factorization::ldlt;
        options.pivoting = Pivoting::delayed;
        options.schur = {3, 7, 20};
        options.tolerance = 1e-30; // is not reached
        Solver<double> solver(options, comm);
        solver.factorize(matrix);
        EXPECT_EQ(solver.schur_complement().rows, 3);
    });
}

TEST(SolverOnProcesses, KeepsItsFactorsIfOnlyOtherProcessesAskForOtherWorkers) {
    auto const matrix = generated<double>("lap3d:5");
    for (SolveMethod const method : {SolveMethod::direct, SolveMethod::ilu})
        run_processes(3, [&](Communicator const& comm) {
            auto const mine = on_process_0(comm, matrix);
            std::vector<double> const b(static_cast<std::size_t>(mine.rows), 1);
            Options options = many_tasks(static_order, Splitting::one_d, 2);
            options.method = method;
            auto solver = factorized(mine, options, comm);
            if (comm.rank() > 0) options.threads = 0;
            options.bind_threads = comm.rank() > 0;
            solver.set_options(options);
            EXPECT_EQ(solve_and_refine(solver, mine, b).status, Status::ok);
            EXPECT_EQ(solver.report().threads, 2);
        });
}

TEST(SolverOnProcesses, AcceptsASystemInParts) {
    for (char const* const spec : {"lap3d:6", "convdiff3d:5"}) {
        auto const matrix = generated<double>(spec);
        std::vector<double> b(static_cast<std::size_t>(matrix.rows) * 2);
        for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1 + static_cast<double>(i % 7);
        auto alone = factorized(matrix, many_tasks(static_order, Splitting::one_d, 1));
        std::vector<double> const x = alone.solve(b, 2);
        run_processes(3, [&](Communicator const& comm) {
            Index const cuts[] = {0, 10, 10, matrix.cols}; // process 1 has no columns
            Index const first = cuts[comm.rank()], end = cuts[comm.rank() + 1];
            std::vector<double> mine, wanted;
            for (Index j = 0; j < 2; ++j)
                for (Index i = first; i < end; ++i) {
                    mine.push_back(b[static_cast<std::size_t>(i + j * matrix.rows)]);
                    wanted.push_back(x[static_cast<std::size_t>(i + j * matrix.rows)]);
                }
            Solver<double> solver(many_tasks(static_order, Splitting::one_d, 1), comm);
            auto const gathered = gather_columns(comm, columns_of(matrix, first, end));
            solver.factorize(gathered);
            std::vector<double> part = solver.solve_rows(mine, 2);
            ASSERT_EQ(part.size(), wanted.size());
            for (std::size_t i = 0; i < part.size(); ++i)
                EXPECT_NEAR(part[i], wanted[i], 1e-12 * std::abs(wanted[i]));
            std::fill(part.begin(), part.end(), 0.0);
            EXPECT_LE(solver.refine_rows(gathered, mine, part, 2).backward_error, 1e-14);
            for (std::size_t i = 0; i < part.size(); ++i)
                EXPECT_NEAR(part[i], wanted[i], 1e-12 * std::abs(wanted[i]));
            // The processes pass wrong rows, or numbers of columns or ops that differ.
            EXPECT_THROW((void)solver.solve_rows(std::vector<double>(comm.rank() == 1 ? 2 : 4), 2), Error);
            EXPECT_THROW((void)solver.solve_rows(mine, comm.rank() == 1 ? 1 : 2), Error);
            EXPECT_THROW(
                (void)solver.solve_rows(mine, 2, comm.rank() == 2 ? MatrixOp::transpose : MatrixOp::none),
                Error);
            std::vector<double> const whole = gather_rows<double>(comm, mine, 2);
            ASSERT_EQ(scatter_rows<double>(comm, whole, end - first, 2), mine);
            EXPECT_THROW(scatter_rows<double>(comm, whole, end - first + 1, 2), Error);
            EXPECT_THROW(gather_rows<double>(comm, std::vector<double>(comm.rank() == 1 ? 3 : 2), 2), Error);
            CscMatrix<double> odd = columns_of(matrix, first, end);
            if (comm.rank() == 2) odd.row_ind.pop_back();
            EXPECT_THROW(gather_columns(comm, odd), Error);
            odd = columns_of(matrix, first, end);
            if (comm.rank() == 2) ++odd.rows;
            EXPECT_THROW(gather_columns(comm, odd), Error);
        });
    }
}

TEST(SolverOnProcesses, EndsTheCallOnAllProcessesIfItsLogFails) {
    auto const matrix = generated<double>("lap3d:5");
    run_processes(3, [&](Communicator const& comm) {
        Options options = many_tasks(static_order, Splitting::one_d, 1);
        // is chosen between two collective operations, and noted in the log
        options.method = SolveMethod::automatic;
        options.log = [](std::string_view) { throw Error(Status::io_error, "the log is full"); };
        Solver<double> solver(options, comm);
        CscMatrix<double> const mine = on_process_0(comm, matrix);
        EXPECT_TRUE(throws_error(Status::io_error, "the log is full", [&] { solver.analyze(mine); }));
        options.log = nullptr;
        solver.set_options(options);
        solver.factorize(mine);
        EXPECT_EQ(solver.solve(on_process_0(comm, std::vector<double>(125, 1.0))).size(),
                  comm.rank() == 0 ? 125 : 0);
    });
}

// The note is made between two collective operations.
TEST(SolverOnProcesses, CompletesTheOperationsOfACallIfItsLogFails) {
    auto const matrix = generated<double>("saddle3d:4");
    run_processes(3, [&](Communicator const& comm) {
        Options options = many_tasks(static_order, Splitting::one_d, 1);
        options.factorization = Factorization::ldlt;
        options.matching = Toggle::off;
        options.pivoting = Pivoting::static_pivots;
        options.log = [](std::string_view) { throw Error(Status::io_error, "the log is full"); };
        Solver<double> solver(options, comm);
        CscMatrix<double> const mine = on_process_0(comm, matrix);
        EXPECT_TRUE(throws_error(Status::io_error, "the log is full", [&] { solver.factorize(mine); }));
        EXPECT_GT(solver.report().factor.pivots_replaced, 0);
    });
}

TEST(SolverOnProcesses, CallsTheLogOfProcess0Alone) {
    auto const matrix = generated<double>("lap3d:5");
    for (bool const follows : {false, true})
        run_processes(3, [&](Communicator const& comm) {
            Options options = many_tasks(static_order, Splitting::one_d, 1);
            options.method = SolveMethod::automatic; // is noted between two collective operations
            std::atomic<int> lines = 0;
            options.log = [&](std::string_view) {
                ++lines;
                if (comm.rank() > 0) throw Error(Status::io_error, "the log is full");
            };
            if (follows && comm.rank() > 0) {
                Solver<double>::follow(options, comm);
            } else {
                Solver<double> solver(options, comm);
                solver.factorize(on_process_0(comm, matrix));
            }
            EXPECT_EQ(lines > 0, comm.rank() == 0);
        });
}

} // namespace
} // namespace espalier
