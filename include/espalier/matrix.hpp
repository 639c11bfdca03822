// Sparse matrices in compressed columns, and dense blocks of vectors.
//
// validate() checks the invariants of a sparse matrix: col_ptr has cols + 1 non-decreasing entries that start
// at 0; the rows of each column ascend without duplicates; a symmetric or Hermitian matrix is square and
// stores only its lower triangle (row >= column), including the diagonal entries that are present; the
// diagonal of a Hermitian matrix is real.
#pragma once

#include <complex>
#include <string>
#include <variant>
#include <vector>

#include "espalier/range.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// Compressed sparse columns. Column j occupies the positions col_ptr[j] .. col_ptr[j + 1] - 1 of row_ind and
/// values.
template <class T> struct ESPALIER_API CscMatrix {
    Index rows = 0;                        ///< Number of rows.
    Index cols = 0;                        ///< Number of columns.
    Symmetry symmetry = Symmetry::general; ///< Unless general, only the lower triangle is stored.
    std::vector<Offset> col_ptr{0};        ///< cols + 1 positions.
    std::vector<Index> row_ind;            ///< Row of each stored entry, ascending in each column.
    std::vector<T> values;                 ///< Value of each stored entry.

    /// The positions of the entries of column j in row_ind and values.
    [[nodiscard]] IndexRange entries_of(Index j) const { return {col_ptr[j], col_ptr[j + 1]}; }
    /// Number of stored entries (those of the lower triangle unless the symmetry is general).
    [[nodiscard]] Offset stored() const { return col_ptr.back(); }
    /// Number of entries of the whole matrix, both triangles included.
    [[nodiscard]] Offset nnz() const;
    /// Throws Error{bad_input} naming the first broken invariant, or a NaN or Inf with its row and column.
    void validate() const;
};

/// A matrix as a file or a generator provides it.
using AnyMatrix = std::variant<CscMatrix<double>, CscMatrix<std::complex<double>>>;

/// Describes where a matrix comes from and how it was interpreted.
struct MatrixDescription {
    std::string name;               ///< File name without directories, or the generator's spelling.
    std::string format;             ///< "Matrix Market", "Rutherford-Boeing", "Harwell-Boeing", "generator".
    std::string declared;           ///< The declared type, e.g. "coordinate real symmetric" or "rsa".
    Offset entries_in_file = 0;     ///< Number of entries in the file.
    Offset duplicates_summed = 0;   ///< Duplicate entries that were summed.
    std::vector<std::string> notes; ///< e.g. "both triangles of a symmetric matrix were stored".
};

/// A matrix and its description.
struct NamedMatrix {
    AnyMatrix matrix;              ///< The matrix.
    MatrixDescription description; ///< Its origin.
};

/// Column-major dense block, e.g. several right-hand sides: entry (i, j) is values[i + j * rows].
template <class T> struct DenseMatrix {
    Index rows = 0;        ///< Number of rows.
    Index cols = 0;        ///< Number of columns.
    std::vector<T> values; ///< rows * cols values.
    /// Pointer to the `rows` entries of column j.
    [[nodiscard]] T* column(Index j) { return values.data() + j * rows; }
    /// Pointer to the `rows` entries of column j.
    [[nodiscard]] T const* column(Index j) const { return values.data() + j * rows; }
};

} // namespace espalier
