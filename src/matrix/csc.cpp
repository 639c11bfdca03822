// The members of CscMatrix. validate() assumes nothing about the arrays; each read follows a check of its
// bounds.
#include "espalier/matrix.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/scalar.hpp"

namespace espalier {
namespace {

[[noreturn]] void reject(std::string const& message) {
    throw Error(Status::bad_input, message);
}

/// After this, col_ptr may be used to index row_ind and values.
template <class T> void check_shape(CscMatrix<T> const& a) {
    if (a.rows < 0 || a.cols < 0) reject(fmt::format("the matrix has negative size {} x {}", a.rows, a.cols));
    if (a.symmetry != Symmetry::general && a.rows != a.cols)
        reject(fmt::format("a {} matrix must be square; this matrix is {} x {}", to_string(a.symmetry),
                           a.rows, a.cols));
    if (a.col_ptr.empty() || std::ssize(a.col_ptr) - 1 != a.cols)
        reject(
            fmt::format("col_ptr has {} entries; expected cols + 1 for cols = {}", a.col_ptr.size(), a.cols));
    if (a.col_ptr.front() != 0) reject(fmt::format("col_ptr starts with {}, not 0", a.col_ptr.front()));
    for (Index j = 0; j < a.cols; ++j)
        if (a.col_ptr[j + 1] < a.col_ptr[j])
            reject(fmt::format("col_ptr decreases from {} to {} at column {} (counted from 0)", a.col_ptr[j],
                               a.col_ptr[j + 1], j));
    if (std::ssize(a.row_ind) != a.stored())
        reject(fmt::format("row_ind has {} entries; col_ptr needs {}", a.row_ind.size(), a.stored()));
    if (std::ssize(a.values) != a.stored())
        reject(fmt::format("values has {} entries; col_ptr needs {}", a.values.size(), a.stored()));
}

template <class T> void check_rows(CscMatrix<T> const& a, Index j) {
    Index previous = -1;
    for (Offset k : a.entries_of(j)) {
        Index const i = a.row_ind[k];
        if (i < 0 || i >= a.rows)
            reject(fmt::format("row {} in column {} is outside 0 .. {}", i, j, a.rows - 1));
        if (i == previous) reject(fmt::format("row {} appears twice in column {} (counted from 0)", i, j));
        if (i < previous)
            reject(fmt::format("rows of column {} are not sorted: {} follows {} (counted from 0)", j, i,
                               previous));
        if (a.symmetry != Symmetry::general && i < j)
            reject(fmt::format("the entry at row {}, column {} (counted from 0) is above the diagonal; a {} "
                               "matrix stores only its "
                               "lower triangle",
                               i, j, to_string(a.symmetry)));
        previous = i;
    }
}

template <class T> void check_values(CscMatrix<T> const& a, Index j) {
    for (Offset k : a.entries_of(j)) {
        Index const i = a.row_ind[k];
        T const value = a.values[k];
        if (!is_finite(value)) {
            bool const nan = std::isnan(real_part(value)) || std::isnan(imag_part(value));
            reject(fmt::format("the value at row {}, column {} (counted from 0) is {}", i, j,
                               nan ? "NaN" : "infinite"));
        }
        if (a.symmetry == Symmetry::hermitian && i == j && imag_part(value) != 0)
            reject(fmt::format(
                "the diagonal entry {} (counted from 0) of a Hermitian matrix has imaginary part {}", j,
                imag_part(value)));
    }
}

// Reads the arrays at full speed: the loops have no early exit, so the compiler vectorizes them.
template <class T> bool is_valid(CscMatrix<T> const& a) {
    bool const half = a.symmetry != Symmetry::general;
    unsigned bad = 0;
    for (Index j = 0; j < a.cols; ++j) {
        Offset const begin = a.col_ptr[j], end = a.col_ptr[j + 1];
        if (begin == end) continue;
        bad |= a.row_ind[begin] < (half ? j : 0) || a.row_ind[end - 1] >= a.rows;
        for (Offset p = begin + 1; p < end; ++p) bad |= a.row_ind[p] <= a.row_ind[p - 1] ? 1u : 0u;
    }
    auto const* const numbers = reinterpret_cast<Real<T> const*>(a.values.data());
    std::size_t const count = a.values.size() * (is_complex<T> ? 2 : 1);
    for (std::size_t k = 0; k < count; ++k)
        bad |= std::abs(numbers[k]) <= std::numeric_limits<Real<T>>::max() ? 0u : 1u;
    if (a.symmetry == Symmetry::hermitian)
        for (Index j = 0; j < a.cols; ++j)
            if (Offset const p = a.col_ptr[j]; p < a.col_ptr[j + 1])
                bad |= a.row_ind[p] == j && imag_part(a.values[p]) != 0 ? 1u : 0u;
    return bad == 0;
}

} // namespace

template <class T> Offset CscMatrix<T>::nnz() const {
    if (symmetry == Symmetry::general) return stored();
    Offset diagonal = 0;
    for (Index j = 0; j < cols; ++j)
        if (!entries_of(j).empty() && row_ind[col_ptr[j]] == j) ++diagonal;
    return 2 * stored() - diagonal;
}

template <class T> void CscMatrix<T>::validate() const {
    check_shape(*this);
    if (is_valid(*this)) return;
    for (Index j = 0; j < cols; ++j) { // finds what is wrong
        check_rows(*this, j);
        check_values(*this, j);
    }
}

#define ESPALIER_INSTANTIATE(T) template struct CscMatrix<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
