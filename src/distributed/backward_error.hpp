// Backward errors of solutions of op(A) X = B. They are infinite if an argument has a NaN or infinity.
// Overflow of intermediate results is handled.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/interrupt.hpp"
#include "distributed/distributed_matrix.hpp"

namespace espalier {

/// |r| / (|A| |x| + |b|) from norms; 0/0 is 0.
double normwise_backward_error(double matrix_norm, double r_norm, double x_norm, double b_norm);

/// Collective: the largest normwise backward error of `columns` columns (Rigal and Gaches 1967)
///     |b - op(A) x| / (|op(A)| |x| + |b|),    infinity norms,
/// which is correct also if a residual or |A||x| overflows. Error{usage} if a block has a wrong size.
template <class T> double normwise_backward_error(DistributedMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, Index columns = 1,
                                                  MatrixOp op = MatrixOp::none);

/// Collective: the componentwise backward error (Oettli and Prager 1964) of the worst column,
///     max_i |b - op(A) x|_i / (|op(A)| |x| + |b|)_i,
/// where 0/0 is 0 and nonzero/0 infinite. Errors as above.
template <class T> double componentwise_backward_error(DistributedMatrix<T> const& a, std::span<T const> x,
                                                       std::span<T const> b, Index columns = 1,
                                                       MatrixOp op = MatrixOp::none);

/// Both errors of one column.
struct BackwardErrors {
    double normwise = 0;
    double componentwise = 0;
    /// A bound of the normwise error of the system before unscaled(), infinite if unknown.
    double before_unscaling = 0;
    double b_norm = 0; ///< The largest |b|_i.

    /// Raises each number to that of another column. None may be NaN.
    void take_larger(BackwardErrors const& other) {
        normwise = std::max(normwise, other.normwise);
        componentwise = std::max(componentwise, other.componentwise);
        before_unscaling = std::max(before_unscaling, other.before_unscaling);
        b_norm = std::max(b_norm, other.b_norm);
    }
};

/// Collective: both errors as above, in one pass over the matrix unless something overflows.
template <class T> BackwardErrors backward_errors(DistributedMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, MatrixOp op = MatrixOp::none);

/// Collective: both errors of each column. Several columns take one pass. Error{cancelled}.
template <class T> std::vector<BackwardErrors>
backward_errors_of_columns(DistributedMatrix<T> const& a, std::span<T const> x, std::span<T const> b,
                           Index columns, MatrixOp op, Interrupt* interrupt = nullptr);

} // namespace espalier
