// A general matrix with entries at random positions. The positions are drawn twice from the same sequence, to
// count and to store them, so no list of triples is needed; a position that occurs twice becomes one entry.
// The modulus of each diagonal entry exceeds the sum of the moduli of the rest of its column by 0.01 to 1, so
// the matrix is nonsingular.
#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "generators/generate.hpp"
#include "matrix/entries.hpp"

namespace espalier {
namespace {

struct Position {
    Index row, column;
};

/// Draws a uniformly distributed off-diagonal position; n > 1.
Position draw_position(SplitMix64& random, Index n) {
    Index const column = random.below(n), row = random.below(n - 1);
    return {row < column ? row : row + 1, column};
}

//// The rows of each column including the diagonal, unsorted and with repetitions.
CscMatrix<double> draw_pattern(Index n, Offset off_diagonal, std::uint64_t seed) {
    return build_columns<double>(n, n, Symmetry::general, [&](auto const& put) {
        for (Index j = 0; j < n; ++j) put(j, j, 0.0);
        SplitMix64 random(seed);
        for (Offset k = 0; k < off_diagonal; ++k) {
            auto const [row, column] = draw_position(random, n);
            put(row, column, 0.0);
        }
    });
}

void sort_and_compact(CscMatrix<double>& a) {
    Offset kept = 0, begin = 0;
    for (Index j = 0; j < a.cols; ++j) {
        Offset const end = a.col_ptr[j + 1];
        std::sort(a.row_ind.begin() + begin, a.row_ind.begin() + end);
        for (Offset k = begin; k < end; ++k)
            if (k == begin || a.row_ind[k] != a.row_ind[kept - 1]) a.row_ind[kept++] = a.row_ind[k];
        begin = end;
        a.col_ptr[j + 1] = kept;
    }
    a.row_ind.resize(kept);
}

} // namespace

CscMatrix<double> generate_random(Index n, Offset off_diagonal, std::uint64_t seed) {
    auto a = draw_pattern(n, off_diagonal, seed);
    sort_and_compact(a);
    a.values.resize(a.row_ind.size());
    SplitMix64 random(mix_bits(seed + 1));
    for (Index j = 0; j < n; ++j) {
        double sum = 0;
        Offset diagonal = a.col_ptr[j];
        for (Offset k : a.entries_of(j)) {
            if (a.row_ind[k] == j) {
                diagonal = k;
                continue;
            }
            a.values[k] = random.uniform(-1, 1);
            sum += std::abs(a.values[k]);
        }
        double const excess = random.uniform(0.01, 1);
        a.values[diagonal] = (random.next() & 1u) ? sum + excess : -(sum + excess);
    }
    return a;
}

} // namespace espalier
