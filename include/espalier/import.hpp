// Import of sparse matrices from the arrays of the calling program: compressed columns, compressed rows or
// coordinates, with indices that count from 0 or 1 and have 32 or 64 bits, in any order. Symmetric matrices
// are given in full or as one triangle.
//
//     espalier::MatrixArrays<double, int> view;          // spans over the caller's arrays
//     view.layout = espalier::Layout::csr;
//     view.rows = view.cols = n;
//     view.pointers = row_ptr; view.indices = col_ind; view.values = values;
//     espalier::MatrixImport<double> import(view);     // checked and copied
//     solver.factorize(import.matrix());
//     import.set_values(new_values);                   // in the layout and order of the view
//     solver.factorize(import.matrix());
#pragma once

#include <span>
#include <string>
#include <vector>

#include "espalier/export.h"
#include "espalier/matrix.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// The meaning of the index arrays of a MatrixArrays.
enum class Layout {
    csc, ///< Compressed sparse columns.
    csr, ///< Compressed sparse rows.
    coo, ///< Coordinates.
};

/// Which entries of a symmetric or Hermitian matrix are given.
enum class Triangle {
    full,  ///< All. Mirror images must agree up to rounding; the lower triangle is kept.
    lower, ///< Those with row >= column.
    upper, ///< Those with row <= column.
};

/// A view of a sparse matrix in the caller's arrays. Entries may have any order; entries at the same position
/// are summed.
///
///     layout  pointers                          indices               values
///     csc     cols + 1 starts of columns        row of each entry     of each entry
///     csr     rows + 1 starts of rows           column of each entry  of each entry
///     coo     row of each entry                 column of each entry  of each entry
template <class T, class I> struct MatrixArrays {
    Layout layout = Layout::csc;           ///< Row of the table above.
    Symmetry symmetry = Symmetry::general; ///< Symmetry of the values.
    Triangle triangle = Triangle::full;    ///< Which entries are given.
    Index base = 0;                        ///< Indices and starts count from 0 or 1.
    Index rows = 0;                        ///< Number of rows.
    Index cols = 0;                        ///< Number of columns.
    std::span<I const> pointers;           ///< See the table above.
    std::span<I const> indices;            ///< See the table above.
    std::span<T const> values;             ///< Value of each entry.
};

/// The CscMatrix of a view, and the mapping of the view's values into it.
template <class T> class ESPALIER_API MatrixImport {
  public:
    /// An empty matrix with no rows and columns.
    MatrixImport() = default;
    /// Checks and copies the view in time linear in rows, columns and entries. I is std::int32_t or
    /// std::int64_t. Throws Error{bad_input} with the position and value of an invalid size, start, index,
    /// NaN, Inf, entry in the wrong triangle, or entry that contradicts its mirror image; Error{usage} for an
    /// invalid base or triangle.
    template <class I> explicit MatrixImport(MatrixArrays<T, I> const& view);

    /// The imported matrix.
    [[nodiscard]] CscMatrix<T> const& matrix() const { return matrix_; }
    /// Number of entries of the view.
    [[nodiscard]] Offset entries() const { return entries_; }
    /// Replaces the values; `values` has the layout and order of the view. Throws Error{usage} if their
    /// number is wrong, Error{bad_input} as the constructor; the matrix is then unchanged.
    void set_values(std::span<T const> values);
    /// Converts numbers of the stored entries of matrix(), such as derivatives, to the layout and order of
    /// the view. The mirror image of a stored entry gets the same number, or its conjugate if the matrix is
    /// Hermitian. Throws Error{usage} if there are not as many numbers as stored entries.
    [[nodiscard]] std::vector<T> in_order_of_view(std::span<T const> of_stored) const;

  private:
    template <class I> void build_pattern(MatrixArrays<T, I> const& view);
    void merge_duplicates(std::vector<Offset> const& source);
    void add_values(std::span<T const> values, std::vector<T>& sums) const;
    void add_both_triangles(std::span<T const> values, std::vector<T>& sums) const;
    void check_sums(std::vector<T>& sums) const;
    [[nodiscard]] std::string position(Offset stored, bool mirrored) const;

    CscMatrix<T> matrix_;
    Offset entries_ = 0;
    Index base_ = 0;              // for messages
    bool upper_ = false;          // the upper triangle of a symmetric or Hermitian matrix was given
    bool both_triangles_ = false; // both triangles of a symmetric or Hermitian matrix were given
    // Position in matrix_.values of each entry of the view, or ~position if the entry is above the diagonal;
    // empty if entry k is at position k.
    std::vector<Offset> place_;
};

/// Imports the matrix of a view once.
template <class T, class I> CscMatrix<T> import_matrix(MatrixArrays<T, I> const& view) {
    return MatrixImport<T>(view).matrix();
}

} // namespace espalier
