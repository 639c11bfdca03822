// A square sparse matrix whose columns are distributed over processes, and whose vectors are distributed by
// rows in the same way. A process stores the entries of its columns and a halo of the remote rows that they
// touch. For a symmetric or Hermitian matrix the lower triangle is stored, as in CscMatrix.
//
// With one process it refers to a CscMatrix, and vectors have its rows in order. With several, local row l is
// row rows().number(l) of the matrix. All calls are collective, and vectors have rows().count() entries in
// each column. Products add local terms first, then contributions of other processes by rank, so results
// depend on the number of processes but not on timing.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/scalar.hpp"
#include "distributed/distributed_rows.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// The size of a residual r = b - op(A) x. Infinite or NaN if a number overflows or is not finite.
struct ResidualSize {
    double residual = 0; ///< The largest |r|_i.
    /// The largest |r|_i / (|op(A)| |x| + |b|)_i, where 0/0 is 0 and nonzero/0 infinite.
    double componentwise = 0;
    /// A bound of the normwise backward error of the system without R and C of unscaled().
    double before_unscaling = 0;
    double x_norm = 0; ///< The largest |x|_i.
    double b_norm = 0; ///< The largest |b|_i.
};

template <class T> class ParallelProduct;
struct Largest;

/// Products and residual_size() use the workers of rows(). Products have the same rounding for any number of
/// workers, and the results of residual_size() for any number above 1.
template <class T> class DistributedMatrix {
  public:
    /// For one process: refers to `whole`, which must outlive this. Error{usage} unless it is square.
    DistributedMatrix(CscMatrix<T> const& whole); // NOLINT: implicit, because a whole matrix is the
                                                  // distributed matrix of one process
    /// Collective. Process 0 passes the matrix and the others null. Entries are sent to the owners of their
    /// columns, one process at a time. Error{out_of_memory} on all processes.
    DistributedMatrix(DistributedRows rows, CscMatrix<T> const* whole);
    /// Collective: takes the entries of another matrix with the same pattern, passed as above.
    void set_values(CscMatrix<T> const* whole);

    /// R^-1 A C^-1 for diagonal matrices R and C of powers of two. Each process passes the part of its rows
    /// (empty: ones). Shares the entries with this matrix.
    [[nodiscard]] DistributedMatrix unscaled(std::span<double const> r, std::span<double const> c) const;
    /// factor * A, with a copy of the entries. Collective.
    [[nodiscard]] DistributedMatrix times(Real<T> factor) const;

    [[nodiscard]] DistributedRows const& rows() const { return rows_; }
    [[nodiscard]] Index order() const { return rows().order(); }
    [[nodiscard]] Symmetry symmetry() const;
    /// The number of entries that this process stores.
    [[nodiscard]] Offset entries() const { return local().stored(); }
    /// Number of remote rows that the entries of this process touch.
    [[nodiscard]] Index halo_size() const;

    /// Y = alpha op(A) X + beta Y for `columns` columns that do not overlap. Y is not read if beta is 0. This
    /// and the following functions throw Error{usage} if a block has a wrong size.
    void multiply(MatrixOp op, T alpha, std::span<T const> x, T beta, std::span<T> y,
                  Index columns = 1) const;
    /// Provides the memory of residual_size() if there is one process. The workers touch large memory, so
    /// that the first residual does not wait for its pages. Error{out_of_memory}.
    void prepare_residuals() const;
    /// The bytes of this memory on a process with these numbers of rows, entries and workers. `is_unscaled`:
    /// see unscaled(). The memory of residual_sizes() of several columns may be larger.
    static std::uint64_t residual_bytes(Index rows, Offset stored, int workers, bool is_unscaled,
                                        Index columns = 1);
    /// The bytes that this process needs for residual_sizes() of `columns` columns of this matrix.
    [[nodiscard]] std::uint64_t residual_bytes(Index columns) const;
    /// R = B - op(A) X. R may be the same memory as B.
    void residual(std::span<T const> x, std::span<T const> b, std::span<T> r, Index columns = 1,
                  MatrixOp op = MatrixOp::none) const;
    /// W = |op(A)| |X|, entrywise moduli (Oettli and Prager 1964).
    void abs_product(std::span<T const> x, std::span<Real<T>> w, Index columns = 1,
                     MatrixOp op = MatrixOp::none) const;
    /// The size of the residual of one column, in one pass over the entries. Unless infinity_norm(op) was
    /// called before, the pass computes it as well.
    [[nodiscard]] ResidualSize residual_size(std::span<T const> x, std::span<T const> b,
                                             MatrixOp op = MatrixOp::none) const;
    /// residual_size() of as many columns as `sizes` has. One process takes four columns of numbers in double
    /// precision in one pass, which one worker does. Then the results are those of one worker.
    void residual_sizes(std::span<T const> x, std::span<T const> b, MatrixOp op,
                        std::span<ResidualSize> sizes) const;
    /// r = b - op(A) x for one column and a sum x of vectors, as if computed in twice the working precision
    /// and rounded at the end. Products and sums keep their rounding errors (Ogita, Rump, Oishi 2005).
    void accurate_residual(std::initializer_list<std::span<T const>> x, std::span<T const> b, std::span<T> r,
                           MatrixOp op) const;

    /// Largest row sum of moduli of op(A). NaN if an entry is NaN. Computed once for the values of a matrix.
    [[nodiscard]] double infinity_norm(MatrixOp op = MatrixOp::none) const;
    /// Whether infinity_norm(op) has been computed.
    [[nodiscard]] bool knows_infinity_norm(MatrixOp op) const {
        return norm_[op == MatrixOp::none ? 0 : 1].has_value();
    }
    /// Largest column sum of moduli.
    [[nodiscard]] double one_norm() const { return infinity_norm(MatrixOp::transpose); }
    /// Largest modulus of the stored entries. Not of an unscaled() matrix.
    [[nodiscard]] double max_abs() const;
    /// Whether no entry is NaN or infinite.
    [[nodiscard]] bool is_finite() const;
    /// The largest number of entries in a row of op(A).
    [[nodiscard]] Index most_entries_in_a_row(MatrixOp op = MatrixOp::none) const;
    /// |a_ll| of each local row; 0 if not stored. Not of an unscaled() matrix. Not collective.
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
    void deal_values(CscMatrix<T> const* whole);
    [[nodiscard]] ParallelProduct<T>* product_in_parts() const;
    [[nodiscard]] double compute_infinity_norm(MatrixOp op) const;
    template <class X, class Y, class Value, class Kernel, class Add>
    void accumulate(MatrixOp op, Index columns, Value const& value, Kernel const& kernel, Add const& add,
                    int copies = 1) const;
    template <class Sums, class Finish>
    void sum_rows(MatrixOp op, std::span<T const> x, std::span<T const> b, Finish const& finish) const;
    template <class Sums, class Add>
    void accumulate_sums(MatrixOp op, std::span<T const> x, Add const& add) const;
    [[nodiscard]] ResidualSize size_of(Largest const& own, MatrixOp op) const;
    void take_blocks(std::span<T const> x, std::span<T const> b, MatrixOp op, std::span<ResidualSize> sizes,
                     IndexRange range) const;
    template <class Sums> auto entry_of_pass(MatrixOp op, std::span<T const> x, Index i) const;
    template <class Sums> auto largest_of_rows(MatrixOp op, std::span<T const> x, std::span<T const> b) const;

    DistributedRows rows_;
    std::shared_ptr<Part> part_;
    std::vector<double> r_, c_;             // factors of the local rows and columns; empty: ones
    mutable std::optional<double> norm_[2]; // infinity norms of A and A^T, once computed
    std::optional<double> scaled_norm_[2];  // those before unscaled(), if they were known
    bool is_unscaled_ = false;              // whether r_ and c_ may have entries
};

} // namespace espalier
