// Methods with short recurrences on a block of right-hand sides: conjugate gradients and BiCGSTAB. The
// residual of a column is updated by recurrence, and compared with the true residual before the method stops.
// The recurrence solves A d = r / |r|, and x + |r| d is the iterate. So inner products of very large or small
// right-hand sides neither overflow nor vanish.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "refine/krylov.hpp"

namespace espalier {

namespace {

// The recurrence of one column.
template <class T> class Recurrence {
  public:
    Recurrence(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : column_(&column), r_(problem.n()), x_(problem.n()) {}

    [[nodiscard]] bool active() const { return active_; }
    // Whether the recurrence has started and done no iteration yet.
    [[nodiscard]] bool is_fresh() const { return fresh_; }
    std::vector<T>& r() { return r_; }
    [[nodiscard]] KrylovColumn<T>& column() const { return *column_; }

    // x += factor d, where d has the scale of the recurrence.
    void add_to_x(T factor, std::span<T const> d) { add_scaled<T>(factor * scale_, d, x_); }

    // Returns the infinity norms of the local rows of r and x.
    [[nodiscard]] std::array<double, 2> norms() const {
        return {static_cast<double>(scale_) * infinity_norm<T>(std::span<T const>(r_)),
                infinity_norm<T>(std::span<T const>(x_))};
    }
    // Accepts x and r of the next iteration with this backward error. Keeps the best x, and requests a
    // restart if the error by recurrence is small enough.
    void finish_iteration(KrylovProblem<T> const& problem, double error) {
        fresh_ = false;
        column_->errors.push_back(error);
        if (error < best_) {
            best_ = error;
            std::ranges::copy(x_, column_->x.begin());
        }
        bool const last = static_cast<int>(column_->errors.size()) >= problem.max_iterations;
        if (!std::isfinite(error) || last)
            active_ = false;
        else
            begins_ = error <= problem.target;
    }

    // Called on breakdown: requests a restart from the best x, unless the recurrence has just started there.
    // Returns false.
    bool break_down() {
        if (fresh_)
            active_ = false;
        else
            begins_ = true;
        return false;
    }
    [[nodiscard]] bool begins() const { return active_ && begins_; }

    // Restarts from the best x with its true residual `r` of 2-norm `length`, if there was progress.
    void begin(KrylovProblem<T> const& problem, std::span<T const> r, double error, Real<T> length) {
        std::ranges::copy(column_->x, x_.begin());
        best_ = error;
        scale_ = length;
        active_ = best_ > problem.target && best_ < 0.9 * error_at_begin_ && std::isfinite(scale_);
        error_at_begin_ = best_;
        fresh_ = true;
        begins_ = false;
        if (active_) std::ranges::transform(r, r_.begin(), [&](T value) { return value / scale_; });
    }

  private:
    KrylovColumn<T>* column_; // its x is the best so far
    std::vector<T> r_, x_;
    Real<T> scale_ = 0;
    double best_ = 0;
    double error_at_begin_ = infinity;
    bool active_ = true;
    bool fresh_ = true;
    bool begins_ = true;
};

// Advances all columns together. The states are recurrences.
template <class T, class State> class LockStep : KrylovBlock<T, State> {
    using Base = KrylovBlock<T, State>;
    using Base::active_, Base::beginning_, Base::block_, Base::errors_, Base::image_, Base::lengths_,
        Base::problem_;

  public:
    LockStep(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) : Base(problem, columns) {
        begin();
    }

    [[nodiscard]] bool done() const { return active_.empty(); }
    [[nodiscard]] std::vector<State*> const& active() const { return active_; }

    // Ends a step. `finished` are the states that have done an iteration.
    void finish(std::vector<State*> const& finished) {
        auto const count = std::ssize(finished);
        auto const norms = problem_.rows().reduction().max(2 * count, [&](std::span<double> largest) {
            check(problem_.interrupt);
            for (Index k = 0; k < count; ++k)
                std::ranges::copy(finished[k]->norms(), largest.begin() + 2 * k);
        });
        for (Index k = 0; k < count; ++k)
            finished[k]->finish_iteration(problem_, normwise_backward_error(problem_.matrix_norm,
                                                                            norms[2 * k], norms[2 * k + 1],
                                                                            finished[k]->column().b_norm));
        beginning_.clear();
        for (State* state : active_)
            if (state->begins()) beginning_.push_back(state);
        this->measure_best();
        begin();
    }

    // Packs vector(state) of the states `which`, and multiplies the block by M^-1 and then by op(A).
    template <class Vector> void pack(std::vector<State*> const& which, Vector vector) {
        for (Index c = 0; c < std::ssize(which); ++c) block_.put(c, vector(*which[c]));
    }
    void solve(Index columns) { problem_.solve(block_, columns); }
    void product(Index columns) { problem_.product(block_, image_, columns); }
    [[nodiscard]] std::span<T> block(Index c) { return block_.column(c); }
    [[nodiscard]] std::span<T> image(Index c) { return image_.column(c); }

  private:
    void begin() {
        auto const count = std::ssize(beginning_);
        if (count > 0)
            two_norms<T>(problem_.rows(), std::span(lengths_).first(count),
                         [&](Index c) { return image_.column(c); });
        for (Index c = 0; c < count; ++c)
            beginning_[c]->begin(problem_, image_.column(c), errors_[c], lengths_[c]);
        this->drop_inactive();
    }
};

template <class T> class CgColumn : public Recurrence<T> {
    using Base = Recurrence<T>;

  public:
    CgColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : Base(problem, column), p_(problem.n()) {}

    using Base::break_down, Base::is_fresh, Base::r;
    [[nodiscard]] std::span<T const> p() const { return p_; }

    // p := z + beta p with z = M^-1 r and rho = r^H z. Returns false on breakdown.
    bool update_direction(std::span<T const> z, T rho) {
        if (!is_finite(rho) || rho == T(0)) return break_down();
        T const beta = is_fresh() ? T(0) : rho / rho_;
        if (is_fresh())
            std::ranges::copy(z, p_.begin());
        else
            for (Index i = 0; i < std::ssize(p_); ++i) p_[i] = z[i] + beta * p_[i];
        rho_ = rho;
        return true;
    }

    // x += alpha p, r -= alpha q with q = A p and curvature = p^H q.
    bool advance(std::span<T const> q, T curvature) {
        if (!is_finite(curvature) || curvature == T(0)) return break_down();
        T const alpha = rho_ / curvature;
        this->add_to_x(alpha, p_);
        add_scaled<T>(-alpha, q, r());
        return true;
    }

  private:
    std::vector<T> p_;
    T rho_ = T(0);
};

template <class T> class BicgstabColumn : public Recurrence<T> {
    using Base = Recurrence<T>;

  public:
    BicgstabColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : Base(problem, column), shadow_(problem.n()), p_(problem.n()), v_(problem.n()) {}

    using Base::break_down, Base::is_fresh, Base::r;
    [[nodiscard]] std::span<T const> p() const { return p_; }
    // The shadow residual of a recurrence is its first residual.
    [[nodiscard]] std::span<T const> shadow() {
        if (is_fresh()) shadow_ = r();
        return shadow_;
    }

    // p := r + beta (p - omega v) with rho = shadow^H r. Returns false on breakdown.
    bool update_direction(T rho) {
        if (!is_usable(rho)) return break_down();
        if (is_fresh()) {
            p_ = r();
        } else {
            if (!is_usable(omega_)) return break_down();
            auto const& residual = r();
            T const beta = (rho / rho_) * (alpha_ / omega_);
            for (Index i = 0; i < std::ssize(p_); ++i) p_[i] = residual[i] + beta * (p_[i] - omega_ * v_[i]);
        }
        rho_ = rho;
        return true;
    }

    // With p^ = M^-1 p, v = A p^ and projected = shadow^H v: x += alpha p^, r -= alpha v. Now r is the vector
    // s of the method.
    bool advance_half(std::span<T const> p_hat, std::span<T const> v, T projected) {
        if (!is_usable(projected)) return break_down();
        alpha_ = rho_ / projected;
        this->add_to_x(alpha_, p_hat);
        add_scaled<T>(-alpha_, v, r());
        std::ranges::copy(v, v_.begin());
        return true;
    }

    // With s^ = M^-1 s and t = A s^: x += omega s^, r = s - omega t, omega = t^H s / t^H t.
    void advance(std::span<T const> s_hat, std::span<T const> t, T product, T squares) {
        omega_ = squares == T(0) ? T(0) : product / squares;
        this->add_to_x(omega_, s_hat);
        add_scaled<T>(-omega_, t, r());
    }

  private:
    static bool is_usable(T value) { return is_finite(value) && value != T(0); }
    std::vector<T> shadow_, p_, v_;
    T rho_ = T(0), alpha_ = T(0), omega_ = T(0);
};

} // namespace

template <class T>
void conjugate_gradients(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    using Column = CgColumn<T>;
    LockStep<T, Column> steps(problem, columns);
    std::vector<Column*> updated, advanced;
    problem.rows().reduction().all_succeed([&] {
        updated.reserve(columns.size());
        advanced.reserve(columns.size());
    });
    while (!steps.done()) {
        auto const& active = steps.active();
        steps.pack(active, [](Column& state) -> std::span<T const> { return state.r(); });
        steps.solve(std::ssize(active));
        auto const rho = problem.sum(std::ssize(active),
                                     [&](Index c) { return local_dot<T>(active[c]->r(), steps.block(c)); });
        updated.clear();
        for (Index c = 0; c < std::ssize(active); ++c)
            if (active[c]->update_direction(steps.block(c), static_cast<T>(rho[c]))) updated.push_back(active[c]);
        steps.pack(updated, [](Column& state) { return state.p(); });
        steps.product(std::ssize(updated));
        auto const curvature = problem.sum(
            std::ssize(updated), [&](Index c) { return local_dot<T>(updated[c]->p(), steps.image(c)); });
        advanced.clear();
        for (Index c = 0; c < std::ssize(updated); ++c)
            if (updated[c]->advance(steps.image(c), static_cast<T>(curvature[c])))
                advanced.push_back(updated[c]);
        steps.finish(advanced);
    }
}

template <class T> void bicgstab(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    using Column = BicgstabColumn<T>;
    LockStep<T, Column> steps(problem, columns);
    std::vector<Column*> updated, half_way;
    problem.rows().reduction().all_succeed([&] {
        updated.reserve(columns.size());
        half_way.reserve(columns.size());
    });
    auto const solve_and_multiply = [&](std::vector<Column*> const& which, auto const& vector) {
        steps.pack(which, vector);
        steps.solve(std::ssize(which));
        steps.product(std::ssize(which));
    };
    while (!steps.done()) {
        auto const& active = steps.active();
        auto const rho = problem.sum(
            std::ssize(active), [&](Index c) { return local_dot<T>(active[c]->shadow(), active[c]->r()); });
        updated.clear();
        for (Index c = 0; c < std::ssize(active); ++c)
            if (active[c]->update_direction(static_cast<T>(rho[c]))) updated.push_back(active[c]);
        solve_and_multiply(updated, [](Column& state) { return state.p(); });
        auto const projected = problem.sum(
            std::ssize(updated), [&](Index c) { return local_dot<T>(updated[c]->shadow(), steps.image(c)); });
        half_way.clear();
        for (Index c = 0; c < std::ssize(updated); ++c)
            if (updated[c]->advance_half(steps.block(c), steps.image(c), static_cast<T>(projected[c])))
                half_way.push_back(updated[c]);
        solve_and_multiply(half_way, [](Column& state) { return std::span<T const>(state.r()); });
        auto const products = problem.sum(2 * std::ssize(half_way), [&](Index k) {
            std::span<T const> const t = steps.image(k / 2);
            return local_dot<T>(t, k % 2 ? t : half_way[k / 2]->r());
        });
        for (Index c = 0; c < std::ssize(half_way); ++c)
            half_way[c]->advance(steps.block(c), steps.image(c), static_cast<T>(products[2 * c]),
                                 static_cast<T>(products[2 * c + 1]));
        steps.finish(half_way);
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void conjugate_gradients<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);               \
    template void bicgstab<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
