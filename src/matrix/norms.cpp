// Norms and backward errors. Maxima go through larger(), which keeps a NaN once it has seen one; fractions
// through safe_ratio(), which turns everything that is not finite into infinity. Where that came of an
// overflow alone, the fraction is taken again from smaller numbers.
#include "matrix/norms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/scalar.hpp"
#include "matrix/spmv.hpp"

namespace espalier {
namespace {

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

// Where a product of two finite numbers overflows, the factors are multiplied by this first, and what is
// added to the product by its square. Fractions do not change, and what underflows on the way is too small
// beside a scale above the largest number to change them either.
template <class T> constexpr double shrink = sizeof(Real<T>) == sizeof(float) ? 0x1p-80 : 0x1p-540;

template <class T> std::vector<T> shrunk(std::span<T const> values, int times) {
    std::vector<T> result(values.begin(), values.end());
    for (; times > 0; --times) // one by one: the square is no number in single precision
        for (T& value : result) value *= static_cast<Real<T>>(shrink<T>);
    return result;
}

/// A system so small that neither b - A x nor |A||x| + |b| overflows.
template <class T> struct ShrunkSystem {
    CscMatrix<T> matrix;
    std::vector<T> x;
    std::vector<T> b;

    ShrunkSystem(CscMatrix<T> const& a, std::span<T const> x_given, std::span<T const> b_given)
        : matrix{a.rows, a.cols, a.symmetry, a.col_ptr, a.row_ind, shrunk<T>(a.values, 1)},
          x(shrunk<T>(x_given, 1)), b(shrunk<T>(b_given, 2)) {}
};

template <class T> bool all_finite(std::span<T const> values) {
    return std::all_of(values.begin(), values.end(), [](T value) { return is_finite(value); });
}

template <class T> bool all_finite(CscMatrix<T> const& a, std::span<T const> x, std::span<T const> b) {
    return all_finite<T>(a.values) && all_finite<T>(x) && all_finite<T>(b);
}

/// |b - op(A) x|_i / (|op(A)||x| + |b|)_i of every row; infinite too where one of the two only overflows.
template <class T> std::vector<double> row_errors(CscMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, Index nrhs, MatrixOp op) {
    std::vector<T> r(b.size());
    std::vector<Real<T>> scale(b.size());
    residual<T>(a, x, b, r, nrhs, op);
    abs_product<T>(a, x, scale, nrhs, op);
    std::vector<double> errors(b.size());
    for (std::size_t i = 0; i < r.size(); ++i)
        errors[i] = safe_ratio(modulus(r[i]), static_cast<double>(scale[i]) + modulus(b[i]));
    return errors;
}

} // namespace

template <class T> double infinity_norm(CscMatrix<T> const& a, MatrixOp op) {
    return op == MatrixOp::none ? largest(row_sums(a)) : one_norm(a);
}

template <class T> double one_norm(CscMatrix<T> const& a) {
    if (a.symmetry != Symmetry::general) return largest(row_sums(a));
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

double normwise_backward_error(double matrix_norm, double r_norm, double x_norm, double b_norm) {
    double const scale = matrix_norm * x_norm + b_norm;
    if (std::isfinite(scale) || !(std::isfinite(matrix_norm) && std::isfinite(x_norm)))
        return safe_ratio(r_norm, scale);
    constexpr double once = shrink<double>;
    return safe_ratio(r_norm * once * once, (matrix_norm * once) * (x_norm * once) + b_norm * once * once);
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
        worst = std::max(worst, normwise_backward_error(matrix_norm, r_norm, x_norm, b_norm));
    }
    return worst;
}

template <class T> double normwise_backward_error(CscMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, Index nrhs, MatrixOp op) {
    std::vector<T> r(b.size());
    residual<T>(a, x, b, r, nrhs, op);
    double const matrix_norm = infinity_norm(a, op);
    double const error = normwise_backward_error<T>(matrix_norm, r, x, b, nrhs);
    if (std::isfinite(error) || !all_finite(a, x, b)) return error;
    // One column by itself: the others may be so much smaller that they would vanish.
    Index const rows = static_cast<Index>(b.size()) / nrhs, cols = static_cast<Index>(x.size()) / nrhs;
    double worst = 0;
    for (Index c = 0; c < nrhs; ++c) {
        auto const x_c = x.subspan(c * cols, cols);
        auto const b_c = b.subspan(c * rows, rows), r_c = std::span<T const>(r).subspan(c * rows, rows);
        double column_error = normwise_backward_error<T>(matrix_norm, r_c, x_c, b_c, 1);
        if (!std::isfinite(column_error)) {
            ShrunkSystem<T> const small(a, x_c, b_c);
            std::vector<T> small_r(small.b.size());
            residual<T>(small.matrix, small.x, small.b, small_r, 1, op);
            column_error =
                normwise_backward_error<T>(infinity_norm(small.matrix, op), small_r, small.x, small.b, 1);
        }
        worst = std::max(worst, column_error);
    }
    return worst;
}

template <class T> double componentwise_backward_error(CscMatrix<T> const& a, std::span<T const> x,
                                                       std::span<T const> b, Index nrhs, MatrixOp op) {
    auto errors = row_errors(a, x, b, nrhs, op);
    // An entry of x that meets an empty column appears in neither r nor |A||x|.
    if (!all_finite(x)) return infinity;
    auto const finite = [](double error) { return std::isfinite(error); };
    if (!std::all_of(errors.begin(), errors.end(), finite) && all_finite(a, x, b)) {
        ShrunkSystem<T> const small(a, x, b);
        auto const again = row_errors<T>(small.matrix, small.x, small.b, nrhs, op);
        for (std::size_t i = 0; i < errors.size(); ++i)
            if (!finite(errors[i])) errors[i] = again[i];
    }
    double worst = 0;
    for (double const error : errors) worst = std::max(worst, error);
    return worst;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template double infinity_norm(CscMatrix<T> const&, MatrixOp);                                            \
    template double one_norm(CscMatrix<T> const&);                                                           \
    template double max_abs(CscMatrix<T> const&);                                                            \
    template double frobenius_norm(CscMatrix<T> const&);                                                     \
    template double infinity_norm(std::span<T const>);                                                       \
    template double normwise_backward_error(CscMatrix<T> const&, std::span<T const>, std::span<T const>,     \
                                            Index, MatrixOp);                                                \
    template double normwise_backward_error(double, std::span<T const>, std::span<T const>,                  \
                                            std::span<T const>, Index);                                      \
    template double componentwise_backward_error(CscMatrix<T> const&, std::span<T const>,                    \
                                                 std::span<T const>, Index, MatrixOp);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
