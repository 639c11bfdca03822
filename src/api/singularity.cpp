#include "api/singularity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrix/norms.hpp"
#include "matrix/random.hpp"
#include "matrix/spmv.hpp"

namespace espalier {

template <class T> double distance_to_singularity(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse) {
    auto const n = static_cast<std::size_t>(a.cols);
    SplitMix64 numbers(1);
    // Start from |A| e with random signs, which has the scale of each row.
    std::vector<T> y(n, T(1)), product(n);
    std::vector<Real<T>> scale(n);
    abs_product<T>(a, y, scale);
    for (std::size_t i = 0; i < n; ++i) y[i] = numbers.uniform(-1, 1) < 0 ? T(-scale[i]) : T(scale[i]);

    double smallest = std::numeric_limits<double>::infinity();
    for (int step = 0; step < 3; ++step) {
        apply_inverse(y, 1);
        double const length = infinity_norm<T>(std::span<T const>(y));
        if (!std::isfinite(length) || length == 0) return 0;
        for (T& value : y) value /= static_cast<Real<T>>(length);
        std::fill(product.begin(), product.end(), T(0));
        multiply<T>(MatrixOp::none, T(1), a, y, T(0), product);
        abs_product<T>(a, y, scale);
        double worst = 0;
        for (std::size_t i = 0; i < n; ++i)
            if (scale[i] > 0) worst = std::max(worst, static_cast<double>(std::abs(product[i]) / scale[i]));
        smallest = std::min(smallest, worst);
    }
    return smallest;
}

template <class T> double smallest_relative_pivot(CscMatrix<T> const& b, Factor<T> const& factor) {
    BlockStructure const& structure = factor.structure();
    FactorForm const form = factor.form();
    bool const cholesky = !form.has_d() && !form.has_upper();
    std::vector<double> origin(static_cast<std::size_t>(b.cols), cholesky ? 0.0 : max_abs(b));
    for (std::size_t j = 0; cholesky && j < origin.size(); ++j)
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p)
            if (b.row_ind[static_cast<std::size_t>(p)] == static_cast<Index>(j))
                origin[static_cast<std::size_t>(structure.perm[j])] = std::abs(b.values[static_cast<std::size_t>(p)]);

    double smallest = std::numeric_limits<double>::infinity();
    for (CblkId k = 0; k < structure.num_cblks(); ++k) {
        auto const diagonal = factor.diagonal(k);
        for (Index i = 0; i < diagonal.cols; ++i) {
            double pivot = std::abs(diagonal(i, i));
            if (cholesky) pivot *= pivot;
            if (form.has_d()) {
                // A 2x2 pivot is as small as its determinant over its largest entry.
                auto const off = factor.off_diagonal(k);
                if (double const e = std::abs(off[static_cast<std::size_t>(i)]); e > 0) {
                    T const coupling = off[static_cast<std::size_t>(i)];
                    double const determinant = std::abs(diagonal(i, i) * diagonal(i + 1, i + 1) - coupling * conj_if(form.conjugate(), coupling));
                    pivot = determinant / std::max({e, pivot, static_cast<double>(std::abs(diagonal(i + 1, i + 1)))});
                    ++i;
                }
            }
            double const from = origin[static_cast<std::size_t>(factor.cblk(k).first_col + std::min(i, diagonal.cols - 1))];
            if (!(from > 0)) return 0;
            smallest = std::min(smallest, pivot / from);
        }
    }
    return smallest;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template double distance_to_singularity<T>(CscMatrix<T> const&, ApplyInverse<T> const&);                 \
    template double smallest_relative_pivot<T>(CscMatrix<T> const&, Factor<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
