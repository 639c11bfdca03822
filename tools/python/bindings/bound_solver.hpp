// espalier::Solver<T> for Python. Calls run one at a time without the interpreter lock, and Ctrl-C stops
// them. The factorized matrix is kept for the calls that need it.
#pragma once

#include <pybind11/numpy.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <unistd.h>

#include "callbacks.hpp"
#include "core/names.hpp"
#include "espalier/espalier.hpp"
#include "matrix.hpp"

namespace espalier::python {

/// The caller's progress and log functions, either of which may be None. They are passed with each call in a
/// Python tuple and not kept, so that Python's garbage collector sees all references to them.
struct Listeners {
    Listeners() = default;
    Listeners(py::tuple const& functions)
        : progress(py::object(functions[0])), log(py::object(functions[1])) {}
    py::handle progress = Py_None;
    py::handle log = Py_None;
};

/// A Python array that owns the values of a dense matrix, column-major.
template <class T> py::array_t<T> to_numpy(DenseMatrix<T>&& dense) {
    auto owned = std::make_unique<std::vector<T>>(std::move(dense.values));
    T* const data = owned->data();
    py::capsule const owner(owned.release(),
                            [](void* values) { delete static_cast<std::vector<T>*>(values); });
    auto const item = static_cast<py::ssize_t>(sizeof(T));
    return py::array_t<T>({dense.rows, dense.cols}, {item, item * dense.rows}, data, owner);
}

template <class T> class BoundSolver {
  public:
    using Matrix = std::shared_ptr<CscMatrix<T>>;
    using Stored = std::shared_ptr<CscMatrix<T> const>;
    using Block = py::array_t<T, py::array::f_style>; // n x k, column-major, without conversion
    /// Status and normwise backward error of a solution.
    using Verdict = std::tuple<std::string, double>;

    explicit BoundSolver(Options const& options) : BoundSolver(options, Communicator()) {}
    /// Creates the solver on process 0 of `comm`; the other processes follow.
    BoundSolver(Options const& options, Communicator comm)
        : process_(getpid()), solver_(std::make_unique<Solver<T>>(with_callbacks(options), std::move(comm))) {
    }
    // The library may wait for cancelled work. A forked child must not wait, because the threads do not exist
    // there.
    ~BoundSolver() {
        py::gil_scoped_release const no_python;
        if (getpid() != process_) (void)solver_.release();
        solver_.reset();
    }
    BoundSolver(BoundSolver const&) = delete;
    BoundSolver& operator=(BoundSolver const&) = delete;

    void set_options(Options const& options) {
        run({}, [&] { solver_->set_options(with_callbacks(options)); });
    }

    void analyze(Matrix const& matrix, py::tuple const& listeners) {
        run(listeners, [&] { analyze_now(matrix); });
    }

    /// Whether the last analysis holds for the matrix: its pattern is the same, and its values have the symmetry.
    bool is_analyzed(Matrix const& matrix) {
        return run({}, [&] { return in_analyzed_form(matrix) != nullptr; });
    }

    /// Analyzes first if there is no analysis. Error{usage} if the analysis is not valid for the matrix.
    void factorize(Matrix const& matrix, py::tuple const& listeners) {
        run(listeners, [&] {
            factorized_.reset();
            if (!analyzed_as_) analyze_now(matrix);
            Stored const stored = in_analyzed_form(matrix);
            if (!stored)
                throw Error(Status::usage, "the matrix to factorize has another pattern or symmetry than the one "
                                           "that was analyzed; call analyze again");
            pattern_ = stored; // The matrix before it is not needed any more.
            solver_->factorize(*stored);
            factorized_ = stored;
        });
    }

    /// Analyzes and factorizes the matrix, and writes the refined solution of A x = b to x, in one call.
    Verdict solve_once(Matrix const& matrix, std::span<T const> b, std::span<T> x) {
        py::tuple const listeners = py::make_tuple(py::none(), py::none());
        return run(listeners, [&]() -> Verdict {
            analyze_now(matrix);
            solver_->factorize(*matrix);
            factorized_ = matrix;
            std::ranges::copy(b, x.begin());
            solver_->solve_in_place(x, 1, MatrixOp::none);
            return refined("solve", b, x, 1, MatrixOp::none, false);
        });
    }

    /// x contains b on entry and the solution on return. `refine` also reads b. With `by_rows`, b and x are
    /// the rows of this process, and all processes call.
    std::optional<Verdict> solve(Block const& b, Block x, std::string const& operation, bool refine,
                                 bool by_rows, py::tuple const& listeners) {
        std::span<T> const solution = writable(x);
        std::span<T const> const right = readable(b);
        Index const columns = x.shape(1);
        MatrixOp const op = operation_named(operation);
        return run(listeners, [&]() -> std::optional<Verdict> {
            if (by_rows)
                std::ranges::copy(solver_->solve_rows(right, columns, op), solution.begin());
            else
                solver_->solve_in_place(solution, columns, op);
            if (!refine) return std::nullopt;
            return refined("solve", right, solution, columns, op, by_rows);
        });
    }

    Verdict refine(Block const& b, Block x, std::string const& operation, bool by_rows,
                   py::tuple const& listeners) {
        std::span<T> const solution = writable(x);
        std::span<T const> const right = readable(b);
        Index const columns = x.shape(1);
        MatrixOp const op = operation_named(operation);
        return run(listeners, [&] { return refined("refine", right, solution, columns, op, by_rows); });
    }

    py::array_t<T> solve_sparse(Matrix const& b, std::string const& operation, py::tuple const& listeners) {
        MatrixOp const op = operation_named(operation);
        return to_numpy(run(listeners, [&] { return solver_->solve(*b, op); }));
    }

    std::tuple<Index, Index, Index> inertia() {
        Inertia const found = run({}, [&] { return solver_->inertia(); });
        return {found.positive, found.negative, found.zero};
    }

    std::pair<T, double> determinant() {
        Determinant<T> const found = run({}, [&] { return solver_->determinant(); });
        return {found.phase, found.log_modulus};
    }

    double rcond(py::tuple const& listeners) {
        return run(listeners, [&] { return solver_->reciprocal_condition(factorized("rcond")); });
    }

    std::tuple<Index, py::array_t<T>, std::vector<double>> null_space(double tolerance,
                                                                      py::tuple const& listeners) {
        NullSpace<T> found =
            run(listeners, [&] { return solver_->null_space(factorized("null_space"), tolerance); });
        return {found.rank, to_numpy(std::move(found.basis)), std::move(found.singular_values)};
    }

    /// Column starts, rows and values of all entries, both triangles included.
    using Columns = std::tuple<py::array_t<Offset>, py::array_t<Index>, py::array_t<T>>;
    Columns selected_inverse(py::tuple const& listeners) {
        auto const found = run(listeners, [&] {
            return expand_symmetric(solver_->selected_inverse(factorized("selected_inverse")));
        });
        return columns_of(found);
    }

    /// The factorized matrix, or nothing.
    std::optional<Columns> matrix() {
        Stored const last = run({}, [&] { return factorized_; });
        if (!last) return std::nullopt;
        return columns_of(expand_symmetric(*last));
    }

    /// Returns whether the factors were changed in place.
    bool update(Matrix const& w, int sign, py::tuple const& listeners) {
        return run(listeners, [&] {
            auto next = std::make_shared<CscMatrix<T>>(factorized("update"));
            Offset const stored = next->stored();
            bool const is_in_place = solver_->update(*next, *w, sign);
            // The analysis is now that of another pattern than the pattern of the caller's matrices.
            if (!is_in_place && next->stored() != stored) analyzed_as_.reset();
            factorized_ = std::move(next);
            return is_in_place;
        });
    }

    /// L, D, U and the permutations of rows and columns.
    std::tuple<Columns, Columns, Columns, py::array_t<Index>, py::array_t<Index>> factors() {
        Factors<T> const found = run({}, [&] { return solver_->factors(); });
        return {columns_of(found.lower), columns_of(found.diagonal), columns_of(found.upper),
                copied(found.row_permutation), copied(found.column_permutation)};
    }

    /// (L D)^-1 b or, with `adjoint`, L^-H b (L^-T b for llt and ldlt).
    py::array_t<T> solve_lower(Block const& b, bool adjoint, py::tuple const& listeners) {
        DenseMatrix<T> out{b.shape(0), b.shape(1), {}};
        std::span<T const> const right = readable(b);
        run(listeners, [&] {
            out.values = adjoint ? solver_->solve_lower_adjoint(right, out.cols) : solver_->solve_lower(right, out.cols);
        });
        return to_numpy(std::move(out));
    }

    py::array_t<T> inverse_diagonal(py::tuple const& listeners) {
        auto const found = run(listeners, [&] { return solver_->inverse_diagonal(); });
        return copied(found);
    }

    py::array_t<T> schur_complement() {
        return to_numpy(run({}, [&] { return solver_->schur_complement(); }));
    }

    py::array_t<T> condense(Block const& b, std::string const& operation, py::tuple const& listeners) {
        MatrixOp const op = operation_named(operation);
        DenseMatrix<T> out{0, b.shape(1), {}};
        std::span<T const> const right = readable(b);
        run(listeners, [&] {
            out.values = solver_->condense(right, out.cols, op);
            out.rows = out.cols > 0 ? std::ssize(out.values) / out.cols : 0;
        });
        return to_numpy(std::move(out));
    }

    py::array_t<T> expand(Block const& b, Block const& x_schur, std::string const& operation,
                          py::tuple const& listeners) {
        MatrixOp const op = operation_named(operation);
        DenseMatrix<T> out{b.shape(0), b.shape(1), {}};
        std::span<T const> const right = readable(b), schur = readable(x_schur);
        run(listeners, [&] { out.values = solver_->expand(right, schur, out.cols, op); });
        return to_numpy(std::move(out));
    }

    /// Also writes the prediction to `path` as a trace, unless the path is empty.
    Prediction predict(int processes, int threads, std::string const& path, std::string const& matrix_name) {
        return run({}, [&] {
            return path.empty() ? solver_->predict(processes, threads)
                                : solver_->write_predicted_trace(path, processes, threads, matrix_name);
        });
    }

    void write_trace(std::string const& path, std::string const& matrix_name) {
        run({}, [&] { solver_->write_trace(path, matrix_name); });
    }

    Report report() {
        return run({}, [&] { return solver_->report(); });
    }

  private:
    template <class E> static py::array_t<E> copied(std::vector<E> const& values) {
        return py::array_t<E>(std::ssize(values), values.data());
    }
    static Columns columns_of(CscMatrix<T> const& matrix) {
        return {copied(matrix.col_ptr), copied(matrix.row_ind), copied(matrix.values)};
    }
    static MatrixOp operation_named(std::string const& name) {
        return static_cast<MatrixOp>(parse_choice("operation", name, spellings<MatrixOp>));
    }
    static std::span<T const> readable(Block const& block) {
        return {block.data(), static_cast<std::size_t>(block.size())};
    }
    static std::span<T> writable(Block& block) {
        return {block.mutable_data(), static_cast<std::size_t>(block.size())};
    }
    Verdict refined(char const* step, std::span<T const> b, std::span<T> x, Index columns, MatrixOp op,
                    bool by_rows) {
        CscMatrix<T> const& matrix = factorized(step);
        RefineReport const report = by_rows ? solver_->refine_rows(matrix, b, x, columns, op)
                                            : solver_->refine(matrix, b, x, columns, op);
        return {to_string(report.status), report.backward_error};
    }

    void analyze_now(Matrix const& matrix) {
        factorized_.reset();
        analyzed_as_.reset();
        solver_->analyze(*matrix);
        pattern_ = matrix;
        analyzed_as_ = matrix->symmetry;
    }

    /// The matrix in the storage form of the last analysis, or null if the analysis does not fit its pattern and
    /// values.
    Stored in_analyzed_form(Matrix const& matrix) const {
        if (!analyzed_as_) return nullptr;
        Stored stored = stored_as<T>(*analyzed_as_, matrix);
        bool const fits = stored && stored->rows == pattern_->rows && stored->cols == pattern_->cols &&
                          stored->col_ptr == pattern_->col_ptr && stored->row_ind == pattern_->row_ind;
        return fits ? stored : nullptr;
    }

    CscMatrix<T> const& factorized(char const* what) const {
        if (!factorized_) throw Error(Status::usage, std::string(what) + " was called before factorize");
        return *factorized_;
    }

    Options with_callbacks(Options options) {
        options.progress = &callbacks_;
        options.log = [this](std::string_view line) { callbacks_.log_line(line); };
        options.cancel = [this] { return callbacks_.must_cancel(); };
        return options;
    }

    /// Returns body(), which runs without the interpreter lock and after the calls of other threads. Rethrows
    /// its exception, or that of a Python function that it called.
    template <class Body> auto run(Listeners const& listeners, Body const& body) {
        if (getpid() != process_)
            throw Error(Status::usage,
                        "this solver was created before the process forked, and its threads do not "
                        "exist in the child; create a new solver there");
        bool const on_main_thread = is_main_thread();
        using Result = std::invoke_result_t<Body>;
        std::conditional_t<std::is_void_v<Result>, std::monostate, std::optional<Result>> result;
        std::exception_ptr failure;
        py::gil_scoped_release const no_python;
        auto const lock = lock_solver(on_main_thread);
        running_ = std::this_thread::get_id();
        callbacks_.begin_call(listeners.progress, listeners.log, on_main_thread);
        try {
            if constexpr (std::is_void_v<Result>)
                body();
            else
                result = body();
        } catch (...) {
            failure = std::current_exception();
        }
        py::gil_scoped_acquire const python;
        try {
            callbacks_.end_call();
        } catch (...) {
            failure = std::current_exception(); // It caused the Error{cancelled} of body().
        }
        running_ = std::thread::id();
        if (failure) std::rethrow_exception(failure);
        if constexpr (!std::is_void_v<Result>) return std::move(*result);
    }

    /// Locks the mutex. The caller does not hold the interpreter lock, which the owner of the mutex may need.
    std::unique_lock<std::timed_mutex> lock_solver(bool on_main_thread) {
        if (running_.load() == std::this_thread::get_id())
            throw Error(Status::usage, "a solver cannot be used from its own progress or log function");
        std::unique_lock lock(mutex_, std::defer_lock);
        while (!lock.try_lock_for(std::chrono::milliseconds(50))) {
            if (!on_main_thread) continue;
            py::gil_scoped_acquire const python;
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        }
        return lock;
    }

    pid_t const process_;
    std::timed_mutex mutex_; // Serializes the calls and protects the following members.
    std::atomic<std::thread::id> running_{};
    PythonCallbacks callbacks_;
    std::optional<Symmetry> analyzed_as_;
    Stored pattern_; // a matrix with the pattern of the analysis
    Stored factorized_;
    std::unique_ptr<Solver<T>> solver_; // Last, so that its threads end before the members that they use.
};

} // namespace espalier::python
