// Solvers of real processes. Every factorization, scalar, schedule and number of communication threads, with
// 1 and 2 threads, has a small backward error. Failures of one process are failures of all. Repeated runs
// have the same bits.
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/thread_level.hpp"
#include "core/status_of.hpp"
#include "distributed/backward_error.hpp"
#include "espalier/espalier.hpp"
#include "espalier/mpi.hpp"
#include "mpi/little_memory.hpp"
#include "runtime/process_limits.hpp"
#include "solver/generated.hpp"
#include "solver/pivoting.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

// Solves a system that process 0 passes, and returns the solution on process 0.
template <class T> std::vector<T> solve_together(Communicator const& comm, CscMatrix<T> const& matrix,
                                                 Options const& options, double tolerance) {
    CscMatrix<T> const mine = on_process_0(comm, matrix);
    std::vector<T> const b(static_cast<std::size_t>(mine.rows) * 2, T(1));
    auto solver = factorized(mine, options, comm);
    std::vector<T> x = solver.solve(b, 2);
    EXPECT_LE(solver.refine(mine, b, x, 2).backward_error, tolerance);
    return x;
}

class ASolverOverMpi : public ::testing::Test {
  protected:
    Communicator const comm = communicator(MPI_COMM_WORLD);
};

template <class T> class MpiSolver : public ::testing::Test {};
TYPED_TEST_SUITE(MpiSolver, test::Scalars);

// One analysis serves all numbers of communication threads; numbers of threads and splittings take turns.
TYPED_TEST(MpiSolver, DoesEveryFactorizationUnderEveryScheduleWithAllCommunicationThreads) {
    using T = TypeParam;
    Communicator const comm = communicator(MPI_COMM_WORLD);
    bool const leads = comm.rank() == 0, alone = comm.size() == 1;
    int turn = 0;
    for (auto const& [spec, kind] : problems<T>()) {
        CscMatrix<T> matrix = generated<T>(spec);
        if (kind == Factorization::llh && is_complex<T>) matrix.symmetry = Symmetry::hermitian;
        CscMatrix<T> const mine = on_process_0(comm, matrix);
        std::vector<T> const b(static_cast<std::size_t>(mine.rows) * 2, T(1));
        for (SchedulePolicy const schedule : all_schedules) {
            constexpr Splitting splittings[] = {Splitting::one_d, Splitting::two_d, Splitting::dynamic};
            int const threads = 1 + turn / 3 % 2;
            Options options = many_tasks(schedule, splittings[turn++ % 3], threads);
            options.factorization = kind;
            Solver<T> solver(options, comm);
            solver.analyze(mine);
            for (int const comm_threads : {0, 1, 2}) {
                // One process has no communication threads. If the thread level allows fewer, they were
                // tested before.
                if (choose_comm_threads(comm, comm_threads).threads != comm_threads) continue;
                SCOPED_TRACE(fmt::format("{} {} {} {} {}", spec, to_string(kind), to_string(schedule),
                                         threads, comm_threads));
                options.comm_threads = comm_threads;
                solver.set_options(options);
                solver.factorize(mine);
                std::vector<T> const x = solver.solve(b, 2);
                EXPECT_EQ(solver.report().comm_threads, comm_threads);
                EXPECT_EQ(solver.report().factor.messages > 0, !alone);
                if (leads) {
                    EXPECT_LE(normwise_backward_error<T>(matrix, x, b, 2),
                              1e3 * static_cast<double>(epsilon<T>));
                }
            }
        }
    }
}

// Columns are delayed from process to process: solutions, and inertia and determinants against LAPACK.
TYPED_TEST(MpiSolver, DelaysColumnsUnderEverySchedule) {
    using T = TypeParam;
    Communicator const comm = communicator(MPI_COMM_WORLD);
    int turn = 0;
    for (Factorization const kind : factorizations_with_pivots) {
        auto const matrix = kkt_system<T>(symmetry_for<T>(kind), 120, 50, static_cast<unsigned>(comm.size()));
        bool const has_signs = kind == Factorization::ldlh || (kind == Factorization::ldlt && !is_complex<T>);
        for (SchedulePolicy const schedule : all_schedules) {
            Options options =
                many_tasks(schedule, turn % 2 == 0 ? Splitting::one_d : Splitting::dynamic, 1 + turn % 2);
            options.factorization = kind;
            options.matching = Toggle::off;
            options.pivoting = Pivoting::delayed;
            options.comm_threads = choose_comm_threads(comm, turn++ % 3).threads;
            SCOPED_TRACE(fmt::format("{} {} {}", to_string(kind), to_string(schedule), options.comm_threads));
            if (has_signs)
                expect_exact(matrix, options, spectrum(matrix), comm);
            else
                (void)solve_together(comm, matrix, options, 1e3 * static_cast<double>(epsilon<T>));
            auto const solver = factorized(on_process_0(comm, matrix), options, comm);
            EXPECT_GT(solver.report().factor.pivots_delayed, 0);
            EXPECT_EQ(solver.report().factor.pivots_replaced, 0);
        }
    }
}

TYPED_TEST(MpiSolver, SolvesWithIncompleteFactors) {
    using T = TypeParam;
    Communicator const comm = communicator(MPI_COMM_WORLD);
    for (char const* spec : {"lap3d:7", "convdiff3d:6", "spe10like:4x5x3"})
        for (Index const levels : {0, 2}) {
            Options options = on_threads(1 + static_cast<int>(levels) / 2);
            options.method = SolveMethod::ilu;
            options.levels = levels;
            Solver<T> solver(options, comm);
            CscMatrix<T> const mine = on_process_0(comm, generated<T>(spec));
            std::vector<T> const b(static_cast<std::size_t>(mine.rows) * 2, T(1));
            for (int round = 0; round < 2; ++round) {
                solver.factorize(mine);
                for (MatrixOp const op : {MatrixOp::none, MatrixOp::adjoint}) {
                    std::vector<T> x = solver.solve(b, 2, op);
                    EXPECT_EQ(solver.refine(mine, b, x, 2, op).status, Status::ok) << spec << " " << levels;
                }
            }
            EXPECT_EQ(solver.report().method, SolveMethod::ilu);
            EXPECT_EQ(std::ssize(solver.report().analysis.memory_bytes_of_process), comm.size());
        }
}

