// The typed part of the C interface: results of the factors, predictions and traces.
#include "c/c_session.hpp"

#include <algorithm>
#include <complex>
#include <utility>

#include <fmt/format.h>

#include "c/c_system.hpp"
#include "core/scalar.hpp"
#include "espalier/batch.hpp"
#include "matrix/convert.hpp"
#include "matrix/entries.hpp"

namespace espalier {

namespace {

template <class T> class TypedSession final : public SystemSession<T> {
    using System = SystemSession<T>;
    using System::begin, System::give, System::calls_, System::matrix_, System::null_space_, System::order;
    using System::factors_, System::general_columns, System::matrix, System::require_analysis;
    using System::require_factors, System::require_leader, System::require_matrix, System::solver_;

  public:
    using System::SystemSession;

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
        double const found = solver_.reciprocal_condition(matrix());
        if (rcond) *rcond = found;
    }

    void null_space(double tolerance, std::int64_t* rank) override {
        begin("espalier_null_space", [&] {
            require_pointer(rank, "rank");
            require_factors("espalier_null_space");
        });
        null_space_.reset();
        null_space_ = solver_.null_space(matrix(), tolerance);
        null_space_->rank = on_root(calls_.comm(), [&] { return null_space_->rank; });
        if (rank) *rank = null_space_->rank;
    }

    void null_vectors(void* basis, Index leading) override {
        begin("espalier_null_vectors", [&] {
            require_factors("espalier_null_vectors");
            if (!null_space_)
                throw Error(Status::usage, "espalier_null_vectors was called before espalier_null_space");
            check_block(basis, order(), null_space_->basis.cols, leading, "basis");
        });
        if (calls_.is_root())
            write_back(null_space_->basis.values, order(), {basis, null_space_->basis.cols, leading});
    }

    void selected_inverse(Offset entries, void* inverse) override {
        begin("espalier_selected_inverse", [&] {
            require_factors("espalier_selected_inverse");
            require_pointer(inverse, "inverse");
            if (entries != matrix_.entries())
                throw Error(Status::usage,
                            fmt::format("there is room for {} entries, but the matrix was set with {}",
                                        entries, matrix_.entries()));
        });
        // The value of entry (i, j) of A is entry (j, i) of the inverse. Updates may have added entries.
        CscMatrix<T> const found = transpose(solver_.selected_inverse(matrix()));
        std::vector<T> values;
        for_each_entry(matrix_.matrix(), [&](Index i, Index j, Offset) {
            auto const rows = found.row_ind.begin();
            auto const first = rows + found.col_ptr[j], end = rows + found.col_ptr[j + 1];
            values.push_back(found.values[std::lower_bound(first, end, i) - rows]);
        });
        std::ranges::copy(matrix_.in_order_of_view(values), static_cast<T*>(inverse));
    }

    void inverse_diagonal(void* diagonal) override {
        begin("espalier_inverse_diagonal", [&] {
            require_factors("espalier_inverse_diagonal");
            require_pointer(diagonal, "diagonal");
        });
        std::ranges::copy(solver_.inverse_diagonal(), static_cast<T*>(diagonal));
    }

