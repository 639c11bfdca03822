// Assembly of a matrix from the coordinate triples of a file, including the treatment of the declared
// symmetry. Takes time linear in the number of entries, plus k log k for each column whose k rows are not
// sorted.
#pragma once

#include <complex>
#include <string>
#include <variant>
#include <vector>

#include "espalier/matrix.hpp"

namespace espalier {

template <class T> struct Triple {
    Index row; ///< 0-based.
    Index col; ///< 0-based.
    T value;   ///< Value.
};

/// The entries of a file in its order, in one piece for each thread that parsed them.
template <class T> using Triples = std::vector<std::vector<Triple<T>>>;
using AnyTriples = std::variant<Triples<double>, Triples<std::complex<double>>>;

/// The symmetry that a file declares. Unless it is general, an off-diagonal entry also stands for its mirror
/// image.
enum class DeclaredSymmetry { general, symmetric, hermitian, skew_symmetric };

struct CoordinateData {
    std::string source;                                    ///< File name for messages.
    Index rows = 0;                                        ///< Number of rows.
    Index cols = 0;                                        ///< Number of columns.
    DeclaredSymmetry declared = DeclaredSymmetry::general; ///< Declared symmetry.
    AnyTriples triples;                                    ///< The entries.
    MatrixDescription description;                         ///< Description without the notes of assemble().
};

/// Assembles the matrix of a file. Duplicate entries are summed and counted. A matrix declared symmetric or
/// Hermitian keeps its lower triangle, whichever triangles the file stores; a skew-symmetric matrix is
/// expanded; a square general matrix with exactly symmetric or Hermitian values becomes symmetric or
/// Hermitian. Each of these adds a note to the description. Throws Error{bad_input} if entries contradict the
/// declaration or a sum of duplicates overflows. Frees the triples before it returns.
NamedMatrix assemble(CoordinateData data, int threads);

/// Checks the sizes in a file before memory is allocated for them. Returns the reason why they are
/// implausible, or an empty string. Sizes must be non-negative; the numbers of rows and columns must be at
/// most 2^40 and at most 16 entries + 10^6, as otherwise nearly all rows or columns would be empty.
std::string absurd_sizes(Index rows, Index cols, Offset entries);

/// Sorts the entries by column and row, and sums and counts duplicates. The sums follow the order of the
/// file, so the result does not depend on `threads`. Indices must be in range. Frees `triples`.
template <class T>
CscMatrix<T> compress_columns(Index rows, Index cols, Triples<T> triples, int threads, Offset& duplicates);

/// Throws Error{bad_input}, starting with `source`, if a sum of duplicates overflowed. `matrix` holds the
/// columns of the file from `first` on.
template <class T> void check_duplicates(CscMatrix<T> const& matrix, Index first, std::string const& source);
void note_duplicates(Offset count, std::vector<std::string>& notes);

} // namespace espalier
