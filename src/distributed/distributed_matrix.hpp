// A square sparse matrix whose columns, and whose rows of vectors, lie with their owners. A process has the
// entries of its columns, and a halo of the remote rows that they touch; of a symmetric or Hermitian matrix
// the lower triangle is stored, as in CscMatrix.
//
// With one process it refers to a CscMatrix, and vectors have its order. With several, local row l is row
// rows().number(l) of the matrix. All calls are collective, and vectors have rows().count() entries in each
// column. Products add local terms first, then contributions of other processes by rank: results depend on
// the number of processes, never on timing.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "core/scalar.hpp"
#include "distributed/distributed_rows.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

template <class T> class DistributedMatrix {
  public:
    /// One process: refers to `whole`, which lives longer. Error{usage} unless it is square.
    DistributedMatrix(
        CscMatrix<T> const& whole); // NOLINT: a whole matrix is the distributed one of one process
    /// Collective. Process 0 has the matrix, the others give null; entries are dealt out to the owners of
    /// their columns, one process at a time. Error{out_of_memory} on all processes.
    DistributedMatrix(DistributedRows rows, CscMatrix<T> const* whole);
    /// Collective: the entries of another matrix with the same pattern, given as above.
    void set_values(CscMatrix<T> const* whole);

    /// R^-1 A C^-1 for diagonal matrices R and C of powers of two, of which each process gives the part of
    /// its rows (empty: ones). Shares the entries with this matrix.
    [[nodiscard]] DistributedMatrix unscaled(std::span<double const> r, std::span<double const> c) const;
    /// factor * A, with a copy of the entries. Collective.
    [[nodiscard]] DistributedMatrix times(Real<T> factor) const;

    [[nodiscard]] DistributedRows const& rows() const { return rows_; }
    [[nodiscard]] Index order() const { return rows().order(); }
    [[nodiscard]] Symmetry symmetry() const;
    /// Number of remote rows that the entries of this process touch.
    [[nodiscard]] Index halo_size() const;

    /// Y = alpha op(A) X + beta Y, for `columns` columns that do not overlap. Y is not read when beta is 0.
    /// Error{usage} when a block has another size, as for all of these.
    void multiply(MatrixOp op, T alpha, std::span<T const> x, T beta, std::span<T> y,
                  Index columns = 1) const;
    /// R = B - op(A) X. R may be the same memory as B.
    void residual(std::span<T const> x, std::span<T const> b, std::span<T> r, Index columns = 1,
                  MatrixOp op = MatrixOp::none) const;
    /// W = |op(A)| |X|, entrywise moduli (Oettli and Prager 1964).
    void abs_product(std::span<T const> x, std::span<Real<T>> w, Index columns = 1,
                     MatrixOp op = MatrixOp::none) const;
    /// r = b - op(A) x for one column and a sum x of vectors, as if in twice the working precision and
    /// rounded once, at the end: products and sums carry their rounding errors along (Ogita, Rump, Oishi
    /// 2005).
    void accurate_residual(std::initializer_list<std::span<T const>> x, std::span<T const> b, std::span<T> r,
                           MatrixOp op) const;

    /// Largest row sum of moduli of op(A). A NaN among the entries makes a norm NaN.
    [[nodiscard]] double infinity_norm(MatrixOp op = MatrixOp::none) const;
    /// Largest column sum of moduli.
    [[nodiscard]] double one_norm() const { return infinity_norm(MatrixOp::transpose); }
    /// Largest modulus of the stored entries. Not of an unscaled() matrix.
    [[nodiscard]] double max_abs() const;
    /// No entry is NaN or infinite.
    [[nodiscard]] bool is_finite() const;
    /// Entries in the row of op(A) that has most of them.
    [[nodiscard]] Index most_entries_in_a_row(MatrixOp op = MatrixOp::none) const;
    /// |a_ll| of each local row; 0 where it is not stored. Not of an unscaled() matrix. Not collective.
    [[nodiscard]] std::vector<double> diagonal_moduli() const;

  private:
    struct Part;

    [[nodiscard]] CscMatrix<T> const& local() const;
    [[nodiscard]] bool is_mirrored() const { return symmetry() != Symmetry::general; }
    [[nodiscard]] std::vector<double> const& inner(MatrixOp op) const {
        return op == MatrixOp::none ? c_ : r_;
    }
    [[nodiscard]] std::vector<double> const& outer(MatrixOp op) const {
        return op == MatrixOp::none ? r_ : c_;
    }
    void require_block(char const* what, std::size_t size, Index columns) const;
    void deal_values(std::span<Index const> begin, std::span<Index const> owned, CscMatrix<T> const* whole);
    template <class X, class Y, class Value, class Kernel, class Add> void
    accumulate(MatrixOp op, Index columns, Value const& value, Kernel const& kernel, Add const& add) const;

    DistributedRows rows_;
    std::shared_ptr<Part> part_;
    std::vector<double> r_, c_; // factors of the local rows and columns; empty: ones
};

} // namespace espalier
