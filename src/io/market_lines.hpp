// The lines after the head of a Matrix Market file, or some of them: entries out, in the order of the file.
// Lines are cut at line ends into one piece per thread, each parsed into its own array.
#pragma once

#include <complex>
#include <variant>
#include <vector>

#include "io/matrix_market_header.hpp"
#include "io/parse_numbers.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// The numbers of an array file in its order, in one piece per thread that parsed them.
template <class T> using Pieces = std::vector<std::vector<T>>;
using AnyPieces = std::variant<Pieces<double>, Pieces<std::complex<double>>>;

/// Whole lines of a coordinate file. The first fault in their order is Error{bad_input}, "name:line: what";
/// so are those of the others.
AnyTriples parse_entry_lines(Source const& lines, MarketHeader const& header, int threads);
/// Of an array file.
AnyPieces parse_array_lines(Source const& lines, MarketHeader const& header, int threads);

/// Entries in all pieces together.
template <class T> Offset total_size(std::vector<std::vector<T>> const& pieces) {
    Offset sum = 0;
    for (auto const& piece : pieces) sum += static_cast<Offset>(piece.size());
    return sum;
}

/// Of consecutive parts of a file's lines: `before` entries are in those that precede `lines`, `here` in it.
/// The part with the first entry too many tells of it; of entries that are missing the last part does.
void require_count(Source const& lines, Offset before, Offset here, bool is_last, Offset declared);

} // namespace espalier
