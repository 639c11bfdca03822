// Lack of memory among several processes: one allocation of any of them fails, in any call. No process may
// wait for ever, all processes get the same status from the same call, and afterwards the calls succeed. By
// default some allocations fail, spread over all calls. With ESPALIER_EVERY_ALLOCATION=1 in the environment
// each of them fails in turn, or from number k on with ESPALIER_EVERY_ALLOCATION=k, which takes several
// minutes for each case. If a process waits for ever or crashes, the test prints who wanted the memory.
#include <execinfo.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>

#include "common/allocation_failure.hpp"
#include "core/error.hpp"
#include "espalier/distributed.hpp"

#include "comm/thread_processes.hpp"
#include "distributed/shares.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

constexpr unsigned longest_run = 30; // seconds, before a run counts as a hang
std::atomic<long> failing_allocation = 0;
char const* failing_case = "";

void* failing_frames[40]; // the stack of the allocation that failed
int num_failing_frames = 0;

void report_signal(int signal) {
    std::fprintf(stderr, "%s: %s, allocation %ld\n", signal == SIGALRM ? "a process waits for ever" : "crash",
                 failing_case, failing_allocation.load());
    backtrace_symbols_fd(failing_frames, num_failing_frames, STDERR_FILENO);
    _exit(1);
}

struct Case {
    char const* name;
    int processes;
    char const* spec;
    Factorization kind;
    SchedulePolicy schedule;
    int comm_threads;
    RefineMethod refine;
    std::vector<Index> schur = {};
    SolveMethod method = SolveMethod::direct;
    bool follows = false; // whether the other processes follow process 0
    Pivoting pivoting = Pivoting::static_pivots;
};

struct System {
    CscMatrix<double> matrix;
    std::vector<double> b;
    Options options;
};

System system_of(Case const& one) {
    System system{generated<double>(one.spec), {}, many_tasks(one.schedule, Splitting::one_d, 1)};
    system.b.assign(static_cast<std::size_t>(system.matrix.rows), 1.0);
    system.options.factorization = one.kind;
    system.options.comm_threads = one.comm_threads;
    system.options.refine = one.refine;
    system.options.schur = one.schur;
    system.options.method = one.method;
    system.options.pivoting = one.pivoting;
    if (one.pivoting == Pivoting::delayed) system.options.matching = Toggle::off;
    system.options.ordering = OrderingMethod::amd;
    system.options.condition = one.method == SolveMethod::direct;
    return system;
}

// The first call that failed on a process, and its status.
struct FirstFailure {
    int call = 0; // 0 for none
    Status status = Status::ok;
    std::string message;
};

class Calls {
  public:
    Calls(System const& system, Case const& one, Communicator const& comm)
        : system_(system), case_(one), comm_(comm), follows_(one.follows && comm.rank() > 0),
          mine_(on_process_0(comm, system.matrix)), right_(on_process_0(comm, system.b)),
          options_(system.options) {
        Shares const rows(system.matrix.cols, comm.size());
        Index const first = rows.first(comm.rank()), end = rows.first(comm.rank() + 1);
        part_ = columns_of(system.matrix, first, end);
        own_.assign(system.b.begin() + first, system.b.begin() + end);
        column_ = on_process_0(comm, CscMatrix<double>{system.matrix.rows, 1, Symmetry::general, {0, 1}, {0}, {0.5}});
    }

    FirstFailure make_all() {
        failure_ = {};
        calls_ = 0;
        if (follows_) {
            make([&] { Solver<double>::follow({}, comm_); });
            return failure_;
        }
        if (!solver_) make([&] { // the copy is made by the caller
            if (!case_.follows) all_succeed(comm_, [&] { options_ = system_.options; });
            solver_.emplace(std::move(options_), comm_);
        });
        make([&] { // which is not collective
            auto const set = [&] { solver_->set_options(system_.options); };
            case_.follows ? set() : all_succeed(comm_, set);
        });
        if (!case_.follows) make([&] { (void)gather_columns(comm_, part_); });
        make([&] { solver_->analyze(mine_); });
        make([&] { solver_->factorize(mine_); });
        if (!system_.options.schur.empty())
            make_calls_of_schur();
        else
            make_calls_of_solve();
        make([&] { solver_->factorize(mine_); }); // refactorization
        return failure_;
    }
    void destroy() { solver_.reset(); }

  private:
    void make_calls_of_schur() {
        make([&] { (void)solver_->schur_complement(); });
        std::vector<double> reduced;
        make([&] { reduced = solver_->condense(right_); });
        make([&] { (void)solver_->expand(right_, reduced); });
    }
    void make_calls_of_solve() {
        std::vector<double> x;
        make([&] { x = solver_->solve(right_); });
        make([&] { (void)solver_->refine(mine_, right_, x); });
        if (!case_.follows) {
            std::vector<double> own_x;
            make([&] { own_x = solver_->solve_rows(own_); });
            make([&] { (void)solver_->refine_rows(mine_, own_, own_x); });
        }
        if (case_.method == SolveMethod::ilu) return;
        make([&] { (void)solver_->reciprocal_condition(mine_); });
        make([&] { (void)solver_->determinant(); });
        if (case_.kind == Factorization::lu) return;
        make([&] { (void)solver_->inertia(); });
        make([&] { (void)solver_->update(mine_, column_); });
        make([&] { (void)solver_->downdate(mine_, column_); });
    }
    template <class Call> void make(Call const& call) {
        if (failure_.call > 0) return;
        ++calls_;
        try {
            call();
        } catch (...) {
            Error const error = current_error();
            failure_ = {calls_, error.status(), error.what()};
        }
    }

