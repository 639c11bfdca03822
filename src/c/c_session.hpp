// A solver of any scalar type behind one interface, which the C functions call. Scalars are passed as void
// pointers, and everything else in the types of the library. Errors are thrown. Several processes make the
// same calls.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "espalier/espalier.h"
#include "espalier/espalier.hpp"

namespace espalier {

/// A dense block of scalars of the application: rows x columns, column-major.
struct InputBlock {
    void const* data;
    Index columns;
    Index leading;
};
struct OutputBlock {
    void* data;
    Index columns;
    Index leading;
};

/// The arguments of espalier_solve_batch().
struct BatchArrays {
    Index systems;
    Offset entries;
    void const* values;
    Index columns;
    void const* b;
    void* x;
    espalier_status* status;
    double* errors;
};

class Session {
  public:
    virtual ~Session() = default;
    Session() = default;
    Session(Session const&) = delete;
    Session& operator=(Session const&) = delete;

    [[nodiscard]] virtual Scalar scalar() const = 0;
    [[nodiscard]] virtual Options const& options() const = 0;
    virtual void set_options(Options options) = 0;
    [[nodiscard]] virtual Report const& report() const = 0;

    /// Process 0 has the arguments of the following functions, and those of other processes are ignored,
    /// except that each process passes its own part of a matrix or of values `in_parts`, and its own `rows`
    /// of B and X.
    virtual void set_matrix(espalier_matrix const* matrix) = 0;
    virtual void set_matrix_part(espalier_matrix const* given) = 0;
    virtual void set_values(Offset entries, void const* values, bool in_parts) = 0;
    /// The order and the number of stored entries of the matrix. Error{usage} if no matrix is set.
    [[nodiscard]] virtual Index order() const = 0;
    [[nodiscard]] virtual Offset stored() const = 0;

    virtual void analyze() = 0;
    virtual void factorize() = 0;
    virtual void refactorize(Offset entries, void const* values, bool in_parts) = 0;
    virtual void solve(espalier_op op, std::optional<Index> rows, InputBlock b, OutputBlock x) = 0;
    virtual void solve_sparse(espalier_op op, espalier_matrix const* b, void* x, Index leading) = 0;
    /// Stores X. Error{inaccurate} or {singular} if the refinement does not succeed.
    virtual void refine(espalier_op op, std::optional<Index> rows, InputBlock b, OutputBlock x) = 0;
    /// Runs all steps. Skips analysis and factorization if they are up to date. Errors as refine().
    virtual void drive(espalier_op op, std::optional<Index> rows, InputBlock b, OutputBlock x) = 0;

    virtual void solve_batch(BatchArrays const& arrays) = 0;

    [[nodiscard]] virtual Inertia inertia() = 0;
    [[nodiscard]] virtual Determinant<std::complex<double>> determinant() = 0;
    virtual void reciprocal_condition(double* rcond) = 0;
    /// Keeps the null vectors for null_vectors().
    virtual void null_space(double tolerance, std::int64_t* rank) = 0;
    virtual void null_vectors(void* basis, Index leading) = 0;
    virtual void selected_inverse(Offset entries, void* inverse) = 0;
    virtual void inverse_diagonal(void* diagonal) = 0;
    /// Keeps the factors for get_factor() and get_permutations().
    virtual void factors(std::int64_t* entries) = 0;
    virtual void get_factor(char factor, int base, std::int64_t* pointers, std::int64_t* indices,
                            void* values) = 0;
    virtual void get_permutations(int base, std::int64_t* rows, std::int64_t* columns) = 0;
    virtual void solve_half(bool forward, InputBlock b, OutputBlock x) = 0;
    /// Returns whether the factors were changed in place.
    virtual bool update(espalier_matrix const* w, int sign) = 0;
    virtual bool update_dense(InputBlock w, int sign) = 0;
    virtual void schur_complement(void* schur, Index leading) = 0;
    virtual void condense(espalier_op op, InputBlock b, OutputBlock reduced) = 0;
    virtual void expand(espalier_op op, InputBlock b, InputBlock x_schur, OutputBlock x) = 0;

    /// Makes `call` fail on all processes.
    virtual void refuse(char const* call, std::string const& message) = 0;
    [[nodiscard]] virtual Communicator const& comm() const = 0;

    [[nodiscard]] virtual Prediction predict(int processes, int threads) const = 0;
    virtual void write_predicted_trace(std::string const& path, int processes, int threads,
                                       std::string const& matrix_name) const = 0;
    virtual void write_trace(char const* path, std::string const& matrix_name) = 0;
};

std::unique_ptr<Session> make_session(Scalar scalar);
/// Creates a session of several processes. Collective.
std::unique_ptr<Session> make_session(Scalar scalar, Communicator processes);
/// For processes other than 0: takes part in the calls of process 0 until its session ends. Collective.
void follow_session(Scalar scalar, Communicator processes);

/// The path of a trace as a string. Error{usage} if it is null or empty.
std::string path_of(char const* path);

/// Converts a number to an enumerator. Error{usage} that names `what` unless the number is in 0 .. last.
template <class To, class From> To known(From value, To last, char const* what) {
    if (static_cast<int>(value) < 0 || static_cast<int>(value) > static_cast<int>(last))
        throw Error(Status::usage, fmt::format("{} = {} is not an enumerator; the enumerators are 0 to {}",
                                               what, static_cast<int>(value), static_cast<int>(last)));
    return static_cast<To>(value);
}

/// Error{usage} when `pointer` is null.
inline void require_pointer(void const* pointer, char const* what) {
    if (!pointer) throw Error(Status::usage, fmt::format("{} is null", what));
}

} // namespace espalier
