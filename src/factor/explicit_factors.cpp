#include "factor/explicit_factors.hpp"

#include <algorithm>
#include <utility>

#include "matrix/convert.hpp"

namespace espalier {

namespace {

// For each column of the structure its place in the order of the pivots.
template <class T> std::vector<Index> places_of_pivots(Factor<T> const& factor) {
    FactorForm const form = factor.form();
    std::vector<Index> place(factor.structure().n);
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        Index const first = factor.cblk(k).first_col;
        for (Index i = 0; i < factor.cblk(k).width(); ++i)
            place[first + (form.has_d() || form.has_upper() ? factor.perm(k)[i] : i)] = first + i;
    }
    return place;
}

template <class T> class ColumnWriter {
  public:
    explicit ColumnWriter(Index n) { matrix_.rows = matrix_.cols = n; }
    void put(Index row, T value) {
        if (value == T(0)) return;
        matrix_.row_ind.push_back(row);
        matrix_.values.push_back(value);
    }
    void end_column() { matrix_.col_ptr.push_back(std::ssize(matrix_.row_ind)); }
    CscMatrix<T> take() { return std::move(matrix_); }

  private:
    CscMatrix<T> matrix_;
};

struct PlacedRow {
    Index place = 0; // in the factors
    Index row = 0;   // below the diagonal block of the panel
    bool operator<(PlacedRow const& other) const { return place < other.place; }
};

// The rows below cblk c by ascending places.
std::vector<PlacedRow> placed_rows(BlockStructure const& structure, Cblk const& c, std::vector<Index> const& place) {
    std::vector<PlacedRow> rows;
    for (Blok const& blok : structure.bloks_below(c))
        for (Index i = blok.first_row; i < blok.end_row; ++i)
            rows.push_back({place.empty() ? i : place[i], std::ssize(rows)});
    std::sort(rows.begin(), rows.end());
    return rows;
}

template <class T> CscMatrix<T> lower_factor(Factor<T> const& factor, std::vector<Index> const& place) {
    bool const is_unit = factor.form().has_d() || factor.form().has_upper();
    ColumnWriter<T> writer(factor.structure().n);
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        Cblk const& c = factor.cblk(k);
        MatrixView<T const> const diagonal = factor.diagonal(k), below = factor.below(k);
        auto const rows = placed_rows(factor.structure(), c, place);
        for (Index j = 0; j < c.width(); ++j) {
            writer.put(c.first_col + j, is_unit ? T(1) : diagonal(j, j));
            for (Index i = j + 1; i < c.width(); ++i) writer.put(c.first_col + i, diagonal(i, j));
            for (PlacedRow const& row : rows) writer.put(row.place, below(row.row, j));
            writer.end_column();
        }
    }
    return writer.take();
}

template <class T> CscMatrix<T> block_diagonal(Factor<T> const& factor) {
    ColumnWriter<T> writer(factor.structure().n);
    bool const conjugate = factor.form().conjugate();
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        Index const first = factor.cblk(k).first_col;
        auto const couplings = factor.off_diagonal(k);
        for (Index j = 0; j < factor.cblk(k).width(); ++j) {
            T const pivot = factor.diagonal(k)(j, j);
            if (j > 0) writer.put(first + j - 1, conj_if(conjugate, couplings[j - 1]));
            writer.put(first + j, conjugate ? T(real_part(pivot)) : pivot);
            writer.put(first + j + 1, couplings[j]); // zero for the last column
            writer.end_column();
        }
    }
    return writer.take();
}

template <class T> CscMatrix<T> upper_factor(Factor<T> const& factor) {
    ColumnWriter<T> writer(factor.structure().n); // of U^T
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k) {
        Cblk const& c = factor.cblk(k);
        MatrixView<T const> const diagonal = factor.diagonal(k), across = factor.upper(k);
        auto const rows = placed_rows(factor.structure(), c, {});
        for (Index j = 0; j < c.width(); ++j) {
            for (Index i = j; i < c.width(); ++i) writer.put(c.first_col + i, diagonal(j, i));
            for (PlacedRow const& row : rows) writer.put(row.place, across(row.row, j));
            writer.end_column();
        }
    }
    return transpose(writer.take());
}

} // namespace

template <class T> std::vector<Index> pivot_order(Factor<T> const& factor) {
    auto const place = places_of_pivots(factor);
    std::vector<Index> order(place.size());
    for (Index column = 0; column < std::ssize(place); ++column)
        order[place[column]] = factor.structure().inverse[column];
    return order;
}

template <class T> Factors<T> explicit_factors(Factor<T> const& factor) {
    for (CblkId k = 0; k < factor.structure().num_cblks(); ++k)
        if (factor.delayed(k))
            throw Error(Status::unsupported,
                        "factors with delayed columns are not available as sparse matrices; use pivoting static");
    Factors<T> factors;
    factors.lower = lower_factor(factor, places_of_pivots(factor));
    factors.row_permutation = factors.column_permutation = pivot_order(factor);
    if (factor.form().has_d()) factors.diagonal = block_diagonal(factor);
    if (factor.form().has_upper()) {
        factors.upper = upper_factor(factor);
        factors.column_permutation = factor.structure().inverse;
    }
    return factors;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template std::vector<Index> pivot_order<T>(Factor<T> const&);                                            \
    template Factors<T> explicit_factors<T>(Factor<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
