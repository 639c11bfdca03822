// Lack of memory among several processes. One allocation of one process fails, in any call. No process may
// hang, all processes get the same status from the same call, and the call succeeds when it is repeated. The
// calls of a solver are made one after the other. Each is repeated with later and later failures until none
// is reached. By default some allocations of each call fail; with ESPALIER_EVERY_ALLOCATION=1 in the
// environment all of them do. A call that failed may keep memory, so the next one has fewer allocations;
// number k fails again until its stack was seen. If a process hangs or crashes, the test prints the stack of
// the allocation that failed.
#include <execinfo.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "comm/collective.hpp"
#include "common/allocation_failure.hpp"
#include "core/error.hpp"
#include "espalier/distributed.hpp"

#include "comm/thread_processes.hpp"
#include "distributed/shares.hpp"
#include "solver/generated.hpp"
#include "solver/problems.hpp"

namespace espalier {
namespace {

constexpr unsigned longest_call = 150; // seconds before a call counts as a hang
std::atomic<long> failing_allocation = 0;
char const* failing_case = "";
char const* failing_call = "";

// The stack of the allocation that failed. While process 0 reads it, allocations of a process that follows
// may fail.
std::mutex failing_mutex;
void* failing_frames[40];
int num_failing_frames = 0;

void record_failing_stack() {
    std::lock_guard const lock(failing_mutex);
    num_failing_frames = backtrace(failing_frames, std::size(failing_frames));
}

void report_signal(int signal) {
    std::fprintf(stderr, "%s: %s, %s, allocation %ld\n", signal == SIGALRM ? "a process hangs" : "crash",
                 failing_case, failing_call, failing_allocation.load());
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
    system.options.supernodes = Toggle::on; // predict() needs them
    system.options.condition = one.method == SolveMethod::direct;
    return system;
}

// The outcome of a call on a process.
struct CallOutcome {
    Status status = Status::ok;
    std::string message;
};

struct Call {
    char const* name;
    std::function<void()> make;
    std::function<void()> undo = {};   // called after a success, before the call is repeated
    std::function<void()> repair = {}; // called after a failure
};

// Chooses the allocations that fail, and stores the outcomes. All processes share one object.
class Injection {
  public:
    Injection(Case const& one, bool every)
        : case_(one), every_(every), outcomes_(static_cast<std::size_t>(one.processes)) {}

    // Called by process 0 before a call is made for the first time.
    void begin(char const* name) {
        failing_call = name;
        k_ = 0;
        seen_.clear();
    }
    void arm() {
        failing_allocation = k_;
        ::alarm(longest_call);
        failing_new::countdown = k_;
    }
    // Called by every process that makes the call.
    void set(int rank, CallOutcome outcome) {
        outcomes_[static_cast<std::size_t>(rank)] = std::move(outcome);
    }
    // Called by process 0 afterwards: whether the call must be repeated. `processes` have made it.
    bool judge(int processes) {
        bool const reached = failing_new::countdown.exchange(-1) < 0;
        ::alarm(0);
        for (int r = 0; r < processes; ++r) {
            CallOutcome const& mine = outcomes_[static_cast<std::size_t>(r)];
            SCOPED_TRACE(fmt::format("{}, {}, allocation {}, process {}: {}", case_.name, failing_call, k_, r,
                                     mine.message));
            EXPECT_EQ(to_string(mine.status), to_string(outcomes_[0].status));
            EXPECT_TRUE(mine.status == Status::ok || (reached && mine.status == Status::out_of_memory))
                << to_string(mine.status);
        }
        if (!reached || testing::Test::HasFailure()) return false;
        ++num_failed;
        std::vector<void*> stack(std::size(failing_frames));
        {
            std::lock_guard const lock(failing_mutex);
            stack.assign(failing_frames, failing_frames + num_failing_frames);
        }
        bool const is_new = seen_.insert(std::move(stack)).second;
        if (!every_)
            k_ = 4 * k_ + 1;
        else if (!is_new)
            ++k_;
        return true;
    }

    long num_failed = 0;
    bool repeats = false; // the result of judge()
    std::atomic<bool> finished = false;

