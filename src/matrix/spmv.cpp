// Sparse matrix times dense vector, columns of the matrix in their order. Storage and operation reduce to
// three questions about a stored entry a(i, j): does row i receive a(i, j) x(j) (`scatter`), does row j
// receive a(i, j) x(i) (`gather`), and which of the two is conjugated. Vectors are taken one by one: carrying
// four through each pass over the matrix was measured to lose more on triangles than it gains on general
// matrices.
#include "matrix/spmv.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace espalier {
namespace {

/// std::complex's operator* repairs the product of infinities, which costs a branch in the inner loop;
/// here an overflow may come out as NaN, and callers treat both alike.
template <class T> inline T times(T a, T b) {
    if constexpr (is_complex<T>)
        return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
    else
        return a * b;
}

struct Walk {
    bool scatter = false; ///< y(i) += a(i, j) x(j)
    bool gather = false;  ///< y(j) += a(i, j) x(i), off the diagonal when both
    bool conjugate_scatter = false;
    bool conjugate_gather = false;
};

/// A symmetric or Hermitian triangle is scattered (the triangle itself) and gathered (its mirror image).
Walk plan(Symmetry symmetry, MatrixOp op) {
    bool const adjoint = op == MatrixOp::adjoint;
    switch (symmetry) {
    case Symmetry::general:
        return {op == MatrixOp::none, op != MatrixOp::none, false, adjoint};
    case Symmetry::symmetric:
        return {true, true, adjoint, adjoint};
    case Symmetry::hermitian:
        break;
    }
    bool const flipped = op == MatrixOp::transpose; // A^T = conj(A)
    return {true, true, flipped, !flipped};
}

template <bool Scatter, bool Gather, class T>
void add_product(Walk walk, T alpha, CscMatrix<T> const& a, T const* x, T* y) {
    for (Index j = 0; j < a.cols; ++j) {
        T const scaled = Scatter ? times(alpha, x[j]) : T(0);
        T sum(0);
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Index const i = a.row_ind[k];
            T const value = a.values[k];
            if constexpr (Scatter) y[i] += times(conj_if(walk.conjugate_scatter, value), scaled);
            if constexpr (Gather) {
                if (Scatter && i == j)
                    continue; // the diagonal belongs to the triangle, not to its mirror image
                sum += times(conj_if(walk.conjugate_gather, value), x[i]);
            }
        }
        if constexpr (Gather) y[j] += times(alpha, sum);
    }
}

} // namespace

void require_block_size(char const* what, std::size_t size, Index length, Index nrhs) {
    // By division: length * nrhs may overflow when a caller passes nonsense.
    auto const l = static_cast<std::size_t>(length), k = static_cast<std::size_t>(nrhs);
    bool const fits = nrhs >= 0 && (l == 0 || k == 0 ? size == 0 : size % l == 0 && size / l == k);
    if (!fits)
        throw Error(Status::usage,
                    fmt::format("{} has {} entries, {} vectors of {} are needed", what, size, nrhs, length));
}

template <class T> void multiply(MatrixOp op, T alpha, CscMatrix<T> const& a, std::span<T const> x, T beta,
                                 std::span<T> y, Index nrhs) {
    Index const x_rows = op == MatrixOp::none ? a.cols : a.rows;
    Index const y_rows = op == MatrixOp::none ? a.rows : a.cols;
    require_block_size("x", x.size(), x_rows, nrhs);
    require_block_size("y", y.size(), y_rows, nrhs);
    if (beta == T(0))
        std::fill(y.begin(), y.end(), T(0));
    else if (beta != T(1))
        for (T& value : y) value = times(beta, value);

    auto const walk = plan(a.symmetry, op);
    auto const add = walk.scatter && walk.gather ? add_product<true, true, T>
                     : walk.scatter              ? add_product<true, false, T>
                                                 : add_product<false, true, T>;
    for (Index c = 0; c < nrhs; ++c) add(walk, alpha, a, x.data() + c * x_rows, y.data() + c * y_rows);
}

template <class T> void residual(CscMatrix<T> const& a, std::span<T const> x, std::span<T const> b,
                                 std::span<T> r, Index nrhs, MatrixOp op) {
    Index const rows = op == MatrixOp::none ? a.rows : a.cols;
    require_block_size("b", b.size(), rows, nrhs);
    require_block_size("r", r.size(), rows, nrhs);
    if (r.data() != b.data()) std::copy(b.begin(), b.end(), r.begin());
    multiply(op, T(-1), a, x, T(1), r, nrhs);
}

template <class T>
void abs_product(CscMatrix<T> const& a, std::span<T const> x, std::span<Real<T>> w, Index nrhs, MatrixOp op) {
    Index const x_rows = op == MatrixOp::none ? a.cols : a.rows;
    Index const w_rows = op == MatrixOp::none ? a.rows : a.cols;
    require_block_size("x", x.size(), x_rows, nrhs);
    require_block_size("w", w.size(), w_rows, nrhs);
    std::fill(w.begin(), w.end(), Real<T>(0));
    bool const mirrored = a.symmetry != Symmetry::general;
    bool const along_columns = op != MatrixOp::none && !mirrored;
    for (Index c = 0; c < nrhs; ++c) {
        T const* const xc = x.data() + c * x_rows;
        Real<T>* const wc = w.data() + c * w_rows;
        for (Index j = 0; j < a.cols; ++j) {
            Real<T> const xj = along_columns ? Real<T>(0) : std::abs(xc[j]);
            for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
                Index const i = a.row_ind[k];
                Real<T> const modulus = std::abs(a.values[k]);
                if (!along_columns) wc[i] += modulus * xj;
                if (along_columns || (mirrored && i != j)) wc[j] += modulus * std::abs(xc[i]);
            }
        }
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void multiply(MatrixOp, T, CscMatrix<T> const&, std::span<T const>, T, std::span<T>, Index);    \
    template void residual(CscMatrix<T> const&, std::span<T const>, std::span<T const>, std::span<T>, Index, \
                           MatrixOp);                                                                        \
    template void abs_product(CscMatrix<T> const&, std::span<T const>, std::span<Real<T>>, Index, MatrixOp);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
