// The system to solve, in the scalar type of the run: the matrix from a file or a generator, the right-hand
// sides from a file or generated.
#pragma once

#include <complex>
#include <utility>

#include "core/progress.hpp"
#include "report.hpp"

namespace espalier::command {

/// Reads or generates options.matrix. Errors of the reader; Error{bad_input} if the matrix is not square.
std::pair<AnyMatrix, MatrixFacts> load_matrix(RunOptions const& options, ProgressSink* progress);

/// The scalar type of the run: that of --precision, else double precision. Error{usage} for real numbers and
/// a complex matrix.
Scalar run_scalar(RunOptions const& options, MatrixFacts const& matrix);

/// `matrix` with scalars T; `matrix` is emptied. A real symmetric matrix becomes Hermitian in complex
/// scalars, unless `options` select llt or ldlt. Error{bad_input} with the file, row and column of a value
/// that overflows in T.
template <class T> CscMatrix<T> take_as(AnyMatrix&& matrix, RunOptions const& options);

/// n x nrhs right-hand sides. Error{bad_input} if the file has another number of rows, {usage} if it is
/// complex and T is not, or has another number of columns than --nrhs.
template <class T> DenseMatrix<T> right_hand_sides(RunOptions const& options, Index n);

/// Calls `body` with a value-initialized T of the scalar type that `scalar` names: `body(T{})`.
template <class Body> auto with_scalar(Scalar scalar, Body const& body) {
    switch (scalar) {
    case Scalar::s:
        return body(float{});
    case Scalar::c:
        return body(std::complex<float>{});
    case Scalar::z:
        return body(std::complex<double>{});
    case Scalar::d:
        break;
    }
    return body(double{});
}

} // namespace espalier::command
