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

// The recurrence of one column. The iterate and the best x are in two vectors, one of which is the column's
// x. If the iterate is the best x, the next one is written to the other vector.
template <class T> class Recurrence {
  public:
    Recurrence(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : column_(&column), workers_(&problem.workers()), r_(problem.n()), x_(problem.n()) {}

    [[nodiscard]] bool active() const { return active_; }
    // Whether the recurrence has started and done no iteration yet.
    [[nodiscard]] bool is_fresh() const { return fresh_; }
    [[nodiscard]] std::span<T const> r() const { return r_; }
    [[nodiscard]] KrylovColumn<T>& column() const { return *column_; }
    // The infinity norms of the local rows of r and x.
    [[nodiscard]] std::array<double, 2> norms() const {
        return {static_cast<double>(scale_) * norms_.r, norms_.x};
    }

    // x += factor d, where d has the scale of the recurrence, and r -= factor image with image = A d.
    void advance(T factor, std::span<T const> d, std::span<T const> image) {
        std::span<T const> const from = iterate();
        is_best_ = false;
        std::span<T> const to = iterate();
        norms_ = workers_->template reduce<Norms>(
            std::ssize(r_),
            [&](IndexRange rows) {
                constexpr Index rows_in_cache = 1024;
                Norms norms;
                for (Index first = rows.first; first < rows.last; first += rows_in_cache) {
                    IndexRange const part{first, std::min(first + rows_in_cache, rows.last)};
                    auto const x = rows_of(to, part), r = rows_of(std::span(r_), part);
                    if (from.data() != to.data()) std::ranges::copy(rows_of(from, part), x.begin());
                    add_scaled<T>(factor * scale_, rows_of(d, part), x);
                    add_scaled<T>(-factor, rows_of(image, part), r);
                    norms = larger_norms(norms, {infinity_norm<T>(std::span<T const>(r)),
                                                 infinity_norm<T>(std::span<T const>(x))});
                }
                return norms;
            },
            larger_norms);
    }

    // Accepts x and r of the next iteration with this backward error. Keeps the best x, and requests a
    // restart if the error by recurrence is small enough.
    void finish_iteration(KrylovProblem<T> const& problem, double error) {
        fresh_ = false;
        column_->errors.push_back(error);
        if (error < best_) {
            best_ = error;
            is_best_ = true;
            column_has_best_ = !column_has_best_;
        }
        bool const last = static_cast<int>(column_->errors.size()) >= problem.max_iterations;
        if (!std::isfinite(error) || last)
            end();
        else if (error <= problem.target)
            request_restart();
    }

    // Called on breakdown: requests a restart from the best x, unless the recurrence has just started there.
    // Returns false.
    bool break_down() {
        if (fresh_)
            end();
        else
            request_restart();
        return false;
    }
    [[nodiscard]] bool begins() const { return active_ && begins_; }

    // Restarts from the column's x with its true residual `r` of 2-norm `length`, if there was progress.
    void begin(KrylovProblem<T> const& problem, std::span<T const> r, double error, Real<T> length) {
        column_has_best_ = is_best_ = true;
        best_ = error;
        scale_ = length;
        active_ = best_ > problem.target && best_ < 0.9 * error_at_begin_ && std::isfinite(scale_);
        error_at_begin_ = best_;
        fresh_ = true;
        begins_ = false;
        if (active_) for_each_row([&](Index i) { r_[i] = r[i] / scale_; });
    }

  protected:
    // Calls body(i) for each local row.
    template <class Body> void for_each_row(Body const& body) const {
        workers_->for_each_chunk(std::ssize(r_), [&](int, IndexRange rows) {
            for (Index i = rows.first; i < rows.last; ++i) body(i);
        });
    }
    [[nodiscard]] RowWorkers const& workers() const { return *workers_; }

  private:
    struct Norms {
        double r = 0, x = 0;
    };
    static Norms larger_norms(Norms const& one, Norms const& two) {
        return {larger(one.r, two.r), larger(one.x, two.x)};
    }

    // The vector of the iterate.
    [[nodiscard]] std::span<T> iterate() {
        return is_best_ == column_has_best_ ? column_->x : std::span<T>(x_);
    }
    // Moves the best x to the column.
    void deliver() {
        if (!column_has_best_) copy_rows<T>(*workers_, x_, column_->x);
        column_has_best_ = true;
    }
    void end() {
        active_ = false;
        deliver();
    }
    void request_restart() {
        begins_ = true;
        deliver();
    }

    KrylovColumn<T>* column_;
    RowWorkers const* workers_;
    std::vector<T> r_, x_;
    Norms norms_;
    Real<T> scale_ = 0;
    double best_ = 0;
    double error_at_begin_ = infinity;
    bool column_has_best_ = true; // else x_
    bool is_best_ = true;         // whether the iterate is the best x
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
        for (Index c = 0; c < std::ssize(which); ++c) block_.put(problem_.workers(), c, vector(*which[c]));
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

    // p := z + beta p with z = M^-1 r and rho = r^H z, and copies p, possibly to the memory of z. Returns
    // false on breakdown.
    bool update_direction(std::span<T const> z, T rho, std::span<T> copy) {
        if (!is_finite(rho) || rho == T(0)) return break_down();
        if (is_fresh()) {
            this->for_each_row([&](Index i) { copy[i] = p_[i] = z[i]; });
        } else {
            T const beta = rho / rho_;
            this->for_each_row([&](Index i) { copy[i] = p_[i] = z[i] + beta * p_[i]; });
        }
        rho_ = rho;
        return true;
    }

    // x += alpha p, r -= alpha q with q = A p and curvature = p^H q.
    bool advance(std::span<T const> q, T curvature) {
        if (!is_finite(curvature) || curvature == T(0)) return break_down();
        Base::advance(rho_ / curvature, p_, q);
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
        if (is_fresh()) copy_rows<T>(this->workers(), r(), shadow_);
        return shadow_;
    }

    // p := r + beta (p - omega v) with rho = shadow^H r. Returns false on breakdown.
    bool update_direction(T rho) {
        if (!is_usable(rho)) return break_down();
        auto const residual = r();
        if (is_fresh()) {
            copy_rows<T>(this->workers(), residual, p_);
        } else {
            if (!is_usable(omega_)) return break_down();
            T const beta = (rho / rho_) * (alpha_ / omega_);
            this->for_each_row([&](Index i) { p_[i] = residual[i] + beta * (p_[i] - omega_ * v_[i]); });
        }
        rho_ = rho;
        return true;
    }

    // With p^ = M^-1 p, v = A p^ and projected = shadow^H v: x += alpha p^, r -= alpha v. Now r is the vector
    // s of the method.
    bool advance_half(std::span<T const> p_hat, std::span<T const> v, T projected) {
        if (!is_usable(projected)) return break_down();
        alpha_ = rho_ / projected;
        Base::advance(alpha_, p_hat, v);
        copy_rows<T>(this->workers(), v, v_);
        return true;
    }

    // With s^ = M^-1 s and t = A s^: x += omega s^, r = s - omega t, omega = t^H s / t^H t.
    void advance(std::span<T const> s_hat, std::span<T const> t, T product, T squares) {
        omega_ = squares == T(0) ? T(0) : product / squares;
        Base::advance(omega_, s_hat, t);
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
        steps.pack(active, [](Column& state) { return state.r(); });
        steps.solve(std::ssize(active));
        auto const rho = problem.sum(std::ssize(active), [&](Index c) {
            return local_dot<T>(problem.workers(), active[c]->r(), steps.block(c));
        });
        updated.clear();
        for (Index c = 0; c < std::ssize(active); ++c)
            if (active[c]->update_direction(steps.block(c), static_cast<T>(rho[c]),
                                            steps.block(std::ssize(updated))))
                updated.push_back(active[c]);
        steps.product(std::ssize(updated));
        auto const curvature = problem.sum(std::ssize(updated), [&](Index c) {
            return local_dot<T>(problem.workers(), updated[c]->p(), steps.image(c));
        });
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
        auto const rho = problem.sum(std::ssize(active), [&](Index c) {
            return local_dot<T>(problem.workers(), active[c]->shadow(), active[c]->r());
        });
        updated.clear();
        for (Index c = 0; c < std::ssize(active); ++c)
            if (active[c]->update_direction(static_cast<T>(rho[c]))) updated.push_back(active[c]);
        solve_and_multiply(updated, [](Column& state) { return state.p(); });
        auto const projected = problem.sum(std::ssize(updated), [&](Index c) {
            return local_dot<T>(problem.workers(), updated[c]->shadow(), steps.image(c));
        });
        half_way.clear();
        for (Index c = 0; c < std::ssize(updated); ++c)
            if (updated[c]->advance_half(steps.block(c), steps.image(c), static_cast<T>(projected[c])))
                half_way.push_back(updated[c]);
        solve_and_multiply(half_way, [](Column& state) { return state.r(); });
        auto const products = problem.sum(2 * std::ssize(half_way), [&](Index k) {
            std::span<T const> const t = steps.image(k / 2);
            return local_dot<T>(problem.workers(), t, k % 2 ? t : half_way[k / 2]->r());
        });
        for (Index c = 0; c < std::ssize(half_way); ++c)
            half_way[c]->advance(steps.block(c), steps.image(c), static_cast<T>(products[2 * c]),
                                 static_cast<T>(products[2 * c + 1]));
        steps.finish(half_way);
    }
}

ESPALIER_INSTANTIATE_FUNCTION(conjugate_gradients)
ESPALIER_INSTANTIATE_FUNCTION(bicgstab)

} // namespace espalier
