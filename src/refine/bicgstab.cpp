// BiCGSTAB on a block of right-hand sides.
#include <algorithm>
#include <cmath>
#include <vector>

#include "refine/recurrence.hpp"

namespace espalier {

namespace {

template <class T> class BicgstabColumn {
  public:
    BicgstabColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : recurrence_(problem, column), shadow_(problem.n()), p_(problem.n()), v_(problem.n()) {}

    Recurrence<T>& recurrence() { return recurrence_; }
    [[nodiscard]] std::vector<T> const& p() const { return p_; }

    // p := r + beta (p - omega v). False on breakdown, as below.
    bool turn() {
        auto const& r = recurrence_.r();
        if (recurrence_.is_fresh()) {
            shadow_ = p_ = r;
            rho_ = dot<T>(shadow_, r);
            return is_usable(rho_) || stop();
        }
        T const rho = dot<T>(shadow_, r);
        if (!is_usable(rho) || !is_usable(omega_)) return stop();
        T const beta = (rho / rho_) * (alpha_ / omega_);
        rho_ = rho;
        for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = r[i] + beta * (p_[i] - omega_ * v_[i]);
        return true;
    }

    // With p^ = M^-1 p and v = A p^: x += alpha p^, r -= alpha v, so that r is the method's s.
    bool advance_half(std::span<T const> p_hat, std::span<T const> v) {
        T const projected = dot<T>(shadow_, v);
        if (!is_usable(projected)) return stop();
        alpha_ = rho_ / projected;
        recurrence_.add_to_x(alpha_, p_hat);
        add_scaled<T>(-alpha_, v, recurrence_.r());
        std::copy(v.begin(), v.end(), v_.begin());
        return true;
    }

    // With s^ = M^-1 s and t = A s^: x += omega s^, r = s - omega t, omega = t^H s / t^H t.
    void advance(std::span<T const> s_hat, std::span<T const> t) {
        T const squares = dot<T>(t, t);
        omega_ = squares == T(0) ? T(0) : dot<T>(t, recurrence_.r()) / squares;
        recurrence_.add_to_x(omega_, s_hat);
        add_scaled<T>(-omega_, t, recurrence_.r());
        recurrence_.finish_iteration();
    }

  private:
    static bool is_usable(T value) { return is_finite(value) && value != T(0); }
    bool stop() {
        recurrence_.break_down();
        return false;
    }

    Recurrence<T> recurrence_;
    std::vector<T> shadow_, p_, v_;
    T rho_ = T(0), alpha_ = T(0), omega_ = T(0);
};

} // namespace

template <class T> void bicgstab(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    using Column = BicgstabColumn<T>;
    LockStep<T, Column> steps(problem, columns);
    while (!steps.done()) {
        std::vector<Column*> turned, half_way;
        for (Column* state : steps.active())
            if (state->turn()) turned.push_back(state);
        steps.pack(turned, [](Column& state) -> std::span<T const> { return state.p(); });
        steps.solve(turned.size());
        steps.product(turned.size());
        for (std::size_t c = 0; c < turned.size(); ++c)
            if (turned[c]->advance_half(steps.block(c), steps.image(c))) half_way.push_back(turned[c]);
        steps.pack(half_way, [](Column& state) -> std::span<T const> { return state.recurrence().r(); });
        steps.solve(half_way.size());
        steps.product(half_way.size());
        for (std::size_t c = 0; c < half_way.size(); ++c)
            half_way[c]->advance(steps.block(c), steps.image(c));
        steps.drop_those_done();
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void bicgstab<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
