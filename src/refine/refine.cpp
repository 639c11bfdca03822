#include "refine/refine.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "core/timer.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"

namespace espalier {

template <class T> double default_tolerance() {
    return epsilon<T> < Real<T>(1e-10) ? 1e-12 : 1e-5;
}

namespace {

template <class T> class Refinement {
  public:
    Refinement(CscMatrix<T> const& a, std::span<T const> b, std::span<T> x, Index nrhs,
               ApplyInverse<T> const& apply_inverse, RefineOptions const& options)
        : a_(a), b_(b), x_(x), nrhs_(nrhs), apply_inverse_(apply_inverse), options_(options),
          matrix_norm_(infinity_norm(a)), residual_(x.size()) {
        report_.history.push_back(measure());
    }

    void iterate() {
        int const limit = options_.max_iterations > 0 ? options_.max_iterations : 10;
        std::vector<T> previous;
        for (int step = 0; step < limit && error() > rounding(); ++step) {
            previous.assign(x_.begin(), x_.end());
            apply_inverse_(residual_, nrhs_);
            for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += residual_[i];
            double const before = error();
            double const improved = record(RefineMethod::ir, 1);
            if (improved < before / 2) continue;
            if (!(improved < before)) take_back(previous, before);
            break;
        }
    }

    void run_krylov(RefineMethod method) {
        auto const n = static_cast<std::size_t>(a_.cols);
        // Each replaced pivot may cost GMRES a step: as long a recurrence as a few million coefficients hold.
        int const restart =
            static_cast<int>(std::clamp<Index>(4'000'000 / std::max<Index>(1, a_.cols), 30, 250));
        KrylovProblem<T> const problem{a_,
                                       apply_inverse_,
                                       matrix_norm_,
                                       rounding(),
                                       options_.max_iterations > 0 ? options_.max_iterations : 300,
                                       restart};
        std::vector<T> const previous(x_.begin(), x_.end());
        double const before = error();
        int steps = 0;
        for (std::size_t j = 0; j < static_cast<std::size_t>(nrhs_); ++j) {
            auto const b = b_.subspan(j * n, n);
            auto const x = x_.subspan(j * n, n);
            std::vector<T> const column(x.begin(), x.end());
            steps = std::max(steps, method == RefineMethod::gmres ? gmres<T>(problem, b, x)
                                    : method == RefineMethod::cg  ? conjugate_gradients<T>(problem, b, x)
                                                                  : bicgstab<T>(problem, b, x));
            // Each column keeps the better of its two iterates.
            if (!(normwise_backward_error<T>(a_, x, b, 1) <= normwise_backward_error<T>(a_, column, b, 1)))
                std::copy(column.begin(), column.end(), x.begin());
        }
        if (steps == 0) return;
        if (!(record(method, steps) <= before)) take_back(previous, before);
    }

    [[nodiscard]] double error() const { return report_.history.back(); }

    RefineReport finish(double tolerance) {
        report_.backward_error = error();
        report_.componentwise_error = componentwise_backward_error<T>(a_, x_, b_, nrhs_);
        report_.converged = report_.backward_error <= tolerance;
        return std::move(report_);
    }

  private:
    static double rounding() { return 4 * static_cast<double>(epsilon<T>); }

    double measure() {
        residual<T>(a_, x_, b_, residual_, nrhs_);
        return normwise_backward_error<T>(matrix_norm_, residual_, x_, b_, nrhs_);
    }

    double record(RefineMethod method, int steps) {
        report_.method = method;
        report_.iterations += steps;
        report_.history.push_back(measure());
        return error();
    }

    void take_back(std::vector<T> const& previous, double before) {
        std::copy(previous.begin(), previous.end(), x_.begin());
        report_.history.push_back(before);
    }

    CscMatrix<T> const& a_;
    std::span<T const> b_;
    std::span<T> x_;
    Index nrhs_;
    ApplyInverse<T> const& apply_inverse_;
    RefineOptions const& options_;
    double matrix_norm_;
    std::vector<T> residual_; // of the x of the last measure()
    RefineReport report_;
};

} // namespace

template <class T> RefineReport refine(CscMatrix<T> const& a, std::span<T const> b, std::span<T> x,
                                       Index nrhs, ApplyInverse<T> const& apply_inverse,
                                       RefineOptions const& options) {
    Timer const timer;
    bool const hermitian =
        a.symmetry == Symmetry::hermitian || (a.symmetry == Symmetry::symmetric && !is_complex<T>);
    if (options.method == RefineMethod::cg && !hermitian)
        throw Error(Status::usage, "cg needs a real symmetric or Hermitian matrix; use gmres or bicgstab");
    double const tolerance = options.tolerance > 0 ? options.tolerance : default_tolerance<T>();
    ProgressScope const progress(options.progress, "refinement", 0);

    Refinement<T> refinement(a, b, x, nrhs, apply_inverse, options);
    switch (options.method) {
    case RefineMethod::none:
        break;
    case RefineMethod::ir:
        refinement.iterate();
        break;
    case RefineMethod::automatic:
        refinement.iterate();
        if (!(refinement.error() <= tolerance)) refinement.run_krylov(RefineMethod::gmres);
        break;
    default:
        refinement.run_krylov(options.method);
    }
    RefineReport report = refinement.finish(tolerance);
    report.time_s = timer.seconds();
    return report;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template double default_tolerance<T>();                                                                  \
    template RefineReport refine<T>(CscMatrix<T> const&, std::span<T const>, std::span<T>, Index,            \
                                    ApplyInverse<T> const&, RefineOptions const&);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