    void solve_batch(BatchArrays const& given) override {
        begin("espalier_solve_batch", [&] {
            require_matrix("espalier_solve_batch");
            if (calls_.comm().size() > 1 || this->comm().size() > 1)
                throw Error(Status::unsupported, "espalier_solve_batch needs a single process");
            if (given.systems < 1 || given.columns < 1)
                throw Error(
                    Status::usage,
                    fmt::format("a batch of {} systems with {} right-hand sides; expected at least 1 of each",
                                given.systems, given.columns));
            if (given.entries != matrix_.entries())
                throw Error(Status::usage,
                            fmt::format("there are {} values for each system, but the matrix was set with {}",
                                        given.entries, matrix_.entries()));
            Index const most = largest_count / given.systems / given.columns;
            if (order() > most || matrix_.entries() > most)
                throw Error(Status::usage,
                            fmt::format("the arrays of {} systems do not fit into memory", given.systems));
            for (auto const& [pointer, what] : {std::pair<void const*, char const*>{given.values, "values"},
                                                {given.b, "b"},
                                                {given.x, "x"},
                                                {given.status, "status"}})
                require_pointer(pointer, what);
        });
        std::vector<T> values;
        MatrixImport<T> each = matrix_;
        for (Index k = 0; k < given.systems; ++k) {
            auto const* const first = static_cast<T const*>(given.values) + k * each.entries();
            each.set_values({first, static_cast<std::size_t>(each.entries())});
            values.insert(values.end(), each.matrix().values.begin(), each.matrix().values.end());
        }
        Index const rows = order() * given.columns;
        auto const b = gathered<T>({given.b, given.systems, std::max<Index>(1, rows)}, rows, "b");
        auto const found =
            espalier::solve_batch<T>(matrix_.matrix(), values, b, given.columns, this->options());
        std::ranges::copy(found.x, static_cast<T*>(given.x));
        std::ranges::transform(found.status, given.status,
                               [](Status s) { return static_cast<espalier_status>(s); });
        if (given.errors) std::ranges::copy(found.backward_error, given.errors);
    }

    void factors(std::int64_t* entries) override {
        begin("espalier_factors", [&] {
            require_factors("espalier_factors");
            require_pointer(entries, "entries");
        });
        factors_.reset();
        factors_ = solver_.factors();
        entries[0] = factors_->lower.stored();
        entries[1] = factors_->diagonal.stored();
        entries[2] = factors_->upper.stored();
    }

    void get_factor(char factor, int base, std::int64_t* pointers, std::int64_t* indices,
                    void* values) override {
        begin("espalier_get_factor", [&] { require_copies("espalier_get_factor", base); });
        if (factor != 'L' && factor != 'D' && factor != 'U')
            throw Error(Status::usage,
                        fmt::format("factor = {}; it is one of 'L', 'D' and 'U'", static_cast<int>(factor)));
        CscMatrix<T> const& found = factor == 'L'   ? factors_->lower
                                    : factor == 'D' ? factors_->diagonal
                                                    : factors_->upper;
        if (found.cols == 0)
            throw Error(Status::usage, fmt::format("this factorization has no factor {}", factor));
        give_indices(found.col_ptr, base, pointers);
        give_indices(found.row_ind, base, indices);
        if (values) std::ranges::copy(found.values, static_cast<T*>(values));
    }

    void get_permutations(int base, std::int64_t* rows, std::int64_t* columns) override {
        begin("espalier_get_permutations", [&] { require_copies("espalier_get_permutations", base); });
        give_indices(factors_->row_permutation, base, rows);
        give_indices(factors_->column_permutation, base, columns);
    }

    void solve_half(bool forward, InputBlock b, OutputBlock x) override {
        char const* const name = forward ? "espalier_solve_lower" : "espalier_solve_lower_adjoint";
        std::vector<T> right;
        begin(name, [&] {
            require_factors(name);
            right = gathered<T>(b, order(), "b");
            check_block(x.data, order(), x.columns, x.leading, "x");
        });
        give(forward ? solver_.solve_lower(right, b.columns) : solver_.solve_lower_adjoint(right, b.columns),
             {}, x);
    }

    bool update(espalier_matrix const* given, int sign) override {
        CscMatrix<T> w;
        begin("espalier_update", [&] {
            require_factors("espalier_update");
            w = general_columns(given, "w");
        });
        return this->change(w, sign);
    }

    bool update_dense(InputBlock given, int sign) override {
        CscMatrix<T> w;
        begin("espalier_update_dense", [&] {
            require_factors("espalier_update_dense");
            w = nonzeros(DenseMatrix<T>{order(), given.columns, gathered<T>(given, order(), "w")});
        });
        return this->change(w, sign);
    }

