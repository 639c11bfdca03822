// espalier::Solver<T> for Python: every call runs without Python's lock, one at a time, and can be stopped by
// Ctrl-C; the matrix that was factorized is kept for the calls that want it.
#pragma once

#include <pybind11/numpy.h>

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
#include <utility>

#include <unistd.h>

#include "attendant.hpp"
#include "espalier/espalier.hpp"
#include "matrix.hpp"

namespace espalier::python {

/// The caller's progress and log functions, either of which may be None: a tuple of Python's, which sees
/// through it when it looks for garbage. Nothing of it is kept after a call.
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
    using Block = py::array_t<T, py::array::f_style>; // n x k, column-major; never converted
    /// Status and normwise backward error of a solution.
    using Verdict = std::tuple<std::string, double>;

    explicit BoundSolver(Options const& options) : BoundSolver(options, Communicator()) {}
    /// Leads the processes of `comm`, where the others follow.
    BoundSolver(Options const& options, Communicator comm)
        : process_(getpid()), solver_(std::make_unique<Solver<T>>(attended(options), std::move(comm))) {}
    // The library may have to wait for work that was cancelled. In a forked child its threads do not exist,
    // and waiting for them would never end.
    ~BoundSolver() {
        py::gil_scoped_release const no_python;
        if (getpid() != process_) (void)solver_.release();
        solver_.reset();
    }
    BoundSolver(BoundSolver const&) = delete;
    BoundSolver& operator=(BoundSolver const&) = delete;

    void set_options(Options const& options) {
        run({}, [&] { solver_->set_options(attended(options)); });
    }

    void analyze(Matrix const& matrix, py::tuple const& listeners) {
        run(listeners, [&] {
            factorized_.reset();
            analyzed_as_.reset();
            solver_->analyze(*matrix);
            analyzed_as_ = matrix->symmetry;
        });
    }

    void factorize(Matrix const& matrix, py::tuple const& listeners) {
        run(listeners, [&] {
            factorized_.reset();
            if (!analyzed_as_) {
                solver_->analyze(*matrix);
                analyzed_as_ = matrix->symmetry;
            }
            auto const stored = stored_as<T>(*analyzed_as_, matrix);
            solver_->factorize(*stored);
            factorized_ = stored;
        });
    }

    /// x holds b on entry, the solution on return. With `refine`, b is read too.
    std::optional<Verdict> solve(Block const& b, Block x, MatrixOp op, bool refine,
                                 py::tuple const& listeners) {
        std::optional<Verdict> out;
        std::span<T> const solution = writable(x);
        std::span<T const> const right = readable(b);
        Index const columns = x.shape(1);
        run(listeners, [&] {
            solver_->solve_in_place(solution, columns, op);
            if (refine) out = verdict(solver_->refine(factorized("solve"), right, solution, columns, op));
        });
        return out;
    }

    py::array_t<T> solve_sparse(Matrix const& b, MatrixOp op, py::tuple const& listeners) {
        DenseMatrix<T> out;
        run(listeners, [&] { out = solver_->solve(*b, op); });
        return to_numpy(std::move(out));
    }

    Verdict refine(Block const& b, Block x, MatrixOp op, py::tuple const& listeners) {
        Verdict out;
        std::span<T> const solution = writable(x);
        std::span<T const> const right = readable(b);
        Index const columns = x.shape(1);
        run(listeners,
            [&] { out = verdict(solver_->refine(factorized("refine"), right, solution, columns, op)); });
        return out;
    }

    Inertia inertia() {
        Inertia out;
        run({}, [&] { out = solver_->inertia(); });
        return out;
    }

    Determinant<T> determinant() {
        Determinant<T> out;
        run({}, [&] { out = solver_->determinant(); });
        return out;
    }

    double rcond(py::tuple const& listeners) {
        double out = 0;
        run(listeners, [&] { out = solver_->reciprocal_condition(factorized("rcond")); });
        return out;
    }

    NullSpace<T> null_space(double tolerance, py::tuple const& listeners) {
        NullSpace<T> out;
        run(listeners, [&] { out = solver_->null_space(factorized("null_space"), tolerance); });
        return out;
    }

    py::array_t<T> schur_complement() {
        DenseMatrix<T> out;
        run({}, [&] { out = solver_->schur_complement(); });
        return to_numpy(std::move(out));
    }

