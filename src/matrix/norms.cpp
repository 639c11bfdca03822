// Norms and backward errors. Maxima go through larger(), which keeps a NaN once it has seen one; fractions
// through safe_ratio(), which turns everything that is not finite into infinity.
#include "matrix/norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/scalar.hpp"
#include "matrix/spmv.hpp"

namespace espalier {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double larger(double maximum, double value) {
    return value > maximum || std::isnan(value) ? value : maximum;
}

/// |value| in double, so that moduli and sums of single-precision numbers do not overflow.
template <class T> double modulus(T value) {
    if constexpr (is_complex<T>)
        return std::abs(std::complex<double>(value));
    else
        return std::abs(static_cast<double>(value));
}

double safe_ratio(double error, double scale) {
    if (!std::isfinite(error) || !std::isfinite(scale)) return infinity;
    if (error == 0) return 0;
    return scale == 0 ? infinity : error / scale;
}

double largest(std::vector<double> const& sums) {
    double maximum = 0;
    for (double const sum : sums) maximum = larger(maximum, sum);
    return maximum;
}

/// Sums of moduli along the rows (of a triangle: of the whole matrix, where rows and columns agree).
template <class T> std::vector<double> row_sums(CscMatrix<T> const& a) {
    bool const mirrored = a.symmetry != Symmetry::general;
    std::vector<double> sums(a.rows, 0.0);
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Index const i = a.row_ind[k];
            double const value = modulus(a.values[k]);
            sums[i] += value;
            if (mirrored && i != j) sums[j] += value;
        }
    return sums;
}

} // namespace

template <class T> double infinity_norm(CscMatrix<T> const& a) {
    return largest(row_sums(a));
}

template <class T> double one_norm(CscMatrix<T> const& a) {
    if (a.symmetry != Symmetry::general) return infinity_norm(a);
    double maximum = 0;
    for (Index j = 0; j < a.cols; ++j) {
        double sum = 0;
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) sum += modulus(a.values[k]);
        maximum = larger(maximum, sum);
    }
    return maximum;
}

template <class T> double max_abs(CscMatrix<T> const& a) {
    return infinity_norm(std::span<T const>(a.values));
}

template <class T> double frobenius_norm(CscMatrix<T> const& a) {
    double const scale = max_abs(a);
    if (scale == 0 || !std::isfinite(scale)) return scale;
    bool const mirrored = a.symmetry != Symmetry::general;
    double sum = 0;
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            double const ratio = modulus(a.values[k]) / scale;
            sum += (mirrored && a.row_ind[k] != j ? 2 : 1) * ratio * ratio;
        }
    return scale * std::sqrt(sum);
}

template <class T> double infinity_norm(std::span<T const> x) {
    double maximum = 0;
    for (T const value : x) maximum = larger(maximum, modulus(value));
    return maximum;
}

template <class T> double normwise_backward_error(double matrix_norm, std::span<T const> r,
                                                  std::span<T const> x, std::span<T const> b, Index nrhs) {
    Index const rows = nrhs < 1 ? 0 : static_cast<Index>(b.size()) / nrhs;
    Index const cols = nrhs < 1 ? 0 : static_cast<Index>(x.size()) / nrhs;
    require_block_size("b", b.size(), rows, nrhs);
    require_block_size("r", r.size(), rows, nrhs);
    require_block_size("x", x.size(), cols, nrhs);
    double worst = 0;
    for (Index c = 0; c < nrhs; ++c) {
        double const x_norm = infinity_norm(x.subspan(c * cols, cols));
        double const b_norm = infinity_norm(b.subspan(c * rows, rows));
        double const r_norm = infinity_norm(r.subspan(c * rows, rows));
        worst = std::max(worst, safe_ratio(r_norm, matrix_norm * x_norm + b_norm));
    }
    return worst;
}

template <class T> double normwise_backward_error(CscMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, Index nrhs) {
    std::vector<T> r(b.size());
    residual<T>(a, x, b, r, nrhs);
    return normwise_backward_error<T>(infinity_norm(a), r, x, b, nrhs);
}

template <class T> double componentwise_backward_error(CscMatrix<T> const& a, std::span<T const> x,
                                                       std::span<T const> b, Index nrhs) {
    std::vector<T> r(b.size());
    std::vector<Real<T>> scale(b.size());
    residual<T>(a, x, b, r, nrhs);
    abs_product<T>(a, x, scale, nrhs);
    // An entry of x that meets an empty column appears in neither r nor |A||x|.
    if (!std::isfinite(infinity_norm(x))) return infinity;
    double worst = 0;
    for (std::size_t i = 0; i < r.size(); ++i)
        worst = std::max(worst, safe_ratio(modulus(r[i]), static_cast<double>(scale[i]) + modulus(b[i])));
    return worst;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template double infinity_norm(CscMatrix<T> const&);                                                      \
    template double one_norm(CscMatrix<T> const&);                                                           \
    template double max_abs(CscMatrix<T> const&);                                                            \
    template double frobenius_norm(CscMatrix<T> const&);                                                     \
    template double infinity_norm(std::span<T const>);                                                       \
    template double normwise_backward_error(CscMatrix<T> const&, std::span<T const>, std::span<T const>,     \
                                            Index);                                                          \
    template double normwise_backward_error(double, std::span<T const>, std::span<T const>,                  \
                                            std::span<T const>, Index);                                      \
    template double componentwise_backward_error(CscMatrix<T> const&, std::span<T const>,                    \
                                                 std::span<T const>, Index);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
