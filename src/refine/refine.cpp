#include "refine/refine.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/timer.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"
#include "refine/condition.hpp"
#include "refine/groups.hpp"
#include "refine/krylov.hpp"

namespace espalier {

template <class T> double default_tolerance() {
    return epsilon<T> < Real<T>(1e-10) ? 1e-12 : 1e-5;
}

namespace {

template <class T> using Method = void (*)(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);

template <class T> Method<T> function_of(RefineMethod method) {
    switch (method) {
    case RefineMethod::ir:
        return &iterative_refinement<T>;
    case RefineMethod::cg:
        return &conjugate_gradients<T>;
    case RefineMethod::bicgstab:
        return &bicgstab<T>;
    default:
        return &gmres<T>;
    }
}

// Vectors of n entries that a method keeps for a column, those of the blocks and the copy of x included.
Index vectors_per_column(RefineMethod method, int restart) {
    switch (method) {
    case RefineMethod::ir:
        return 3;
    case RefineMethod::cg:
        return 6;
    case RefineMethod::bicgstab:
        return 8;
    default:
        return restart + 5;
    }
}

template <class T> class Refinement {
  public:
    Refinement(CscMatrix<T> const& a, std::span<T const> b, std::span<T> x, Index nrhs,
               ApplyInverse<T> const& apply_inverse, RefineOptions const& options)
        : a_(a), b_(b), x_(x), n_(static_cast<std::size_t>(a.cols)), apply_inverse_(apply_inverse),
          options_(options), matrix_norm_(infinity_norm(a, options.op)) {
        for (Index j = 0; j < nrhs; ++j) errors_.push_back(measure(j));
        report_.history.push_back(worst_error());
    }

    // Runs the method on the columns whose error is above `level`, a group at a time.
    void run(RefineMethod method, double level) {
        int const restart = longest_recurrence();
        KrylovProblem<T> const problem{a_,         apply_inverse_,          options_.op, matrix_norm_,
                                       rounding(), iteration_limit(method), restart,     options_.interrupt};
        std::vector<std::size_t> columns;
        for (std::size_t j = 0; j < errors_.size(); ++j)
            if (errors_[j] > level && all_finite<T>(b(j))) columns.push_back(j);
        auto const group = static_cast<std::size_t>(
            columns_in_group(a_.cols, vectors_per_column(method, restart), sizeof(T)));
        Trace trace(errors_);
        for (std::size_t first = 0; first < columns.size(); first += group)
            run_group(method, problem,
                      std::span(columns).subspan(first, std::min(group, columns.size() - first)), trace);
        if (trace.steps() == 0) return;
        report_.method = method;
        report_.iterations += static_cast<int>(trace.steps());
        trace.append_to(report_.history);
    }

    [[nodiscard]] double worst_error() const {
        return errors_.empty() ? 0.0 : *std::max_element(errors_.begin(), errors_.end());
    }
    static double rounding() { return 4 * static_cast<double>(epsilon<T>); }

    RefineReport finish(double tolerance) {
        auto const nrhs = static_cast<Index>(errors_.size());
        report_.backward_error = worst_error();
        for (std::size_t j = 0; j < errors_.size(); ++j) {
            check(options_.interrupt);
            report_.componentwise_error =
                std::max(report_.componentwise_error,
                         componentwise_backward_error<T>(a_, std::span<T const>(x(j)), b(j), 1, options_.op));
        }
        report_.converged = report_.backward_error <= tolerance;
        report_.status = report_.converged ? Status::ok : Status::inaccurate;
        if (options_.forward_error) {
            auto const bounds =
                forward_error_bounds<T>(a_, b_, x_, nrhs, apply_inverse_, options_.op, options_.interrupt);
            report_.forward_error = bounds.empty() ? 0.0 : *std::max_element(bounds.begin(), bounds.end());
        }
        return std::move(report_);
    }

  private:
    // Best errors so far, step by step: what every column had at the start, and has after each of its steps.
    class Trace {
      public:
        explicit Trace(std::vector<double> const& start) : columns_(start.size()) {
            for (std::size_t j = 0; j < start.size(); ++j) columns_[j].push_back(start[j]);
        }
        // As many steps as `errors` has; the last of them is known to be `final`.
        void add(std::size_t j, std::vector<double> const& errors, double final) {
            auto& best = columns_[j];
            for (double const error : errors) best.push_back(std::min(best.back(), std::max(error, final)));
            best.back() = final;
            steps_ = std::max(steps_, errors.size());
        }
        [[nodiscard]] std::size_t steps() const { return steps_; }
        // The worst column of each step.
        void append_to(std::vector<double>& history) const {
            for (std::size_t step = 1; step <= steps_; ++step) {
                double worst = 0;
                for (auto const& best : columns_)
                    worst = std::max(worst, best[std::min(step, best.size() - 1)]);
                history.push_back(worst);
            }
        }

      private:
        std::vector<std::vector<double>> columns_;
        std::size_t steps_ = 0;
    };

    void run_group(RefineMethod method, KrylovProblem<T> const& problem, std::span<std::size_t const> group,
                   Trace& trace) {
        std::vector<KrylovColumn<T>> columns;
        PackedColumns<T> given(n_, group.size());
        for (std::size_t c = 0; c < group.size(); ++c) {
            columns.push_back({b(group[c]), x(group[c]), {}});
            given.put(c, x(group[c]));
        }
        auto const take_back = [&](std::size_t c) {
            std::copy_n(given.column(c).begin(), n_, x(group[c]).begin());
        };
        try {
            function_of<T>(method)(problem, columns);
        } catch (...) {
            for (std::size_t c = 0; c < group.size(); ++c) take_back(c);
            throw;
        }
        for (std::size_t c = 0; c < group.size(); ++c) {
            double const error = measure(group[c]);
            if (error <= errors_[group[c]])
                errors_[group[c]] = error;
            else
                take_back(c);
            trace.add(group[c], columns[c].errors, errors_[group[c]]);
        }
    }

    double measure(std::size_t j) const {
        check(options_.interrupt);
        std::vector<T> r(n_);
        residual<T>(a_, x(j), b(j), r, 1, options_.op);
        double const error = normwise_backward_error<T>(matrix_norm_, r, x(j), b(j), 1);
        if (std::isfinite(error)) return error;
        return normwise_backward_error<T>(a_, x(j), b(j), 1, options_.op); // where something overflowed
    }

    [[nodiscard]] int iteration_limit(RefineMethod method) const {
        if (options_.max_iterations > 0) return options_.max_iterations;
        return method == RefineMethod::ir ? 10 : 300;
    }

    // Each replaced pivot may cost GMRES a step: as long a recurrence as a few million coefficients hold.
    [[nodiscard]] int longest_recurrence() const {
        return static_cast<int>(std::clamp<Index>(4'000'000 / std::max<Index>(1, a_.cols), 30, 250));
    }

    [[nodiscard]] std::span<T const> b(std::size_t j) const { return b_.subspan(j * n_, n_); }
    [[nodiscard]] std::span<T> x(std::size_t j) const { return x_.subspan(j * n_, n_); }

    CscMatrix<T> const& a_;
    std::span<T const> b_;
    std::span<T> x_;
    std::size_t n_;
    ApplyInverse<T> const& apply_inverse_;
    RefineOptions const& options_;
    double matrix_norm_;
    std::vector<double> errors_; // of each column of x
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
    if (a.rows != a.cols) throw Error(Status::usage, "refinement needs a square matrix");
    require_block_size("b", b.size(), a.cols, nrhs);
    require_block_size("x", x.size(), a.cols, nrhs);
    double const tolerance = options.tolerance > 0 ? options.tolerance : default_tolerance<T>();
    ProgressScope const progress(options.progress, "refinement", 0);

    Refinement<T> refinement(a, b, x, nrhs, apply_inverse, options);
    double const rounding = refinement.rounding();
    switch (options.method) {
    case RefineMethod::none:
        break;
    case RefineMethod::automatic:
        refinement.run(RefineMethod::ir, rounding);
        if (!(refinement.worst_error() <= tolerance))
            refinement.run(RefineMethod::gmres, std::max(tolerance, rounding));
        break;
    default:
        refinement.run(options.method, rounding);
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
#undef ESPALIER_INSTANTIATE

} // namespace espalier
