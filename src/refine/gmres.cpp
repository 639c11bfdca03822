// GMRES on a block of right-hand sides, each with its own Arnoldi basis.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/blas.hpp"
#include "refine/krylov.hpp"

namespace espalier {

namespace {

// The Givens rotation [c s; -conj(s) c] that maps (f, g) to (r, 0).
template <class T> struct Rotation {
    Real<T> c = 1;
    T s = T(0);

    Rotation(T f, T g) {
        Real<T> const length = std::hypot(std::abs(f), std::abs(g));
        if (std::abs(f) == 0) {
            c = 0;
            s = length == 0 ? T(0) : conj(g) / length;
            return;
        }
        c = std::abs(f) / length;
        s = (f / std::abs(f)) * conj(g) / length;
    }
    void apply(T& f, T& g) const {
        T const upper = c * f + s * g;
        g = -conj(s) * f + c * g;
        f = upper;
    }
};

// One right-hand side. It runs cycles of at most m steps. A step orthogonalizes w = A M^-1 v for the last
// basis vector v against the basis (project, subtract_projection) and appends it (extend). At the end of a
// cycle, combine() and correct() compute the iterate.
template <class T> class GmresColumn {
  public:
    GmresColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : problem_(&problem), column_(&column), residual_(problem.n()) {}

    [[nodiscard]] KrylovColumn<T>& column() { return *column_; }
    [[nodiscard]] bool active() const { return active_; }
    [[nodiscard]] bool cycle_is_over() const { return over_; }
    [[nodiscard]] std::span<T const> last_basis_vector() const { return basis_vector(steps_); }
    [[nodiscard]] std::span<T const> residual() const { return residual_; }
    [[nodiscard]] double error() const { return error_; }
    [[nodiscard]] Index basis_size() const { return steps_ + 1; }

    // Accepts x with this residual and backward error if it is better than the best so far.
    void start(std::span<T const> residual, double error) {
        std::ranges::copy(residual, residual_.begin());
        error_ = error;
        active_ = std::isfinite(error_) && error_ > problem_->target;
    }

    // Allocates the memory for a cycle of an active column. The basis uses it as it grows.
    void reserve_cycle() {
        Index const left = problem_->max_iterations - std::ssize(column_->errors);
        longest_ = std::min<Index>(problem_->restart, left);
        if (longest_ <= 0) return;
        basis_.clear();
        basis_.reserve((longest_ + 1) * problem_->n());
        hessenberg_.clear();
        hessenberg_.reserve((longest_ + 1) * (longest_ + 2));
        rotations_.clear();
        rotations_.reserve(longest_);
        rhs_.clear();
        rhs_.reserve(longest_ + 1);
        projection_.resize(longest_ + 2);
        sums_.resize(longest_ + 2);
        column_->errors.reserve(column_->errors.size() + longest_);
    }

    // Starts a cycle, given the 2-norm `beta` of the residual and the infinity norm of x.
    void begin_cycle(Real<T> beta, double x_norm) {
        beta_ = beta;
        active_ = longest_ > 0 && beta_ > 0 && std::isfinite(beta_);
        if (!active_) return;
        // A residual of this size meets the target, so the cycle can stop without computing x, because the
        // infinity norm is at most the 2-norm. |x| counts only if x is a meaningful iterate, because a very
        // large x would make any residual look small.
        double const size_of_x = error_ < largest_useful_error ? problem_->matrix_norm * x_norm : 0.0;
        wanted_ = static_cast<Real<T>>(problem_->target * (size_of_x + column_->b_norm));
        steps_ = 0;
        over_ = false;
        append(residual_, beta_);
        rhs_.assign(1, T(beta_));
    }

    // Computes the contribution of the local rows to V^H w.
    void project(std::span<T const> w, std::span<Wide<T>> result) {
        std::span<T> const local = std::span(projection_).first(basis_size());
        std::ranges::fill(local, T(0)); // gemv does nothing without rows
        gemv<T>(Op::adjoint, T(1), basis(basis_size()), w, T(0), local);
        std::ranges::transform(local, result.begin(), [](T value) { return Wide<T>(value); });
    }
    // w -= V h with h = V^H w.
    void subtract_projection(std::span<T> w, std::span<Wide<T> const> h, bool is_first) {
        if (is_first) std::ranges::fill(sums_, T(0));
        for (Index i = 0; i < basis_size(); ++i) {
            projection_[i] = static_cast<T>(h[i]);
            sums_[i] += projection_[i];
        }
        gemv<T>(Op::none, T(-1), basis(basis_size()), std::span<T const>(projection_).first(basis_size()),
                T(1), w);
    }

    // Adds basis vector steps + 1 and a column of the Hessenberg matrix, given w and its 2-norm.
    void extend(std::span<T const> w, Real<T> length) {
        over_ = true;
        if (!std::isfinite(length)) return; // the step is useless
        sums_[steps_ + 1] = T(length);
        rotate();
        ++steps_;
        column_->errors.push_back(error_ * static_cast<double>(std::abs(rhs_[steps_]) / beta_));
        if (!(length > 0)) return; // the space is exhausted
        append(w, length);
        over_ = std::abs(rhs_[steps_]) <= wanted_ || steps_ == longest_;
    }

    // Computes V y with R y = rhs. M^-1 is applied to it next.
    void combine(std::span<T> step) {
        std::span<T> const y = std::span(projection_).first(steps_);
        std::copy_n(rhs_.begin(), steps_, y.begin());
        for (Index i = steps_ - 1; i >= 0; --i) {
            for (Index j = i + 1; j < steps_; ++j) y[i] -= r(i, j) * y[j];
            y[i] = r(i, i) == T(0) ? T(0) : y[i] / r(i, i);
        }
        std::ranges::fill(step, T(0));
        if (steps_ > 0) gemv<T>(Op::none, T(1), basis(steps_), y, T(0), step);
    }

    // Accepts x with this residual and backward error if it is better. The column remains active if another
    // cycle is worthwhile.
    void correct(std::span<T const> x, std::span<T const> residual, double error) {
        active_ = false;
        if (steps_ == 0) return;
        column_->errors.back() = error;
        if (!(error < error_)) return;
        std::ranges::copy(x, column_->x.begin());
        bool const stagnates = error > 0.9 * error_;
        start(residual, error);
        active_ = active_ && !stagnates;
    }

  private:
    void append(std::span<T const> w, Real<T> length) {
        basis_.insert(basis_.end(), w.begin(), w.end());
        for (T& value : std::span<T>(basis_).last(w.size())) value /= length;
    }

    // Rotates the column of the Hessenberg matrix in sums_ to a column of R, and applies the rotation to the
    // right-hand side.
    void rotate() {
        for (Index i = 0; i < steps_; ++i) rotations_[i].apply(sums_[i], sums_[i + 1]);
        Rotation<T> const& rotation = rotations_.emplace_back(sums_[steps_], sums_[steps_ + 1]);
        rotation.apply(sums_[steps_], sums_[steps_ + 1]);
        hessenberg_.insert(hessenberg_.end(), sums_.begin(), sums_.begin() + longest_ + 1);
        rhs_.push_back(-conj(rotation.s) * rhs_[steps_]);
        rhs_[steps_] = rotation.c * rhs_[steps_];
    }

    [[nodiscard]] T r(Index i, Index j) const { return hessenberg_[i + j * (longest_ + 1)]; }
    [[nodiscard]] std::span<T const> basis_vector(Index k) const {
        return std::span<T const>(basis_).subspan(k * problem_->n(), problem_->n());
    }
    [[nodiscard]] MatrixView<T const> basis(Index vectors) const {
        return {basis_.data(), problem_->n(), vectors, std::max<Index>(problem_->n(), 1)};
    }

    KrylovProblem<T> const* problem_;
    KrylovColumn<T>* column_;
    std::vector<T> residual_; // residual of column_->x
    double error_ = 0;        // normwise backward error of column_->x
    bool active_ = false;
    bool over_ = false;
    Index steps_ = 0; // steps of this cycle
    Index longest_ = 0;
    Real<T> beta_ = 0; // |residual| at the start of the cycle
    Real<T> wanted_ = 0;
    std::vector<T> basis_;      // n x (steps + 1)
    std::vector<T> hessenberg_; // (longest + 1) x steps, upper triangle: R after the rotations
    std::vector<Rotation<T>> rotations_;
    std::vector<T> rhs_; // right-hand side of the least-squares problem; |rhs[steps]| is its residual
    std::vector<T> projection_, sums_; // V^H w of this step: from one pass, and in total
};

template <class T> class Gmres : KrylovBlock<T, GmresColumn<T>> {
    using Column = GmresColumn<T>;
    using Base = KrylovBlock<T, Column>;
    using Base::active_, Base::beginning_, Base::block_, Base::errors_, Base::image_, Base::lengths_,
        Base::problem_;

  public:
    Gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) : Base(problem, columns) {
        for (Index c = 0; c < std::ssize(active_); ++c) active_[c]->start(image_.column(c), errors_[c]);
        begin_cycles();
    }