  private:
    Case const& case_;
    bool every_;
    long k_ = 0;
    std::set<std::vector<void*>> seen_; // stacks of allocations that failed in this call
    std::vector<CallOutcome> outcomes_; // by rank
};

CallOutcome outcome_of(std::function<void()> const& call) {
    try {
        call();
        return {};
    } catch (...) {
        Error const error = current_error();
        return {error.status(), error.what()};
    }
}

// Makes all calls of a process.
class Process {
  public:
    Process(System const& system, Case const& one, Communicator const& comm, Injection& injection)
        : system_(system), case_(one), comm_(comm), injection_(injection),
          mine_(on_process_0(comm, system.matrix)), right_(on_process_0(comm, system.b)) {
        Shares const rows(system.matrix.cols, comm.size());
        Index const first = rows.first(comm.rank()), end = rows.first(comm.rank() + 1);
        part_ = columns_of(system.matrix, first, end);
        own_.assign(system.b.begin() + first, system.b.begin() + end);
        for (std::vector<double>* const x : {&first_x_, &first_refined_}) x->reserve(system.b.size());
        column_ = on_process_0(
            comm, CscMatrix<double>{system.matrix.rows, 1, Symmetry::general, {0, 1}, {0}, {0.5}});
        barrier(comm); // no allocation fails before all processes have arrived
    }

    void run() {
        if (case_.follows && comm_.rank() > 0) {
            // must not allocate: process 0 may already set the next failure
            while (!injection_.finished) try {
                    Solver<double>::follow({}, comm_);
                } catch (...) {
                }
            return;
        }
        for (Call const& call : calls())
            if (!testing::Test::HasFailure()) repeat(call);
        injection_.finished = true;
        meet();
        solver_.reset();
    }

  private:
    [[nodiscard]] std::vector<Call> calls() {
        std::vector<Call> all{
            {"constructor",
             [&] { // the caller makes the copy
                 together([&] { options_ = system_.options; });
                 solver_.emplace(std::move(options_), comm_);
             }},
            {"set_options", [&] { together([&] { solver_->set_options(system_.options); }); }},
            {"analyze", [&] { solver_->analyze(mine_); }},
            {"factorize", [&] { solver_->factorize(mine_); }}};
        if (!case_.follows) all.push_back({"gather_columns", [&] { (void)gather_columns(comm_, part_); }});
        if (system_.options.schur.empty())
            add_calls_of_solve(all);
        else
            add_calls_of_schur(all);
        all.push_back({"refactorization", [&] { solver_->factorize(mine_); }});
        all.push_back({"new analysis", [&] { solver_->analyze(mine_); }});
        return all;
    }
    void add_calls_of_schur(std::vector<Call>& all) {
        all.push_back({"schur_complement", [&] { (void)solver_->schur_complement(); }});
        all.push_back({"condense", [&] { reduced_ = solver_->condense(right_); }});
        all.push_back({"expand", [&] { (void)solver_->expand(right_, reduced_); }});
    }
    void add_calls_of_solve(std::vector<Call>& all) {
        all.push_back({"solve", [&] { check(x_ = solver_->solve(right_), first_x_); }});
        all.push_back({"refine", [&] {
                           together([&] { refined_ = x_; }); // a call that fails may overwrite it
                           (void)solver_->refine(mine_, right_, refined_);
                           check(refined_, first_refined_);
                       }});
        if (!case_.follows) {
            all.push_back({"solve_rows", [&] { own_x_ = solver_->solve_rows(own_); }});
            all.push_back({"refine_rows", [&] { (void)solver_->refine_rows(mine_, own_, own_x_); }});
        }
        if (case_.method == SolveMethod::ilu) return;
        if (case_.processes == 1) add_calls_of_one_process(all);
        all.push_back({"reciprocal_condition", [&] { (void)solver_->reciprocal_condition(mine_); }});
        all.push_back({"determinant", [&] { (void)solver_->determinant(); }});
        if (case_.kind == Factorization::lu) return;
        all.push_back({"inertia", [&] { (void)solver_->inertia(); }});
        auto const factorize = [&] { solver_->factorize(mine_); };
        auto const update = [&] { (void)solver_->update(mine_, column_); };
        auto const downdate = [&] { (void)solver_->downdate(mine_, column_); };
        all.push_back({"update", update, downdate, factorize});
        all.push_back({"downdate", downdate, update, factorize});
    }

    void add_calls_of_one_process(std::vector<Call>& all) {
        all.push_back({"solve of a sparse right-hand side", [&] { (void)solver_->solve(column_); }});
        all.push_back({"null_space", [&] { (void)solver_->null_space(mine_); }});
        all.push_back({"factors", [&] { (void)solver_->factors(); }});
        all.push_back({"selected_inverse", [&] { (void)solver_->selected_inverse(mine_); }});
        all.push_back({"inverse_diagonal", [&] { (void)solver_->inverse_diagonal(); }});
        all.push_back({"predict", [&] { (void)solver_->predict(2, 2); }});
    }

