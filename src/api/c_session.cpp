// The typed half of the C interface: blocks in and out, and which of analysis and factors belong to the
// matrix that was set last.
#include "api/c_session.hpp"

#include <complex>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/c_arrays.hpp"
#include "api/c_group.hpp"
#include "core/scalar.hpp"
#include "espalier/import.hpp"
#include "refine/refine.hpp"

namespace espalier {

namespace {

template <class T> class TypedSession : public Session {
  public:
    TypedSession() = default;
    explicit TypedSession(SessionGroup group) : group_(std::move(group)), solver_({}, group_.comm()) {}

    Scalar scalar() const override { return scalar_of<T>; }
    Options const& options() const override { return solver_.options(); }
    Report const& report() const override { return solver_.report(); }
    Communicator const& comm() const override { return group_.comm(); }

    void set_options(Options options) override {
        Options const& old = solver_.options();
        bool const plans_change = options.threads != old.threads || options.topology != old.topology;
        solver_.set_options(std::move(options));
        if (plans_change) now_.analyzed = now_.factorized = false;
    }

    void set_matrix(espalier_matrix const* matrix) override {
        group_.begin("espalier_set_matrix", now_, [&] {
            require_pointer(matrix, "matrix");
            auto next = imported<T>(*matrix);
            if (next.matrix().rows != next.matrix().cols)
                throw Error(
                    Status::bad_input,
                    fmt::format("the matrix has {} rows and {} columns; only square systems can be solved",
                                next.matrix().rows, next.matrix().cols));
            matrix_ = std::move(next);
        });
        now_ = {};
        now_.has_matrix = true;
        now_.order = matrix_.matrix().cols;
        now_.stored = matrix_.matrix().stored();
        group_.tell(now_);
        null_space_.reset();
    }

    void set_values(Offset entries, void const* values) override {
        take_values("espalier_set_values", entries, values);
    }

    void refactorize(Offset entries, void const* values) override {
        take_values("espalier_refactorize", entries, values);
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

    void solve(espalier_op op, InputBlock b, OutputBlock x) override {
        std::vector<T> values;
        MatrixOp how = MatrixOp::none;
        begin("espalier_solve", [&] {
            how = known(op, MatrixOp::adjoint, "op");
            require_factors("espalier_solve");
            values = gathered<T>(b, order(), "b");
            check_block(x.data, order(), x.columns, x.leading, "x");
        });
        solver_.solve_in_place(values, b.columns, how);
        give(values, order(), x);
    }

    void solve_sparse(espalier_op op, espalier_matrix const* b, void* x, Index leading) override {
        CscMatrix<T> right;
        MatrixOp how = MatrixOp::none;
        begin("espalier_solve_sparse", [&] {
            require_pointer(b, "b");
            how = known(op, MatrixOp::adjoint, "op");
            require_factors("espalier_solve_sparse");
            if (b->rows != order())
                throw Error(Status::usage,
                            fmt::format("the right-hand sides have {} rows, and the matrix is of order {}",
                                        b->rows, order()));
            known(b->symmetry, Symmetry::hermitian, "symmetry");
            if (b->symmetry != ESPALIER_GENERAL)
                throw Error(Status::usage, "right-hand sides are given as a general matrix");
            check_block(x, order(), b->cols, leading, "x");
            right = imported<T>(*b).matrix();
        });
        auto const result = solver_.solve(right, how);
        give(result.values, order(), {x, result.cols, leading});
    }

    RefineReport refine(espalier_op op, InputBlock b, OutputBlock x) override {
        std::vector<T> right, values;
        MatrixOp how = MatrixOp::none;
        begin("espalier_refine", [&] {
            how = known(op, MatrixOp::adjoint, "op");
            require_factors("espalier_refine");
            right = gathered<T>(b, order(), "b");
            values = gathered<T>({x.data, x.columns, x.leading}, order(), "x");
        });
        return refined(how, right, values, x);
    }

    RefineReport drive(espalier_op op, InputBlock b, OutputBlock x) override {
        std::vector<T> right;
        MatrixOp how = MatrixOp::none;
        begin("espalier_drive", [&] {
            how = known(op, MatrixOp::adjoint, "op");
            require_matrix("espalier_drive");
            right = gathered<T>(b, order(), "b");
            check_block(x.data, order(), x.columns, x.leading, "x");
        });
        if (!now_.factorized || now_.doubtful) bring_factors();
        auto values = solver_.solve(right, b.columns, how);
        return refined(how, right, values, x);
    }

    double tolerance() const override { return group_.leads() ? tolerance_here() : now_.tolerance; }

    Inertia inertia() override {
        begin("espalier_inertia", [&] { require_factors("espalier_inertia"); });
        return solver_.inertia();
    }

    Determinant<std::complex<double>> determinant() override {
        begin("espalier_determinant", [&] { require_factors("espalier_determinant"); });
        auto const found = solver_.determinant();
        return {{static_cast<double>(real_part(found.phase)), static_cast<double>(imag_part(found.phase))},
                found.log_modulus};
    }

    void reciprocal_condition(double* rcond) override {
        begin("espalier_rcond", [&] {
            require_pointer(rcond, "rcond");
            require_factors("espalier_rcond");
        });
        double const found = solver_.reciprocal_condition(matrix_.matrix());
        if (rcond) *rcond = found;
    }

    void null_space(double tolerance, std::int64_t* rank) override {
        begin("espalier_null_space", [&] {
            require_pointer(rank, "rank");
            require_factors("espalier_null_space");
        });
        null_space_.reset();
        null_space_ = solver_.null_space(matrix_.matrix(), tolerance);
        group_.tell(null_space_->rank);
        if (rank) *rank = null_space_->rank;
    }

    void null_vectors(void* basis, Index leading) override {
        begin("espalier_null_vectors", [&] {
            require_factors("espalier_null_vectors");
            if (!null_space_)
                throw Error(Status::usage, "espalier_null_vectors was called before espalier_null_space");
            check_block(basis, order(), null_space_->basis.cols, leading, "basis");
        });
        if (group_.leads())
            write_back(null_space_->basis.values, order(), {basis, null_space_->basis.cols, leading});
    }

    void schur_complement(void* schur, Index leading) override {
        begin("espalier_schur_complement", [&] { require_factors("espalier_schur_complement"); });
        auto const found = solver_.schur_complement();
        group_.check([&] { check_block(schur, found.rows, found.cols, leading, "schur"); });
        give(found.values, found.rows, {schur, found.cols, leading});
    }

    void condense(InputBlock b, OutputBlock reduced) override {
        std::vector<T> right;
        begin("espalier_condense", [&] {
            require_factors("espalier_condense");
            right = gathered<T>(b, order(), "b");
        });
        auto const condensed = solver_.condense(right, b.columns);
        Index const kept = b.columns > 0 ? std::ssize(condensed) / b.columns : 0;
        group_.check([&] { check_block(reduced.data, kept, reduced.columns, reduced.leading, "r"); });
        give(condensed, kept, reduced);
    }

    void expand(InputBlock b, InputBlock x_schur, OutputBlock x) override {
        std::vector<T> right, kept;
        begin("espalier_expand", [&] {
            require_factors("espalier_expand");
            right = gathered<T>(b, order(), "b");
            kept = gathered<T>(x_schur, std::ssize(options().schur), "x_schur");
            check_block(x.data, order(), x.columns, x.leading, "x");
        });
        give(solver_.expand(right, kept, b.columns), order(), x);
    }

    void refuse(char const* call, std::string const& message) override {
        begin(call, [&] { throw Error(Status::usage, message); });
    }

    Prediction predict(int processes, int threads) const override {
        require_leader("espalier_predict");
        require_analysis("espalier_predict");
        return solver_.predict(processes, threads);
    }

    void write_predicted_trace(std::string const& path, int processes, int threads,
                               std::string const& matrix_name) const override {
        require_leader("espalier_write_predicted_trace");
        require_analysis("espalier_write_predicted_trace");
        solver_.write_predicted_trace(path, processes, threads, matrix_name);
    }

    void write_trace(char const* path, std::string const& matrix_name) override {
        begin("espalier_write_trace", [&] { (void)path_of(path); });
        solver_.write_trace(group_.leads() ? path_of(path) : std::string(), matrix_name);
    }

  private:
    void begin(char const* call, std::function<void()> const& check) {
        now_.tolerance = tolerance_here();
        group_.begin(call, now_, check);
    }

    void take_values(char const* call, Offset entries, void const* values) {
        begin(call, [&] {
            require_matrix(call);
            if (entries != matrix_.entries())
                throw Error(Status::usage,
                            fmt::format("there are {} values, and the matrix was set with {} entries",
                                        entries, matrix_.entries()));
            if (entries > 0) require_pointer(values, "values");
            matrix_.set_values({static_cast<T const*>(values), static_cast<std::size_t>(entries)});
        });
        now_.factorized = false;
        null_space_.reset();
    }

    double tolerance_here() const {
        return options().tolerance > 0 ? options().tolerance : default_tolerance<T>();
    }

    void bring_analysis() {
        now_.analyzed = now_.factorized = false;
        solver_.analyze(matrix_.matrix());
        now_.analyzed = true;
    }

    void bring_factors() {
        if (!now_.analyzed) bring_analysis();
        now_.factorized = false;
        solver_.factorize(matrix_.matrix());
        now_.factorized = true;
        now_.doubtful = false;
    }

    RefineReport refined(MatrixOp op, std::vector<T> const& b, std::vector<T>& values, OutputBlock x) {
        now_.doubtful = true; // in mixed precision refinement may begin another factorization
        RefineReport const report = solver_.refine(matrix_.matrix(), b, values, x.columns, op);
        now_.doubtful = false;
        give(values, now_.order, x);
        return report;
    }

    // Process 0 has results.
    void give(std::vector<T> const& values, Index rows, OutputBlock block) {
        if (group_.leads()) write_back(values, rows, block);
    }

    void require_leader(char const* what) const {
        if (!group_.leads()) throw Error(Status::usage, fmt::format("{} is for process 0 alone", what));
    }

    void require_matrix(char const* what) const {
        if (!now_.has_matrix)
            throw Error(Status::usage, fmt::format("{} was called before espalier_set_matrix", what));
    }

    void require_analysis(char const* what) const {
        require_matrix(what);
        if (!now_.analyzed)
            throw Error(Status::usage,
                        fmt::format("{} was called before espalier_analyze of this matrix", what));
    }

    void require_factors(char const* what) const {
        require_matrix(what);
        if (!now_.factorized)
            throw Error(Status::usage,
                        fmt::format("{} was called before espalier_factorize of this matrix", what));
    }

    SessionGroup group_;
    Solver<T> solver_;
    MatrixImport<T> matrix_; // process 0
    Standing now_;
    std::optional<NullSpace<T>> null_space_; // of these values
};

} // namespace

std::string path_of(char const* path) {
    require_pointer(path, "path");
    if (*path == '\0') throw Error(Status::usage, "the path of the trace is empty");
    return path;
}

// maker(T()) for the scalar type T that `scalar` names.
template <class Maker> static auto for_scalar(Scalar scalar, Maker const& maker) {
    switch (scalar) {
    case Scalar::s:
        return maker(float());
    case Scalar::d:
        return maker(double());
    case Scalar::c:
        return maker(std::complex<float>());
    case Scalar::z:
        return maker(std::complex<double>());
    }
    throw Error(Status::usage, fmt::format("{} is not a scalar type; there are 's', 'd', 'c' and 'z'",
                                           static_cast<int>(scalar)));
}

std::unique_ptr<Session> make_session(Scalar scalar) {
    return for_scalar(
        scalar, []<class T>(T) -> std::unique_ptr<Session> { return std::make_unique<TypedSession<T>>(); });
}

std::unique_ptr<Session> make_session(Scalar scalar, Communicator processes) {
    SessionGroup group(std::move(processes), static_cast<int>(scalar), false);
    return for_scalar(scalar, [&]<class T>(T) -> std::unique_ptr<Session> {
        return std::make_unique<TypedSession<T>>(std::move(group));
    });
}

void follow_session(Scalar scalar, Communicator processes) {
    SessionGroup const group(std::move(processes), static_cast<int>(scalar), true);
    for_scalar(scalar, [&]<class T>(T) { Solver<T>::follow({}, group.comm()); });
}

} // namespace espalier
