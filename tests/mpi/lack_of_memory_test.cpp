// One allocation of one real process fails, in each of the main calls. No process may hang, all get the same
// status, and the call succeeds when it is repeated. By default some allocations of each call fail; with
// ESPALIER_EVERY_ALLOCATION=1 in the environment all of them do. A process that hangs prints where it waits.
#include <execinfo.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/collective.hpp"
#include "comm/thread_level.hpp"
#include "common/failing_new.hpp"
#include "core/error.hpp"
#include "distributed/shares.hpp"
#include "espalier/distributed.hpp"
#include "espalier/mpi.hpp"
#include "io/write.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

constexpr unsigned longest_call = 150; // seconds
char failing_call[100];
void* failing_frames[40];
int num_failing_frames = 0;

void report_hang(int) {
    std::fprintf(stderr, "a process waits for ever: %s\n", failing_call);
    if (num_failing_frames > 0) backtrace_symbols_fd(failing_frames, num_failing_frames, STDERR_FILENO);
    _exit(1);
}

class LackOfMemoryOverMpi : public testing::Test {
  protected:
    Communicator const comm = communicator(MPI_COMM_WORLD);

    // Repeats `call` with one failing allocation of `victim` after the other until none is reached. Returns
    // how many calls failed.
    int fail_allocations(char const* name, int victim, std::function<void()> const& call) {
        int failed = 0;
        for (long k = 0;; k = every_ ? k + 1 : 4 * k + 1) {
            auto const text = fmt::format("{}, allocation {} of process {}", name, k, victim);
            failing_call[text.copy(failing_call, sizeof failing_call - 1)] = '\0';
            barrier(comm);
            ::alarm(longest_call);
            if (comm.rank() == victim) failing_new::countdown = k;
            Status status = Status::ok;
            try {
                call();
            } catch (...) {
                status = current_error().status();
            }
            bool const reached = failing_new::countdown.exchange(-1) < 0; // also where it never counted
            auto const statuses = all_gather(comm, static_cast<std::int64_t>(status));
            for (auto const other : statuses) EXPECT_EQ(other, statuses[0]) << text;
            EXPECT_TRUE(status == Status::ok || status == Status::out_of_memory)
                << text << ": " << to_string(status);
            if (status != Status::ok) ++failed;
            bool const goes_on = max(comm, std::int64_t{comm.rank() == victim && reached}) > 0;
            if (!goes_on || max(comm, std::int64_t{testing::Test::HasFailure()}) > 0) break;
            if (status != Status::ok) call();
        }
        ::alarm(0);
        return failed;
    }

    void SetUp() override {
        previous_ = std::signal(SIGALRM, &report_hang);
        void* first[1];
        (void)backtrace(first, 1); // loads a library
        failing_new::on_failure = [] {
            num_failing_frames = backtrace(failing_frames, std::size(failing_frames));
        };
    }
    void TearDown() override {
        failing_new::on_failure = nullptr;
        std::signal(SIGALRM, previous_);
    }

    bool const every_ = std::getenv("ESPALIER_EVERY_ALLOCATION") != nullptr;
    void (*previous_)(int) = nullptr;
};

TEST_F(LackOfMemoryOverMpi, OfOneProcessEndsTheCallOnAll) {
    CscMatrix<double> const whole = generated<double>("lap3d:4"), mine = on_process_0(comm, whole);
    std::vector<double> const b(static_cast<std::size_t>(mine.rows), 1.0);
    Shares const rows(whole.cols, comm.size());
    std::vector<double> const own(
        static_cast<std::size_t>(rows.first(comm.rank() + 1) - rows.first(comm.rank())), 1.0);
    int failed = 0;
    for (int victim = 0; victim < comm.size(); ++victim) {
        Options options =
            many_tasks(victim % 2 == 0 ? SchedulePolicy::static_order : SchedulePolicy::dynamic_tree,
                       Splitting::one_d, 1);
        options.factorization = Factorization::ldlt;
        options.supernodes = Toggle::on; // also on one process
        options.comm_threads = victim % 3;
        std::optional<Solver<double>> solver;
        std::vector<double> x, own_x;
        failed += fail_allocations("constructor", victim, [&] {
            auto copy = all_succeed(comm, [&] { return options; });
            solver.emplace(std::move(copy), comm);
        });
        failed += fail_allocations("analyze", victim, [&] { solver->analyze(mine); });
        failed += fail_allocations("factorize", victim, [&] { solver->factorize(mine); });
        failed += fail_allocations("solve", victim, [&] { x = solver->solve(b); });
        failed += fail_allocations("refine", victim, [&] { (void)solver->refine(mine, b, x); });
        failed += fail_allocations("solve_rows", victim, [&] { own_x = solver->solve_rows(own); });
        failed += fail_allocations("reciprocal_condition", victim,
                                   [&] { (void)solver->reciprocal_condition(mine); });
        x = solver->solve(b);
        EXPECT_LE(solver->refine(mine, b, x).backward_error, 1e-13);
    }
    EXPECT_GT(failed, 20 * comm.size());
}