    void run() {
        while (!active_.empty()) {
            auto const count = std::ssize(active_);
            for (Index c = 0; c < count; ++c) block_.put(c, active_[c]->last_basis_vector());
            problem_.solve(block_, count);
            problem_.product(block_, image_, count);
            // Two passes are needed: with replaced pivots M^-1 is huge in a few directions, and one pass loses
            // orthogonality.
            orthogonalize(true);
            orthogonalize(false);
            two_norms<T>(rows(), std::span(lengths_).first(count), [&](Index c) { return image_.column(c); });
            beginning_.clear();
            for (Index c = 0; c < count; ++c) {
                active_[c]->extend(image_.column(c), lengths_[c]);
                if (active_[c]->cycle_is_over()) beginning_.push_back(active_[c]);
            }
            if (!beginning_.empty()) end_cycles();
        }
    }

  private:
    [[nodiscard]] DistributedRows const& rows() const { return problem_.rows(); }

    // Runs the next cycle of the columns that begin and are still active.
    void begin_cycles() {
        auto const count = std::ssize(beginning_);
        rows().reduction().all_succeed([&] {
            for (Column* state : beginning_)
                if (state->active()) state->reserve_cycle();
        });
        two_norms<T>(rows(), std::span(lengths_).first(count),
                     [&](Index c) { return beginning_[c]->residual(); });
        auto const x_norms = rows().reduction().max(count, [&](std::span<double> largest) {
            for (Index c = 0; c < count; ++c)
                largest[c] = infinity_norm<T>(std::span<T const>(beginning_[c]->column().x));
        });
        for (Index c = 0; c < count; ++c)
            if (beginning_[c]->active()) beginning_[c]->begin_cycle(lengths_[c], x_norms[c]);
        this->drop_inactive();
    }

