// The matrix the pipeline starts from: compressed sparse columns.
//
// Invariants (validate() checks them): col_ptr has cols + 1 non-decreasing entries from 0; the rows of
// each column are sorted and without duplicates; a symmetric or Hermitian matrix is square and stores its
// lower triangle only (row >= column), the diagonal included where it is present; a Hermitian matrix has
// a real diagonal.
#pragma once

#include <complex>
#include <string>
#include <variant>
#include <vector>

#include "espalier/types.hpp"

namespace espalier {

/// Compressed sparse columns; column j is at positions col_ptr[j] .. col_ptr[j + 1] - 1.
template <class T> struct ESPALIER_API CscMatrix {
    Index rows = 0;                        ///< Number of rows.
    Index cols = 0;                        ///< Number of columns.
    Symmetry symmetry = Symmetry::general; ///< Unless general, only the lower triangle is stored.
    std::vector<Offset> col_ptr{0};        ///< cols + 1 positions.
    std::vector<Index> row_ind;            ///< Row of each stored entry, ascending in each column.
    std::vector<T> values;                 ///< Value of each stored entry.

    /// Entries stored (for a symmetric matrix: of the lower triangle).
    [[nodiscard]] Offset stored() const { return col_ptr.back(); }
    /// Entries of the whole matrix: those above the diagonal of a symmetric matrix counted too.
    [[nodiscard]] Offset nnz() const;
    /// Error{bad_input} naming the first broken invariant, or a NaN or Inf with its row and column.
    void validate() const;
};

/// A matrix as it comes from a file or generator.
using AnyMatrix = std::variant<CscMatrix<double>, CscMatrix<std::complex<double>>>;

/// What was understood when a matrix was read or generated; printed by the command.
struct MatrixDescription {
    std::string name;               ///< File name without directories, or the generator's spelling.
    std::string format;             ///< "Matrix Market", "Rutherford-Boeing", "Harwell-Boeing", "generator".
    std::string declared;           ///< The file's own words, e.g. "coordinate real symmetric" or "rsa".
    Offset entries_in_file = 0;     ///< Entries as the file counts them.
    Offset duplicates_summed = 0;   ///< Entries that were added to another at the same place.
    std::vector<std::string> notes; ///< e.g. "both triangles of a symmetric matrix were stored".
};

/// A matrix and where it is from.
struct NamedMatrix {
    AnyMatrix matrix;              ///< The entries.
    MatrixDescription description; ///< Where they are from.
};

/// Column-major dense block, e.g. several right-hand sides: entry (i, j) is values[i + j * rows].
template <class T> struct DenseMatrix {
    Index rows = 0;        ///< Number of rows.
    Index cols = 0;        ///< Number of columns.
    std::vector<T> values; ///< rows * cols of them.
    /// The first of the `rows` entries of column j.
    [[nodiscard]] T* column(Index j) { return values.data() + j * rows; }
    /// The same.
    [[nodiscard]] T const* column(Index j) const { return values.data() + j * rows; }
};

} // namespace espalier
