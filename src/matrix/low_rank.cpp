#include "matrix/low_rank.hpp"

#include <algorithm>
#include <utility>

#include "core/scalar.hpp"
#include "matrix/assemble.hpp"
#include "matrix/entries.hpp"

namespace espalier {

template <class T> double count_products(CscMatrix<T> const& w, Symmetry symmetry) {
    double count = 0;
    for (Index j = 0; j < w.cols; ++j) {
        auto const entries = static_cast<double>(w.col_ptr[j + 1] - w.col_ptr[j]);
        count += symmetry == Symmetry::general ? entries * entries : entries * (entries + 1) / 2;
    }
    return count;
}

template <class T> CscMatrix<T> outer_product(CscMatrix<T> const& w, int sign, Symmetry symmetry) {
    bool const conjugate = symmetry != Symmetry::symmetric;
    Triples<T> products(1);
    for (Index k = 0; k < w.cols; ++k)
        for (Offset const p : w.entries_of(k)) {
            T const factor = static_cast<Real<T>>(sign) * conj_if(conjugate, w.values[p]);
            Index const j = w.row_ind[p];
            for (Offset const q : w.entries_of(k)) {
                Index const i = w.row_ind[q];
                if (symmetry != Symmetry::general && i < j) continue;
                T const value = w.values[q] * factor;
                products[0].push_back({i, j, i == j && conjugate ? T(real_part(value)) : value});
            }
        }
    Offset duplicates = 0;
    CscMatrix<T> s = compress_columns(w.rows, w.rows, std::move(products), 1, duplicates);
    s.symmetry = symmetry;
    return s;
}

// Calls visit(i, j, position in A, position in S) for each entry of the union, with -1 for an absent one.
template <class T, class Visit>
static void visit_union(CscMatrix<T> const& a, CscMatrix<T> const& s, Visit const& visit) {
    for (Index j = 0; j < a.cols; ++j) {
        Offset p = a.col_ptr[j], q = s.col_ptr[j];
        while (p < a.col_ptr[j + 1] || q < s.col_ptr[j + 1]) {
            bool const has_a = p < a.col_ptr[j + 1], has_s = q < s.col_ptr[j + 1];
            Index const i = std::min(has_a ? a.row_ind[p] : a.rows, has_s ? s.row_ind[q] : a.rows);
            bool const in_a = has_a && a.row_ind[p] == i, in_s = has_s && s.row_ind[q] == i;
            visit(i, j, in_a ? p++ : -1, in_s ? q++ : -1);
        }
    }
}

template <class T> MatrixChange<T>::MatrixChange(CscMatrix<T>& a, CscMatrix<T> const& s) : a_(a) {
    places_.reserve(s.values.size());
    for_each_entry(s, [&](Index i, Index j, Offset) {
        auto const first = a.row_ind.begin() + a.col_ptr[j], end = a.row_ind.begin() + a.col_ptr[j + 1];
        auto const found = std::lower_bound(first, end, i);
        if (found != end && *found == i) places_.push_back(found - a.row_ind.begin());
    });
    keeps_pattern_ = std::ssize(places_) == s.stored();
    if (!keeps_pattern_) {
        add_to_pattern(s);
        return;
    }
    for (Offset const place : places_) old_values_.push_back(a.values[place]);
    for_each_entry(s, [&](Index i, Index j, Offset q) {
        T& value = a.values[places_[q]];
        value = sum(i, j, value, s.values[q]);
    });
}

template <class T> T MatrixChange<T>::sum(Index i, Index j, T a, T s) {
    T const value = a + s;
    if (!is_finite(value)) overflow_ = {i, j};
    return value;
}

template <class T> void MatrixChange<T>::add_to_pattern(CscMatrix<T> const& s) {
    CscMatrix<T> changed = build_columns<T>(a_.rows, a_.cols, a_.symmetry, [&](auto const& put) {
        visit_union(a_, s, [&](Index i, Index j, Offset p, Offset q) {
            put(i, j, sum(i, j, p < 0 ? T(0) : a_.values[p], q < 0 ? T(0) : s.values[q]));
        });
    });
    old_ = std::exchange(a_, std::move(changed));
}

template <class T> void MatrixChange<T>::undo() {
    if (!keeps_pattern_) a_ = std::move(old_);
    for (std::size_t q = 0; q < old_values_.size(); ++q) a_.values[places_[q]] = old_values_[q];
}

ESPALIER_INSTANTIATE_FUNCTION(count_products)
ESPALIER_INSTANTIATE_FUNCTION(outer_product)
ESPALIER_INSTANTIATE_CLASS(MatrixChange)

} // namespace espalier
