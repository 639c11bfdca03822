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

template <class T> struct CscMatrix {
    Index rows = 0;
    Index cols = 0;
    Symmetry symmetry = Symmetry::general;
    std::vector<Offset> col_ptr{0};
    std::vector<Index> row_ind;
    std::vector<T> values;

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
    std::string name;           ///< File name without directories, or the generator's spelling.
    std::string format;         ///< "Matrix Market", "Rutherford-Boeing", "Harwell-Boeing", "generator".
    std::string declared;       ///< The file's own words, e.g. "coordinate real symmetric" or "rsa".
    Offset entries_in_file = 0; ///< Entries as the file counts them.
    Offset duplicates_summed = 0;
    std::vector<std::string> notes; ///< e.g. "both triangles of a symmetric matrix were stored".
};

struct NamedMatrix {
    AnyMatrix matrix;
    MatrixDescription description;
};

/// Column-major dense block, e.g. several right-hand sides: entry (i, j) is values[i + j * rows].
template <class T> struct DenseMatrix {
    Index rows = 0;
    Index cols = 0;
    std::vector<T> values;
    [[nodiscard]] T* column(Index j) { return values.data() + j * rows; }
    [[nodiscard]] T const* column(Index j) const { return values.data() + j * rows; }
};

} // namespace espalier
