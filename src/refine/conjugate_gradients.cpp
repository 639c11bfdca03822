// Preconditioned conjugate gradients on a block of right-hand sides.
#include <cmath>
#include <vector>

#include "refine/recurrence.hpp"

namespace espalier {

namespace {

template <class T> class CgColumn {
  public:
    CgColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : recurrence_(problem, column), p_(problem.n()) {}

    Recurrence<T>& recurrence() { return recurrence_; }
    [[nodiscard]] std::vector<T> const& p() const { return p_; }

    // p := z + beta p with z = M^-1 r. False on breakdown, as below.
    bool turn(std::span<T const> z) {
        T const rho = dot<T>(recurrence_.r(), z);
        if (!is_finite(rho) || rho == T(0)) return stop();
        if (recurrence_.is_fresh()) {
            std::copy(z.begin(), z.end(), p_.begin());
        } else {
            T const beta = rho / rho_;
            for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = z[i] + beta * p_[i];
        }
        rho_ = rho;
        return true;
    }

    // x += alpha p, r -= alpha q with q = A p.
    bool advance(std::span<T const> q) {
        T const curvature = dot<T>(p_, q);
        if (!is_finite(curvature) || curvature == T(0)) return stop();
        T const alpha = rho_ / curvature;
        recurrence_.add_to_x(alpha, p_);
        add_scaled<T>(-alpha, q, recurrence_.r());
        recurrence_.finish_iteration();
        return true;
    }

  private:
    bool stop() {
        recurrence_.break_down();
        return false;
    }

    Recurrence<T> recurrence_;
    std::vector<T> p_;
    T rho_ = T(0);
};

} // namespace

template <class T>
void conjugate_gradients(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    LockStep<T, CgColumn<T>> steps(problem, columns);
    while (!steps.done()) {
        auto const& active = steps.active();
        steps.pack(active, [](CgColumn<T>& state) -> std::span<T const> { return state.recurrence().r(); });
        steps.solve(active.size());
        std::vector<CgColumn<T>*> turned;
        for (std::size_t c = 0; c < active.size(); ++c)
            if (active[c]->turn(steps.block(c))) turned.push_back(active[c]);
        steps.pack(turned, [](CgColumn<T>& state) -> std::span<T const> { return state.p(); });
        steps.product(turned.size());
        for (std::size_t c = 0; c < turned.size(); ++c) turned[c]->advance(steps.image(c));
        steps.drop_those_done();
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void conjugate_gradients<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
