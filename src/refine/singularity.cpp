#include "refine/singularity.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "core/random.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/norms.hpp"
#include "refine/refine.hpp"
#include "refine/vectors.hpp"

namespace espalier {

namespace {

// A vector y that converges to the null space, and its w.
template <class T> class NullVector {
  public:
    NullVector(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse)
        : a_(a), rows_(a.rows()), apply_inverse_(apply_inverse) {
        rows_.reduction().all_succeed([&] {
            y_.assign(rows_.count(), T(1));
            product_.resize(y_.size());
            zero_.resize(y_.size());
            scale_.resize(y_.size());
        });
        // The vector |A| e times random numbers has the scale of each row. Zero rows have no scale; null
        // vectors are nonzero there. Random signs alone are not enough: if A has no negative entry, |A| e is
        // A e, and A^-1 A e = e need not be close to the weakest direction.
        a_.abs_product(y_, scale_);
        auto const largest = static_cast<Real<T>>(rows_.reduction().max(1, [&](std::span<double> maximum) {
            maximum[0] = infinity_norm<Real<T>>(std::span<Real<T> const>(scale_));
        })[0]);
        for (Index i = 0; i < std::ssize(y_); ++i) {
            Real<T> scale = scale_[i];
            if (scale == 0) scale = largest > 0 ? largest : Real<T>(1);
            auto const random = static_cast<Real<T>>(SplitMix64::uniform_at(1, rows_.number(i), -1, 1));
            y_[i] = T(scale * (random < 0 ? random - 1 : random + 1));
        }
    }

    // y := A^-1 y. With replaced pivots the limit is a null vector of the factors, not exactly of A.
    bool iterate() {
        apply_inverse_(y_, 1, MatrixOp::none);
        return measure();
    }

    // y := y - A^-1 (A y), which corrects the replaced pivots. For a nonsingular matrix only rounding errors
    // remain. Since w is a valid certificate for any y, this does no harm.
    bool refine() {
        apply_inverse_(product_, 1, MatrixOp::none);
        if (known_ < 0) {
            auto const dots = rows_.reduction().template sum<std::complex<double>>(
                2, [&](std::span<std::complex<double>> sums) {
                    for (Index i = 0; i < std::ssize(y_); ++i) {
                        auto const y = std::conj(std::complex<double>(y_[i]));
                        sums[0] += y * std::complex<double>(product_[i]);
                        sums[1] += y * std::complex<double>(y_[i]);
                    }
                });
            known_ = std::abs(dots[0]) / std::abs(dots[1]);
        }
        for (Index i = 0; i < std::ssize(y_); ++i) y_[i] -= product_[i];
        return measure();
    }

    // Replaces small entries by zeros. Where a null vector is zero, y has rounding errors alone, and A y is
    // as large as |A| |y|.
    void drop_small_entries() {
        auto const eps = static_cast<double>(epsilon<T>);
        for (double const power : {0.75, 0.5}) {
            auto const least = static_cast<Real<T>>(std::pow(eps, power)); // the largest entry is 1
            for (T& value : y_)
                if (std::abs(value) < least) value = T(0);
            if (!measure()) return;
        }
    }

    [[nodiscard]] WeakestDirection found() const { return {smallest_, std::max(0.0, known_), true}; }

  private:
    // Returns false when y cannot be improved any more.
    bool measure() {
        double const length = rows_.reduction().max(
            1, [&](std::span<double> maximum) { maximum[0] = infinity_norm<T>(std::span<T const>(y_)); })[0];
        if (!std::isfinite(length) || length == 0) return false;
        for (T& value : y_) value /= static_cast<Real<T>>(length);
        a_.accurate_residual({y_}, zero_, product_, MatrixOp::none);
        for (T& value : product_) value = -value;
        a_.abs_product(y_, scale_);
        double const worst = rows_.reduction().max(1, [&](std::span<double> maximum) {
            for (Index i = 0; i < std::ssize(y_); ++i)
                if (scale_[i] > 0)
                    maximum[0] = std::max(maximum[0], static_cast<double>(std::abs(product_[i]) / scale_[i]));
        })[0];
        smallest_ = std::min(smallest_, worst);
        return true;
    }

    DistributedMatrix<T> const& a_;
    DistributedRows const& rows_;
    ApplyInverse<T> const& apply_inverse_;
    std::vector<T> y_, product_, zero_;
    std::vector<Real<T>> scale_;
    double smallest_ = infinity;
    double known_ = -1;
};

} // namespace

template <class T>
WeakestDirection weakest_direction(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse) {
    NullVector<T> y(a, apply_inverse);
    if (!y.iterate() || !y.iterate()) return {};
    if (y.refine()) y.refine();
    y.drop_small_entries();
    return y.found();
}

template <class T> bool grows_as_singular(DistributedMatrix<T> const& a, std::span<T const> b,
                                          std::span<T const> x, Index nrhs, MatrixOp op, bool is_solution) {
    Index const m = a.rows().count();
    double const unit = a.max_abs() * static_cast<double>(epsilon<T>);
    std::vector<T> image;
    a.rows().reduction().all_succeed([&] { image.resize(m); });
    for (Index j = 0; j < nrhs; ++j) {
        std::span const column = x.subspan(j * m, m);
        a.multiply(op, T(1), column, T(0), image);
        auto const norms = a.rows().reduction().max(3, [&](std::span<double> largest) {
            largest[0] = infinity_norm(b.subspan(j * m, m));
            largest[1] = infinity_norm(column);
            largest[2] = infinity_norm(std::span<T const>(image));
        });
        // Growth of numbers that are not finite says nothing about the matrix.
        if (!std::isfinite(norms[0]) || !std::isfinite(norms[1])) continue;
        // A large x that does not solve the system proves nothing, because op(A) x is large as well.
        double const image_of_x = is_solution ? 0 : norms[2];
        if (!(unit * norms[1] <= 0.01 * std::max(norms[0], image_of_x))) return true;
    }
    return false;
}

template <class T> bool leaves_a_residual(DistributedMatrix<T> const& a, std::span<T const> b,
                                          std::span<T const> x, Index nrhs, MatrixOp op) {
    Index const m = a.rows().count();
    std::vector<T> residual;
    a.rows().reduction().all_succeed([&] { residual.resize(m); });
    bool found = false;
    for (Index j = 0; j < nrhs; ++j) {
        auto const of_column = b.subspan(j * m, m);
        std::ranges::copy(of_column, residual.begin());
        a.multiply(op, T(-1), x.subspan(j * m, m), T(1), residual);
        auto const norms = a.rows().reduction().max(2, [&](std::span<double> largest) {
            largest[0] = infinity_norm(std::span<T const>(residual));
            largest[1] = infinity_norm(of_column);
        });
        found = found || !(norms[0] <= 0.01 * norms[1]);
    }
    return found;
}

template <class T> bool probe_grows_as_singular(DistributedMatrix<T> const& a,
                                                ApplyInverse<T> const& apply_inverse, Interrupt* interrupt) {
    std::vector<T> b, x;
    a.rows().reduction().all_succeed([&] {
        b.resize(a.rows().count());
        for (Index i = 0; i < std::ssize(b); ++i)
            b[i] = static_cast<Real<T>>(SplitMix64::uniform_at(2, a.rows().number(i), -1, 1));
        x = b;
    });
    apply_inverse(x, 1, MatrixOp::none);
    RefineOptions options;
    options.max_iterations = 50;
    options.interrupt = interrupt;
    refine<T>(a, b, x, 1, apply_inverse, options);
    return grows_as_singular<T>(a, b, x, 1, MatrixOp::none);
}

template <class T> Singularity find_singularity(DistributedMatrix<T> const& a,
                                                ApplyInverse<T> const& apply_inverse, Index pivots_replaced,
                                                Interrupt* interrupt) {
    auto const eps = static_cast<double>(epsilon<T>);
    Singularity found;
    WeakestDirection const weakest = weakest_direction<T>(a, apply_inverse);
    if (weakest.is_finite)
        found.condition_estimate = 1 / std::max(weakest.distance, eps); // rounding hides more
    found.is_singular = weakest.template is_singular<T>();
    if (!found.is_singular && pivots_replaced > 0 &&
        probe_grows_as_singular<T>(a, apply_inverse, interrupt)) {
        found.is_singular = true;
        found.condition_estimate = 1 / eps;
    }
    found.lacks_unique_solutions = found.is_singular && pivots_replaced > 0;
    return found;
}

template <class T>
PivotRange relative_pivots(DistributedMatrix<T> const& b, bool cholesky, double enough, PivotRange const& own,
                           FunctionRef<PivotRange(std::span<double const> origin)> own_from) {
    auto const of_all = [&](PivotRange const& mine) {
        auto const maxima = b.rows().reduction().max(2, [&](std::span<double> values) {
            values[0] = 1 / mine.smallest; // maxima are at least 0
            values[1] = mine.largest;
        });
        return PivotRange{1 / maxima[0], maxima[1]};
    };
    double const largest_entry = b.max_abs();
    PivotRange range = of_all(own);
    range.smallest = largest_entry > 0 ? range.smallest / largest_entry : 0;
    range.largest = largest_entry > 0 ? range.largest / largest_entry : 0;
    if (!cholesky || range.smallest > enough) return range;
    std::vector<double> origin;
    b.rows().reduction().all_succeed([&] { origin = b.diagonal_moduli(); });
    return of_all(own_from(origin));
}

template <class T>
FactorErrors errors_of_factors(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse) {
    Index const m = a.rows().count();
    auto const random_entry = [&](Index i) {
        return T(static_cast<Real<T>>(SplitMix64::uniform_at(4, a.rows().number(i), -1, 1)));
    };
    std::vector<T> b, y;
    a.rows().reduction().all_succeed([&] {
        for (Index i = 0; i < m; ++i) y.push_back(random_entry(i));
        b.resize(m);
    });
    a.multiply(MatrixOp::none, T(1), y, T(0), b);
    std::ranges::copy(b, y.begin());
    apply_inverse(y, 1, MatrixOp::none);
    FactorErrors errors;
    errors.backward = normwise_backward_error<T>(a, y, b, 1, MatrixOp::none);
    auto const norms = a.rows().reduction().max(2, [&](std::span<double> largest) {
        for (Index i = 0; i < m; ++i) {
            auto const difference = static_cast<double>(std::abs(y[i] - random_entry(i)));
            largest[0] = std::max(largest[0], std::isfinite(difference) ? difference : infinity);
            largest[1] = std::max(largest[1], static_cast<double>(std::abs(random_entry(i))));
        }
    });
    errors.forward = norms[1] > 0 ? norms[0] / norms[1] : 0;
    if (std::isnan(errors.backward) || std::isinf(errors.forward))
        errors.backward = errors.forward = infinity;
    return errors;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template WeakestDirection weakest_direction<T>(DistributedMatrix<T> const&, ApplyInverse<T> const&);     \
    template FactorErrors errors_of_factors<T>(DistributedMatrix<T> const&, ApplyInverse<T> const&);         \
    template bool grows_as_singular<T>(DistributedMatrix<T> const&, std::span<T const>, std::span<T const>,  \
                                       Index, MatrixOp, bool);                                               \
    template bool leaves_a_residual<T>(DistributedMatrix<T> const&, std::span<T const>, std::span<T const>,  \
                                       Index, MatrixOp);                                                     \
    template bool probe_grows_as_singular<T>(DistributedMatrix<T> const&, ApplyInverse<T> const&,            \
                                             Interrupt*);                                                    \
    template Singularity find_singularity<T>(DistributedMatrix<T> const&, ApplyInverse<T> const&, Index,     \
                                             Interrupt*);                                                    \
    template PivotRange relative_pivots<T>(DistributedMatrix<T> const&, bool, double, PivotRange const&,     \
                                           FunctionRef<PivotRange(std::span<double const>)>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
