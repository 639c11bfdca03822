// The typed half of the C interface: blocks in and out, and which of analysis and factors belong to the
// matrix that was set last.
#include "api/c_session.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "core/scalar.hpp"
#include "espalier/import.hpp"
#include "refine/refine.hpp"

namespace espalier {

namespace {

constexpr Index largest_count = std::numeric_limits<Index>::max() / 64; // so that bytes of it do not overflow

void check_block(void const* data, Index rows, Index columns, Index leading, char const* what) {
    if (columns < 0) throw Error(Status::usage, fmt::format("{} has {} columns", what, columns));
    if (leading < std::max<Index>(1, rows))
        throw Error(Status::usage,
                    fmt::format("the leading dimension of {} is {}, and its columns have {} entries", what,
                                leading, rows));
    if (columns > 0 && leading > largest_count / columns)
        throw Error(Status::usage, fmt::format("{} of {} columns of {} entries is larger than memory", what,
                                               columns, leading));
    if (rows > 0 && columns > 0) require_pointer(data, what);
}

// The columns of a caller's block behind each other; they must be finite.
template <class T> std::vector<T> gathered(InputBlock block, Index rows, char const* what) {
    check_block(block.data, rows, block.columns, block.leading, what);
    auto const* const data = static_cast<T const*>(block.data);
    std::vector<T> values;
    values.reserve(static_cast<std::size_t>(rows * block.columns));
    for (Index j = 0; j < block.columns && rows > 0; ++j)
        values.insert(values.end(), data + j * block.leading, data + j * block.leading + rows);
    for (std::size_t k = 0; k < values.size(); ++k)
        if (!is_finite(values[k]))
            throw Error(Status::bad_input,
                        fmt::format("{} has a NaN or infinity at row {}, column {} (counted from 0)", what,
                                    static_cast<Index>(k) % rows, static_cast<Index>(k) / rows));
    return values;
}

template <class T> void scatter(std::vector<T> const& values, Index rows, OutputBlock block) {
    for (Index j = 0; j < block.columns && rows > 0; ++j)
        std::copy_n(values.data() + j * rows, rows, static_cast<T*>(block.data) + j * block.leading);
}

// Spans over the arrays of a matrix; MatrixImport checks what is in them, and sizes that are no sizes.
template <class T, class I> MatrixArrays<T, I> view_of(espalier_matrix const& given) {
    auto const length = [](Index count) -> std::size_t {
        return count < 0 || count > largest_count ? 0 : count;
    };
    MatrixArrays<T, I> view;
    view.layout = known(given.layout, Layout::coo, "layout");
    view.symmetry = known(given.symmetry, Symmetry::hermitian, "symmetry");
    view.triangle = known(given.triangle, Triangle::upper, "triangle");
    view.base = given.base;
    view.rows = given.rows;
    view.cols = given.cols;
    if (given.entries < 0 || given.entries > largest_count)
        throw Error(Status::bad_input, fmt::format("the matrix has {} entries", given.entries));
    std::size_t starts = length(given.entries);
    if (view.layout != Layout::coo) starts = length(view.layout == Layout::csc ? given.cols : given.rows) + 1;
    if (starts > 0) require_pointer(given.pointers, "pointers");
    if (given.entries > 0) {
        require_pointer(given.indices, "indices");
        require_pointer(given.values, "values");
    }
    view.pointers = {static_cast<I const*>(given.pointers), starts};
    view.indices = {static_cast<I const*>(given.indices), length(given.entries)};
    view.values = {static_cast<T const*>(given.values), length(given.entries)};
    return view;
}

template <class T> MatrixImport<T> imported(espalier_matrix const& given) {
    enum class Width { int32, int64 };
    return known(given.index_type, Width::int64, "index_type") == Width::int32
               ? MatrixImport<T>(view_of<T, std::int32_t>(given))
               : MatrixImport<T>(view_of<T, std::int64_t>(given));
}

template <class T> class TypedSession : public Session {
  public:
    Scalar scalar() const override { return scalar_of<T>; }
    Options const& options() const override { return solver_.options(); }
    Report const& report() const override { return solver_.report(); }

    void set_options(Options options) override {
        Options const& old = solver_.options();
        bool const plans_change = options.threads != old.threads || options.topology != old.topology;
        solver_.set_options(std::move(options));
        if (plans_change) analyzed_ = factorized_ = false;
    }

    void set_matrix(espalier_matrix const& matrix) override {
        auto next = imported<T>(matrix);
        if (next.matrix().rows != next.matrix().cols)
            throw Error(
                Status::bad_input,
                fmt::format("the matrix has {} rows and {} columns; only square systems can be solved",
                            next.matrix().rows, next.matrix().cols));
        matrix_ = std::move(next);
        has_matrix_ = true;
        analyzed_ = factorized_ = false;
        null_space_.reset();
    }

    void set_values(Offset entries, void const* values) override {
        require_matrix("espalier_set_values");
        if (entries != matrix_.entries())
            throw Error(Status::usage,
                        fmt::format("there are {} values, and the matrix was set with {} entries", entries,
                                    matrix_.entries()));
        if (entries > 0) require_pointer(values, "values");
        matrix_.set_values({static_cast<T const*>(values), static_cast<std::size_t>(entries)});
        factorized_ = false;
        null_space_.reset();
    }

    Index order() const override {
        require_matrix("espalier_get_size");
        return matrix_.matrix().cols;
    }

    Offset stored() const override { return matrix_.matrix().stored(); }

    void analyze() override {
        require_matrix("espalier_analyze");
        analyzed_ = factorized_ = false;
        solver_.analyze(matrix_.matrix());
        analyzed_ = true;
    }

    void factorize() override {
        require_matrix("espalier_factorize");
        if (!analyzed_) analyze();
        factorized_ = false;
        solver_.factorize(matrix_.matrix());
        factorized_ = true;
        doubtful_ = false;
    }

    void solve(MatrixOp op, InputBlock b, OutputBlock x) override {
        require_factors("espalier_solve");
        auto values = gathered<T>(b, order(), "b");
        check_block(x.data, order(), x.columns, x.leading, "x");
        solver_.solve_in_place(values, b.columns, op);
        scatter(values, order(), x);
    }

    void solve_sparse(MatrixOp op, espalier_matrix const& b, OutputBlock x) override {
        require_factors("espalier_solve_sparse");
        if (b.rows != order())
            throw Error(Status::usage,
                        fmt::format("the right-hand sides have {} rows, and the matrix is of order {}",
                                    b.rows, order()));
        known(b.symmetry, Symmetry::hermitian, "symmetry");
        if (b.symmetry != ESPALIER_GENERAL)
            throw Error(Status::usage, "right-hand sides are given as a general matrix");
        check_block(x.data, order(), b.cols, x.leading, "x");
        auto const result = solver_.solve(imported<T>(b).matrix(), op);
        scatter(result.values, order(), {x.data, b.cols, x.leading});
    }

    RefineReport refine(MatrixOp op, InputBlock b, OutputBlock x) override {
        require_factors("espalier_refine");
        auto const right = gathered<T>(b, order(), "b");
        auto values = gathered<T>({x.data, x.columns, x.leading}, order(), "x");
        return refined(op, right, values, x);
    }

    RefineReport drive(MatrixOp op, InputBlock b, OutputBlock x) override {
        require_matrix("espalier_drive");
        auto const right = gathered<T>(b, order(), "b");
        check_block(x.data, order(), x.columns, x.leading, "x");
        if (!factorized_ || doubtful_) factorize();
        auto values = solver_.solve(right, b.columns, op);
        return refined(op, right, values, x);
    }

    double tolerance() const override {
        return options().tolerance > 0 ? options().tolerance : default_tolerance<T>();
    }

    Inertia inertia() const override {
        require_factors("espalier_inertia");
        return solver_.inertia();
    }

    Determinant<std::complex<double>> determinant() const override {
        require_factors("espalier_determinant");
        auto const found = solver_.determinant();
        return {{static_cast<double>(real_part(found.phase)), static_cast<double>(imag_part(found.phase))},
                found.log_modulus};
    }

    double reciprocal_condition() override {
        require_factors("espalier_rcond");
        return solver_.reciprocal_condition(matrix_.matrix());
    }

    Index null_space(double tolerance) override {
        require_factors("espalier_null_space");
        null_space_.reset();
        null_space_ = solver_.null_space(matrix_.matrix(), tolerance);
        return null_space_->rank;
    }

    void null_vectors(void* basis, Index leading) const override {
        require_factors("espalier_null_vectors");
        if (!null_space_)
            throw Error(Status::usage, "espalier_null_vectors was called before espalier_null_space");
        check_block(basis, order(), null_space_->basis.cols, leading, "basis");
        scatter(null_space_->basis.values, order(), {basis, null_space_->basis.cols, leading});
    }

    void schur_complement(void* schur, Index leading) const override {
        require_factors("espalier_schur_complement");
        auto const found = solver_.schur_complement();
        check_block(schur, found.rows, found.cols, leading, "schur");
        scatter(found.values, found.rows, {schur, found.cols, leading});
    }

    void condense(InputBlock b, OutputBlock reduced) override {
        require_factors("espalier_condense");
        auto const right = gathered<T>(b, order(), "b");
        auto const condensed = solver_.condense(right, b.columns);
        Index const kept = b.columns > 0 ? std::ssize(condensed) / b.columns : 0;
        check_block(reduced.data, kept, reduced.columns, reduced.leading, "r");
        scatter(condensed, kept, reduced);
    }

    void expand(InputBlock b, InputBlock x_schur, OutputBlock x) override {
        require_factors("espalier_expand");
        auto const right = gathered<T>(b, order(), "b");
        auto const kept = gathered<T>(x_schur, std::ssize(options().schur), "x_schur");
        check_block(x.data, order(), x.columns, x.leading, "x");
        scatter(solver_.expand(right, kept, b.columns), order(), x);
    }

    Prediction predict(int processes, int threads) const override {
        require_analysis("espalier_predict");
        return solver_.predict(processes, threads);
    }

    void write_predicted_trace(std::string const& path, int processes, int threads,
                               std::string const& matrix_name) const override {
        require_analysis("espalier_write_predicted_trace");
        solver_.write_predicted_trace(path, processes, threads, matrix_name);
    }

    void write_trace(std::string const& path, std::string const& matrix_name) override {
        solver_.write_trace(path, matrix_name);
    }

  private:
    RefineReport refined(MatrixOp op, std::vector<T> const& b, std::vector<T>& values, OutputBlock x) {
        doubtful_ = true; // in mixed precision refinement may begin another factorization
        RefineReport const report = solver_.refine(matrix_.matrix(), b, values, x.columns, op);
        doubtful_ = false;
        scatter(values, order(), x);
        return report;
    }

    void require_matrix(char const* what) const {
        if (!has_matrix_)
            throw Error(Status::usage, fmt::format("{} was called before espalier_set_matrix", what));
    }

    void require_analysis(char const* what) const {
        require_matrix(what);
        if (!analyzed_)
            throw Error(Status::usage,
                        fmt::format("{} was called before espalier_analyze of this matrix", what));
    }

    void require_factors(char const* what) const {
        require_matrix(what);
        if (!factorized_)
            throw Error(Status::usage,
                        fmt::format("{} was called before espalier_factorize of this matrix", what));
    }

    Solver<T> solver_;
    MatrixImport<T> matrix_;
    bool has_matrix_ = false;
    bool analyzed_ = false;   // this pattern
    bool factorized_ = false; // these values
    bool doubtful_ = false;   // whether the factors are still there, after a refinement that failed
    std::optional<NullSpace<T>> null_space_; // of these values
};

} // namespace

std::unique_ptr<Session> make_session(Scalar scalar) {
    switch (scalar) {
    case Scalar::s:
        return std::make_unique<TypedSession<float>>();
    case Scalar::d:
        return std::make_unique<TypedSession<double>>();
    case Scalar::c:
        return std::make_unique<TypedSession<std::complex<float>>>();
    case Scalar::z:
        return std::make_unique<TypedSession<std::complex<double>>>();
    }
    throw Error(Status::usage, fmt::format("{} is not a scalar type; there are 's', 'd', 'c' and 'z'",
                                           static_cast<int>(scalar)));
}

} // namespace espalier
