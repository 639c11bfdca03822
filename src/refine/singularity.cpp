#include "refine/singularity.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "core/random.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"
#include "refine/accurate_residual.hpp"
#include "refine/refine.hpp"

namespace espalier {

namespace {

// A vector on its way to the null space, and its w.
template <class T> class NullVector {
  public:
    NullVector(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse)
        : a_(a), apply_inverse_(apply_inverse), y_(static_cast<std::size_t>(a.cols), T(1)),
          product_(y_.size()), zero_(y_.size(), T(0)), scale_(y_.size()) {
        // |A| e with random signs has the scale of each row; rows of zeros have none, and are where to look.
        SplitMix64 numbers(1);
        abs_product<T>(a_, y_, scale_);
        Real<T> const largest = *std::max_element(scale_.begin(), scale_.end());
        for (Real<T>& scale : scale_)
            if (scale == 0) scale = largest > 0 ? largest : Real<T>(1);
        for (std::size_t i = 0; i < y_.size(); ++i)
            y_[i] = numbers.uniform(-1, 1) < 0 ? T(-scale_[i]) : T(scale_[i]);
    }

    // y := A^-1 y. Replaced pivots leave it a null vector of the factors, not quite of A.
    bool iterate() {
        apply_inverse_(y_, 1, MatrixOp::none);
        return measure();
    }

    // y := y - A^-1 (A y), which takes away what the replaced pivots put in. (Of a regular matrix nothing is
    // left but rounding; w stays a valid certificate for whatever y.)
    bool refine() {
        apply_inverse_(product_, 1, MatrixOp::none);
        if (known_ < 0) known_ = std::abs(dot(product_)) / std::abs(dot(y_));
        for (std::size_t i = 0; i < y_.size(); ++i) y_[i] -= product_[i];
        return measure();
    }

    [[nodiscard]] WeakestDirection found() const { return {smallest_, std::max(0.0, known_)}; }

  private:
    // False when y is no vector to go on with.
    bool measure() {
        double const length = infinity_norm<T>(std::span<T const>(y_));
        if (!std::isfinite(length) || length == 0) return false;
        for (T& value : y_) value /= static_cast<Real<T>>(length);
        accurate_residual<T>(a_, y_, {}, zero_, product_, MatrixOp::none);
        for (T& value : product_) value = -value;
        abs_product<T>(a_, y_, scale_);
        double worst = 0;
        for (std::size_t i = 0; i < y_.size(); ++i)
            if (scale_[i] > 0)
                worst = std::max(worst, static_cast<double>(std::abs(product_[i]) / scale_[i]));
        smallest_ = std::min(smallest_, worst);
        return true;
    }

    [[nodiscard]] std::complex<double> dot(std::vector<T> const& z) const { // y^H z
        std::complex<double> sum = 0;
        for (std::size_t i = 0; i < z.size(); ++i)
            sum += std::conj(std::complex<double>(y_[i])) * std::complex<double>(z[i]);
        return sum;
    }

    CscMatrix<T> const& a_;
    ApplyInverse<T> const& apply_inverse_;
    std::vector<T> y_, product_;
    std::vector<T> const zero_;
    std::vector<Real<T>> scale_;
    double smallest_ = std::numeric_limits<double>::infinity();
    double known_ = -1;
};

} // namespace

template <class T>
WeakestDirection weakest_direction(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse) {
    NullVector<T> y(a, apply_inverse);
    if (!y.iterate() || !y.iterate()) return {};
    if (y.refine()) y.refine();
    return y.found();
}

template <class T>
bool grows_as_singular(CscMatrix<T> const& a, std::span<T const> b, std::span<T const> x, Index nrhs) {
    auto const n = static_cast<std::size_t>(a.cols);
    double const unit = max_abs(a) * static_cast<double>(epsilon<T>);
    for (Index j = 0; j < nrhs; ++j) {
        double const given = infinity_norm<T>(b.subspan(j * n, n));
        if (!std::isfinite(given)) continue; // no fault of the matrix
        double const size = unit * infinity_norm<T>(x.subspan(j * n, n));
        if (!(size <= 0.01 * given)) return true;
    }
    return false;
}

template <class T> bool probe_grows_as_singular(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse,
                                                Interrupt* interrupt) {
    std::vector<T> b(a.cols);
    SplitMix64 numbers(2);
    for (T& value : b) value = static_cast<Real<T>>(numbers.uniform(-1, 1));
    std::vector<T> x = b;
    apply_inverse(x, 1, MatrixOp::none);
    RefineOptions options;
    options.max_iterations = 50;
    options.interrupt = interrupt;
    refine<T>(a, b, x, 1, apply_inverse, options);
    return grows_as_singular<T>(a, b, x, 1);
}

template <class T> double smallest_relative_pivot(CscMatrix<T> const& b, Pivots<T> const& pivots) {
    BlockStructure const& structure = *pivots.structure;
    FactorForm const form = pivots.form;
    bool const cholesky = !form.has_d() && !form.has_upper();
    std::vector<double> origin(b.cols, cholesky ? 0.0 : max_abs(b));
    for (std::size_t j = 0; cholesky && j < origin.size(); ++j)
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p)
            if (b.row_ind[p] == static_cast<Index>(j)) origin[structure.perm[j]] = std::abs(b.values[p]);

    double smallest = std::numeric_limits<double>::infinity();
    auto const end = static_cast<std::size_t>(structure.first_kept_col());
    for (std::size_t i = 0; i < end; ++i) {
        double pivot = std::abs(pivots.diagonal[i]);
        double const from = origin[i];
        if (cholesky) pivot *= pivot;
        T const coupling = form.has_d() ? pivots.off_diagonal[i] : T(0);
        if (double const e = std::abs(coupling); e > 0) {
            // A 2x2 pivot is as small as its determinant over its largest entry.
            T const next = pivots.diagonal[i + 1];
            double const determinant =
                std::abs(pivots.diagonal[i] * next - coupling * conj_if(form.conjugate(), coupling));
            pivot = determinant / std::max({e, pivot, static_cast<double>(std::abs(next))});
            ++i;
        }
        if (!(from > 0)) return 0;
        smallest = std::min(smallest, pivot / from);
    }
    return smallest;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template WeakestDirection weakest_direction<T>(CscMatrix<T> const&, ApplyInverse<T> const&);             \
    template bool grows_as_singular<T>(CscMatrix<T> const&, std::span<T const>, std::span<T const>, Index);  \
    template bool probe_grows_as_singular<T>(CscMatrix<T> const&, ApplyInverse<T> const&, Interrupt*);       \
    template double smallest_relative_pivot<T>(CscMatrix<T> const&, Pivots<T> const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
