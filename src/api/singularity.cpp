#include "api/singularity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "matrix/norms.hpp"
#include "matrix/random.hpp"
#include "matrix/spmv.hpp"

namespace espalier {

namespace {

// A vector on its way to the null space, and its w.
template <class T> class NullVector {
  public:
    NullVector(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse)
        : a_(a), apply_inverse_(apply_inverse), y_(static_cast<std::size_t>(a.cols), T(1)),
          product_(y_.size()), scale_(y_.size()) {
        // |A| e with random signs has the scale of each row.
        SplitMix64 numbers(1);
        abs_product<T>(a_, y_, scale_);
        for (std::size_t i = 0; i < y_.size(); ++i)
            y_[i] = numbers.uniform(-1, 1) < 0 ? T(-scale_[i]) : T(scale_[i]);
    }

    // y := A^-1 y. Replaced pivots leave it a null vector of the factors, not quite of A.
    bool iterate() {
        apply_inverse_(y_, 1);
        return measure();
    }

    // y := y - A^-1 (A y), which takes away what the replaced pivots put in. (Of a regular matrix nothing is
    // left but rounding; w stays a valid certificate for whatever y.)
    bool refine() {
        apply_inverse_(product_, 1);
        for (std::size_t i = 0; i < y_.size(); ++i) y_[i] -= product_[i];
        return measure();
    }

    [[nodiscard]] double smallest() const { return smallest_; }

  private:
    // False when y is no vector to go on with.
    bool measure() {
        double const length = infinity_norm<T>(std::span<T const>(y_));
        if (!std::isfinite(length) || length == 0) return false;
        for (T& value : y_) value /= static_cast<Real<T>>(length);
        multiply<T>(MatrixOp::none, T(1), a_, y_, T(0), product_);
        abs_product<T>(a_, y_, scale_);
        double worst = 0;
        for (std::size_t i = 0; i < y_.size(); ++i)
            if (scale_[i] > 0)
                worst = std::max(worst, static_cast<double>(std::abs(product_[i]) / scale_[i]));
        smallest_ = std::min(smallest_, worst);
        return true;
    }

    CscMatrix<T> const& a_;
    ApplyInverse<T> const& apply_inverse_;
    std::vector<T> y_, product_;
    std::vector<Real<T>> scale_;
    double smallest_ = std::numeric_limits<double>::infinity();
};

} // namespace

template <class T>
double distance_to_singularity(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse) {
    NullVector<T> y(a, apply_inverse);
    if (!y.iterate() || !y.iterate()) return 0;
    if (y.refine()) y.refine();
    return y.smallest();
}

template <class T> double smallest_relative_pivot(CscMatrix<T> const& b, Factor<T> const& factor) {
    BlockStructure const& structure = factor.structure();
    FactorForm const form = factor.form();
    bool const cholesky = !form.has_d() && !form.has_upper();
    std::vector<double> origin(static_cast<std::size_t>(b.cols), cholesky ? 0.0 : max_abs(b));
    for (std::size_t j = 0; cholesky && j < origin.size(); ++j)
        for (Offset p = b.col_ptr[j]; p < b.col_ptr[j + 1]; ++p)
            if (b.row_ind[static_cast<std::size_t>(p)] == static_cast<Index>(j))
                origin[static_cast<std::size_t>(structure.perm[j])] =
                    std::abs(b.values[static_cast<std::size_t>(p)]);

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
                    double const determinant = std::abs(diagonal(i, i) * diagonal(i + 1, i + 1) -
                                                        coupling * conj_if(form.conjugate(), coupling));
                    pivot = determinant /
                            std::max({e, pivot, static_cast<double>(std::abs(diagonal(i + 1, i + 1)))});
                    ++i;
                }
            }
            double const from =
                origin[static_cast<std::size_t>(factor.cblk(k).first_col + std::min(i, diagonal.cols - 1))];
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