// A file that all processes read, written by process 0.
class SharedFile {
  public:
    SharedFile(Communicator const& comm, CscMatrix<double> const& matrix) : comm_(comm) {
        auto const number = max(comm, std::int64_t{comm.rank() == 0 ? ::getpid() : 0});
        path = (std::filesystem::temp_directory_path() / fmt::format("espalier-{}.mtx", number)).string();
        if (comm.rank() == 0) write_matrix(path, {matrix, {}});
        barrier(comm);
    }
    ~SharedFile() {
        barrier(comm_);
        if (comm_.rank() == 0) std::remove(path.c_str());
    }
    std::string path;

  private:
    Communicator const& comm_;
};

// Vectors and matrices in parts, sparse right-hand sides, null spaces, traces and factors in single
// precision.
TEST_F(LackOfMemoryOverMpi, EndsFurtherCallsOnAll) {
    CscMatrix<double> const whole = generated<double>("lap3d:3"), mine = on_process_0(comm, whole);
    CscMatrix<double> sparse = on_process_0(
        comm, CscMatrix<double>{whole.rows, 2, Symmetry::general, {0, 1, 3}, {4, 0, 9}, {1.0, 2.0, 3.0}});
    std::vector<double> const b(static_cast<std::size_t>(mine.rows), 1.0);
    Shares const rows(whole.cols, comm.size());
    std::vector<double> const own(static_cast<std::size_t>(rows.size(comm.rank())), 1.0);
    SharedFile const file(comm, whole);
    std::string const trace = comm.rank() == 0 ? file.path + ".paje" : std::string();
    int failed = 0;
    for (int victim = 0; victim < comm.size(); ++victim) {
        Options options = many_tasks(SchedulePolicy::static_order, Splitting::one_d, 1);
        options.comm_threads = (victim + 1) % 3;
        options.mixed_precision = true;
        options.record_trace = true;
        Solver<double> solver(options, comm);
        solver.analyze(mine);
        std::vector<double> x;
        failed += fail_allocations("gather_rows", victim, [&] { (void)gather_rows<double>(comm, own); });
        failed += fail_allocations("scatter_rows", victim,
                                   [&] { (void)scatter_rows<double>(comm, b, std::ssize(own)); });
        failed +=
            fail_allocations("read_columns", victim, [&] { (void)read_columns<double>(comm, file.path, 1); });
        failed += fail_allocations("factorize in single precision", victim, [&] { solver.factorize(mine); });
        failed += fail_allocations("solve in single precision", victim, [&] { x = solver.solve(b); });
        failed += fail_allocations("refine from single precision", victim,
                                   [&] { (void)solver.refine(mine, b, x); });
        failed += fail_allocations("sparse solve", victim, [&] { (void)solver.solve(sparse); });
        failed += fail_allocations("null_space", victim, [&] { (void)solver.null_space(mine); });
        failed += fail_allocations("determinant", victim, [&] { (void)solver.determinant(); });
        failed += fail_allocations("inertia", victim, [&] { (void)solver.inertia(); });
        failed += fail_allocations("predict", victim, [&] { // not collective
            all_succeed(comm, [&] {
                if (comm.rank() == 0) (void)solver.predict(3, 2);
            });
        });
        failed += fail_allocations("write_trace", victim, [&] {
            (void)solver.solve(b); // something to record
            solver.write_trace(trace);
        });
        EXPECT_LE(solver.refine(mine, b, x = solver.solve(b)).backward_error, 1e-13);
    }
    if (comm.rank() == 0) std::remove(trace.c_str());
    EXPECT_GT(failed, 20 * comm.size());
}

TEST_F(LackOfMemoryOverMpi, EndsCallsForASchurComplementOnAll) {
    CscMatrix<double> const mine = on_process_0(comm, generated<double>("lap3d:3"));
    std::vector<double> const b(static_cast<std::size_t>(mine.rows), 1.0);
    int failed = 0;
    for (int victim = 0; victim < comm.size(); ++victim) {
        Options options = many_tasks(SchedulePolicy::dynamic_tree, Splitting::one_d, 1);
        options.comm_threads = victim % 3;
        options.schur = {3, 7, 8};
        Solver<double> solver(options, comm);
        std::vector<double> reduced;
        failed +=
            fail_allocations("factorize for a Schur complement", victim, [&] { solver.factorize(mine); });
        failed += fail_allocations("schur_complement", victim, [&] { (void)solver.schur_complement(); });
        failed += fail_allocations("condense", victim, [&] { reduced = solver.condense(b); });
        failed += fail_allocations("expand", victim, [&] { (void)solver.expand(b, reduced); });
    }
    EXPECT_GT(failed, 5 * comm.size());
}

} // namespace
} // namespace espalier
