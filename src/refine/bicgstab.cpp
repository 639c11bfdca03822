// BiCGSTAB on a block of right-hand sides.
#include <algorithm>
#include <cmath>
#include <vector>

#include "refine/recurrence.hpp"

namespace espalier {

namespace {

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

    // p := r + beta (p - omega v) with rho = shadow^H r. False on breakdown, as below.
    bool turn(T rho) {
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

    // With p^ = M^-1 p, v = A p^ and projected = shadow^H v: x += alpha p^, r -= alpha v, so that r is the
    // method's s.
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

template <class T> void bicgstab(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    using Column = BicgstabColumn<T>;
    LockStep<T, Column> steps(problem, columns);
    std::vector<Column*> turned, half_way;
    problem.rows().reduction().all_succeed([&] {
        turned.reserve(columns.size());
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
        turned.clear();
        for (Index c = 0; c < std::ssize(active); ++c)
            if (active[c]->turn(static_cast<T>(rho[c]))) turned.push_back(active[c]);
        solve_and_multiply(turned, [](Column& state) { return state.p(); });
        auto const projected = problem.sum(
            std::ssize(turned), [&](Index c) { return local_dot<T>(turned[c]->shadow(), steps.image(c)); });
        half_way.clear();
        for (Index c = 0; c < std::ssize(turned); ++c)
            if (turned[c]->advance_half(steps.block(c), steps.image(c), static_cast<T>(projected[c])))
                half_way.push_back(turned[c]);
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
    template void bicgstab<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
