#include "refine/condition.hpp"

#include <algorithm>
#include <cmath>

#include "core/random.hpp"
#include "core/scalar.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"
#include "refine/accurate_residual.hpp"
#include "refine/groups.hpp"
#include "refine/norm_estimate.hpp"

namespace espalier {

namespace {

constexpr Index estimate_width = 2; // vectors at a time for each right-hand side

template <class T> double one_norm(std::span<T const> x) {
    double sum = 0;
    for (T const value : x) sum += static_cast<double>(std::abs(value));
    return sum;
}

// The largest |y| / |A y| among a few vectors turned towards the null space, so a lower bound of |A^-1| that
// asks A itself: y := A~^-1 A~^-H y finds what the factors make small, and y - A~^-1 (A y) takes out what
// their own error has put in.
template <class T> double growth_of_null_vectors(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse,
                                                 Interrupt* interrupt) {
    auto const n = static_cast<std::size_t>(a.cols);
    SplitMix64 random(2);
    std::vector<T> y(n), image(n);
    for (T& value : y) value = static_cast<Real<T>>(random.uniform(-1, 1));
    double largest = 0;
    auto const normalize = [&] {
        double const length = one_norm<T>(y);
        if (!std::isfinite(length) || length == 0) return false;
        for (T& value : y) value /= static_cast<Real<T>>(length);
        return true;
    };
    // False when y is no vector to go on with.
    auto const measure = [&] {
        if (!normalize()) return false;
        multiply<T>(MatrixOp::none, T(1), a, y, T(0), image);
        double const size = one_norm<T>(image);
        if (std::isnan(size)) return false;
        largest = std::max(largest, one_norm<T>(y) / size);
        return size > 0;
    };
    apply_inverse(y, 1, MatrixOp::adjoint);
    if (!normalize()) return largest;
    apply_inverse(y, 1, MatrixOp::none);
    bool going_on = measure();
    for (int step = 0; going_on && step < 2; ++step) {
        check(interrupt);
        apply_inverse(image, 1, MatrixOp::none);
        for (std::size_t i = 0; i < n; ++i) y[i] -= image[i];
        going_on = measure();
    }
    return largest;
}

template <class T> Index most_entries_in_a_row(CscMatrix<T> const& a, MatrixOp op) {
    std::vector<Index> counts(a.cols, 0);
    bool const mirrored = a.symmetry != Symmetry::general;
    for (Index j = 0; j < a.cols; ++j)
        for (Offset k = a.col_ptr[j]; k < a.col_ptr[j + 1]; ++k) {
            Index const i = a.row_ind[k];
            if (mirrored || op == MatrixOp::none) ++counts[i];
            if ((mirrored && i != j) || (!mirrored && op != MatrixOp::none)) ++counts[j];
        }
    return *std::max_element(counts.begin(), counts.end()); // of at least one row
}

// A column of x under examination. First residual(); then, given d, w = |s| + (nz + 1) u (|op(A)||x| + |b|)
// as largest entry and entries relative to it, so that none is lost to underflow.
template <class T> class ErrorBound {
  public:
    ErrorBound(CscMatrix<T> const& a, std::span<T const> b, std::span<T const> x, MatrixOp op)
        : a_(a), b_(b), x_(x), op_(op) {}

    void residual(std::span<T> r) const { accurate_residual<T>(a_, x_, {}, b_, r, op_); }

    void weigh(std::span<T const> d, double rounding) {
        step_ = infinity_norm<T>(d);
        std::vector<T> s(b_.size());
        accurate_residual<T>(a_, x_, d, b_, s, op_);
        relative_.resize(b_.size());
        abs_product<T>(a_, x_, relative_, 1, op_);
        std::vector<double> w(b_.size());
        for (std::size_t i = 0; i < w.size(); ++i) {
            double const terms = static_cast<double>(relative_[i]) + static_cast<double>(std::abs(b_[i]));
            w[i] = static_cast<double>(std::abs(s[i])) + rounding * terms;
            size_ = w[i] > size_ || std::isnan(w[i]) ? w[i] : size_;
        }
        for (std::size_t i = 0; i < w.size(); ++i)
            relative_[i] = size_ > 0 ? static_cast<Real<T>>(w[i] / size_) : Real<T>(0);
    }

    // w over its largest entry.
    [[nodiscard]] std::vector<Real<T>> const& weights() const { return relative_; }

    // From | |op(A)^-1| weights |.
    [[nodiscard]] double result(double norm) const {
        double const x_norm = infinity_norm<T>(x_);
        double const absolute = step_ + (size_ == 0 ? 0 : size_ * norm);
        double const bound = absolute == 0 ? 0 : absolute / x_norm;
        return std::isfinite(bound) && std::isfinite(x_norm) ? bound : infinity;
    }

  private:
    CscMatrix<T> const& a_;
    std::span<T const> b_, x_;
    MatrixOp op_;
    double step_ = 0; // |d|
    double size_ = 0; // largest entry of w; infinite or NaN where something was not finite
    std::vector<Real<T>> relative_;
};

// Estimates | |op(A)^-1| w_k | = |B_k| in the 1-norm, B_k = diag(w_k) op(A)^-H, for the columns of a group.
template <class T> std::vector<double> weighted_inverse_norms(Index n, std::span<ErrorBound<T> const> columns,
                                                              ApplyInverse<T> const& apply_inverse,
                                                              MatrixOp op, Interrupt* interrupt) {
    auto const weigh = [&](std::span<T> block, std::span<std::size_t const> which) {
        std::size_t const run = block.size() / which.size();
        for (std::size_t i = 0; i < block.size(); ++i) block[i] *= columns[which[i / run]].weights()[i % n];
    };
    auto const apply = [&](std::span<T> block, MatrixOp inverse) {
        apply_inverse(block, static_cast<Index>(block.size()) / n, inverse);
    };
    // Moduli do not tell A^-T from A^-H.
    bool const turned = op != MatrixOp::none;
    BlockProduct<T> const multiply = [&](std::span<T> block, std::span<std::size_t const> which) {
        apply(block, turned ? MatrixOp::none : MatrixOp::adjoint);
        weigh(block, which);
    };
    BlockProduct<T> const multiply_adjoint = [&](std::span<T> block, std::span<std::size_t const> which) {
        weigh(block, which);
        apply(block, turned ? MatrixOp::adjoint : MatrixOp::none);
    };
    return estimate_one_norms<T>(n, columns.size(), estimate_width, multiply, multiply_adjoint, interrupt);
}

} // namespace

template <class T> double reciprocal_condition(CscMatrix<T> const& a, ApplyInverse<T> const& apply_inverse,
                                               Interrupt* interrupt) {
    if (a.cols == 0) return 1;
    double const norm = one_norm(a);
    if (!(norm > 0) || !std::isfinite(norm)) return 0;
    auto const product = [&](MatrixOp op) {
        return BlockProduct<T>([&apply_inverse, &a, op](std::span<T> block, std::span<std::size_t const>) {
            apply_inverse(block, static_cast<Index>(block.size()) / a.cols, op);
        });
    };
    double inverse_norm = estimate_one_norms<T>(a.cols, 1, 4, product(MatrixOp::none),
                                                product(MatrixOp::adjoint), interrupt)[0];
    if (std::isfinite(inverse_norm))
        inverse_norm = std::max(inverse_norm, growth_of_null_vectors(a, apply_inverse, interrupt));
    if (!std::isfinite(inverse_norm) || inverse_norm == 0) return 0;
    return std::min(1.0, 1 / inverse_norm / norm);
}

template <class T> std::vector<double> forward_error_bounds(CscMatrix<T> const& a, std::span<T const> b,
                                                            std::span<T const> x, Index nrhs,
                                                            ApplyInverse<T> const& apply_inverse, MatrixOp op,
                                                            Interrupt* interrupt) {
    require_block_size("b", b.size(), a.cols, nrhs);
    require_block_size("x", x.size(), a.cols, nrhs);
    std::vector<double> bounds(nrhs, 0.0);
    if (a.cols == 0) return bounds;
    auto const n = static_cast<std::size_t>(a.cols);
    double const rounding = static_cast<double>(most_entries_in_a_row(a, op) + 1) * doubled_roundoff<T>;
    auto const group = static_cast<std::size_t>(columns_in_group(a.cols, estimate_width + 1, sizeof(T)));

    for (std::size_t first = 0; first < bounds.size(); first += group) {
        std::size_t const count = std::min(group, bounds.size() - first);
        std::vector<ErrorBound<T>> columns;
        std::vector<T> steps(n * count);
        for (std::size_t k = 0; k < count; ++k) {
            columns.emplace_back(a, b.subspan((first + k) * n, n), x.subspan((first + k) * n, n), op);
            columns[k].residual(std::span<T>(steps).subspan(k * n, n));
        }
        check(interrupt);
        apply_inverse(steps, static_cast<Index>(count), op);
        for (std::size_t k = 0; k < count; ++k)
            columns[k].weigh(std::span<T const>(steps).subspan(k * n, n), rounding);
        auto const norms = weighted_inverse_norms<T>(a.cols, columns, apply_inverse, op, interrupt);
        for (std::size_t k = 0; k < count; ++k) bounds[first + k] = columns[k].result(norms[k]);
    }
    return bounds;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template double reciprocal_condition<T>(CscMatrix<T> const&, ApplyInverse<T> const&, Interrupt*);        \
    template std::vector<double> forward_error_bounds<T>(CscMatrix<T> const&, std::span<T const>,            \
                                                         std::span<T const>, Index, ApplyInverse<T> const&,  \
                                                         MatrixOp, Interrupt*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
