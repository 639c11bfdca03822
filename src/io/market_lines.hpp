// Parser of the lines after the head of a Matrix Market file, or of some of them. Output: the entries in the
// order of the file. Each thread parses a piece of whole lines into its own array.
#pragma once

#include <complex>
#include <variant>
#include <vector>

#include "io/matrix_market_header.hpp"
#include "io/parse_numbers.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// The numbers of an array file in its order, in one piece for each thread that parsed them.
template <class T> using Pieces = std::vector<std::vector<T>>;
using AnyPieces = std::variant<Pieces<double>, Pieces<std::complex<double>>>;

/// Parses whole lines of a coordinate file. Throws Error{bad_input} "name:line: ..." for the first invalid
/// line.
AnyTriples parse_entry_lines(Source const& lines, MarketHeader const& header, int threads);
/// Parses whole lines of an array file, with the same errors.
AnyPieces parse_array_lines(Source const& lines, MarketHeader const& header, int threads);

template <class T> Offset total_size(std::vector<std::vector<T>> const& pieces) {
    Offset sum = 0;
    for (auto const& piece : pieces) sum += std::ssize(piece);
    return sum;
}

/// Checks the number of entries in part of the lines of a file: `before` entries precede `lines`, which
/// contain `here` entries. Throws Error{bad_input} if `lines` contain the first entry beyond the declared
/// number, or if they are the last part and entries are missing.
void require_count(Source const& lines, Offset before, Offset here, bool is_last, Offset declared);

} // namespace espalier
