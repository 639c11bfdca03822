// The typed part of the C interface that holds the matrix, whole or in parts, runs the steps, and records
// whether analysis and factors belong to the current matrix.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "c/c_arrays.hpp"
#include "c/c_parts.hpp"
#include "c/c_session.hpp"
#include "comm/collective_call.hpp"
#include "core/counted.hpp"
#include "core/scalar.hpp"
#include "espalier/import.hpp"
#include "refine/refine.hpp"

namespace espalier {

/// The state of a handle; all processes use the values of process 0.
struct HandleState {
    bool has_matrix = false;
    bool analyzed = false;          ///< The pattern of the matrix.
    bool factorized = false;        ///< The values of the matrix.
    bool factors_uncertain = false; ///< A refinement failed and may have dropped the factors.
    Index order = 0;                ///< The order of the matrix.
    Offset stored = 0;              ///< Stored entries of the matrix.
    double tolerance = 0;           ///< Tolerance of the backward error.
};

/// The processes of a handle.
struct HandleProcesses {
    Communicator all;
    /// The processes that make the calls: all of them, or only process 0 if the others follow it.
    Communicator calling;
};

template <class T> class SystemSession : public Session {
  public:
    SystemSession() = default;
    explicit SystemSession(HandleProcesses processes)
        : comm_(processes.all), calls_(std::move(processes.calling)), solver_({}, comm_) {}

    Scalar scalar() const override { return scalar_of<T>; }
    Options const& options() const override { return solver_.options(); }
    Report const& report() const override { return solver_.report(); }
    Communicator const& comm() const override { return comm_; }

    void set_options(Options options) override {
        Options const& old = solver_.options();
        bool const plans_change = options.threads != old.threads || options.topology != old.topology;
        solver_.set_options(std::move(options));
        if (plans_change) now_.analyzed = now_.factorized = false;
    }

    void set_matrix(espalier_matrix const* matrix) override {
        begin("espalier_set_matrix", [&] { take(imported<T>(known_fields(matrix, "matrix"))); });
        begin_anew();
        entries_here_.reset();
    }

    void set_matrix_part(espalier_matrix const* given) override {
        espalier_matrix fields{};
        MatrixPart<T> part;
        begin_parts("espalier_set_matrix_part", [&] {
            fields = known_fields(given, "part");
            part = checked_part<T>(fields);
        });
        auto whole = imported_parts(calls_.comm(), facts_of(fields), std::move(part));
        on_root(calls_.comm(), [&] { take(std::move(whole)); });
        begin_anew();
        entries_here_ = fields.entries;
    }

    void set_values(Offset entries, void const* values, bool in_parts) override {
        take_values(in_parts ? "espalier_set_values_part" : "espalier_set_values", entries, values, in_parts);
    }

    void refactorize(Offset entries, void const* values, bool in_parts) override {
        now_.factorized = false; // also if the values are refused
        take_values(in_parts ? "espalier_refactorize_part" : "espalier_refactorize", entries, values,
                    in_parts);
        bring_factors();
    }

    Index order() const override {
        require_matrix("espalier_get_size");
        return now_.order;
    }

    Offset stored() const override { return now_.stored; }

    void analyze() override {
        begin("espalier_analyze", [&] { require_matrix("espalier_analyze"); });
        bring_analysis();
    }

    void factorize() override {
        begin("espalier_factorize", [&] { require_matrix("espalier_factorize"); });
        bring_factors();
    }

    void solve(espalier_op op, std::optional<Index> rows, InputBlock b, OutputBlock x) override {
        Blocks mine =
            begin_blocks(rows ? "espalier_solve_rows" : "espalier_solve", Step::solve, op, rows, b, x);
        if (rows)
            mine.b = solver_.solve_rows(mine.b, b.columns, mine.op);
        else
            solver_.solve_in_place(mine.b, b.columns, mine.op);
        give(mine.b, rows, x);
    }

    void solve_sparse(espalier_op op, espalier_matrix const* b, void* x, Index leading) override {
        CscMatrix<T> right;
        MatrixOp how = MatrixOp::none;
        begin("espalier_solve_sparse", [&] {
            how = known(op, MatrixOp::adjoint, "op");
            require_factors("espalier_solve_sparse");
            require_pointer(b, "b");
            check_block(x, order(), b->cols, leading, "x");
            right = general_columns(b, "b");
        });
        auto const result = solver_.solve(right, how);
        give(result.values, {}, {x, result.cols, leading});
    }

    void refine(espalier_op op, std::optional<Index> rows, InputBlock b, OutputBlock x) override {
        Blocks mine =
            begin_blocks(rows ? "espalier_refine_rows" : "espalier_refine", Step::refine, op, rows, b, x);
        refine_blocks(mine, rows, x);
    }

    void drive(espalier_op op, std::optional<Index> rows, InputBlock b, OutputBlock x) override {
        Blocks mine =
            begin_blocks(rows ? "espalier_drive_rows" : "espalier_drive", Step::drive, op, rows, b, x);
        if (!now_.factorized || now_.factors_uncertain) bring_factors();
        mine.x =
            rows ? solver_.solve_rows(mine.b, b.columns, mine.op) : solver_.solve(mine.b, b.columns, mine.op);
        refine_blocks(mine, rows, x);
    }

    void refuse(char const* call, std::string const& message) override {
        begin_parts(call, [&] { throw Error(Status::usage, message); });
    }

  protected:
    /// Collective: begins a call. Process 0 runs `check`, which checks its arguments. Any process may call
    /// refuse() instead.
    template <class Check> void begin(char const* call, Check const& check) {
        begin_parts(call, [&] {
            if (calls_.is_root()) check();
        });
    }

    /// Collective: begins a call in which every process has a part and runs `check`.
    template <class Check> void begin_parts(char const* call, Check const& check) {
        begin(call);
        all_succeed(calls_.comm(), check);
    }

    enum class Step { solve, refine, drive };
    // B and X of op(A) X = B: whole on process 0, or the rows of this process.
    struct Blocks {
        MatrixOp op = MatrixOp::none;
        std::vector<T> b;
        std::vector<T> x;
    };

    // `rows` is the number of rows of this process; nothing if process 0 has all.
    Blocks begin_blocks(char const* name, Step step, espalier_op op, std::optional<Index> rows, InputBlock b,
                        OutputBlock x) {
        Blocks mine;
        auto const check = [&] {
            mine.op = known(op, MatrixOp::adjoint, "op");
            step == Step::drive ? require_matrix(name) : require_factors(name);
            Index const count = rows.value_or(now_.order);
            if (count < 0 || count > now_.order)
                throw Error(Status::usage, fmt::format("rows = {}; expected 0 to {}, the order of the matrix",
                                                       count, now_.order));
            mine.b = gathered<T>(b, count, "b");
            if (step == Step::refine)
                mine.x = gathered<T>({x.data, x.columns, x.leading}, count, "x");
            else
                check_block(x.data, count, x.columns, x.leading, "x");
        };
        if (rows) {
            begin_parts(name, check);
            require_rows(calls_.comm(), now_.order, *rows, b.columns, mine.op);
        } else {
            begin(name, check);
        }
        return mine;
    }

    /// Columns with a row for each unknown.
    CscMatrix<T> general_columns(espalier_matrix const* given, char const* what) const {
        espalier_matrix const fields = known_fields(given, what);
        if (fields.rows != order())
            throw Error(Status::usage, fmt::format("{} has {}; the matrix has {}", what,
                                                   counted(fields.rows, "row"), order()));
        known(fields.symmetry, Symmetry::hermitian, "symmetry");
        if (fields.symmetry != ESPALIER_GENERAL)
            throw Error(Status::usage, fmt::format("{} must be given as a general matrix", what));
        return imported<T>(fields).matrix();
    }

    /// The matrix that was set, with all updates.
    [[nodiscard]] CscMatrix<T> const& matrix() const { return updated_ ? *updated_ : matrix_.matrix(); }

    /// Collective: whether updates have added entries.
    [[nodiscard]] bool has_more_entries() {
        return on_root(calls_.comm(), [&] { return matrix().stored() > matrix_.matrix().stored(); });
    }

    /// As Solver::update().
    bool change(CscMatrix<T> const& w, int sign) {
        CscMatrix<T> next = matrix();
        bool is_in_place = false;
        std::optional<Error> const problem = error_of([&] { is_in_place = solver_.update(next, w, sign); });
        bool const keeps_factors = !problem || problem->status() == Status::not_positive_definite ||
                                   problem->status() == Status::singular ||
                                   problem->status() == Status::usage;
        now_.factorized = keeps_factors;
        if (problem) throw *problem;
        if (calls_.is_root()) updated_ = std::move(next);
        analyzed_update_ = analyzed_update_ || (!is_in_place && has_more_entries());
        null_space_.reset();
        factors_.reset();
        return is_in_place;
    }

    // Stores the matrix of process 0.
    void take(MatrixImport<T> next) {
        if (next.matrix().rows != next.matrix().cols)
            throw Error(Status::bad_input,
                        fmt::format("the matrix has {} and {}; only square systems can be solved",
                                    counted(next.matrix().rows, "row"),
                                    counted(next.matrix().cols, "column")));
        matrix_ = std::move(next);
        updated_.reset();
    }

    void begin_anew() {
        now_ = {};
        now_.has_matrix = true;
        now_.order = matrix_.matrix().cols;
        now_.stored = matrix_.matrix().stored();
        now_ = on_root(calls_.comm(), [&] { return now_; });
        analyzed_update_ = false;
        null_space_.reset();
        factors_.reset();
    }

    void take_values(char const* call, Offset entries, void const* values, bool in_parts) {
        auto const checked = [&]() -> std::span<T const> {
            require_matrix(call);
            if (in_parts && !entries_here_)
                throw Error(Status::usage,
                            fmt::format("{} was called for a matrix that was not set in parts", call));
            Offset const expected = in_parts ? *entries_here_ : matrix_.entries();
            if (entries != expected)
                throw Error(Status::usage,
                            fmt::format("there are {} values, but {} was set with {} entries", entries,
                                        in_parts ? "this part" : "the matrix", expected));
            if (entries > 0) require_pointer(values, "values");
            return {static_cast<T const*>(values), static_cast<std::size_t>(entries)};
        };
        if (in_parts) {
            std::span<T const> mine;
            begin_parts(call, [&] { mine = checked(); });
            auto const whole = gather_joined<T>(calls_.comm(), mine, 0);
            on_root(calls_.comm(), [&] { matrix_.set_values(whole); });
        } else {
            begin(call, [&] { matrix_.set_values(checked()); });
        }
        updated_.reset();
        if (std::exchange(analyzed_update_, false)) now_.analyzed = false;
        now_.factorized = false;
        null_space_.reset();
        factors_.reset();
    }

    void begin(char const* call) {
        now_.tolerance = tolerance_here();
        calls_.begin(call, now_, [this](HandleState const& of_0) { now_ = of_0; });
    }

    double tolerance_here() const { return effective_tolerance<T>(options().tolerance); }

    void bring_analysis() {
        now_.analyzed = now_.factorized = false;
        solver_.analyze(matrix());
        now_.analyzed = true;
        analyzed_update_ = has_more_entries();
    }

    void bring_factors() {
        if (!now_.analyzed) bring_analysis();
        now_.factorized = false;
        factors_.reset();
        solver_.factorize(matrix());
        now_.factorized = true;
        now_.factors_uncertain = false;
    }

    // Stores X, and throws the status of a refinement that did not succeed.
    void refine_blocks(Blocks& mine, std::optional<Index> rows, OutputBlock x) {
        now_.factors_uncertain = true; // in mixed precision the refinement may start another factorization
        RefineReport const report = rows ? solver_.refine_rows(matrix(), mine.b, mine.x, x.columns, mine.op)
                                         : solver_.refine(matrix(), mine.b, mine.x, x.columns, mine.op);
        now_.factors_uncertain = false;
        give(mine.x, rows, x);
        if (report.status == Status::singular)
            throw Error(report.status, fmt::format("the matrix is singular to working precision; the "
                                                   "backward error is {:.1e}",
                                                   report.backward_error));
        if (report.status == Status::ok) return;
        double const tolerance = calls_.is_root() ? tolerance_here() : now_.tolerance;
        DecisiveError const error = decisive_error(report, tolerance);
        throw Error(report.status,
                    fmt::format("the backward error{} {:.1e} is above the tolerance {:.1e}",
                                error.is_scaled ? " of the scaled system" : "", error.value, tolerance));
    }

    // Writes the rows of this process, or all rows on process 0.
    void give(std::vector<T> const& values, std::optional<Index> rows, OutputBlock block) {
        if (rows || calls_.is_root()) write_back(values, rows.value_or(now_.order), block);
    }

    void require_leader(char const* what) const {
        if (!calls_.is_root()) throw Error(Status::usage, fmt::format("{} is for process 0 alone", what));
    }

    void require_matrix(char const* what) const {
        if (!now_.has_matrix)
            throw Error(Status::usage, fmt::format("{} was called before espalier_set_matrix", what));
    }

    void require_analysis(char const* what) const {
        require_matrix(what);
        if (!now_.analyzed)
            throw Error(Status::usage,
                        fmt::format("{} was called before espalier_analyze of this matrix, or after a change "
                                    "of threads or topology",
                                    what));
    }

    void require_factors(char const* what) const {
        require_matrix(what);
        if (!now_.factorized)
            throw Error(Status::usage,
                        fmt::format("{} was called before espalier_factorize of this matrix, or after a "
                                    "failed call or a change of threads or topology",
                                    what));
    }

    Communicator comm_;
    CollectiveCalls<HandleState> calls_;
    Solver<T> solver_;
    MatrixImport<T> matrix_;              // process 0: as it was set
    std::optional<CscMatrix<T>> updated_; // process 0: with updates, if there were some
    bool analyzed_update_ = false; // since the matrix was set, an update has added entries and was analyzed
    std::optional<Offset> entries_here_; // if the matrix was set in parts
    HandleState now_;
    std::optional<NullSpace<T>> null_space_; // null space of the current values
    std::optional<Factors<T>> factors_;      // copies, until the next factors
};

} // namespace espalier
