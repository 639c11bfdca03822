// Preconditioned conjugate gradients on a block of right-hand sides.
#include <cmath>
#include <vector>

#include "refine/recurrence.hpp"

namespace espalier {

namespace {

template <class T> class CgColumn : public Recurrence<T> {
    using Base = Recurrence<T>;

  public:
    CgColumn(KrylovProblem<T> const& problem, KrylovColumn<T>& column)
        : Base(problem, column), p_(problem.n()) {}

    using Base::break_down, Base::is_fresh, Base::r;
    [[nodiscard]] std::span<T const> p() const { return p_; }

    // p := z + beta p with z = M^-1 r and rho = r^H z. False on breakdown, as below.
    bool turn(std::span<T const> z, T rho) {
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

} // namespace

template <class T>
void conjugate_gradients(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    using Column = CgColumn<T>;
    LockStep<T, Column> steps(problem, columns);
    std::vector<Column*> turned, advanced;
    problem.rows().reduction().all_succeed([&] {
        turned.reserve(columns.size());
        advanced.reserve(columns.size());
    });
    while (!steps.done()) {
        auto const& active = steps.active();
        steps.pack(active, [](Column& state) -> std::span<T const> { return state.r(); });
        steps.solve(std::ssize(active));
        auto const rho = problem.sum(std::ssize(active),
                                     [&](Index c) { return local_dot<T>(active[c]->r(), steps.block(c)); });
        turned.clear();
        for (Index c = 0; c < std::ssize(active); ++c)
            if (active[c]->turn(steps.block(c), static_cast<T>(rho[c]))) turned.push_back(active[c]);
        steps.pack(turned, [](Column& state) { return state.p(); });
        steps.product(std::ssize(turned));
        auto const curvature = problem.sum(
            std::ssize(turned), [&](Index c) { return local_dot<T>(turned[c]->p(), steps.image(c)); });
        advanced.clear();
        for (Index c = 0; c < std::ssize(turned); ++c)
            if (turned[c]->advance(steps.image(c), static_cast<T>(curvature[c])))
                advanced.push_back(turned[c]);
        steps.finish(advanced);
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void conjugate_gradients<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
