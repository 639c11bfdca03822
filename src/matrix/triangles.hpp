// Which triangles of a matrix a file stores, and what follows from its values: everything between "the
// entries as they stand in the file" and the storage that espalier/matrix.hpp asks for.
#pragma once

#include <string>
#include <vector>

#include "core/scalar.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// For a file declared symmetric, Hermitian or skew-symmetric; `matrix` holds its entries as a general one.
/// Where an entry and its mirror image are both stored they must agree, and one is kept; where one of them
/// is, it stands for both. The result is the lower triangle, symmetry set, or for a skew-symmetric file the
/// whole general matrix. Unusual storage leaves a note. Error{bad_input}, beginning with `source`: not
/// square; an entry that contradicts its mirror image, or a diagonal that contradicts the declaration.
template <class T> void fold_triangles(CscMatrix<T>& matrix, DeclaredSymmetry declared,
                                       std::string const& source, std::vector<std::string>& notes);

/// Whether A(i, j) = A(j, i), conjugated if asked, for all entries of a square general matrix. Linear time,
/// one pointer per column, and returns at the first difference.
template <class T> bool equals_mirror_image(CscMatrix<T> const& matrix, bool conjugate);

/// For a file declared general: when it is square and its values are exactly symmetric (tried first) or
/// Hermitian, keep the lower triangle, set the symmetry and leave a note.
template <class T> void recognize_symmetry(CscMatrix<T>& matrix, std::vector<std::string>& notes);

// The steps of these, on consecutive columns of a square matrix: `matrix` has those from `first` on.

/// A(j, i) where A(i, j) = value.
template <class T> T mirror_image(DeclaredSymmetry declared, T value) {
    if (declared == DeclaredSymmetry::skew_symmetric) return -value;
    return conj_if(declared == DeclaredSymmetry::hermitian, value);
}

/// Of a folded matrix, not a skew-symmetric one.
template <class T> Symmetry folded_symmetry(DeclaredSymmetry declared) {
    bool const hermitian = declared == DeclaredSymmetry::hermitian && is_complex<T>;
    return hermitian ? Symmetry::hermitian : Symmetry::symmetric;
}

/// Entries off the diagonal that a file stores, and those of which it stores the mirror image too.
struct TriangleCounts {
    Offset below = 0;
    Offset above = 0;
    Offset both = 0;
};

void require_square(Index rows, Index cols, DeclaredSymmetry declared, std::string const& source);
template <class T> void check_diagonal(CscMatrix<T> const& matrix, Index first, DeclaredSymmetry declared,
                                       std::string const& source);
template <class T> TriangleCounts count_triangles(CscMatrix<T> const& matrix, Index first);
/// Drops the entries above the diagonal.
template <class T> void keep_lower(CscMatrix<T>& matrix, Index first);
/// Keeps the lower triangle, with what `mirror`, the image of the upper one in the same columns, has besides.
/// How many entries both have, which must be equal.
template <class T> Offset fold_in(CscMatrix<T>& matrix, Index first, CscMatrix<T> const& mirror,
                                  DeclaredSymmetry declared, std::string const& source);

void note_storage(TriangleCounts const& counts, std::vector<std::string>& notes);
void note_recognized(Symmetry symmetry, std::vector<std::string>& notes);
inline constexpr char const* note_of_expansion = "a skew-symmetric matrix was expanded to a general one";

} // namespace espalier
