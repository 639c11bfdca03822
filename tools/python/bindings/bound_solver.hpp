// espalier::Solver<T> for Python. The module binds the interface AnySolver once for all scalar types, because
// binding it for each would take three times as long to compile. The factorized matrix is kept for the calls
// that need it.
#pragma once

#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/names.hpp"
#include "espalier/espalier.hpp"
#include "interpreter_lock.hpp"
#include "matrix.hpp"
#include "refine/refine.hpp"
#include "serial_calls.hpp"

namespace espalier::python {

/// A solver of any scalar type. Matrices are objects of the module's class for this type. Blocks of columns
/// are column-major arrays of this type, without conversion.
class AnySolver {
  public:
    /// Status of a solution, its normwise backward error or that of the scaled system, and whether it is the
    /// latter, because only this one is above the tolerance.
    using Verdict = std::tuple<std::string, double, bool>;
    /// Column starts, rows and values of all entries, both triangles included.
    using Columns = std::tuple<py::array, py::array, py::array>;

    AnySolver() = default;
    virtual ~AnySolver() = default;
    AnySolver(AnySolver const&) = delete;
    AnySolver& operator=(AnySolver const&) = delete;

    virtual void set_options(Options const& options) = 0;
    virtual void analyze(py::object const& matrix, py::tuple const& listeners) = 0;
    /// Whether the last analysis holds for the matrix: its pattern is the same, and its values have the
    /// symmetry.
    virtual bool is_analyzed(py::object const& matrix) = 0;
    /// Analyzes first if there is no analysis. Error{usage} if the analysis is not valid for the matrix.
    virtual void factorize(py::object const& matrix, py::tuple const& listeners) = 0;
    /// x contains b on entry and the solution on return. `refine` also reads b. With `by_rows`, b and x are
    /// the rows of this process, and all processes call.
    virtual std::optional<Verdict> solve(py::array const& b, py::array const& x, std::string const& operation,
                                         bool refine, bool by_rows, py::tuple const& listeners) = 0;
    virtual Verdict refine(py::array const& b, py::array const& x, std::string const& operation, bool by_rows,
                           py::tuple const& listeners) = 0;
    virtual py::array solve_sparse(py::object const& b, std::string const& operation,
                                   py::tuple const& listeners) = 0;
    virtual std::tuple<Index, Index, Index> inertia() = 0;
    /// The phase and the logarithm of the modulus.
    virtual std::tuple<py::object, double> determinant() = 0;
    virtual double rcond(py::tuple const& listeners) = 0;
    virtual std::tuple<Index, py::array, std::vector<double>> null_space(double tolerance,
                                                                         py::tuple const& listeners) = 0;
    /// The entries and the notes that call them inaccurate.
    virtual std::tuple<Columns, std::vector<std::string>> selected_inverse(py::tuple const& listeners) = 0;
    virtual std::tuple<py::array, std::vector<std::string>> inverse_diagonal(py::tuple const& listeners) = 0;
    /// The factorized matrix and true, or without factors the analyzed matrix and false, or nothing.
    virtual std::optional<std::tuple<Columns, bool>> matrix() = 0;
    /// Returns whether the factors were changed in place.
    virtual bool update(py::object const& w, int sign, py::tuple const& listeners) = 0;
    /// The factorization, its L, D and U, and the permutations of rows and columns.
    virtual std::tuple<std::string, Columns, Columns, Columns, py::array, py::array> factors() = 0;
    /// (L D)^-1 b or, with `adjoint`, L^-H b (L^-T b for llt and ldlt).
    virtual py::array solve_lower(py::array const& b, bool adjoint, py::tuple const& listeners) = 0;
    virtual py::array schur_complement() = 0;
    virtual py::array condense(py::array const& b, std::string const& operation,
                               py::tuple const& listeners) = 0;
    virtual py::array expand(py::array const& b, py::array const& x_schur, std::string const& operation,
                             py::tuple const& listeners) = 0;
    /// Also writes the prediction to `path` as a trace, unless the path is empty.
    virtual Prediction predict(int processes, int threads, std::string const& path,
                               std::string const& matrix_name) = 0;
    virtual void write_trace(std::string const& path, std::string const& matrix_name) = 0;
    virtual Report report() = 0;
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

template <class T> class BoundSolver final : public AnySolver {
  public:
    using Matrix = std::shared_ptr<CscMatrix<T>>;
    using Stored = std::shared_ptr<CscMatrix<T> const>;

    explicit BoundSolver(Options const& options) : BoundSolver(options, Communicator()) {}
    /// Creates the solver on process 0 of `comm`; the other processes follow.
    BoundSolver(Options const& options, Communicator comm)
        : solver_(std::make_unique<Solver<T>>(calls_.with_callbacks(options), std::move(comm))) {}
    // The library may wait for cancelled work. A forked child must not wait, because the threads do not exist
    // there.
    ~BoundSolver() override {
        ReleasedLock const no_python;
        if (!calls_.is_own_process()) (void)solver_.release();
        solver_.reset();
    }

    void set_options(Options const& options) override {
        run({}, [&] { solver_->set_options(calls_.with_callbacks(options)); });
    }

    void analyze(py::object const& object, py::tuple const& listeners) override {
        Matrix const matrix = matrix_of(object);
        run(listeners, [&] { analyze_now(matrix); });
    }

    bool is_analyzed(py::object const& object) override {
        Matrix const matrix = matrix_of(object);
        return run({}, [&] { return in_analyzed_form(matrix) != nullptr; });
    }

    void factorize(py::object const& object, py::tuple const& listeners) override {
        Matrix const matrix = matrix_of(object);
        run(listeners, [&] {
            factorized_.reset();
            if (!analyzed_as_) analyze_now(matrix);
            Stored const stored = in_analyzed_form(matrix);
            if (!stored)
                throw Error(Status::usage, "the pattern or the symmetry of the matrix differs from the one "
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

    std::optional<Verdict> solve(py::array const& b, py::array const& x, std::string const& operation,
                                 bool refine, bool by_rows, py::tuple const& listeners) override {
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

    Verdict refine(py::array const& b, py::array const& x, std::string const& operation, bool by_rows,
                   py::tuple const& listeners) override {
        std::span<T> const solution = writable(x);
        std::span<T const> const right = readable(b);
        Index const columns = x.shape(1);
        MatrixOp const op = operation_named(operation);
        return run(listeners, [&] { return refined("refine", right, solution, columns, op, by_rows); });
    }

    py::array solve_sparse(py::object const& object, std::string const& operation,
                           py::tuple const& listeners) override {
        Matrix const b = matrix_of(object);
        MatrixOp const op = operation_named(operation);
        return to_numpy(run(listeners, [&] { return solver_->solve(*b, op); }));
    }

    std::tuple<Index, Index, Index> inertia() override {
        Inertia const found = run({}, [&] { return solver_->inertia(); });
        return {found.positive, found.negative, found.zero};
    }

    std::tuple<py::object, double> determinant() override {
        Determinant<T> const found = run({}, [&] { return solver_->determinant(); });
        return {py::cast(found.phase), found.log_modulus};
    }

    double rcond(py::tuple const& listeners) override {
        return run(listeners, [&] { return solver_->reciprocal_condition(factorized("rcond")); });
    }

    std::tuple<Index, py::array, std::vector<double>> null_space(double tolerance,
                                                                 py::tuple const& listeners) override {
        NullSpace<T> found =
            run(listeners, [&] { return solver_->null_space(factorized("null_space"), tolerance); });
        return {found.rank, to_numpy(std::move(found.basis)), std::move(found.singular_values)};
    }

    std::tuple<Columns, std::vector<std::string>> selected_inverse(py::tuple const& listeners) override {
        auto const [found, doubts] = run_checked(listeners, [&] {
            return expand_symmetric(solver_->selected_inverse(factorized("selected_inverse")));
        });
        return {columns_of(found), doubts};
    }

    std::optional<std::tuple<Columns, bool>> matrix() override {
        auto const [last, is_factorized] = run({}, [&] {
            return factorized_ ? std::pair(factorized_, true)
                               : std::pair(analyzed_as_ ? pattern_ : nullptr, false);
        });
        if (!last) return std::nullopt;
        return std::tuple(columns_of(expand_symmetric(*last)), is_factorized);
    }

    bool update(py::object const& object, int sign, py::tuple const& listeners) override {
        Matrix const w = matrix_of(object);
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

    std::tuple<std::string, Columns, Columns, Columns, py::array, py::array> factors() override {
        auto const [kind, found] =
            run({}, [&] { return std::pair(solver_->report().factorization, solver_->factors()); });
        return {to_string(kind),         columns_of(found.lower),       columns_of(found.diagonal),
                columns_of(found.upper), copied(found.row_permutation), copied(found.column_permutation)};
    }

    py::array solve_lower(py::array const& b, bool adjoint, py::tuple const& listeners) override {
        DenseMatrix<T> out{b.shape(0), b.shape(1), {}};
        std::span<T const> const right = readable(b);
        run(listeners, [&] {
            out.values = adjoint ? solver_->solve_lower_adjoint(right, out.cols)
                                 : solver_->solve_lower(right, out.cols);
        });
        return to_numpy(std::move(out));
    }

    std::tuple<py::array, std::vector<std::string>> inverse_diagonal(py::tuple const& listeners) override {
        auto const [found, doubts] = run_checked(listeners, [&] { return solver_->inverse_diagonal(); });
        return {copied(found), doubts};
    }

    py::array schur_complement() override {
        return to_numpy(run({}, [&] { return solver_->schur_complement(); }));
    }

    py::array condense(py::array const& b, std::string const& operation,
                       py::tuple const& listeners) override {
        MatrixOp const op = operation_named(operation);
        DenseMatrix<T> out{0, b.shape(1), {}};
        std::span<T const> const right = readable(b);
        run(listeners, [&] {
            out.values = solver_->condense(right, out.cols, op);
            out.rows = kept_;
        });
        return to_numpy(std::move(out));
    }

    py::array expand(py::array const& b, py::array const& x_schur, std::string const& operation,
                     py::tuple const& listeners) override {
        MatrixOp const op = operation_named(operation);
        DenseMatrix<T> out{b.shape(0), b.shape(1), {}};
        std::span<T const> const right = readable(b), schur = readable(x_schur);
        run(listeners, [&] { out.values = solver_->expand(right, schur, out.cols, op); });
        return to_numpy(std::move(out));
    }

    Prediction predict(int processes, int threads, std::string const& path,
                       std::string const& matrix_name) override {
        return run({}, [&] {
            return path.empty() ? solver_->predict(processes, threads)
                                : solver_->write_predicted_trace(path, processes, threads, matrix_name);
        });
    }

    void write_trace(std::string const& path, std::string const& matrix_name) override {
        run({}, [&] { solver_->write_trace(path, matrix_name); });
    }

    Report report() override {
        return run({}, [&] { return solver_->report(); });
    }

  private:
    using Block = py::array_t<T, py::array::f_style>; // n x k

    template <class Body> auto run(Listeners const& listeners, Body const& body) {
        return calls_.run(listeners, body);
    }
    /// Also returns the notes of the call that its result is inaccurate.
    template <class Body> auto run_checked(Listeners const& listeners, Body const& body) {
        return run(listeners, [&] {
            std::size_t const before = solver_->report().notes.size();
            auto result = body();
            std::vector<std::string> doubts;
            auto const& notes = solver_->report().notes;
            for (std::size_t k = before; k < notes.size(); ++k)
                if (notes[k].find(" is inaccurate: ") != std::string::npos) doubts.push_back(notes[k]);
            return std::pair(std::move(result), std::move(doubts));
        });
    }

    template <class E> static py::array_t<E> copied(std::vector<E> const& values) {
        return py::array_t<E>(std::ssize(values), values.data());
    }
    static Columns columns_of(CscMatrix<T> const& matrix) {
        return {copied(matrix.col_ptr), copied(matrix.row_ind), copied(matrix.values)};
    }
    static MatrixOp operation_named(std::string const& name) {
        return static_cast<MatrixOp>(parse_choice("operation", name, spellings<MatrixOp>));
    }
    static Matrix matrix_of(py::object const& object) { return object.cast<Matrix>(); }
    static std::span<T const> readable(py::array const& block) {
        if (!py::isinstance<Block>(block))
            throw py::type_error("an array is not column-major or has another type than the solver");
        return {static_cast<T const*>(block.data()), static_cast<std::size_t>(block.size())};
    }
    static std::span<T> writable(py::array block) {
        return {static_cast<T*>(block.mutable_data()), readable(block).size()};
    }
    Verdict refined(char const* step, std::span<T const> b, std::span<T> x, Index columns, MatrixOp op,
                    bool by_rows) {
        CscMatrix<T> const& matrix = factorized(step);
        RefineReport const report = by_rows ? solver_->refine_rows(matrix, b, x, columns, op)
                                            : solver_->refine(matrix, b, x, columns, op);
        DecisiveError const error =
            report.status == Status::inaccurate
                ? decisive_error(report, effective_tolerance<T>(solver_->options().tolerance))
                : DecisiveError{report.backward_error, false};
        return {to_string(report.status), error.value, error.is_scaled};
    }

    void analyze_now(Matrix const& matrix) {
        factorized_.reset();
        analyzed_as_.reset();
        kept_ = std::ssize(solver_->options().schur);
        solver_->analyze(*matrix);
        pattern_ = matrix;
        analyzed_as_ = matrix->symmetry;
    }

    /// The matrix in the storage form of the last analysis, or null if the analysis does not fit its pattern
    /// and values.
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

    SerialCalls calls_; // They protect the following members.
    std::optional<Symmetry> analyzed_as_;
    Stored pattern_; // a matrix with the pattern of the analysis
    Index kept_ = 0; // number of unknowns of the Schur complement of the analysis
    Stored factorized_;
    std::unique_ptr<Solver<T>> solver_; // Last, so that its threads end before the members that they use.
};

} // namespace espalier::python
