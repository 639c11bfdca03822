// Conversion of the entries of a file to the storage that espalier/matrix.hpp requires: checks of the
// declared symmetry, folding of two triangles into one, and detection of symmetry in the values.
#pragma once

#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// Converts a general matrix with the entries of a file that is declared symmetric, Hermitian or
/// skew-symmetric. If both an entry and its mirror image are stored, they must agree; if only one is stored,
/// it stands for both. The result is the lower triangle with its symmetry, or the whole general matrix if the
/// file is skew-symmetric. Adds a note if the upper triangle is stored. Throws Error{bad_input}, starting
/// with `source`, if the matrix is not square, entries contradict their mirror images, or the diagonal
/// contradicts the declaration.
template <class T> void fold_triangles(CscMatrix<T>& matrix, DeclaredSymmetry declared,
                                       std::string const& source, std::vector<std::string>& notes);

/// Whether A(i, j) = A(j, i), or its conjugate, for all entries of a square general matrix. Takes linear time
/// and returns at the first difference.
template <class T> bool equals_mirror_image(CscMatrix<T> const& matrix, bool conjugate);

/// Detects exact symmetry of a square matrix that is declared general: if its values are symmetric or
/// Hermitian, keeps the lower triangle, sets the symmetry and adds a note.
template <class T> void recognize_symmetry(CscMatrix<T>& matrix, std::vector<std::string>& notes);

// The following steps also work on part of a square matrix: `matrix` holds consecutive columns from `first`
// on.

/// A(j, i) if A(i, j) = value.
template <class T> T mirror_image(DeclaredSymmetry declared, T value) {
    if (declared == DeclaredSymmetry::skew_symmetric) return -value;
    return conj_if(declared == DeclaredSymmetry::hermitian, value);
}

/// The symmetry of a matrix declared symmetric or Hermitian after folding.
template <class T> Symmetry folded_symmetry(DeclaredSymmetry declared) {
    bool const hermitian = declared == DeclaredSymmetry::hermitian && is_complex<T>;
    return hermitian ? Symmetry::hermitian : Symmetry::symmetric;
}

struct TriangleCounts {
    Offset below = 0; ///< Below the diagonal.
    Offset above = 0; ///< Above the diagonal.
    Offset both = 0;  ///< Below the diagonal with a stored mirror image.
};

/// Throws Error{bad_input} if rows != cols.
void require_square(Index rows, Index cols, DeclaredSymmetry declared, std::string const& source);
/// Throws Error{bad_input} if a diagonal entry contradicts the declared symmetry.
template <class T> void check_diagonal(CscMatrix<T> const& matrix, Index first, DeclaredSymmetry declared,
                                       std::string const& source);
template <class T> TriangleCounts count_triangles(CscMatrix<T> const& matrix, Index first);
template <class T> void keep_lower(CscMatrix<T>& matrix, Index first);
/// Removes the upper triangle and adds the entries of `mirror`, the mirror image of the upper triangle in the
/// same columns. Entries in both must be equal, else throws Error{bad_input}. Returns their number.
template <class T> Offset fold_in(CscMatrix<T>& matrix, Index first, CscMatrix<T> const& mirror,
                                  DeclaredSymmetry declared, std::string const& source);

void note_storage(TriangleCounts const& counts, std::vector<std::string>& notes);
/// Adds a note that the values of a general matrix have this symmetry.
void note_recognized(Symmetry symmetry, std::vector<std::string>& notes);
inline constexpr char const* note_of_expansion = "a skew-symmetric matrix was expanded to a general one";

} // namespace espalier
