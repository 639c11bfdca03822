// Conversions between storage forms. The passes walk the columns in ascending order, so whatever they
// append to other columns arrives there sorted; nothing is ever sorted afterwards.
#include "matrix/convert.hpp"

#include <fmt/format.h>

namespace espalier {
namespace {

template <class To, class From> void require_convertible() {
    if constexpr (is_complex<From> && !is_complex<To>)
        throw Error(Status::usage,
                    fmt::format("a complex matrix cannot be converted to real scalars: choose precision "
                                "c or z instead of {}",
                                to_string(scalar_of<To>)));
}

/// Only called where require_convertible() has passed; from complex to real it would drop the imaginary part.
template <class To, class From> To cast(From value) {
    if constexpr (is_complex<To>)
        return To(static_cast<Real<To>>(real_part(value)), static_cast<Real<To>>(imag_part(value)));
    else
        return static_cast<To>(real_part(value));
}

[[noreturn]] void reject_overflow(Index i, Index j) {
    throw Error(Status::bad_input,
                fmt::format("value at row {}, column {} (counted from 0) is too large for single "
                            "precision",
                            i, j));
}

template <class T> CscMatrix<T> empty_like(CscMatrix<T> const& a, Index rows, Index cols) {
    CscMatrix<T> result;
    result.rows = rows;
    result.cols = cols;
    result.symmetry = a.symmetry;
    result.col_ptr.assign(cols + 1, 0);
    return result;
}

template <class T> void require_square(CscMatrix<T> const& a) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("matrix is {} x {}, a square one is needed", a.rows, a.cols));
}

} // namespace

void refuse_overflow(std::string_view path, std::string_view what, Index row, Index col) {
    throw Error(Status::bad_input,
                fmt::format("{}: {} has a value in row {}, column {} that is too large for single precision",
                            path, what, row + 1, col + 1));
}

template <class To, class From> CscMatrix<To> convert(CscMatrix<From> const& a) {
    require_convertible<To, From>();
    CscMatrix<To> result;
    result.rows = a.rows;
    result.cols = a.cols;
    result.symmetry = a.symmetry;
    result.col_ptr = a.col_ptr;
    result.row_ind = a.row_ind;
    result.values.resize(a.values.size());
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            result.values[k] = cast<To>(a.values[k]);
            if (!is_finite(result.values[k]) && is_finite(a.values[k])) reject_overflow(a.row_ind[k], j);
        }
    return result;
}

template <class To, class From> DenseMatrix<To> convert(DenseMatrix<From> const& a) {
    require_convertible<To, From>();
    DenseMatrix<To> result{a.rows, a.cols, std::vector<To>(a.values.size())};
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) {
            From const value = a.column(j)[i];
            result.column(j)[i] = cast<To>(value);
            if (!is_finite(result.column(j)[i]) && is_finite(value)) reject_overflow(i, j);
        }
    return result;
}

template <class T> CscMatrix<T> expand_symmetric(CscMatrix<T> const& a) {
    if (a.symmetry == Symmetry::general) return a;
    bool const conjugate = a.symmetry == Symmetry::hermitian;
    auto full = empty_like(a, a.rows, a.cols);
    full.symmetry = Symmetry::general;
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            ++full.col_ptr[j + 1];
            if (a.row_ind[k] != j) ++full.col_ptr[a.row_ind[k] + 1];
        }
    for (Index j = 0; j < a.cols; ++j) full.col_ptr[j + 1] += full.col_ptr[j];

    full.row_ind.resize(full.stored());
    full.values.resize(full.stored());
    std::vector<Offset> next(full.col_ptr.begin(), full.col_ptr.end() - 1);
    auto const append = [&](Index i, Index j, T value) {
        Offset const place = next[j]++;
        full.row_ind[place] = i;
        full.values[place] = value;
    };
    // When column j is reached, its part above the diagonal has been appended by the columns before it.
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Index const i = a.row_ind[k];
            append(i, j, a.values[k]);
            if (i != j) append(j, i, conj_if(conjugate, a.values[k]));
        }
    return full;
}

template <class T> CscMatrix<T> lower_triangle(CscMatrix<T> const& a, Symmetry symmetry) {
    require_square(a);
    if (symmetry == Symmetry::general || (a.symmetry != Symmetry::general && a.symmetry != symmetry))
        throw Error(Status::usage, fmt::format("the lower triangle of a {} matrix cannot stand for a {} one",
                                               to_string(a.symmetry), to_string(symmetry)));
    if (a.symmetry == symmetry) return a;
    auto lower = empty_like(a, a.rows, a.cols);
    lower.symmetry = symmetry;
    for (Index j = 0; j < a.cols; ++j) {
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k)
            if (a.row_ind[k] >= j) {
                lower.row_ind.push_back(a.row_ind[k]);
                lower.values.push_back(a.values[k]);
            }
        lower.col_ptr[j + 1] = static_cast<Offset>(lower.row_ind.size());
    }
    return lower;
}

template <class T> CscMatrix<T> transpose(CscMatrix<T> const& a) {
    if (a.symmetry != Symmetry::general) {
        auto result = a;
        if (a.symmetry == Symmetry::hermitian)
            for (T& value : result.values) value = conj_if(true, value);
        return result;
    }
    auto result = empty_like(a, a.cols, a.rows);
    for (Index const i : a.row_ind) ++result.col_ptr[i + 1];
    for (Index i = 0; i < a.rows; ++i) result.col_ptr[i + 1] += result.col_ptr[i];
    result.row_ind.resize(a.stored());
    result.values.resize(a.stored());
    std::vector<Offset> next(result.col_ptr.begin(), result.col_ptr.end() - 1);
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Offset const place = next[a.row_ind[k]]++;
            result.row_ind[place] = j;
            result.values[place] = a.values[k];
        }
    return result;
}

#define ESPALIER_INSTANTIATE_PAIR(To, From)                                                                  \
    template CscMatrix<To> convert(CscMatrix<From> const&);                                                  \
    template DenseMatrix<To> convert(DenseMatrix<From> const&);
#define ESPALIER_INSTANTIATE(T)                                                                              \
    ESPALIER_INSTANTIATE_PAIR(float, T)                                                                      \
    ESPALIER_INSTANTIATE_PAIR(double, T)                                                                     \
    ESPALIER_INSTANTIATE_PAIR(std::complex<float>, T)                                                        \
    ESPALIER_INSTANTIATE_PAIR(std::complex<double>, T)                                                       \
    template CscMatrix<T> expand_symmetric(CscMatrix<T> const&);                                             \
    template CscMatrix<T> lower_triangle(CscMatrix<T> const&, Symmetry);                                     \
    template CscMatrix<T> transpose(CscMatrix<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE
#undef ESPALIER_INSTANTIATE_PAIR

} // namespace espalier