void expect_equal_bits(Communicator const& comm, CscMatrix<double> const& matrix, Options options,
                       int repeats) {
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    std::vector<double> first;
    Solver<double> solver(options, comm);
    solver.analyze(matrix);
    for (int repeat = 0; repeat < repeats; ++repeat) {
        options.comm_threads = repeat % 3;
        solver.set_options(options);
        solver.factorize(matrix);
        std::vector<double> const x = solver.solve(b);
        if (repeat == 0) first = x;
        ASSERT_EQ(x, first) << repeat;
    }
}

TEST_F(ASolverOverMpi, RepeatsAStaticRunBitByBitTwoHundredTimes) {
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 2);
    expect_equal_bits(comm, on_process_0(comm, generated<double>("convdiff3d:5")), options, 200);
    options.factorization = Factorization::ldlt;
    options.matching = Toggle::off;
    options.pivoting = Pivoting::delayed;
    expect_equal_bits(comm, on_process_0(comm, kkt_system<double>(Symmetry::symmetric, 120, 50, 3)), options,
                      50);
}

TEST_F(ASolverOverMpi, RefinesByEveryMethod) {
    for (RefineMethod const method :
         {RefineMethod::ir, RefineMethod::cg, RefineMethod::gmres, RefineMethod::bicgstab}) {
        Options options = many_tasks(SchedulePolicy::dynamic_tree, Splitting::one_d, 1);
        options.refine = method;
        options.mixed_precision = true;
        solve_together<double>(comm, generated<double>("lap3d:8"), options, 1e-12);
    }
}

TEST_F(ASolverOverMpi, FailsAlikeOnAllProcessesBesideOtherMessages) {
    CscMatrix<double> bad = generated<double>("lap3d:6");
    for (std::size_t p = 0; p < bad.values.size(); ++p)
        if (bad.row_ind[p] == 50) bad.values[p] = -1;
    int const next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
    for (int repeat = 0; repeat < 5; ++repeat) {
        // A message of the caller is under way all the time, with an ordinary tag.
        int sent = 100 * repeat + comm.rank(), received = -1;
        MPI_Request requests[2];
        MPI_Irecv(&received, 1, MPI_INT, before, 0, MPI_COMM_WORLD, &requests[0]);
        Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 2);
        options.factorization = Factorization::llh;
        Solver<double> solver(options, comm);
        EXPECT_EQ(status_of([&] { solver.factorize(on_process_0(comm, bad)); }),
                  Status::not_positive_definite);
        MPI_Isend(&sent, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[1]);
        solve_together<double>(comm, generated<double>("lap3d:6"), options, 1e-13);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        EXPECT_EQ(received, 100 * repeat + before);
    }
}

// Process 0 also has the matrix, and used more memory for the ordering.
TEST_F(ASolverOverMpi, PredictsTheMemoryOfEachProcess) {
    if (comm.size() == 1) GTEST_SKIP() << "process 0 has more in hand than a factorization";
    Options options = on_threads(1);
    options.calibration = Toggle::off;
    options.factorization = Factorization::llh;
    Solver<double> solver(options, comm);
    CscMatrix<double> const matrix = comm.rank() == 0 ? generated<double>("elast3d:30") : CscMatrix<double>();
    solver.analyze(matrix);
    auto const before = static_cast<double>(current_rss_bytes());
    solver.factorize(matrix);
    (void)solver.solve(std::vector<double>(matrix.rows, 1));
    AnalysisReport const& analysis = solver.report().analysis;
    ASSERT_EQ(analysis.memory_bytes_of_process.size(), static_cast<std::size_t>(comm.size()));
    double const predicted = analysis.memory_bytes_of_process[comm.rank()];
    double const added = static_cast<double>(peak_rss_bytes()) - before;
    EXPECT_LT(predicted, 0.8 * static_cast<double>(analysis.factor_bytes));
    if (comm.rank() > 0) {
        // If processes wait for cores, blocks stay in memory longer than predicted.
        bool const crowded = comm.size() > static_cast<int>(std::thread::hardware_concurrency());
        EXPECT_NEAR(added, predicted, (crowded ? 0.15 : 0.1) * predicted);
    }
}

TEST_F(ASolverOverMpi, EndsEverywhereWhenOneProcessHasNoMemory) {
    // The panels of each process need far more than the limit, and than earlier tests left free in the heap.
    CscMatrix<double> const matrix = comm.rank() == 0 ? generated<double>("elast3d:20") : CscMatrix<double>();
    Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 1);
    options.max_block_width = 128;
    Solver<double> solver(options, comm);
    solver.analyze(matrix);
    std::optional<LittleMemory> limit;
    if (comm.rank() == comm.size() - 1) limit.emplace(std::size_t{8} << 20);
    EXPECT_EQ(status_of([&] { solver.factorize(matrix); }), Status::out_of_memory);
    limit.reset();
    solver.factorize(matrix);
    std::vector<double> const b(static_cast<std::size_t>(matrix.rows), 1);
    EXPECT_LE(solve_and_refine(solver, matrix, b).backward_error, 1e-13);
}

} // namespace
} // namespace espalier