    // One pass of w := (I - V V^H) w for all columns.
    void orthogonalize(bool is_first) {
        Index total = 0;
        for (Column const* state : active_) total += state->basis_size();
        auto const for_each = [&](auto values, auto const& visit) {
            for (Index c = 0; c < std::ssize(active_); ++c) {
                Index const size = active_[c]->basis_size();
                visit(*active_[c], image_.column(c), values.first(size));
                values = values.subspan(size);
            }
        };
        auto const projections =
            rows().reduction().template sum<Wide<T>>(total, [&](std::span<Wide<T>> values) {
                check(problem_.interrupt);
                for_each(values, [](Column& state, std::span<T> w, auto part) { state.project(w, part); });
            });
        for_each(projections, [&](Column& state, std::span<T> w, auto part) {
            state.subtract_projection(w, part, is_first);
        });
    }

    void end_cycles() {
        auto const count = std::ssize(beginning_);
        for (Index c = 0; c < count; ++c) beginning_[c]->combine(block_.column(c));
        problem_.solve(block_, count);
        for (Index c = 0; c < count; ++c) add_scaled<T>(T(1), beginning_[c]->column().x, block_.column(c));
        this->measure();
        for (Index c = 0; c < count; ++c)
            beginning_[c]->correct(block_.column(c), image_.column(c), errors_[c]);
        begin_cycles();
    }
};

} // namespace

template <class T> void gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    Gmres<T>(problem, columns).run();
}

#define ESPALIER_INSTANTIATE(T) template void gmres<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
