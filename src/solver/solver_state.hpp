// What stands behind espalier::Solver: the state that each step leaves for the next, and the steps.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "core/background.hpp"
#include "core/interrupt.hpp"
#include "core/pack.hpp"
#include "espalier/espalier.hpp"
#include "factor/assembly.hpp"
#include "factor/factor.hpp"
#include "refine/refine.hpp"
#include "runtime/topology.hpp"
#include "runtime/worker_team.hpp"
#include "simulation/schedule.hpp"
#include "solver/analysis.hpp"
#include "solver/ensemble.hpp"
#include "trace/record.hpp"

namespace espalier {

template <class T> struct Solver<T>::State {
    State(Options given, Communicator processes, bool follows = false);

    /// A call of the interface: `body` on process 0, which leads; on the others what it orders. Every call
    /// that reads factors or makes them goes through here. A result of plain bytes is the same on all; of
    /// others only process 0 has more than an empty one.
    template <class Body> auto together(std::string_view call, Body const& body);
    /// A process other than 0: takes part in all calls of process 0 until its solver is gone.
    void follow();

    void set_options(Options given);
    void analyze(CscMatrix<T> const& matrix);
    void factorize(CscMatrix<T> const& matrix);
    void solve(std::span<T> x, Index nrhs, MatrixOp op);
    DenseMatrix<T> solve(CscMatrix<T> const& b, MatrixOp op);
    RefineReport refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs,
                        MatrixOp op);
    Inertia inertia();
    Determinant<T> determinant();
    double reciprocal_condition(CscMatrix<T> const& matrix);
    NullSpace<T> null_space(CscMatrix<T> const& matrix, double tolerance);
    DenseMatrix<T> schur_complement();
    std::vector<T> condense(std::span<T const> b, Index nrhs);
    std::vector<T> expand(std::span<T const> b, std::span<T const> x_schur, Index nrhs);
    Schedule schedule_for(int processes, int threads) const;
    Prediction predict(int processes, int threads, std::string const* trace_path = nullptr,
                       std::string const& matrix_name = {}) const;
    Prediction simulate(Simulation const& what) const;
    void write_trace(std::string const& path, std::string const& matrix_name);

    Options options;
    Report report;

  private:
    using Low = Narrow<T>;
    static constexpr bool can_narrow = sizeof(Low) < sizeof(T);

    // Factorization.
    void factorize_from(CscMatrix<T> const& matrix);
    [[nodiscard]] bool wants_narrow() const;
    bool factorize_narrow(CscMatrix<T> const& working);
    void factorize_full(CscMatrix<T> const& matrix, CscMatrix<T> const* working);
    template <class F> void factorize_numbers(CscMatrix<F> const& working);
    void make_system(CscMatrix<T> const& matrix, Factorization kind);
    CscMatrix<T> const& make_working(CscMatrix<T> const& matrix);
    template <class F> bool is_suspicious(CscMatrix<F> const& working);
    void look_for_singularity(CscMatrix<T> const& working);
    void look_for_singularity(CscMatrix<T> const& block, ApplyInverse<T> const& inverse_of_block);

    // With the factors at hand, of the working system and of the caller's.
    void apply_factors(std::span<T> block, Index columns, MatrixOp op);
    void apply_narrow(std::span<T> block, Index columns, MatrixOp op);
    void apply_inverse(std::span<T> block, Index columns, MatrixOp op);
    ApplyInverse<T> inverse_of_working();
    ApplyInverse<T> inverse_of_interior();
    ApplyInverse<T> inverse_of_matrix();
    void refine_once(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs,
                     MatrixOp op);
    void refine_scaled(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index nrhs,
                       MatrixOp op, RefineOptions const& run);
    [[nodiscard]] double tolerance() const;
    int refine_precisely(CscMatrix<T> const& working, std::span<T const> b, std::span<T> x, Index nrhs,
                         MatrixOp op);
    void distrust_growth(CscMatrix<T> const& working, std::span<T const> b, std::span<T const> x, Index nrhs);
    void count_steps(int steps);

    std::vector<T> eliminate_interior(std::span<T const> b, Index nrhs);

    void require_factors(char const* what) const;
    void require_no_schur(char const* what) const;
    void require_schur(char const* what) const;
    void require_same_pattern(CscMatrix<T> const& matrix, char const* what) const;

    void note(std::string text);
    WorkerTeam& workers();
    // From here to the end of the call, this is what can cancel it, and whether it is recorded.
    void begin_call(std::string_view call);
    void adopt(CallSettings const& settings);
    // Where phases of the process are recorded; null when no trace is.
    trace::Track* phases();
    void sample_memory(); // into the trace
    [[nodiscard]] Prediction describe(Schedule const& schedule) const;
    void write_schedule(std::string const& path, Schedule const& schedule, CostModel const& costs,
                        std::map<std::string, std::string> metadata) const;
    [[nodiscard]] std::map<std::string, std::string> trace_metadata() const;

    Topology topology_;
    int default_threads_ = 1;          // of each process
    bool shares_cores_ = false;        // with other processes on its machine
    RunRecorder recording_;            // since the last analysis
    std::unique_ptr<WorkerTeam> team_; // started by the first step that needs it
    Background background_;
    std::shared_ptr<Interrupt> interrupt_;

    std::optional<Analysis<T>> analysis_; // process 0
    Ensemble<T> ensemble_;                // refers to it

    // Of the factorization: in mixed precision the ensemble has factors in Low.
    bool factorized_ = false;
    bool is_narrow_ = false;
    CscMatrix<T> working_copy_; // see make_working
    bool near_singular_ = false;
    std::size_t notes_of_analysis_ = 0; // the first ones; those after them are of the factorization
};

template <class T> template <class Body>
auto Solver<T>::State::together(std::string_view call, Body const& body) {
    using Result = decltype(body());
    // A few bytes are for all, vectors are process 0's.
    constexpr bool is_shared = !std::is_void_v<Result> && std::is_trivially_copyable_v<Result>;
    begin_call(call);
    auto const start_recording = [&] {
        if (options.record_trace && !recording_.has_recorder()) ensemble_.restart_recording();
    };
    if (ensemble_.is_alone()) {
        start_recording();
        return body();
    }
    if (!ensemble_.leads()) {
        std::vector<std::byte> const bytes = ensemble_.serve(report);
        if constexpr (is_shared) {
            Result result;
            Unpacker unpacker(bytes);
            unpacker(result);
            return result;
        } else {
            return Result();
        }
    }
    std::optional<Error> problem;
    if constexpr (std::is_void_v<Result>) {
        problem = error_of([&] {
            start_recording();
            body();
        });
        ensemble_.end(problem, report);
        if (problem) throw *problem;
    } else {
        Result result{};
        Packer packer;
        problem = error_of([&] {
            start_recording();
            result = body();
            if constexpr (is_shared) packer(result);
        });
        ensemble_.end(problem, report, packer.take());
        if (problem) throw *problem;
        return result;
    }
}

} // namespace espalier
