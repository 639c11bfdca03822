#include "refine/refine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/timer.hpp"
#include "distributed/backward_error.hpp"
#include "matrix/norms.hpp"
#include "matrix/spmv.hpp"
#include "refine/krylov.hpp"

namespace espalier {

template <class T> double default_tolerance() {
    return epsilon<T> < Real<T>(1e-10) ? 1e-12 : 1e-5;
}

namespace {

template <class T> double rounding_error() {
    return 10 * static_cast<double>(epsilon<T>);
}

} // namespace

template <class T> double target_error(RefineOptions const& options) {
    double const rounding = rounding_error<T>();
    return is_incomplete(options.inverse) ? std::max(effective_tolerance<T>(options.tolerance), rounding)
                                          : rounding;
}

template <class T> std::uint64_t error_bytes(Index rows, Offset stored, int workers, bool is_scaled) {
    return DistributedMatrix<T>::residual_bytes(rows, stored, workers, is_scaled);
}

Index least_vectors(RefineMethod method) {
    switch (method) {
    case RefineMethod::cg:
        return 8;
    case RefineMethod::bicgstab:
        return 10;
    case RefineMethod::gmres:
        return 17; // ten steps, and seven vectors besides the basis
    default:
        return 5; // as for ir, with which `automatic` begins
    }
}

namespace {

// A method and the number of vectors that it stores for a column. These include the vectors of the blocks,
// those of the measurement, and the copy of x.
template <class T> struct Method {
    void (*run)(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
    Index vectors;
};

template <class T> Method<T> method_of(RefineMethod method, int restart) {
    switch (method) {
    case RefineMethod::ir:
        return {&iterative_refinement<T>, least_vectors(method)};
    case RefineMethod::cg:
        return {&conjugate_gradients<T>, least_vectors(method)};
    case RefineMethod::bicgstab:
        return {&bicgstab<T>, least_vectors(method)};
    default:
        return {&gmres<T>, restart + 7};
    }
}

// The history of the best errors of every column, from the start through each step.
class ErrorHistory {
  public:
    explicit ErrorHistory(std::vector<double> const& start) : columns_(start.size()) {
        for (Index j = 0; j < std::ssize(start); ++j) columns_[j].push_back(start[j]);
    }
    // Adds the steps of `errors`, the last of which has the true error `final`.
    void add(Index j, std::vector<double> const& errors, double final) {
        auto& best = columns_[j];
        for (double const error : errors) best.push_back(std::min(best.back(), std::max(error, final)));
        best.back() = final;
        steps_ = std::max(steps_, std::ssize(errors));
    }
    [[nodiscard]] Index steps() const { return steps_; }
    // Appends the error of the worst column after each step.
    void append_to(std::vector<double>& history) const {
        for (Index step = 1; step <= steps_; ++step) {
            double worst = 0;
            for (auto const& best : columns_)
                worst = std::max(worst, best[std::min(step, std::ssize(best) - 1)]);
            history.push_back(worst);
        }
    }

  private:
    std::vector<std::vector<double>> columns_;
    Index steps_ = 0;
};

template <class T> class Refinement {
  public:
    Refinement(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T> x, Index nrhs,
               ApplyInverse<T> const& apply_inverse, RefineOptions const& options)
        : a_(a), b_(b), x_(x), m_(a.rows().count()), apply_inverse_(apply_inverse), options_(options),
          problem_{a, apply_inverse, options.op} {
        reduction().all_succeed([&] {
            errors_.resize(nrhs);
            componentwise_.resize(nrhs);
            b_norms_.resize(nrhs);
            is_finite_.resize(nrhs);
            report_.history.reserve(1);
        });
        problem_.target = target();
        problem_.restart = longest_recurrence();
        problem_.interrupt = options.interrupt;
        problem_.is_incomplete = is_incomplete(options.inverse);
        auto const errors =
            backward_errors_of_columns<T>(a, std::span<T const>(x), b, nrhs, options.op, options.interrupt);
        for (Index j = 0; j < nrhs; ++j) {
            take(j, errors[j]);
            b_norms_[j] = errors[j].b_norm;
            is_finite_[j] =
                std::isfinite(errors[j].b_norm) || all_finite_on_all(this->b(j)); // a modulus may overflow
        }
        problem_.matrix_norm = a.infinity_norm(options.op); // known after the first errors
        report_.history.push_back(worst_error());
    }

    // Runs the method on the columns whose error is above `level`, one group at a time.
    void run(RefineMethod method, double level) {
        problem_.max_iterations = iteration_limit(method);
        std::vector<Index> columns;
        std::optional<ErrorHistory> history;
        reduction().all_succeed([&] {
            for (Index j = 0; j < std::ssize(errors_); ++j)
                if (errors_[j] > level && is_finite_[j]) columns.push_back(j);
            history.emplace(errors_);
        });
        if (columns.empty()) return;
        auto const chosen = affordable(method);
        Index const group = columns_at_once(chosen.vectors);
        for (Index first = 0; first < std::ssize(columns); first += group)
            run_group(chosen, std::span(columns).subspan(first, std::min(group, std::ssize(columns) - first)),
                      *history);
        if (history->steps() == 0) return;
        report_.method = method;
        report_.iterations += static_cast<int>(history->steps());
        reduction().all_succeed([&] { history->append_to(report_.history); });
    }

    [[nodiscard]] double worst_error() const {
        return errors_.empty() ? 0.0 : *std::max_element(errors_.begin(), errors_.end());
    }
    static double rounding() { return rounding_error<T>(); }
    [[nodiscard]] double tolerance() const { return effective_tolerance<T>(options_.tolerance); }
    [[nodiscard]] double target() const { return target_error<T>(options_); }

    RefineReport finish() {
        report_.backward_error = worst_error();
        if (options_.measures_componentwise && !componentwise_.empty())
            report_.componentwise_error = std::ranges::max(componentwise_);
        report_.converged = report_.backward_error <= tolerance();
        report_.status = report_.converged ? Status::ok : Status::inaccurate;
        return std::move(report_);
    }

  private:
    [[nodiscard]] BackwardErrors measured(Index j) const {
        reduction().all_succeed([&] { check(options_.interrupt); });
        return backward_errors<T>(a_, std::span<T const>(x(j)), b(j), options_.op);
    }
    [[nodiscard]] bool all_finite_on_all(std::span<T const> x) const {
        return reduction().max(1, [&](std::span<double> found) { found[0] = all_finite(x) ? 0 : 1; })[0] == 0;
    }
    void take(Index j, BackwardErrors const& errors) {
        errors_[j] = errors.normwise;
        componentwise_[j] = errors.componentwise;
    }

    void run_group(Method<T> const& method, std::span<Index const> group, ErrorHistory& history) {
        constexpr int most_reserved = 100'000;
        std::vector<KrylovColumn<T>> columns;
        PackedColumns<T> given;
        reduction().all_succeed([&] {
            check(options_.interrupt);
            given = PackedColumns<T>(m_, std::ssize(group));
            for (Index const j : group) {
                given.put(a_.rows().workers(), std::ssize(columns), x(j));
                columns.push_back({b(j), x(j), b_norms_[j], {}});
                columns.back().errors.reserve(std::min(problem_.max_iterations, most_reserved));
            }
        });
        auto const restore = [&](Index c) { std::ranges::copy(given.column(c), x(group[c]).begin()); };
        try {
            method.run(problem_, columns);
        } catch (...) {
            for (Index c = 0; c < std::ssize(group); ++c) restore(c);
            throw;
        }
        for (Index c = 0; c < std::ssize(group); ++c) {
            Index const j = group[c];
            auto const errors = measured(j);
            // The zero vector, whose error is 1, must not hide that x has overflowed.
            bool const hides_overflow = !std::isfinite(errors_[j]) && errors.normwise >= 1;
            if (errors.normwise <= errors_[j] && !hides_overflow)
                take(j, errors);
            else
                restore(c);
        }
        reduction().all_succeed([&] {
            for (Index k = 0; k < std::ssize(group); ++k)
                history.add(group[k], columns[k].errors, errors_[group[k]]);
        });
    }

    // The number of vectors that max_bytes allows.
    [[nodiscard]] Index vectors_allowed() const {
        if (options_.max_bytes == 0) return std::numeric_limits<Index>::max();
        Index const bytes = std::max<Index>(a_.rows().largest_share(), 1) * static_cast<Index>(sizeof(T));
        return static_cast<Index>(options_.max_bytes) / bytes;
    }

    // Returns the method with a recurrence that max_bytes allows.
    Method<T> affordable(RefineMethod method) {
        Method<T> chosen = method_of<T>(method, problem_.restart);
        Index const allowed = vectors_allowed(), least = least_vectors(method);
        if (allowed < least)
            throw Error(
                Status::out_of_memory,
                fmt::format("{} needs at least {} vectors of {} bytes, but the memory limit leaves only "
                            "{} bytes",
                            to_string(method), least, a_.rows().largest_share() * sizeof(T),
                            options_.max_bytes));
        if (chosen.vectors <= allowed) return chosen;
        problem_.restart -= static_cast<int>(chosen.vectors - allowed); // only gmres has more than the least
        return method_of<T>(method, problem_.restart);
    }

    [[nodiscard]] Index columns_at_once(Index vectors) const {
        return std::min(columns_in_group(a_.rows(), vectors, sizeof(T)),
                        std::max<Index>(1, vectors_allowed() / vectors));
    }

    [[nodiscard]] int iteration_limit(RefineMethod method) const {
        if (options_.max_iterations > 0) return options_.max_iterations;
        if (method == RefineMethod::ir) return 10;
        return is_incomplete(options_.inverse) ? 2000 : 300;
    }

    // GMRES may need a step for each replaced pivot. The recurrence is limited to a few million coefficients.
    [[nodiscard]] int longest_recurrence() const {
        return static_cast<int>(std::clamp<Index>(4'000'000 / std::max<Index>(1, a_.order()), 30, 250));
    }

    [[nodiscard]] RowReduction& reduction() const { return a_.rows().reduction(); }
    [[nodiscard]] std::span<T const> b(Index j) const { return b_.subspan(j * m_, m_); }
    [[nodiscard]] std::span<T> x(Index j) const { return x_.subspan(j * m_, m_); }

    DistributedMatrix<T> const& a_;
    std::span<T const> b_;
    std::span<T> x_;
    Index m_; // local rows
    ApplyInverse<T> const& apply_inverse_;
    RefineOptions const& options_;
    KrylovProblem<T> problem_;
    std::vector<double> errors_, componentwise_, b_norms_; // by column
    std::vector<bool> is_finite_;                          // whether b is finite, by column
    RefineReport report_;
};

} // namespace

template <class T> RefineReport refine(DistributedMatrix<T> const& a, std::span<T const> b, std::span<T> x,
                                       Index nrhs, ApplyInverse<T> const& apply_inverse,
                                       RefineOptions const& options) {
    Timer const timer;
    bool const hermitian =
        a.symmetry() == Symmetry::hermitian || (a.symmetry() == Symmetry::symmetric && !is_complex<T>);
    a.rows().reduction().all_succeed([&] {
        if (options.method == RefineMethod::cg && !hermitian)
            throw Error(Status::usage,
                        "cg needs a real symmetric or Hermitian matrix; use gmres or bicgstab");
        require_block_size("b", b.size(), a.rows().count(), nrhs);
        require_block_size("x", x.size(), a.rows().count(), nrhs);
    });
    ProgressScope const progress(options.progress, "refinement", 0);

    Refinement<T> refinement(a, b, x, nrhs, apply_inverse, options);
    bool const is_weak = is_incomplete(options.inverse);
    bool const is_positive = options.inverse == InverseAccuracy::incomplete_positive;
    switch (options.method) {
    case RefineMethod::none:
        break;
    case RefineMethod::automatic:
        if (!is_weak) refinement.run(RefineMethod::ir, refinement.target());
        if (is_positive && hermitian) refinement.run(RefineMethod::cg, refinement.target());
        if (!(refinement.worst_error() <= refinement.tolerance()))
            refinement.run(RefineMethod::gmres, std::max(refinement.tolerance(), refinement.rounding()));
        break;
    default:
        refinement.run(options.method, refinement.target());
    }
    RefineReport report = refinement.finish();
    report.time_s = timer.seconds();
    return report;
}

ESPALIER_INSTANTIATE_FUNCTION(error_bytes)
ESPALIER_INSTANTIATE_FUNCTION(default_tolerance)
ESPALIER_INSTANTIATE_FUNCTION(target_error)
ESPALIER_INSTANTIATE_FUNCTION(refine)

} // namespace espalier
