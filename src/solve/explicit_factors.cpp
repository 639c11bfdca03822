#include "solve/explicit_factors.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "core/inverse_permutation.hpp"
#include "matrix/convert.hpp"

namespace espalier {

namespace {

template <class T> class ColumnWriter {
  public:
    /// At most `entries` are put.
    ColumnWriter(Index n, Offset entries, bool keeps_zeros) : keeps_zeros_(keeps_zeros) {
        matrix_.rows = matrix_.cols = n;
        matrix_.row_ind.reserve(entries);
        matrix_.values.reserve(entries);
    }
    void put(Index row, T value) {
        if (value == T(0) && !keeps_zeros_) return;
        matrix_.row_ind.push_back(row);
        matrix_.values.push_back(value);
    }
    void end_column() { matrix_.col_ptr.push_back(std::ssize(matrix_.row_ind)); }
    CscMatrix<T> take() { return std::move(matrix_); }

  private:
    CscMatrix<T> matrix_;
    bool keeps_zeros_;
};

struct PlacedRow {
    Index place = 0; // position in the factors
    Index row = 0;   // row below the pivots of the panel
    bool operator<(PlacedRow const& other) const { return place < other.place; }
};

// The rows below the pivots of cblk k by ascending positions: the rows left over, whose numbers are
// `numbers`, and the rows of its bloks.
std::vector<PlacedRow> placed_rows(BlockStructure const& structure, CblkId k, std::span<Index const> numbers,
                                   std::vector<Index> const& place) {
    std::vector<PlacedRow> rows;
    for (Index const number : numbers) rows.push_back({place[number], std::ssize(rows)});
    for (Blok const& blok : structure.bloks_below(structure.cblk(k)))
        for (Index i = blok.first_row; i < blok.end_row; ++i) rows.push_back({place[i], std::ssize(rows)});
    std::sort(rows.begin(), rows.end());
    return rows;
}

// The entries of L, and of U, in the structure.
template <class T> Offset triangle_entries(Factor<T> const& factor) {
    Offset entries = 0;
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        Index const pivots = factor.diagonal(k).cols,
                    left = factor.delayed(k) ? factor.delayed(k)->left() : 0;
        entries += pivots * (pivots + 1) / 2 + pivots * (left + factor.cblk(k).rows_below());
    }
    return entries;
}

template <class T>
CscMatrix<T> lower_factor(Factor<T> const& factor, PivotOrder const& order, bool keeps_zeros) {
    bool const is_unit = factor.form().has_d() || factor.form().has_upper();
    auto const place = inverse_permutation(order.rows); // of the pivots, by numbers of the structure
    ColumnWriter<T> writer(factor.structure().n, triangle_entries(factor), keeps_zeros);
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        DelayedPanel<T> const* const delayed = factor.delayed(k);
        MatrixView<T const> const diagonal = factor.diagonal(k);
        Index const first = order.first[k], pivots = diagonal.cols, left = delayed ? delayed->left() : 0;
        MatrixView<T const> const below =
            delayed ? delayed->lower().block(pivots, 0, left + factor.cblk(k).rows_below(), pivots)
                    : factor.below(k);
        auto const numbers =
            delayed ? std::span(delayed->row_numbers()).subspan(pivots) : std::span<Index const>();
        auto const rows = placed_rows(factor.structure(), k, numbers, place);
        for (Index j = 0; j < pivots; ++j) {
            writer.put(first + j, is_unit ? T(1) : diagonal(j, j));
            for (Index i = j + 1; i < pivots; ++i) writer.put(first + i, diagonal(i, j));
            for (PlacedRow const& row : rows) writer.put(row.place, below(row.row, j));
            writer.end_column();
        }
    }
    return writer.take();
}