    py::array_t<T> condense(Block const& b, py::tuple const& listeners) {
        DenseMatrix<T> out{0, b.shape(1), {}};
        std::span<T const> const right = readable(b);
        run(listeners, [&] {
            out.values = solver_->condense(right, out.cols);
            out.rows = static_cast<Index>(solver_->options().schur.size());
        });
        return to_numpy(std::move(out));
    }

    py::array_t<T> expand(Block const& b, Block const& x_schur, py::tuple const& listeners) {
        DenseMatrix<T> out{b.shape(0), b.shape(1), {}};
        std::span<T const> const right = readable(b), schur = readable(x_schur);
        run(listeners, [&] { out.values = solver_->expand(right, schur, out.cols); });
        return to_numpy(std::move(out));
    }

    /// Also written to `path` as a trace, when that is not empty.
    Prediction predict(int processes, int threads, std::string const& path, std::string const& matrix_name) {
        Prediction out;
        run({}, [&] {
            out = path.empty() ? solver_->predict(processes, threads)
                               : solver_->write_predicted_trace(path, processes, threads, matrix_name);
        });
        return out;
    }

    void write_trace(std::string const& path, std::string const& matrix_name) {
        run({}, [&] { solver_->write_trace(path, matrix_name); });
    }

    Report report() {
        Report out;
        run({}, [&] { out = solver_->report(); });
        return out;
    }

    /// None before factorize, or after one that failed.
    Matrix factorized_matrix() {
        Matrix out;
        run({}, [&] { out = std::const_pointer_cast<CscMatrix<T>>(factorized_); });
        return out;
    }

  private:
    static std::span<T const> readable(Block const& block) {
        return {block.data(), static_cast<std::size_t>(block.size())};
    }
    static std::span<T> writable(Block& block) {
        return {block.mutable_data(), static_cast<std::size_t>(block.size())};
    }
    static Verdict verdict(RefineReport const& report) {
        return {to_string(report.status), report.backward_error};
    }

    CscMatrix<T> const& factorized(char const* what) const {
        if (!factorized_) throw Error(Status::usage, std::string(what) + " was called before factorize");
        return *factorized_;
    }

    Options attended(Options options) {
        options.progress = &attendant_;
        options.log = [this](std::string_view line) { attendant_.say(line); };
        options.cancel = [this] { return attendant_.asked(); };
        return options;
    }

    /// body() without Python's lock, after the calls of other threads. What it throws, or what a Python
    /// function that it called raised, comes out here.
    template <class Body> void run(Listeners const& listeners, Body const& body) {
        if (getpid() != process_)
            throw Error(Status::usage,
                        "this solver was made before the process forked: its threads are not in "
                        "the child; make a new one there");
        bool const on_main_thread = is_main_thread();
        std::exception_ptr failure;
        py::gil_scoped_release const no_python;
        auto const turn = wait_for_turn(on_main_thread);
        running_ = std::this_thread::get_id();
        attendant_.attend(listeners.progress, listeners.log, on_main_thread);
        try {
            body();
        } catch (...) {
            failure = std::current_exception();
        }
        py::gil_scoped_acquire const python;
        try {
            attendant_.leave();
        } catch (...) {
            failure = std::current_exception(); // rather than the Error{cancelled} that it made
        }
        running_ = std::thread::id();
        if (failure) std::rethrow_exception(failure);
    }

    /// The mutex, taken. Python's lock is not held meanwhile, so that whoever has the mutex can get it.
    std::unique_lock<std::timed_mutex> wait_for_turn(bool on_main_thread) {
        if (running_.load() == std::this_thread::get_id())
            throw Error(Status::usage, "a solver cannot be used from its own progress or log function");
        std::unique_lock turn(mutex_, std::defer_lock);
        while (!turn.try_lock_for(std::chrono::milliseconds(50))) {
            if (!on_main_thread) continue;
            py::gil_scoped_acquire const python;
            if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        }
        return turn;
    }

    pid_t const process_;
    std::timed_mutex mutex_; // of what follows; no more than one call at a time
    std::atomic<std::thread::id> running_{};
    Attendant attendant_;
    std::optional<Symmetry> analyzed_as_;
    std::shared_ptr<CscMatrix<T> const> factorized_;
    std::unique_ptr<Solver<T>> solver_; // last: its threads end before what they use
};

} // namespace espalier::python
