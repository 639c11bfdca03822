// From the coordinate triples of a file to compressed sparse columns, and from what the file declared to
// what its values are. Linear in the entries, but for columns whose rows come unsorted (k log k each).
#pragma once

#include <complex>
#include <string>
#include <variant>
#include <vector>

#include "espalier/matrix.hpp"

namespace espalier {

/// One entry of a file, 0-based.
template <class T> struct Triple {
    Index row;
    Index col;
    T value;
};

/// The entries of a file in its order, in one piece per thread that parsed them.
template <class T> using Triples = std::vector<std::vector<Triple<T>>>;
using AnyTriples = std::variant<Triples<double>, Triples<std::complex<double>>>;

/// What a file says of its matrix's symmetry, and so which of its entries stand for two.
enum class DeclaredSymmetry { general, symmetric, hermitian, skew_symmetric };

/// What a reader hands over: a file's content, before it is understood.
struct CoordinateData {
    std::string source; ///< Name for messages.
    Index rows = 0;
    Index cols = 0;
    DeclaredSymmetry declared = DeclaredSymmetry::general;
    AnyTriples triples;
    MatrixDescription description;
};

/// The matrix of a file. Duplicates of one position are summed and counted. A matrix declared symmetric or
/// Hermitian keeps its lower triangle, whichever triangle (or both) the file stores; a skew-symmetric one is
/// expanded; a square general one whose values are exactly symmetric (Hermitian) becomes so. Each of these
/// leaves a note in the description. Error{bad_input} when the entries contradict the declaration, or a sum
/// of duplicates overflows. The triples are freed on the way.
NamedMatrix assemble(CoordinateData data, int threads);

/// For readers, once the sizes are known and before anything is allocated for them: what is absurd about
/// them, or an empty string. Sizes must be non-negative, rows and columns at most 2^40, and at most
/// 16 entries + 10^6 (else nearly all of them are empty).
std::string absurd_sizes(Index rows, Index cols, Offset entries);

/// Entries with the same column together and sorted by row, duplicates summed in the file's order (so the
/// result does not depend on `threads`) and counted. Indices must be in range. Frees `triples`.
template <class T>
CscMatrix<T> compress_columns(Index rows, Index cols, Triples<T> triples, int threads, Offset& duplicates);

/// Error{bad_input}, beginning with `source`, when a sum of duplicates overflowed. `matrix` has the columns
/// of another from `first` on.
template <class T> void check_duplicates(CscMatrix<T> const& matrix, Index first, std::string const& source);
void note_duplicates(Offset count, std::vector<std::string>& notes);

} // namespace espalier
