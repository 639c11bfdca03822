#include "distributed/backward_error.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"

namespace espalier {
namespace {

// If a product of two finite numbers overflows, its factors are multiplied by this number first, and the
// terms added to the product by its square. This does not change the quotient. Terms that underflow are
// negligible, because the denominator is above the largest number.
template <class T> constexpr double shrink = sizeof(Real<T>) == sizeof(float) ? 0x1p-80 : 0x1p-540;

template <class T> std::vector<T> shrunk(std::span<T const> values, int times) {
    std::vector<T> result(values.begin(), values.end());
    for (; times > 0; --times) // one after the other, because the square underflows in single precision
        for (T& value : result) value *= static_cast<Real<T>>(shrink<T>);
    return result;
}

// A system scaled so that neither b - A x nor |A||x| + |b| overflows.
template <class T> struct ShrunkSystem {
    DistributedMatrix<T> matrix;
    std::vector<T> x, b;

    ShrunkSystem(DistributedMatrix<T> const& a, std::span<T const> x_given, std::span<T const> b_given)
        : matrix(a.times(static_cast<Real<T>>(shrink<T>))) {
        a.rows().reduction().all_succeed([&] {
            x = shrunk<T>(x_given, 1);
            b = shrunk<T>(b_given, 2);
        });
    }
};

bool on_all(DistributedRows const& rows, bool mine) {
    return rows.reduction().max(1, [&](std::span<double> failed) { failed[0] = !mine; })[0] == 0;
}

template <class T>
bool is_finite_system(DistributedMatrix<T> const& a, std::span<T const> x, std::span<T const> b) {
    return on_all(a.rows(), all_finite<T>(x) && all_finite<T>(b)) && a.is_finite();
}

// |b - op(A) x|_i / (|op(A)||x| + |b|)_i for every local row of one column. Infinite if one of the two terms
// overflows.
template <class T> std::vector<double> row_errors(DistributedMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, MatrixOp op) {
    std::vector<T> r;
    std::vector<Real<T>> scale;
    std::vector<double> errors;
    a.rows().reduction().all_succeed([&] {
        r.resize(b.size());
        scale.resize(b.size());
        errors.resize(b.size());
    });
    a.residual(x, b, r, 1, op);
    a.abs_product(x, scale, 1, op);
    for (Index i = 0; i < std::ssize(errors); ++i)
        errors[i] = relative_error(modulus(r[i]), static_cast<double>(scale[i]) + modulus(b[i]));
    return errors;
}

// The largest row error of a finite system in which something overflows.
template <class T> double error_of_shrunk_rows(DistributedMatrix<T> const& a, std::span<T const> x,
                                               std::span<T const> b, MatrixOp op) {
    auto errors = row_errors(a, x, b, op);
    ShrunkSystem<T> const small(a, x, b);
    auto const again = row_errors<T>(small.matrix, small.x, small.b, op);
    for (std::size_t i = 0; i < errors.size(); ++i)
        if (!std::isfinite(errors[i])) errors[i] = again[i];
    return a.rows().reduction().max(1, [&](std::span<double> largest) {
        largest[0] = infinity_norm(std::span<double const>(errors));
    })[0];
}

// Collective: checks the sizes of x and b, and returns the rows of this process.
template <class T> Index rows_of_blocks(DistributedMatrix<T> const& a, std::span<T const> x,
                                        std::span<T const> b, Index columns) {
    Index const m = a.rows().count();
    a.rows().reduction().all_succeed([&] {
        require_block_size("x", x.size(), m, columns);
        require_block_size("b", b.size(), m, columns);
    });
    return m;
}

} // namespace

double normwise_backward_error(double matrix_norm, double r_norm, double x_norm, double b_norm) {
    double const scale = matrix_norm * x_norm + b_norm;
    if (std::isfinite(scale) || !(std::isfinite(matrix_norm) && std::isfinite(x_norm)))
        return relative_error(r_norm, scale);
    constexpr double once = shrink<double>;
    return relative_error(r_norm * once * once,
                          (matrix_norm * once) * (x_norm * once) + b_norm * once * once);
}

template <class T> double normwise_backward_error(DistributedMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, Index columns, MatrixOp op) {
    Index const m = rows_of_blocks(a, x, b, columns);
    auto const error_of_column = [&](DistributedMatrix<T> const& matrix, double matrix_norm,
                                     std::span<T const> x_c, std::span<T const> b_c) {
        ResidualSize const size = matrix.residual_size(x_c, b_c, op);
        return normwise_backward_error(matrix_norm, size.residual, size.x_norm, size.b_norm);
    };
    double const matrix_norm = a.infinity_norm(op);
    double worst = 0;
    for (Index c = 0; c < columns;
         ++c) { // separately, because the others may be so much smaller that they would underflow
        auto const x_c = x.subspan(c * m, m), b_c = b.subspan(c * m, m);
        double error = error_of_column(a, matrix_norm, x_c, b_c);
        if (!std::isfinite(error) && is_finite_system(a, x_c, b_c)) {
            ShrunkSystem<T> const small(a, x_c, b_c);
            error = error_of_column(small.matrix, small.matrix.infinity_norm(op), small.x, small.b);
        }
        worst = std::max(worst, error);
    }
    return worst;
}

template <class T> double componentwise_backward_error(DistributedMatrix<T> const& a, std::span<T const> x,
                                                       std::span<T const> b, Index columns, MatrixOp op) {
    Index const m = rows_of_blocks(a, x, b, columns);
    // An entry of x for an empty column contributes to neither r nor |A||x|.
    if (!on_all(a.rows(), all_finite(x))) return infinity;
    double worst = 0;
    for (Index c = 0; c < columns; ++c) {
        auto const x_c = x.subspan(c * m, m), b_c = b.subspan(c * m, m);
        double error = a.residual_size(x_c, b_c, op).componentwise;
        if (!std::isfinite(error) && is_finite_system(a, x_c, b_c))
            error = error_of_shrunk_rows(a, x_c, b_c, op);
        worst = std::max(worst, error);
    }
    return worst;
}

namespace {
// The errors of a column with a residual of this size.
template <class T> BackwardErrors errors_of_column(DistributedMatrix<T> const& a, std::span<T const> x,
                                                   std::span<T const> b, ResidualSize const& size,
                                                   MatrixOp op) {
    double const normwise =
        normwise_backward_error(a.infinity_norm(op), size.residual, size.x_norm, size.b_norm);
    if (std::isfinite(size.componentwise) && std::isfinite(normwise))
        return {normwise, size.componentwise, size.before_unscaling, size.b_norm};
    return {normwise_backward_error<T>(a, x, b, 1, op), componentwise_backward_error<T>(a, x, b, 1, op),
            infinity, size.b_norm};
}
} // namespace

template <class T> BackwardErrors backward_errors(DistributedMatrix<T> const& a, std::span<T const> x,
                                                  std::span<T const> b, MatrixOp op) {
    rows_of_blocks(a, x, b, 1);
    return errors_of_column(a, x, b, a.residual_size(x, b, op), op);
}

template <class T> std::vector<BackwardErrors>
backward_errors_of_columns(DistributedMatrix<T> const& a, std::span<T const> x, std::span<T const> b,
                           Index columns, MatrixOp op, Interrupt* interrupt) {
    constexpr Index group = 128; // columns between two checks of the interrupt
    Index const m = rows_of_blocks(a, x, b, columns);
    ResidualSize sizes[group];
    std::vector<BackwardErrors> errors;
    a.rows().reduction().all_succeed([&] { errors.reserve(columns); });
    for (Index first = 0; first < columns; first += group) {
        a.rows().reduction().all_succeed([&] { check(interrupt); });
        Index const count = std::min(group, columns - first);
        auto const part = [&](std::span<T const> all) { return all.subspan(first * m, count * m); };
        a.residual_sizes(part(x), part(b), op, std::span(sizes).first(count));
        for (Index c = 0; c < count; ++c)
            errors.push_back(errors_of_column<T>(a, part(x).subspan(c * m, m), part(b).subspan(c * m, m),
                                                 sizes[c], op));
    }
    return errors;
}

ESPALIER_INSTANTIATE_FUNCTION(normwise_backward_error)
ESPALIER_INSTANTIATE_FUNCTION(componentwise_backward_error)
ESPALIER_INSTANTIATE_FUNCTION(backward_errors)
ESPALIER_INSTANTIATE_FUNCTION(backward_errors_of_columns)

} // namespace espalier
