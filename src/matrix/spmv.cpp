// Sparse matrix times dense vector, columns of the matrix in their order. Storage and operation reduce to
// three questions about a stored entry a(i, j): does row i receive a(i, j) x(j) (`scatter`), does row j
// receive a(i, j) x(i) (`gather`), and which of the two is conjugated. The loop takes vectors one by one:
// four in each pass over the matrix were measured to lose more on triangles than they gain on general
// matrices.
#include "matrix/spmv.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace espalier {
namespace {

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

// The rows that receive a(i, j) x(j).
template <class T> struct WholeRows {
    T* y;
    [[nodiscard]] T& operator[](Index i) const { return y[i]; }
};
template <class T> struct RowsOfPart {
    ProductTarget<T> target;
    [[nodiscard]] T& operator[](Index i) const {
        bool const is_own =
            static_cast<std::uint64_t>(i - target.own.first) < static_cast<std::uint64_t>(target.own.size());
        return (is_own ? target.y : target.others)[i];
    }
};

template <bool Scatter, bool Gather, class T, class Rows>
void add_by_walk(Walk walk, T alpha, CscMatrix<T> const& a, IndexRange columns, T const* x, T* y,
                 Rows const& rows) {
    for (Index j = columns.first; j < columns.last; ++j) {
        T const scaled = Scatter ? times(alpha, x[j]) : T(0);
        T sum(0);
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Index const i = a.row_ind[k];
            T const value = a.values[k];
            if constexpr (Scatter) rows[i] += times(conj_if(walk.conjugate_scatter, value), scaled);
            if constexpr (Gather) {
                if (Scatter && i == j)
                    continue; // the diagonal belongs to the triangle, not to its mirror image
                sum += times(conj_if(walk.conjugate_gather, value), x[i]);
            }
        }
        if constexpr (Gather) y[j] += times(alpha, sum);
    }
}

template <class T, class Rows> void add_by_walk(MatrixOp op, T alpha, CscMatrix<T> const& a,
                                                IndexRange columns, T const* x, T* y, Rows const& rows) {
    auto const walk = plan(a.symmetry, op);
    auto const add = walk.scatter && walk.gather ? add_by_walk<true, true, T, Rows>
                     : walk.scatter              ? add_by_walk<true, false, T, Rows>
                                                 : add_by_walk<false, true, T, Rows>;
    add(walk, alpha, a, columns, x, y, rows);
}

} // namespace

void require_block_size(char const* what, std::size_t size, Index length, Index nrhs) {
    // By division: length * nrhs may overflow when a caller passes nonsense.
    auto const l = static_cast<std::size_t>(length), k = static_cast<std::size_t>(nrhs);
    bool const fits = nrhs >= 0 && (l == 0 || k == 0 ? size == 0 : size % l == 0 && size / l == k);
    if (!fits)
        throw Error(Status::usage,
                    fmt::format("{} has {} entries; {} vectors of {} are needed", what, size, nrhs, length));
}

template <class T>
void add_product(MatrixOp op, T alpha, CscMatrix<T> const& a, IndexRange columns, T const* x, T* y) {
    add_by_walk(op, alpha, a, columns, x, y, WholeRows<T>{y});
}

template <class T> void add_product(MatrixOp op, T alpha, CscMatrix<T> const& a, IndexRange columns,
                                    T const* x, ProductTarget<T> const& target) {
    add_by_walk(op, alpha, a, columns, x, target.y, RowsOfPart<T>{target});
}

template <class T> void scale_block(T beta, std::span<T> y) {
    if (beta == T(0))
        std::fill(y.begin(), y.end(), T(0));
    else if (beta != T(1))
        for (T& value : y) value = times(beta, value);
}

template <class T> void multiply(MatrixOp op, T alpha, CscMatrix<T> const& a, std::span<T const> x, T beta,
                                 std::span<T> y, Index nrhs) {
    Index const x_rows = op == MatrixOp::none ? a.cols : a.rows;
    Index const y_rows = op == MatrixOp::none ? a.rows : a.cols;
    require_block_size("x", x.size(), x_rows, nrhs);
    require_block_size("y", y.size(), y_rows, nrhs);
    scale_block(beta, y);
    for (Index c = 0; c < nrhs; ++c)
        add_product(op, alpha, a, {0, a.cols}, x.data() + c * x_rows, y.data() + c * y_rows);
}

ESPALIER_INSTANTIATE_FUNCTION(scale_block)
ESPALIER_INSTANTIATE_FUNCTION(multiply)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void add_product(MatrixOp, T, CscMatrix<T> const&, IndexRange, T const*, T*);                   \
    template void add_product(MatrixOp, T, CscMatrix<T> const&, IndexRange, T const*,                        \
                              ProductTarget<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