template <class T> CscMatrix<T> block_diagonal(Factor<T> const& factor, PivotOrder const& order) {
    ColumnWriter<T> writer(factor.structure().n, 3 * factor.structure().n, false);
    bool const conjugate = factor.form().conjugate();
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        Index const first = order.first[k];
        auto const couplings = factor.off_diagonal(k);
        for (Index j = 0; j < factor.diagonal(k).cols; ++j) {
            T const pivot = factor.diagonal(k)(j, j);
            if (j > 0) writer.put(first + j - 1, conj_if(conjugate, couplings[j - 1]));
            writer.put(first + j, conjugate ? T(real_part(pivot)) : pivot);
            writer.put(first + j + 1, couplings[j]); // zero for the last column
            writer.end_column();
        }
    }
    return writer.take();
}

template <class T>
CscMatrix<T> upper_factor(Factor<T> const& factor, PivotOrder const& order, bool keeps_zeros) {
    auto const place = inverse_permutation(order.columns);
    ColumnWriter<T> writer(factor.structure().n, triangle_entries(factor), keeps_zeros); // columns of U^T
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        DelayedPanel<T> const* const delayed = factor.delayed(k);
        MatrixView<T const> const diagonal = factor.diagonal(k), across = factor.upper(k);
        Index const first = order.first[k], pivots = diagonal.cols, left = delayed ? delayed->left() : 0;
        auto const numbers =
            delayed ? std::span(delayed->column_numbers()).subspan(pivots) : std::span<Index const>();
        auto const rows = placed_rows(factor.structure(), k, numbers, place);
        for (Index j = 0; j < pivots; ++j) {
            for (Index i = j; i < pivots; ++i) writer.put(first + i, diagonal(j, i));
            for (PlacedRow const& row : rows)
                writer.put(row.place, row.row < left ? delayed->upper_left_over()(j, row.row)
                                                     : across(row.row - left, j));
            writer.end_column();
        }
    }
    return transpose(writer.take());
}

} // namespace

template <class T> PivotOrder pivot_order(Factor<T> const& factor) {
    PivotOrder order;
    FactorForm const form = factor.form();
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        order.first.push_back(std::ssize(order.rows));
        DelayedPanel<T> const* const delayed = factor.delayed(k);
        Index const first = factor.cblk(k).first_col;
        for (Index i = 0; i < factor.diagonal(k).cols; ++i) {
            Index const row = delayed                            ? delayed->row_numbers()[i]
                              : form.has_d() || form.has_upper() ? first + factor.perm(k)[i]
                                                                 : first + i;
            Index const in_order = delayed ? row : first + i;
            order.rows.push_back(row);
            order.columns.push_back(!form.has_upper() ? row
                                    : delayed         ? delayed->column_numbers()[i]
                                                      : first + i);
            order.results.push_back(in_order);
        }
    }
    return order;
}

// L; U and its transpose, or D; and about ten vectors of numbers and scales.
template <class T> std::uint64_t explicit_factor_bytes(Factor<T> const& factor) {
    Offset const n = factor.structure().n, triangle = triangle_entries(factor);
    Offset const entries =
        triangle * (factor.form().has_upper() ? 3 : 1) + (factor.form().has_d() ? 3 * n : 0);
    return static_cast<std::uint64_t>(entries) * (sizeof(T) + sizeof(Index)) +
           static_cast<std::uint64_t>(10 * n) * sizeof(Index);
}

template <class T> Factors<T> explicit_factors(Factor<T> const& factor, bool keeps_zeros) {
    PivotOrder const order = pivot_order(factor);
    Factors<T> factors;
    factors.lower = lower_factor(factor, order, keeps_zeros);
    if (factor.form().has_d()) factors.diagonal = block_diagonal(factor, order);
    if (factor.form().has_upper()) factors.upper = upper_factor(factor, order, keeps_zeros);
    for (Index const row : order.rows) factors.row_permutation.push_back(factor.structure().inverse[row]);
    for (Index const column : order.columns)
        factors.column_permutation.push_back(factor.structure().inverse[column]);
    return factors;
}

ESPALIER_INSTANTIATE_FUNCTION(pivot_order)
ESPALIER_INSTANTIATE_FUNCTION(explicit_factor_bytes)
ESPALIER_INSTANTIATE_FUNCTION(explicit_factors)

} // namespace espalier