    System const& system_;
    Case const& case_;
    Communicator const& comm_;
    bool follows_;
    CscMatrix<double> mine_, part_;
    CscMatrix<double> column_; // of an update, on process 0
    std::vector<double> right_, own_;
    Options options_;
    std::optional<Solver<double>> solver_;
    int calls_ = 0;
    FirstFailure failure_;
};

// Lets allocation number k fail. Returns the number of allocations, or at most k.
long fail_at(long k, Case const& one, System const& system) {
    failing_allocation = k;
    std::vector<FirstFailure> first(static_cast<std::size_t>(one.processes)), second = first;
    ::alarm(longest_run);
    run_processes(one.processes, [&](Communicator const& comm) {
        Calls calls(system, one, comm);
        barrier(comm);
        if (comm.rank() == 0) failing_new::countdown = k;
        barrier(comm);
        auto const rank = static_cast<std::size_t>(comm.rank());
        first[rank] = calls.make_all();
        if (one.follows) { // which ends with the solver of process 0
            calls.destroy();
        } else {
            barrier(comm);
            if (comm.rank() == 0 && failing_new::countdown >= 0) // not reached
                failing_allocation = failing_new::countdown.exchange(-1);
            second[rank] = calls.make_all();
            calls.destroy();
        }
    });
    ::alarm(0);
    if (one.follows && failing_new::countdown >= 0) failing_allocation = failing_new::countdown.exchange(-1);
    for (std::size_t r = 0; r < first.size(); ++r) {
        SCOPED_TRACE(fmt::format("{}, allocation {}, process {}: {}", one.name, k, r, first[r].message));
        if (!one.follows) {
            EXPECT_EQ(first[r].call, first[0].call);
            EXPECT_EQ(to_string(first[r].status), to_string(first[0].status));
        }
        EXPECT_TRUE(first[r].status == Status::ok || first[r].status == Status::out_of_memory)
            << to_string(first[r].status);
        EXPECT_EQ(second[r].call, 0) << second[r].message; // once there is memory
    }
    return k - failing_allocation.load();
}

class LackOfMemory : public testing::TestWithParam<Case> {};

TEST_P(LackOfMemory, OfOneProcessEndsTheCallOnAll) {
    Case const& one = GetParam();
    failing_case = one.name;
    auto const previous = std::signal(SIGALRM, &report_signal);
#if !defined(ESPALIER_SANITIZED) // which reports crashes itself
    auto const previous_segv = std::signal(SIGSEGV, &report_signal);
#endif
    failing_new::is_exempt = [] { return depth_in_transport > 0; };
    failing_new::on_failure = [] { num_failing_frames = backtrace(failing_frames, std::size(failing_frames)); };
    char const* const every = std::getenv("ESPALIER_EVERY_ALLOCATION");
    constexpr long samples = 16;
    System const system = system_of(one);
    constexpr long many = std::numeric_limits<long>::max() / 2;
    long const all = fail_at(many, one, system);
    ASSERT_GT(all, 100);
    long const step = every ? 1 : std::max(all / samples, 1L);
    long const before = failing_new::hits;
    long const start = every ? std::max(std::atol(every) - 1, 0L) : step / 2;
    for (long k = start; k < all && !HasFailure(); k += step) (void)fail_at(k, one, system);
    EXPECT_GT(failing_new::hits - before, samples / 4);
    failing_new::is_exempt = nullptr;
    failing_new::on_failure = nullptr;
    std::signal(SIGALRM, previous);
#if !defined(ESPALIER_SANITIZED)
    std::signal(SIGSEGV, previous_segv);
#endif
}

constexpr auto in_order = SchedulePolicy::static_order, dynamic = SchedulePolicy::dynamic_tree;

INSTANTIATE_TEST_SUITE_P(
    Cases, LackOfMemory,
    testing::Values(Case{"llh_2_processes", 2, "lap2d:5", Factorization::llh, in_order, 1, RefineMethod::cg},
                    Case{"lu_3_processes", 3, "convdiff3d:3", Factorization::lu, dynamic, 2, RefineMethod::gmres},
                    Case{"ldlt_4_processes", 4, "lap3d:3", Factorization::ldlt, in_order, 0, RefineMethod::bicgstab},
                    Case{"schur_2_processes", 2, "lap3d:3", Factorization::ldlt, dynamic, 0, RefineMethod::ir, {3, 7, 8}},
                    Case{"delayed_3_processes", 3, "saddle3d:3", Factorization::ldlt, dynamic, 1, RefineMethod::ir, {},
                         SolveMethod::direct, false, Pivoting::delayed},
                    Case{"ilu_3_processes", 3, "convdiff3d:3", Factorization::lu, in_order, 1, RefineMethod::gmres,
                         {}, SolveMethod::ilu},
                    Case{"following_2_processes", 2, "lap2d:5", Factorization::ldlt, in_order, 1, RefineMethod::ir,
                         {}, SolveMethod::direct, true}),
    [](auto const& info) { return std::string(info.param.name); });

} // namespace
} // namespace espalier
