// Matrices in the arrays of the program one already has: compressed columns, compressed rows or coordinates,
// counted from 0 or 1, with indices of 32 or 64 bits, in any order, symmetric ones in full or as one
// triangle.
//
//     espalier::MatrixArrays<double, int> view;          // spans over the caller's arrays, nothing is owned
//     view.layout = espalier::Layout::csr;
//     view.rows = view.cols = n;
//     view.pointers = row_ptr; view.indices = col_ind; view.values = values;
//     espalier::MatrixImport<double> import(view);     // checked and copied
//     solver.factorize(import.matrix());
//     import.set_values(new_values);                   // the same layout and order as in the view
//     solver.factorize(import.matrix());
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/export.h"
#include "espalier/matrix.hpp"
#include "espalier/types.hpp"

namespace espalier {

/// What the index arrays of a MatrixArrays mean.
enum class Layout {
    csc, ///< Compressed sparse columns.
    csr, ///< Compressed sparse rows.
    coo, ///< Coordinates.
};

/// Which entries of a symmetric or Hermitian matrix are given.
enum class Triangle {
    full,  ///< All; an entry must equal its mirror image up to rounding, and the lower one is kept.
    lower, ///< Those with row >= column.
    upper, ///< Those with row <= column.
};

/// A sparse matrix in somebody else's arrays. Entries may come in any order, those at one position are
/// summed.
///
///     layout  pointers                          indices               values
///     csc     cols + 1 starts of columns        row of each entry     of each entry
///     csr     rows + 1 starts of rows           column of each entry  of each entry
///     coo     row of each entry                 column of each entry  of each entry
template <class T, class I> struct MatrixArrays {
    Layout layout = Layout::csc;           ///< Which row of the table.
    Symmetry symmetry = Symmetry::general; ///< Of the values.
    Triangle triangle = Triangle::full;    ///< Which entries are given.
    Index base = 0;                        ///< Indices and starts count from here: 0 or 1.
    Index rows = 0;                        ///< Number of rows.
    Index cols = 0;                        ///< Number of columns.
    std::span<I const> pointers;           ///< See the table.
    std::span<I const> indices;            ///< See the table.
    std::span<T const> values;             ///< Of each entry.
};

/// The CscMatrix of a view, and the way of each of its values into it.
template <class T> class ESPALIER_API MatrixImport {
  public:
    /// An empty matrix.
    MatrixImport() = default;
    /// Checks and copies, in time linear in rows, columns and entries. Error{bad_input} naming the position
    /// and value at fault (sizes, starts, indices, NaN, Inf, an entry in the wrong triangle, one that
    /// contradicts its mirror image); Error{usage} for a base or triangle that does not make sense. Index is
    /// std::int32_t or std::int64_t.
    template <class I> explicit MatrixImport(MatrixArrays<T, I> const& view);

    /// What the solver takes.
    [[nodiscard]] CscMatrix<T> const& matrix() const { return matrix_; }
    /// Entries of the view.
    [[nodiscard]] Offset entries() const { return entries_; }
    /// Other values in the layout and order of the view. On Error{bad_input} the matrix is as it was.
    void set_values(std::span<T const> values);

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
    bool upper_ = false;          // that triangle of a symmetric or Hermitian matrix was given
    bool both_triangles_ = false; // of a symmetric or Hermitian matrix were given
    // Of each entry of the view in matrix_.values, ~place for a mirror image above the diagonal; empty: entry
    // k is at k.
    std::vector<Offset> place_;
};

/// The matrix of a view, for one use.
template <class T, class I> CscMatrix<T> import_matrix(MatrixArrays<T, I> const& view) {
    return MatrixImport<T>(view).matrix();
}

} // namespace espalier
