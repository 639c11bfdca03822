// GMRES on a block of right-hand sides, each with its own Arnoldi basis.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/blas.hpp"
#include "matrix/norms.hpp"
#include "refine/krylov.hpp"

namespace espalier {

namespace {

// Givens rotation [c s; -conj(s) c] that maps (f, g) to (r, 0).
template <class T> void make_rotation(T f, T g, Real<T>& c, T& s) {
    Real<T> const length = std::hypot(std::abs(f), std::abs(g));
    if (std::abs(f) == 0) {
        c = 0;
        s = length == 0 ? T(0) : conj(g) / length;
        return;
    }
    c = std::abs(f) / length;
    s = (f / std::abs(f)) * conj(g) / length;
}

// One right-hand side: cycles of at most m steps. A step takes A M^-1 v of its last basis vector v; when the
// cycle is over, combine() and then correct() make an iterate of it and begin the next.
template <class T> class GmresColumn {
  public:
    GmresColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : problem_(problem), column_(column), residual_(problem.n()) {
        measure(column_.x);
        if (!(error_ < worse_than_a_guess)) {
            std::fill(column_.x.begin(), column_.x.end(), T(0));
            measure(column_.x);
        }
        if (std::isfinite(error_) && error_ > problem_.target) begin_cycle();
    }

    [[nodiscard]] bool active() const { return active_; }
    [[nodiscard]] bool cycle_is_over() const { return over_; }
    [[nodiscard]] std::span<T const> last_basis_vector() const { return basis_vector(steps_); }

    // Adds basis vector steps + 1 and a column of the Hessenberg matrix from w = A M^-1 v.
    void extend(std::span<T> w) {
        check(problem_.interrupt);
        std::vector<T> h(steps_ + 2);
        orthogonalize(w, h);
        Real<T> const length = norm2<T>(w);
        over_ = true;
        if (!std::isfinite(length)) return; // the step is worth nothing
        h[steps_ + 1] = T(length);
        rotate(h);
        hessenberg_.push_back(std::move(h));
        ++steps_;
        column_.errors.push_back(error_ * static_cast<double>(std::abs(rhs_[steps_]) / beta_));
        if (!(length > 0)) return; // the space is exhausted
        append(w, length);
        over_ = std::abs(rhs_[steps_]) <= wanted_ || steps_ == longest_;
    }

    // V y with R y = rhs: what M^-1 is to be applied to.
    void combine(std::span<T> step) const {
        std::vector<T> y(rhs_.begin(), rhs_.begin() + static_cast<std::ptrdiff_t>(steps_));
        for (std::size_t i = steps_; i-- > 0;) {
            for (std::size_t j = i + 1; j < steps_; ++j) y[i] -= hessenberg_[j][i] * y[j];
            y[i] = hessenberg_[i][i] == T(0) ? T(0) : y[i] / hessenberg_[i][i];
        }
        std::fill(step.begin(), step.end(), T(0));
        if (steps_ > 0) gemv<T>(Op::none, T(1), basis(steps_), y, T(0), step);
    }

    // x + step, if it is better; then the next cycle, if there is reason for one.
    void correct(std::span<T> step) {
        active_ = false;
        if (steps_ == 0) return;
        double const before = error_;
        add_scaled<T>(T(1), column_.x, step);
        measure(step);
        column_.errors.back() = error_;
        if (!(error_ < before)) return;
        std::copy(step.begin(), step.end(), column_.x.begin());
        bool const stagnates = error_ > 0.9 * before;
        if (error_ > problem_.target && !stagnates) begin_cycle();
    }

  private:
    void measure(std::span<T const> x) {
        residual<T>(problem_.a, x, column_.b, residual_, 1, problem_.op);
        error_ = normwise_backward_error<T>(problem_.matrix_norm, residual_, x, column_.b, 1);
    }

    void begin_cycle() {
        std::size_t const left = static_cast<std::size_t>(problem_.max_iterations) - column_.errors.size();
        longest_ = std::min(static_cast<std::size_t>(problem_.restart), left);
        beta_ = norm2<T>(residual_);
        active_ = longest_ > 0 && beta_ > 0 && std::isfinite(beta_);
        if (!active_) return;
        // A residual that meets the target, so that the cycle knows when to stop without forming x: the
        // infinity norm is below the 2-norm. |x| counts only once x means something, as a wild x would make
        // any residual look small.
        double const size_of_x =
            error_ < worse_than_a_guess ? problem_.matrix_norm * infinity_norm<T>(column_.x) : 0.0;
        wanted_ = static_cast<Real<T>>(problem_.target * (size_of_x + infinity_norm<T>(column_.b)));
        steps_ = 0;
        over_ = false;
        basis_.clear();
        basis_.reserve((longest_ + 1) * problem_.n()); // untouched, and so not there, until it is used
        append(residual_, beta_);
        hessenberg_.clear();
        rotations_.clear();
        rhs_.assign(1, T(beta_));
    }

    void append(std::span<T const> w, Real<T> length) {
        basis_.insert(basis_.end(), w.begin(), w.end());
        for (T& value : std::span<T>(basis_).last(w.size())) value /= length;
    }

    // w := (I - V V^H) w and h := V^H w. Twice: with replaced pivots M^-1 is huge in a few directions, and
    // one pass loses orthogonality.
    void orthogonalize(std::span<T> w, std::vector<T>& h) const {
        std::vector<T> projection(steps_ + 1);
        auto const v = basis(steps_ + 1);
        for (int pass = 0; pass < 2; ++pass) {
            gemv<T>(Op::adjoint, T(1), v, w, T(0), projection);
            gemv<T>(Op::none, T(-1), v, projection, T(1), w);
            for (std::size_t i = 0; i <= steps_; ++i) h[i] += projection[i];
        }
    }

    // Makes the column of the Hessenberg matrix one of R, and the right-hand side follows.
    void rotate(std::vector<T>& h) {
        for (std::size_t i = 0; i < steps_; ++i) {
            auto const [c, s] = rotations_[i];
            T const upper = c * h[i] + s * h[i + 1];
            h[i + 1] = -conj(s) * h[i] + c * h[i + 1];
            h[i] = upper;
        }
        Rotation rotation;
        auto& [c, s] = rotation;
        make_rotation(h[steps_], h[steps_ + 1], c, s);
        h[steps_] = c * h[steps_] + s * h[steps_ + 1];
        h[steps_ + 1] = T(0);
        rotations_.push_back(rotation);
        rhs_.push_back(-conj(s) * rhs_[steps_]);
        rhs_[steps_] = c * rhs_[steps_];
    }

    [[nodiscard]] std::span<T const> basis_vector(std::size_t k) const {
        return std::span<T const>(basis_).subspan(k * problem_.n(), problem_.n());
    }
    [[nodiscard]] MatrixView<T const> basis(std::size_t vectors) const {
        auto const n = static_cast<Index>(problem_.n());
        return {basis_.data(), n, static_cast<Index>(vectors), n};
    }
    struct Rotation {
        Real<T> c = 1;
        T s = T(0);
    };

    KrylovProblem<T> const& problem_;
    KrylovColumn<T>& column_;
    std::vector<T> residual_; // of the last x that was measured
    double error_ = 0;        // normwise backward error of the same
    bool active_ = false;
    bool over_ = false;
    std::size_t steps_ = 0; // of this cycle
    std::size_t longest_ = 0;
    Real<T> beta_ = 0; // |residual| at the start of the cycle
    Real<T> wanted_ = 0;
    std::vector<T> basis_;                   // n x (steps + 1)
    std::vector<std::vector<T>> hessenberg_; // column k has k + 2 entries, R after the rotations
    std::vector<Rotation> rotations_;
    std::vector<T> rhs_; // of the least-squares problem: |rhs[steps]| is its residual
};

} // namespace

template <class T> void gmres(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    std::vector<GmresColumn<T>> states;
    for (auto& column : columns) states.emplace_back(problem, column);
    std::vector<GmresColumn<T>*> active;
    for (auto& state : states)
        if (state.active()) active.push_back(&state);
    PackedColumns<T> block(problem.n(), active.size()), image(problem.n(), active.size());

    while (!active.empty()) {
        for (std::size_t c = 0; c < active.size(); ++c) block.put(c, active[c]->last_basis_vector());
        problem.solve(block.first(active.size()));
        problem.product(block.first(active.size()), image.first(active.size()));
        std::vector<GmresColumn<T>*> over;
        for (std::size_t c = 0; c < active.size(); ++c) {
            active[c]->extend(image.column(c));
            if (active[c]->cycle_is_over()) over.push_back(active[c]);
        }
        if (over.empty()) continue;
        for (std::size_t c = 0; c < over.size(); ++c) over[c]->combine(block.column(c));
        problem.solve(block.first(over.size()));
        for (std::size_t c = 0; c < over.size(); ++c) over[c]->correct(block.column(c));
        std::erase_if(active, [](auto const* state) { return !state->active(); });
    }
}

#define ESPALIER_INSTANTIATE(T) template void gmres<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
