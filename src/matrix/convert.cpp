// Columns are visited in ascending order, so entries appended to other columns arrive sorted by row.
#include "matrix/convert.hpp"

#include <fmt/format.h>

#include "matrix/entries.hpp"

namespace espalier {
namespace {

template <class To, class From> void require_convertible() {
    if constexpr (is_complex<From> && !is_complex<To>)
        throw Error(Status::usage,
                    fmt::format("a complex matrix cannot be converted to real scalars: choose precision "
                                "c or z instead of {}",
                                to_string(scalar_of<To>)));
}

// Requires require_convertible(), because a conversion from complex to real would drop the imaginary part.
template <class To, class From> To cast(From value, Index i, Index j) {
    auto const narrow = [](auto part) { return static_cast<Real<To>>(part); };
    To result(narrow(real_part(value)));
    if constexpr (is_complex<To>) result.imag(narrow(imag_part(value)));
    if (!is_finite(result) && is_finite(value))
        throw Error(
            Status::bad_input,
            fmt::format("the value at row {}, column {} (counted from 0) is too large for single precision",
                        i, j));
    return result;
}

} // namespace

void reject_overflow(std::string_view path, std::string_view what, Index row, Index col) {
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
    for_each_entry(a, [&](Index i, Index j, Offset p) { result.values[p] = cast<To>(a.values[p], i, j); });
    return result;
}

template <class To, class From> DenseMatrix<To> convert(DenseMatrix<From> const& a) {
    require_convertible<To, From>();
    DenseMatrix<To> result{a.rows, a.cols, std::vector<To>(a.values.size())};
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.rows; ++i) result.column(j)[i] = cast<To>(a.column(j)[i], i, j);
    return result;
}

template <class T> CscMatrix<T> nonzeros(DenseMatrix<T> const& a) {
    return build_columns<T>(a.rows, a.cols, Symmetry::general, [&](auto const& put) {
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.rows; ++i)
                if (T const value = a.column(j)[i]; value != T(0)) put(i, j, value);
    });
}

template <class T> CscMatrix<T> expand_symmetric(CscMatrix<T> const& a) {
    if (a.symmetry == Symmetry::general) return a;
    bool const conjugate = a.symmetry == Symmetry::hermitian;
    return build_columns<T>(a.rows, a.cols, Symmetry::general, [&](auto const& put) {
        for_each_entry(a, [&](Index i, Index j, Offset p) {
            put(i, j, a.values[p]);
            if (i != j) put(j, i, conj_if(conjugate, a.values[p]));
        });
    });
}

template <class T> CscMatrix<T> lower_triangle(CscMatrix<T> const& a, Symmetry symmetry) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("the matrix is {} x {}; a square matrix is needed", a.rows, a.cols));
    if (symmetry == Symmetry::general || (a.symmetry != Symmetry::general && a.symmetry != symmetry))
        throw Error(Status::usage,
                    fmt::format("the lower triangle of a {} matrix cannot represent a {} matrix",
                                to_string(a.symmetry), to_string(symmetry)));
    if (a.symmetry == symmetry) return a;
    return build_columns<T>(a.rows, a.cols, symmetry, [&](auto const& put) {
        for_each_entry(a, [&](Index i, Index j, Offset p) {
            if (i >= j) put(i, j, a.values[p]);
        });
    });
}

template <class T> CscMatrix<T> transpose(CscMatrix<T> const& a) {
    if (a.symmetry == Symmetry::general)
        return build_columns<T>(a.cols, a.rows, a.symmetry, [&](auto const& put) {
            for_each_entry(a, [&](Index i, Index j, Offset p) { put(j, i, a.values[p]); });
        });
    auto result = a;
    if (a.symmetry == Symmetry::hermitian)
        for (T& value : result.values) value = conj(value);
    return result;
}

std::vector<Index> complement(std::span<Index const> removed, Index n) {
    std::vector<bool> is_removed(n, false);
    for (Index const i : removed) is_removed[i] = true;
    std::vector<Index> rest;
    rest.reserve(n - std::ssize(removed));
    for (Index i = 0; i < n; ++i)
        if (!is_removed[i]) rest.push_back(i);
    return rest;
}

template <class T> CscMatrix<T> interior_block(CscMatrix<T> const& a, std::span<Index const> removed) {
    auto const kept = complement(removed, a.cols);
    Index const size = std::ssize(kept);
    std::vector<Index> number(a.cols, -1);
    for (Index k = 0; k < size; ++k) number[kept[k]] = k;
    return build_columns<T>(size, size, a.symmetry, [&](auto const& put) {
        for (Index k = 0; k < size; ++k)
            for (Offset p : a.entries_of(kept[k]))
                if (Index const i = number[a.row_ind[p]]; i >= 0) put(i, k, a.values[p]);
    });
}

#define ESPALIER_INSTANTIATE_PAIR(To, From)                                                                  \
    template CscMatrix<To> convert(CscMatrix<From> const&);                                                  \
    template DenseMatrix<To> convert(DenseMatrix<From> const&);
#define ESPALIER_INSTANTIATE(T)                                                                              \
    ESPALIER_INSTANTIATE_PAIR(float, T)                                                                      \
    ESPALIER_INSTANTIATE_PAIR(double, T)                                                                     \
    ESPALIER_INSTANTIATE_PAIR(std::complex<float>, T)                                                        \
    ESPALIER_INSTANTIATE_PAIR(std::complex<double>, T)                                                       \
    template CscMatrix<T> nonzeros(DenseMatrix<T> const&);                                                   \
    template CscMatrix<T> expand_symmetric(CscMatrix<T> const&);                                             \
    template CscMatrix<T> lower_triangle(CscMatrix<T> const&, Symmetry);                                     \
    template CscMatrix<T> transpose(CscMatrix<T> const&);                                                    \
    template CscMatrix<T> interior_block(CscMatrix<T> const&, std::span<Index const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE
#undef ESPALIER_INSTANTIATE_PAIR

} // namespace espalier
