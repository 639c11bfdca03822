// A solver of any scalar behind one interface: what the C functions talk to. Scalars arrive as void pointers,
// everything else in the library's own types; errors are thrown. Several processes make the same calls.
#pragma once

#include <memory>
#include <string>

#include "espalier/espalier.h"
#include "espalier/espalier.hpp"

namespace espalier {

/// A caller's dense block of scalars: rows x columns, column-major.
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

    /// In what follows, process 0 has the arguments; those of the others are not looked at.
    virtual void set_matrix(espalier_matrix const* matrix) = 0;
    virtual void set_values(Offset entries, void const* values) = 0;
    /// Each process has its part; in a session of one, that is all.
    virtual void set_matrix_part(espalier_matrix const* given) = 0;
    virtual void set_values_part(Offset entries, void const* values) = 0;
    /// Of the matrix that was set: its order, and the entries kept. Error{usage} when there is none.
    [[nodiscard]] virtual Index order() const = 0;
    [[nodiscard]] virtual Offset stored() const = 0;

    virtual void analyze() = 0;
    virtual void factorize() = 0;
    virtual void refactorize(Offset entries, void const* values) = 0;
    virtual void solve(espalier_op op, InputBlock b, OutputBlock x) = 0;
    virtual void solve_sparse(espalier_op op, espalier_matrix const* b, void* x, Index leading) = 0;
    virtual RefineReport refine(espalier_op op, InputBlock b, OutputBlock x) = 0;
    /// All steps: analysis and factorization only where they are due.
    virtual RefineReport drive(espalier_op op, InputBlock b, OutputBlock x) = 0;
    /// The same, each process with its part of values or its rows of B and X.
    virtual void refactorize_part(Offset entries, void const* values) = 0;
    virtual void solve_rows(espalier_op op, Index rows, InputBlock b, OutputBlock x) = 0;
    virtual RefineReport refine_rows(espalier_op op, Index rows, InputBlock b, OutputBlock x) = 0;
    virtual RefineReport drive_rows(espalier_op op, Index rows, InputBlock b, OutputBlock x) = 0;
    /// The tolerance in force.
    [[nodiscard]] virtual double tolerance() const = 0;

    [[nodiscard]] virtual Inertia inertia() = 0;
    [[nodiscard]] virtual Determinant<std::complex<double>> determinant() = 0;
    virtual void reciprocal_condition(double* rcond) = 0;
    /// The null vectors are kept for null_vectors().
    virtual void null_space(double tolerance, std::int64_t* rank) = 0;
    virtual void null_vectors(void* basis, Index leading) = 0;
    virtual void schur_complement(void* schur, Index leading) = 0;
    virtual void condense(InputBlock b, OutputBlock reduced) = 0;
    virtual void expand(InputBlock b, InputBlock x_schur, OutputBlock x) = 0;

    /// In place of `call`, which then fails everywhere.
    virtual void refuse(char const* call, std::string const& message) = 0;
    [[nodiscard]] virtual Communicator const& comm() const = 0;

    [[nodiscard]] virtual Prediction predict(int processes, int threads) const = 0;
    virtual void write_predicted_trace(std::string const& path, int processes, int threads,
                                       std::string const& matrix_name) const = 0;
    virtual void write_trace(char const* path, std::string const& matrix_name) = 0;
};

std::unique_ptr<Session> make_session(Scalar scalar);
/// Of several processes. Collective.
std::unique_ptr<Session> make_session(Scalar scalar, Communicator processes);
/// In place of the sessions of processes other than 0: returns when that of process 0 is gone. Collective.
void follow_session(Scalar scalar, Communicator processes);

/// The path of a trace from outside. Error{usage} when it is null or empty.
std::string path_of(char const* path);

/// An enumerator from outside, which may be any number. Error{usage} naming `what` unless it is in 0 .. last.
template <class To, class From> To known(From value, To last, char const* what) {
    if (static_cast<int>(value) < 0 || static_cast<int>(value) > static_cast<int>(last))
        throw Error(Status::usage, std::string(what) + " = " + std::to_string(static_cast<int>(value)) +
                                       " is not one of its enumerators, which are 0 to " +
                                       std::to_string(static_cast<int>(last)));
    return static_cast<To>(value);
}

/// Error{usage} when `pointer` is null.
inline void require_pointer(void const* pointer, char const* what) {
    if (!pointer) throw Error(Status::usage, std::string(what) + " is null");
}

} // namespace espalier
