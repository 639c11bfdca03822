#include "refine/krylov.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"

namespace espalier {

namespace {

template <class T> using Vector = std::vector<T>;

template <class T> T dot(std::span<T const> x, std::span<T const> y) { // x^H y
    T sum(0);
    for (std::size_t i = 0; i < x.size(); ++i) sum += conj(x[i]) * y[i];
    return sum;
}

template <class T> Real<T> norm2(std::span<T const> x) {
    return std::sqrt(real_part(dot(x, x)));
}

template <class T> void add_scaled(T factor, std::span<T const> x, std::span<T> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += factor * x[i];
}

template <class T> double backward_error(KrylovProblem<T> const& p, std::span<T const> r,
                                         std::span<T const> x, std::span<T const> b) {
    return normwise_backward_error<T>(p.matrix_norm, r, x, b, 1);
}

template <class T> void product(KrylovProblem<T> const& p, std::span<T const> x, std::span<T> y) {
    multiply<T>(MatrixOp::none, T(1), p.a, x, T(0), y, 1);
}

// Residual norm that meets the target, so that the inner loop need not form x to know when to stop. The
// infinity norm of the residual is below its 2-norm. |x| counts only once x means something: a wild x would
// make any residual look small.
template <class T>
Real<T> wanted_norm(KrylovProblem<T> const& p, double error, std::span<T const> x, std::span<T const> b) {
    double const size_of_x = error < 1e-3 ? p.matrix_norm * infinity_norm<T>(x) : 0.0;
    return static_cast<Real<T>>(p.target * (size_of_x + infinity_norm<T>(b)));
}

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

// One cycle of at most m steps of GMRES; the state of the least-squares problem.
template <class T> class GmresCycle {
  public:
    GmresCycle(KrylovProblem<T> const& problem, int length)
        : problem_(problem), basis_(static_cast<std::size_t>(length) + 1),
          hessenberg_(static_cast<std::size_t>(length)) {}

    // Returns the steps done; x is improved.
    int run(std::span<T const> residual, std::span<T> x, Real<T> wanted, int max_steps) {
        Real<T> const beta = norm2<T>(residual);
        if (!(beta > 0)) return 0;
        basis_[0].assign(residual.begin(), residual.end());
        for (T& value : basis_[0]) value /= beta;
        rhs_.assign(1, T(beta));
        cosines_.clear();
        sines_.clear();
        std::size_t k = 0;
        for (; k < hessenberg_.size() && static_cast<int>(k) < max_steps; ++k) {
            bool const broke_down = extend(k);
            if (std::abs(rhs_[k + 1]) <= wanted || broke_down) {
                ++k;
                break;
            }
        }
        correct(k, x);
        return static_cast<int>(k);
    }

  private:
    // Adds basis vector k + 1 and column k of the Hessenberg matrix. True when the space is exhausted.
    bool extend(std::size_t k) {
        Vector<T> direction = basis_[k];
        problem_.apply_inverse(direction, 1);
        Vector<T>& next = basis_[k + 1];
        next.resize(direction.size());
        product<T>(problem_, direction, next);
        Vector<T>& column = hessenberg_[k];
        column.assign(k + 2, T(0));
        // Twice: with replaced pivots M^-1 is huge in a few directions, and one pass loses orthogonality.
        for (int pass = 0; pass < 2; ++pass)
            for (std::size_t i = 0; i <= k; ++i) {
                T const projection = dot<T>(basis_[i], next);
                column[i] += projection;
                add_scaled<T>(-projection, basis_[i], next);
            }
        Real<T> const length = norm2<T>(next);
        column[k + 1] = T(length);
        bool const broke_down = !(length > 0) || !std::isfinite(length);
        if (!broke_down)
            for (T& value : next) value /= length;
        rotate(column, k);
        return broke_down;
    }

    void rotate(Vector<T>& column, std::size_t k) {
        for (std::size_t i = 0; i < k; ++i) {
            T const upper = cosines_[i] * column[i] + sines_[i] * column[i + 1];
            column[i + 1] = -conj(sines_[i]) * column[i] + cosines_[i] * column[i + 1];
            column[i] = upper;
        }
        Real<T> c = 1;
        T s(0);
        make_rotation(column[k], column[k + 1], c, s);
        column[k] = c * column[k] + s * column[k + 1];
        column[k + 1] = T(0);
        cosines_.push_back(c);
        sines_.push_back(s);
        rhs_.push_back(-conj(s) * rhs_[k]);
        rhs_[k] = c * rhs_[k];
    }

    // x += M^-1 V y with R y = rhs.
    void correct(std::size_t k, std::span<T> x) {
        Vector<T> y(rhs_.begin(), rhs_.begin() + static_cast<std::ptrdiff_t>(k));
        for (std::size_t i = k; i-- > 0;) {
            for (std::size_t j = i + 1; j < k; ++j) y[i] -= hessenberg_[j][i] * y[j];
            if (std::abs(hessenberg_[i][i]) == 0)
                y[i] = T(0);
            else
                y[i] /= hessenberg_[i][i];
        }
        Vector<T> step(x.size(), T(0));
        for (std::size_t i = 0; i < k; ++i) add_scaled<T>(y[i], basis_[i], step);
        problem_.apply_inverse(step, 1);
        add_scaled<T>(T(1), step, x);
    }

    KrylovProblem<T> const& problem_;
    std::vector<Vector<T>> basis_;
    std::vector<Vector<T>> hessenberg_; // column k has k + 2 entries, R after the rotations
    Vector<T> rhs_;
    Vector<Real<T>> cosines_;
    Vector<T> sines_;
};

} // namespace

template <class T> int gmres(KrylovProblem<T> const& problem, std::span<T const> b, std::span<T> x) {
    GmresCycle<T> cycle(problem, std::min(problem.restart, problem.max_iterations));
    Vector<T> r(x.size());
    residual<T>(problem.a, x, b, r, 1);
    // From nothing rather than from an x that is worse than a guess.
    if (!(backward_error<T>(problem, r, x, b) < 1e-3)) std::fill(x.begin(), x.end(), T(0));
    int iterations = 0;
    double error = std::numeric_limits<double>::infinity();
    while (iterations < problem.max_iterations) {
        residual<T>(problem.a, x, b, r, 1);
        double const now = backward_error<T>(problem, r, x, b);
        if (now <= problem.target || !(now < 0.9 * error)) break; // there, or stagnating
        error = now;
        int const steps =
            cycle.run(r, x, wanted_norm<T>(problem, now, x, b), problem.max_iterations - iterations);
        if (steps == 0) break;
        iterations += steps;
    }
    return iterations;
}

template <class T>
int conjugate_gradients(KrylovProblem<T> const& problem, std::span<T const> b, std::span<T> x) {
    Vector<T> r(x.size()), z, p, q(x.size());
    residual<T>(problem.a, x, b, r, 1);
    T rho_before(0);
    int iterations = 0;
    while (iterations < problem.max_iterations && backward_error<T>(problem, r, x, b) > problem.target) {
        z = r;
        problem.apply_inverse(z, 1);
        T const rho = dot<T>(r, z);
        if (!(std::abs(rho) > 0)) break;
        if (iterations == 0) {
            p = z;
        } else {
            T const beta = rho / rho_before;
            for (std::size_t i = 0; i < p.size(); ++i) p[i] = z[i] + beta * p[i];
        }
        product<T>(problem, p, q);
        T const curvature = dot<T>(p, q);
        if (!(std::abs(curvature) > 0)) break;
        T const alpha = rho / curvature;
        add_scaled<T>(alpha, p, x);
        add_scaled<T>(-alpha, q, r);
        rho_before = rho;
        ++iterations;
    }
    return iterations;
}

template <class T> int bicgstab(KrylovProblem<T> const& problem, std::span<T const> b, std::span<T> x) {
    std::size_t const n = x.size();
    Vector<T> r(n), p(n, T(0)), v(n, T(0)), s(n), t(n), p_hat, s_hat;
    residual<T>(problem.a, x, b, r, 1);
    Vector<T> const shadow = r;
    T rho(1), alpha(1), omega(1);
    int iterations = 0;
    while (iterations < problem.max_iterations && backward_error<T>(problem, r, x, b) > problem.target) {
        T const rho_next = dot<T>(shadow, r);
        if (!(std::abs(rho_next) > 0) || !(std::abs(omega) > 0)) break;
        T const beta = (rho_next / rho) * (alpha / omega);
        rho = rho_next;
        for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + beta * (p[i] - omega * v[i]);
        p_hat = p;
        problem.apply_inverse(p_hat, 1);
        product<T>(problem, p_hat, v);
        T const projected = dot<T>(shadow, v);
        if (!(std::abs(projected) > 0)) break;
        alpha = rho / projected;
        for (std::size_t i = 0; i < n; ++i) s[i] = r[i] - alpha * v[i];
        s_hat = s;
        problem.apply_inverse(s_hat, 1);
        product<T>(problem, s_hat, t);
        T const length = dot<T>(t, t);
        omega = std::abs(length) > 0 ? dot<T>(t, s) / length : T(0);
        add_scaled<T>(alpha, p_hat, x);
        add_scaled<T>(omega, s_hat, x);
        for (std::size_t i = 0; i < n; ++i) r[i] = s[i] - omega * t[i];
        ++iterations;
    }
    return iterations;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template int gmres<T>(KrylovProblem<T> const&, std::span<T const>, std::span<T>);                        \
    template int conjugate_gradients<T>(KrylovProblem<T> const&, std::span<T const>, std::span<T>);          \
    template int bicgstab<T>(KrylovProblem<T> const&, std::span<T const>, std::span<T>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
