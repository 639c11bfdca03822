#include "refine/condition.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/random.hpp"
#include "core/scalar.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"
#include "refine/norm_estimate.hpp"
#include "refine/vectors.hpp"

namespace espalier {

namespace {

constexpr Index estimate_width = 2; // vectors per block for each right-hand side
constexpr Index inverse_width = 4;  // vectors per block for |A^-1|

// Computes the largest |y| / |A y| of a few vectors near the null space, a lower bound of |A^-1| that uses A
// itself. The step y := A~^-1 A~^-H y finds a vector that the factors make small, and y - A~^-1 (A y)
// corrects the error of the factors.
template <class T> class NullVectorGrowth {
  public:
    NullVectorGrowth(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse,
                     Interrupt* interrupt)
        : a_(a), apply_inverse_(apply_inverse), interrupt_(interrupt) {
        a.rows().reduction().all_succeed([&] {
            y_.resize(a.rows().count());
            image_.resize(y_.size());
        });
        for (Index i = 0; i < std::ssize(y_); ++i)
            y_[i] = static_cast<Real<T>>(SplitMix64::uniform_at(2, a.rows().number(i), -1, 1));
    }

    double run() {
        apply_inverse_(y_, 1, MatrixOp::adjoint);
        if (!normalize()) return largest_;
        apply_inverse_(y_, 1, MatrixOp::none);
        bool improved = measure();
        for (int step = 0; improved && step < 2; ++step) {
            apply_inverse_(image_, 1, MatrixOp::none);
            for (Index i = 0; i < std::ssize(y_); ++i) y_[i] -= image_[i];
            improved = measure();
        }
        return largest_;
    }

  private:
    double one_norm(std::vector<T> const& x) const {
        return a_.rows().reduction().template sum<double>(1, [&](std::span<double> sum) {
            check(interrupt_);
            sum[0] = local_one_norm<T>(x);
        })[0];
    }
    bool normalize() {
        double const length = one_norm(y_);
        if (!std::isfinite(length) || length == 0) return false;
        for (T& value : y_) value /= static_cast<Real<T>>(length);
        return true;
    }
    // Returns false when y cannot be improved any more.
    bool measure() {
        if (!normalize()) return false;
        a_.multiply(MatrixOp::none, T(1), y_, T(0), image_);
        double const size = one_norm(image_);
        if (std::isnan(size)) return false;
        largest_ = std::max(largest_, one_norm(y_) / size);
        return size > 0;
    }

    DistributedMatrix<T> const& a_;
    ApplyInverse<T> const& apply_inverse_;
    Interrupt* interrupt_;
    std::vector<T> y_, image_;
    double largest_ = 0;
};

// X := A^-1 B, where each column is reduced so that |A x| <= 2 |b|. An inverse that does not converge can be
// too large by any factor, but |x| / |A x| is a lower bound of |A^-1| for each x.
template <class T> class InverseProduct {
  public:
    InverseProduct(DistributedMatrix<T> const& a, ApplyInverse<T> const& apply_inverse)
        : a_(a), apply_inverse_(apply_inverse) {
        Index const columns = a.order() <= exact_norm_up_to ? a.order() : inverse_width;
        a.rows().reduction().all_succeed([&] {
            b_.resize(a.rows().count() * columns);
            image_.resize(b_.size());
        });
    }

    void apply(std::span<T> block, Index width) {
        Index const m = a_.rows().count();
        std::span const b = std::span(b_).first(block.size()), image = std::span(image_).first(block.size());
        std::ranges::copy(block, b.begin());
        apply_inverse_(block, width, MatrixOp::none);
        a_.multiply(MatrixOp::none, T(1), block, T(0), image, width);
        auto const norms = a_.rows().reduction().template sum<double>(3 * width, [&](std::span<double> sum) {
            for (Index c = 0; c < width; ++c) {
                std::span<T const> const of_b = b.subspan(c * m, m), of_image = image.subspan(c * m, m);
                sum[3 * c] = local_one_norm<T>(of_b);
                sum[3 * c + 1] = local_one_norm<T>(of_image);
                for (Index i = 0; i < m; ++i)
                    sum[3 * c + 2] += static_cast<double>(std::abs(of_b[i] - of_image[i]));
            }
        });
        for (Index c = 0; c < width; ++c) {
            double const before = norms[3 * c], after = norms[3 * c + 1], residual = norms[3 * c + 2];
            if (!(residual <= before / 2)) is_right_ = false;
            if (!(after > 2 * before) || !std::isfinite(after)) continue;
            for (T& value : block.subspan(c * m, m)) value *= static_cast<Real<T>>(2 * before / after);
        }
    }

    // Whether |A x - b| <= |b| / 2 for all columns so far.
    [[nodiscard]] bool is_right() const { return is_right_; }

  private:
    DistributedMatrix<T> const& a_;
    ApplyInverse<T> const& apply_inverse_;
    std::vector<T> b_, image_;
    bool is_right_ = true;
};

// Bounds the error of one column of x. residual() is called first. Given d, the bound then stores w = |s| +
// (nz + 1) u (|op(A)||x| + |b|) as its largest entry and entries relative to it, to avoid underflow.
template <class T> class ErrorBound {
  public:
    ErrorBound(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T const> x, MatrixOp op)
        : a_(&a), b_(b), x_(x), op_(op), relative_(b.size()), s_(b.size()), w_(b.size()) {}

    void residual(std::span<T> r) const { a_->accurate_residual({x_}, b_, r, op_); }

    void weigh(std::span<T const> d, double rounding) {
        a_->accurate_residual({x_, d}, b_, s_, op_);
        a_->abs_product(x_, relative_, 1, op_);
        auto const norms = a_->rows().reduction().max(3, [&](std::span<double> largest) {
            for (Index i = 0; i < std::ssize(w_); ++i) {
                double const terms = static_cast<double>(relative_[i]) + static_cast<double>(std::abs(b_[i]));
                w_[i] = static_cast<double>(std::abs(s_[i])) + rounding * terms;
            }
            largest[0] = infinity_norm(d);
            largest[1] = infinity_norm(std::span<double const>(w_));
            largest[2] = infinity_norm(x_);
        });
        step_ = norms[0];
        size_ = norms[1];
        x_norm_ = norms[2];
        for (Index i = 0; i < std::ssize(w_); ++i)
            relative_[i] = size_ > 0 ? static_cast<Real<T>>(w_[i] / size_) : Real<T>(0);
    }

    // Returns w divided by its largest entry.
    [[nodiscard]] std::vector<Real<T>> const& weights() const { return relative_; }

    // Returns the bound, given `norm` = | |op(A)^-1| weights |.
    [[nodiscard]] double result(double norm) const {
        double const absolute = step_ + (size_ == 0 ? 0 : size_ * norm);
        double const bound = absolute == 0 ? 0 : absolute / x_norm_;
        return std::isfinite(bound) && std::isfinite(x_norm_) ? bound : infinity;
    }

  private:
    DistributedMatrix<T> const* a_;
    std::span<T const> b_, x_;
    MatrixOp op_;
    double step_ = 0; // |d|
    double size_ = 0; // largest entry of w; infinite or NaN if a term was not finite
    double x_norm_ = 0;
    std::vector<Real<T>> relative_;
    std::vector<T> s_;
    std::vector<double> w_;
};

// Estimates | |op(A)^-1| w_k | = |B_k| in the 1-norm, B_k = diag(w_k) op(A)^-H, for the columns of a group.
template <class T> std::vector<double> weighted_inverse_norms(DistributedRows const& rows,
                                                              std::span<ErrorBound<T> const> columns,
                                                              ApplyInverse<T> const& apply_inverse,
                                                              MatrixOp op, Interrupt* interrupt) {
    Index const m = rows.count();
    auto const weigh = [&](std::span<T> block, Index width, std::span<Index const> which) {
        for (Index c = 0; c < width * std::ssize(which); ++c) {
            auto const& weights = columns[which[c / width]].weights();
            for (Index i = 0; i < m; ++i) block[c * m + i] *= weights[i];
        }
    };
    // The moduli of A^-T and A^-H are the same.
    MatrixOp const inverse = op == MatrixOp::none ? MatrixOp::adjoint : MatrixOp::none;
    MatrixOp const inverse_adjoint = op == MatrixOp::none ? MatrixOp::none : MatrixOp::adjoint;
    auto const multiply = [&](std::span<T> block, Index width, std::span<Index const> which) {
        apply_inverse(block, width * std::ssize(which), inverse);
        weigh(block, width, which);
    };
    auto const multiply_adjoint = [&](std::span<T> block, Index width, std::span<Index const> which) {
        weigh(block, width, which);
        apply_inverse(block, width * std::ssize(which), inverse_adjoint);
    };
    return estimate_one_norms<T>(rows, std::ssize(columns), estimate_width,
                                 std::cref(multiply), // need no memory
                                 std::cref(multiply_adjoint), interrupt);
}

} // namespace

Index columns_in_bound(DistributedRows const& rows, std::size_t scalar_bytes) {
    return columns_in_group(rows, estimate_width + 4, scalar_bytes);
}

template <class T> ConditionEstimate reciprocal_condition(DistributedMatrix<T> const& a,
                                                          ApplyInverse<T> const& apply_inverse,
                                                          Interrupt* interrupt) {
    if (a.order() == 0) return {1};
    double const norm = a.one_norm();
    if (!(norm > 0) || !std::isfinite(norm)) return {0};
    InverseProduct<T> inverse(a, apply_inverse);
    auto const product = [&](std::span<T> block, Index width, std::span<Index const>) {
        inverse.apply(block, width);
    };
    auto const adjoint = [&](std::span<T> block, Index width, std::span<Index const>) {
        apply_inverse(block, width, MatrixOp::adjoint);
    };
    double inverse_norm = estimate_one_norms<T>(a.rows(), 1, inverse_width, std::cref(product),
                                                std::cref(adjoint), interrupt)[0];
    if (std::isfinite(inverse_norm))
        inverse_norm = std::max(inverse_norm, NullVectorGrowth<T>(a, apply_inverse, interrupt).run());
    if (!std::isfinite(inverse_norm) || inverse_norm == 0) return {0};
    double const rcond = std::min(1.0, 1 / inverse_norm / norm);
    // Factors of a matrix that is singular to working precision have no right products.
    double const of_singular = 100 * static_cast<double>(a.order()) * static_cast<double>(epsilon<T>);
    return {rcond, inverse.is_right() || rcond <= of_singular};
}

template <class T> std::vector<double> forward_error_bounds(DistributedMatrix<T> const& a,
                                                            std::span<T const> b, std::span<T const> x,
                                                            Index nrhs, ApplyInverse<T> const& apply_inverse,
                                                            MatrixOp op, Interrupt* interrupt) {
    DistributedRows const& rows = a.rows();
    Index const m = rows.count();
    std::vector<double> bounds;
    std::vector<ErrorBound<T>> columns;
    std::vector<T> steps;
    rows.reduction().all_succeed([&] {
        require_block_size("b", b.size(), m, nrhs);
        require_block_size("x", x.size(), m, nrhs);
        bounds.resize(nrhs, 0.0);
    });
    if (a.order() == 0) return bounds;
    double const rounding = static_cast<double>(a.most_entries_in_a_row(op) + 1) * doubled_roundoff<T>;
    Index const group = columns_in_bound(rows, sizeof(T));

    for (Index first = 0; first < nrhs; first += group) {
        Index const count = std::min(group, nrhs - first);
        rows.reduction().all_succeed([&] {
            check(interrupt);
            columns.clear();
            steps.resize(m * count);
            for (Index k = first; k < first + count; ++k)
                columns.emplace_back(a, b.subspan(k * m, m), x.subspan(k * m, m), op);
        });
        auto const step = [&](Index k) { return std::span(steps).subspan(k * m, m); };
        for (Index k = 0; k < count; ++k) columns[k].residual(step(k));
        apply_inverse(steps, count, op);
        for (Index k = 0; k < count; ++k) columns[k].weigh(step(k), rounding);
        auto const norms = weighted_inverse_norms<T>(rows, columns, apply_inverse, op, interrupt);
        for (Index k = 0; k < count; ++k) bounds[first + k] = columns[k].result(norms[k]);
    }
    return bounds;
}

ESPALIER_INSTANTIATE_FUNCTION(reciprocal_condition)
ESPALIER_INSTANTIATE_FUNCTION(forward_error_bounds)

} // namespace espalier