    // Checks that results after a lack of memory are equal to earlier ones.
    void check(std::vector<double> const& x, std::vector<double>& first) {
        if (comm_.rank() > 0) return;
        if (first.empty()) first = x;
        constexpr double tolerance = 1e-9;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (!(std::abs(x[i] - first[i]) <= tolerance * (1 + std::abs(x[i]))))
                throw Error(Status::internal, fmt::format("another solution: {} for {}", x[i], first[i]));
    }
    void together(std::function<void()> const& step) { // for calls that are not collective
        case_.follows ? step() : all_succeed(comm_, step);
    }
    void meet() {
        if (!case_.follows) barrier(comm_);
    }

    void repeat(Call const& call) {
        bool const is_root = comm_.rank() == 0;
        int const processes = case_.follows ? 1 : comm_.size();
        meet();
        if (is_root) injection_.begin(call.name);
        for (bool again = true; again;) {
            meet();
            if (is_root) injection_.arm();
            meet();
            CallOutcome mine = outcome_of(call.make);
            bool const is_ok = mine.status == Status::ok;
            injection_.set(comm_.rank(), std::move(mine));
            meet();
            if (is_root) injection_.repeats = injection_.judge(processes);
            meet();
            again = injection_.repeats;
            auto const& then = is_ok ? call.undo : call.repair;
            if (again && then) then();
        }
    }

    System const& system_;
    Case const& case_;
    Communicator const& comm_;
    Injection& injection_;
    CscMatrix<double> mine_, part_;
    CscMatrix<double> column_; // of an update; set on process 0
    std::vector<double> right_, own_;
    Options options_;
    std::optional<Solver<double>> solver_;
    std::vector<double> x_, refined_, own_x_, first_x_, first_refined_, reduced_;
};

class LackOfMemory : public testing::TestWithParam<Case> {};

TEST_P(LackOfMemory, OfOneProcessEndsTheCallOnAll) {
    Case const& one = GetParam();
    failing_case = one.name;
    auto const previous = std::signal(SIGALRM, &report_signal);
#if !defined(ESPALIER_SANITIZED) // sanitizers report crashes themselves
    auto const previous_segv = std::signal(SIGSEGV, &report_signal);
#endif
    failing_new::is_exempt = [] { return depth_in_transport > 0; };
    failing_new::on_failure = &record_failing_stack;
    System const system = system_of(one);
    Injection injection(one, std::getenv("ESPALIER_EVERY_ALLOCATION") != nullptr);
    run_processes(one.processes,
                  [&](Communicator const& comm) { Process(system, one, comm, injection).run(); });
    EXPECT_GT(injection.num_failed, 30);
    RecordProperty("failed", static_cast<int>(injection.num_failed));
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
    testing::Values(
        Case{"ldlt_1_process", 1, "lap3d:3", Factorization::ldlt, in_order, 1, RefineMethod::ir},
        Case{"inverse_delayed_1_process",
             1,
             "saddle3d:3",
             Factorization::ldlt,
             in_order,
             1,
             RefineMethod::ir,
             {},
             SolveMethod::direct,
             false,
             Pivoting::delayed},
        Case{"llh_2_processes", 2, "lap2d:5", Factorization::llh, in_order, 1, RefineMethod::cg},
        Case{"lu_3_processes", 3, "convdiff3d:3", Factorization::lu, dynamic, 2, RefineMethod::gmres},
        Case{"ldlt_4_processes", 4, "lap3d:3", Factorization::ldlt, in_order, 0, RefineMethod::bicgstab},
        Case{"schur_2_processes", 2, "lap3d:3", Factorization::ldlt, dynamic, 0, RefineMethod::ir, {3, 7, 8}},
        Case{"delayed_3_processes",
             3,
             "saddle3d:3",
             Factorization::ldlt,
             dynamic,
             1,
             RefineMethod::ir,
             {},
             SolveMethod::direct,
             false,
             Pivoting::delayed},
        Case{"ilu_3_processes",
             3,
             "convdiff3d:3",
             Factorization::lu,
             in_order,
             1,
             RefineMethod::gmres,
             {},
             SolveMethod::ilu},
        Case{"following_2_processes",
             2,
             "lap2d:5",
             Factorization::ldlt,
             in_order,
             1,
             RefineMethod::ir,
             {},
             SolveMethod::direct,
             true}),
    [](auto const& instance) { return std::string(instance.param.name); });

} // namespace
} // namespace espalier