    void schur_complement(void* schur, Index leading) override {
        begin("espalier_schur_complement", [&] { require_factors("espalier_schur_complement"); });
        auto const found = solver_.schur_complement();
        on_root(calls_.comm(), [&] { check_block(schur, found.rows, found.cols, leading, "schur"); });
        if (calls_.is_root()) write_back(found.values, found.rows, {schur, found.cols, leading});
    }

    void condense(espalier_op op, InputBlock b, OutputBlock reduced) override {
        std::vector<T> right;
        MatrixOp how = MatrixOp::none;
        begin("espalier_condense", [&] {
            how = known(op, MatrixOp::adjoint, "op");
            require_factors("espalier_condense");
            right = gathered<T>(b, order(), "b");
        });
        auto const condensed = solver_.condense(right, b.columns, how);
        Index const kept = b.columns > 0 ? std::ssize(condensed) / b.columns : 0;
        on_root(calls_.comm(),
                [&] { check_block(reduced.data, kept, reduced.columns, reduced.leading, "r"); });
        if (calls_.is_root()) write_back(condensed, kept, reduced);
    }

    void expand(espalier_op op, InputBlock b, InputBlock x_schur, OutputBlock x) override {
        std::vector<T> right, kept;
        MatrixOp how = MatrixOp::none;
        begin("espalier_expand", [&] {
            how = known(op, MatrixOp::adjoint, "op");
            require_factors("espalier_expand");
            right = gathered<T>(b, order(), "b");
            kept = gathered<T>(x_schur, std::ssize(this->options().schur), "x_schur");
            check_block(x.data, order(), x.columns, x.leading, "x");
        });
        give(solver_.expand(right, kept, b.columns, how), {}, x);
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
        solver_.write_trace(calls_.is_root() ? path_of(path) : std::string(), matrix_name);
    }

  private:
    void require_copies(char const* what, int base) const {
        require_factors(what);
        if (!factors_) throw Error(Status::usage, fmt::format("{} was called before espalier_factors", what));
        if (base != 0 && base != 1) throw Error(Status::usage, fmt::format("base = {}; it is 0 or 1", base));
    }

    static void give_indices(std::vector<Index> const& from, int base, std::int64_t* to) {
        if (to) std::ranges::transform(from, to, [&](Index i) { return i + base; });
    }
};

} // namespace

// Collective. Error{usage} on all processes unless they have the same scalar type (as a number) and either
// all or none of the others follow process 0.
static HandleProcesses agree_on_handle(Communicator comm, int scalar, bool follows) {
    int const scalar_of_root = on_root(comm, [&] { return scalar; });
    std::int64_t const following = sum(comm, std::int64_t{follows});
    all_succeed(comm, [&] {
        if (follows && comm.rank() == 0)
            throw Error(Status::usage,
                        "process 0 makes the calls and cannot follow; call espalier_create_mpi there");
        if (following != 0 && following != comm.size() - 1)
            throw Error(Status::usage, "some of the other processes follow process 0, and some do not");
        if (scalar != scalar_of_root)
            throw Error(Status::usage, "the solver of process 0 is for another scalar type");
    });
    Communicator calling = following == 0 ? comm : Communicator();
    return {std::move(comm), std::move(calling)};
}

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
    HandleProcesses const agreed = agree_on_handle(std::move(processes), static_cast<int>(scalar), false);
    return for_scalar(scalar, [&]<class T>(T) -> std::unique_ptr<Session> {
        return make_together<TypedSession<T>>(agreed.all, agreed);
    });
}

void follow_session(Scalar scalar, Communicator processes) {
    HandleProcesses const agreed = agree_on_handle(std::move(processes), static_cast<int>(scalar), true);
    all_succeed(agreed.all, [] {}); // while process 0 makes its session
    for_scalar(scalar, [&]<class T>(T) { Solver<T>::follow({}, agreed.all); });
}

} // namespace espalier
