// Which triangles of a matrix a file stores, and what follows from its values: everything between "the
// entries as they stand in the file" and the storage that espalier/matrix.hpp asks for.
#pragma once

#include <string>
#include <vector>

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

} // namespace espalier
