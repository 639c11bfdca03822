// The implementation of espalier::Solver, which joins the phases (Analysis, NumericFactor, Refiner) of one
// system. Every process has one and runs the same code. Only process 0 has the analysis, the matrix, and
// vectors that are not distributed. A process that follows runs the same code with empty arguments.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.hpp"
#include "analysis/predictions.hpp"
#include "comm/collective_call.hpp"
#include "core/timer.hpp"
#include "espalier/espalier.hpp"
#include "runtime/process_limits.hpp"
#include "solver/analyzed_system.hpp"
#include "solver/callers_factors.hpp"
#include "solver/incomplete_preconditioner.hpp"
#include "solver/notes.hpp"
#include "solver/numeric_factor.hpp"
#include "solver/process_context.hpp"
#include "solver/refiner.hpp"
#include "solver/simplicial_factor.hpp"
#include "solver/supernodal_factorization.hpp"
#include "solver/system_vectors.hpp"
#include "solver/working_matrix.hpp"

namespace espalier {

struct CallArguments {
    Index columns = 0;
    MatrixOp op = MatrixOp::none;
    double tolerance_of_values = 0; ///< Tolerance of the singular values of a null space.
};

/// The settings of a call, which all processes adopt from process 0.
struct CallSettings : CallArguments {
    // State of the solver.
    bool is_analyzed = false;
    bool is_factorized = false;
    int threads = 1;
    // Options with the same names.
    bool bind_threads = true;
    int comm_threads = 1;
    Pivoting pivoting = Pivoting::static_pivots;
    double pivot_tolerance = 0;
    bool record_trace = false;
    bool mixed_precision = false;
    bool condition = false;
    Allocation allocation = Allocation::local;
    RefineMethod refine = RefineMethod::automatic;
    int max_refine_iterations = 0;
    double tolerance = 0;
    std::uint64_t max_memory = 0;
};

/// The scaling on processes without an analysis. It exists before memory can be scarce.
template <class T> inline ScaledSystem<T> const no_scaling{};

/// A Need is a condition that must hold before a call of the solver can run or its result can be given.
enum class Need {
    factors,        ///< Factors of any kind.
    all_eliminated, ///< Factors without a Schur complement.
    schur,          ///< Factors with one.
    complete,       ///< An analysis for complete factors.
    supernodes,     ///< An analysis with supernodes.
    own_factors,    ///< Complete factors of all unknowns in this process, in T.
    known_pivots,   ///< Pivots that were not replaced, and no growth.
    no_growth,      ///< Factors that are accurate enough for a result that is not refined.
};

template <class T> struct Solver<T>::State {
    /// Collective. Processes with `follows` only call follow().
    State(Options given, Communicator processes, bool follows = false);
    ~State();

    /// Collective: a call of the interface with these arguments. Runs body(), shares the report of process 0,
    /// and returns the result of body() or throws its exception.
    template <class Body> auto call(std::string_view name, CallArguments const& arguments, Body const& body);
    /// Takes part in all calls of process 0 until its solver is destroyed.
    void follow();

    void set_options(Options given);

    /// Before a call that replaces the factors, which may fail before it begins on all processes.
    void drop_factors() { factorized_ = false; }

    // The calls of the interface. Process 0 has the matrices, and the vectors of calls whose names do not end
    // in _rows. Other processes ignore these arguments. The settings of the call contain the number of
    // columns and op.
    void analyze(CscMatrix<T> const& matrix);
    void factorize(CscMatrix<T> const& matrix);
    void solve_in_place(std::span<T> x);
    std::vector<T> solve(std::span<T const> b);
    std::vector<T> solve_rows(std::span<T const> b, Index columns, MatrixOp op);
    DenseMatrix<T> solve_sparse(CscMatrix<T> const& b);
    RefineReport refine(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x);
    RefineReport refine_rows(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x, Index columns,
                             MatrixOp op);
    Inertia inertia();
    Determinant<T> determinant();
    double reciprocal_condition(CscMatrix<T> const& matrix);
    NullSpace<T> null_space(CscMatrix<T> const& matrix);
    CscMatrix<T> selected_inverse(CscMatrix<T> const& matrix);
    std::vector<T> inverse_diagonal();
    void solve_for(std::span<Index const> rows, std::vector<T>& diagonal);
    void check_diagonal(FunctionRef<T(Index)> entry, std::span<Index const> unknown, char const* what);
    Factors<T> factors();
    /// Does the forward or the backward half of a solve, in the order of factors().
    std::vector<T> solve_half(std::span<T const> b, bool forward);
    bool update(CscMatrix<T>& matrix, CscMatrix<T> const& w, int sign);
    bool update_dense(CscMatrix<T>& matrix, DenseMatrix<T> const& w, int sign);
    DenseMatrix<T> schur_complement();
    std::vector<T> condense(std::span<T const> b);
    std::vector<T> expand(std::span<T const> b, std::span<T const> x_schur);
    void write_trace(std::string const& path, std::string const& matrix_name);

    // Calls on process 0 only.
    Prediction predict(int processes, int threads, std::string const* trace_path = nullptr,
                       std::string const& matrix_name = {}) const;
    Prediction simulate(Simulation const& what) const;

    Options options;
    Report report;

  private:
    using Low = Narrow<T>;

    // Collective calls.
    void make_call(std::string_view name, CallArguments const& arguments, detail::StepRef const& body);
    [[nodiscard]] CallSettings settings_of_call() const;
    void adopt(CallSettings const& settings);
    void record_if_asked();
    void share_report();
    void take_part(std::string_view call);

    // Analysis and factorization.
    void analyze(CscMatrix<T> const& matrix, Options const& with);
    void begin_reports();
    void report_analysis(std::uint64_t resident);
    // The result of a factorization: an error that is due to pivots, or the backward error of the factors, as
    // far as it was measured.
    struct Attempt {
        std::optional<Error> problem;
        double error;
        Index replaced; // pivots
        [[nodiscard]] bool is_useless() const { return problem || !(error <= useless_error); }
    };
    Attempt attempt(CscMatrix<T> const& matrix, FactorDemand const& demand = {});
    void factorize_values(CscMatrix<T> const& matrix, FactorDemand const& demand);
    void drop_reports_on_factors();
    void analyze_again(CscMatrix<T> const& matrix);
    [[nodiscard]] bool must_change(Attempt const& attempt) const;
    void factorize_in_another_way(CscMatrix<T> const& matrix, Attempt const& attempt);
    void factorize_by_supernodes(CscMatrix<T> const& matrix, char const* reason);
    void factorize_again(CscMatrix<T> const& matrix, Options const& with, std::string const& what_and_why);
    [[nodiscard]] Options options_of_analysis() const;
    void prepare_inverse(CscMatrix<T> const& matrix, std::uint64_t max_memory);
    DistributedRows prepare_incomplete(CscMatrix<T> const& matrix, std::uint64_t max_memory);
    void drop_analysis();
    void check_values(CscMatrix<T> const& matrix);
    void choose_system(CscMatrix<T> const& matrix);
    [[nodiscard]] FactorizationChoice choice_for(CscMatrix<T> const& matrix) const;
    void prepare_assembly(CscMatrix<T> const& matrix);
    void scale_for(Factorization kind, CscMatrix<T> const& matrix);
    void make_working(CscMatrix<T> const& matrix);
    void choose_simplicial_kind(CscMatrix<T> const& matrix);
    void factorize_simplicial(CscMatrix<T> const& matrix);
    void compute_simplicial(CscMatrix<T> const& matrix);
    void factorize_with_supernodes(CscMatrix<T> const& matrix, FactorDemand const& demand);
    void estimate_condition();
    void take_condition(ConditionEstimate const& estimate);
    void factorize_incomplete(CscMatrix<T> const& matrix);

    // Solves and refinement in the layout of the caller or in owned rows.
    void expect_blocks(std::size_t entries, char const* what);
    void expect_rows(std::size_t entries, Index columns, MatrixOp op);
    void use_matrix(CscMatrix<T> const& matrix, char const* what);
    std::optional<RefineReport> accept_given(CscMatrix<T> const& matrix, std::span<T const> b,
                                             std::span<T const> x);
    void begin_solve(std::size_t entries);
    void solve_given(std::span<T> x);
    RefineReport refine_given(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x);
    [[nodiscard]] RefineOptions refine_options() const;
    void refine_own(CscMatrix<T> const& matrix, std::span<T const> b, std::span<T> x);
    void report_applications();
    void report_solve(Timer const& timer);
    void bound_forward_error(std::span<T const> b, std::span<T const> x);
    std::vector<T> eliminate_interior(std::span<T const> b, std::vector<T>& own);

    std::optional<std::string> change_factors(CscMatrix<T> const& changed, CscMatrix<T> const& w, int sign);
    void finish_update(CscMatrix<T> const& changed, bool keeps_pattern);
    void factorize_any(CscMatrix<T> const& matrix);

    InverseEntries<T> invert(char const* what, std::uint64_t bytes_of_result);
    Factors<T> all_factors(bool keeps_zeros);
    [[nodiscard]] std::uint64_t bytes_of_all_factors() const;
    void check_update(CscMatrix<T> const& matrix, CscMatrix<T> const& w, int sign) const;

    [[nodiscard]] std::vector<std::uint64_t> memory_needs() const;
    std::uint64_t require_memory_of(CallMemory const& call, std::string_view what);
    std::uint64_t require_memory_of_columns(CallMemory const& call, char const* what);
    void require_memory_of_solve();
    std::uint64_t require_memory_of_refinement();
    void require_memory_of_condition();
    [[nodiscard]] VectorLayout vector_layout() const {
        return {context_.is_alone(), !vectors_->is_in_place(), vectors_->scaling().is_scaled};
    }

    /// The largest resident set so far, or that of the last 10 ms if the factors are too small to change it.
    [[nodiscard]] std::uint64_t peak_memory() const {
        constexpr std::uint64_t small = 2 << 20;
        return report.analysis.memory_bytes < small ? recent_resident_memory().peak : peak_rss_bytes();
    }

    /// Throws the error of the first need that is not met, on all processes. `what` needs it.
    void require(char const* what, std::initializer_list<Need> needs) const;
    // Completes Prediction::analysis by what this solver measured.
    [[nodiscard]] Prediction with_times_and_peak(Prediction prediction) const;
    [[nodiscard]] ProgressSink* progress() const { return context_.is_root() ? options.progress : nullptr; }

    ProcessContext context_;
    Notes notes_;
    CollectiveCalls<CallSettings> calls_;
    bool some_follow_ = false;
    std::optional<CscMatrix<T>> unused_; // stands for the matrix to change on a process that follows
    CallSettings call_;                  // the settings of the current call

    std::optional<AnalyzedSystem> system_; // set by the analysis
    std::optional<Analysis<T>> analysis_;  // on process 0
    std::optional<SystemVectors<T>> vectors_;
    NumericFactor<T> factor_; // one of the next three is in use
    SimplicialFactor<T> simplicial_;
    IncompletePreconditioner<T> incomplete_;
    std::optional<Refiner<T>> refiner_;
    std::optional<SupernodalFactorization<T>> supernodal_; // set if factor_ is in use

    bool factorized_ = false;
    FactorForm form_;
    // on process 0: the pattern of the analysis, with entries that updates have added
    PatternFingerprint pattern_;
    WorkingMatrix<T> working_;
    Index unavoidable_pivots_ = 0; // pivots replaced in spite of a matching for the current values
    double unavoidable_error_ = 0; // error of the factors with such a matching
};

template <class T> template <class Body>
auto Solver<T>::State::call(std::string_view name, CallArguments const& arguments, Body const& body) {
    if constexpr (std::is_void_v<decltype(body())>) {
        make_call(name, arguments, detail::StepRef(body));
    } else {
        decltype(body()) result{};
        auto const keep = [&] { result = body(); };
        make_call(name, arguments, detail::StepRef(keep));
        return result;
    }
}

} // namespace espalier
