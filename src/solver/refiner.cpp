#include "solver/refiner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/timer.hpp"
#include "distributed/backward_error.hpp"
#include "refine/condition.hpp"
#include "refine/singularity.hpp"

namespace espalier {

namespace {

// Above this condition number, a solution has hardly any correct digit even if its backward error is of the
// order of rounding.
template <class T> inline constexpr double ill_conditioned = 1e-6 / static_cast<double>(epsilon<T>);

void add_steps(RefineReport& report, int steps) {
    report.iterations += steps;
    if (steps > 0 && report.method == RefineMethod::none) report.method = RefineMethod::ir;
}

template <class T> BackwardErrors worst_errors(DistributedMatrix<T> const& matrix, std::span<T const> x,
                                               std::span<T const> b, Index columns,
                                               RefineOptions const& options) {
    BackwardErrors worst;
    for (BackwardErrors const& errors :
         backward_errors_of_columns<T>(matrix, x, b, columns, options.op, options.interrupt))
        worst.take_larger(errors);
    return worst;
}

} // namespace

template <class T> void Refiner<T>::set_matrix(CscMatrix<T> const& working) {
    CscMatrix<T> const* const whole = context_.is_root() ? &working : nullptr;
    callers_.reset();
    if (working_)
        working_->set_values(whole); // keeps its workspace
    else if (context_.is_alone())
        working_.emplace(working);
    else
        working_.emplace(vectors_.rows(), whole);
    working_->rows().use_workers(context_.row_workers());
}

template <class T> DistributedMatrix<T> const& Refiner<T>::callers_matrix() const {
    if (!is_scaled()) return *working_;
    LocalScaling const& scaling = vectors_.scaling();
    if (!callers_) callers_ = working_->unscaled(scaling.row_scale, scaling.column_scale);
    return *callers_;
}

template <class T> void Refiner<T>::prepare_residuals() {
    if (!context_.is_alone()) return;
    if (reads_given())
        given_.prepare(working_->order(), working_->entries(), context_.row_workers());
    else
        callers_matrix().prepare_residuals();
}

template <class T> void Refiner<T>::apply_inverse(std::span<T> block, Index columns, MatrixOp op) const {
    static RowWorkers const one;
    RowWorkers const& workers = working_ ? working_->rows().workers() : one;
    vectors_.scaling().to_working(block, columns, op, workers);
    inverse_.solve(block, columns, op);
    vectors_.scaling().from_working(block, columns, op, workers);
}

template <class T> ApplyInverse<T> Refiner<T>::inverse_of_working() const {
    return [this](std::span<T> block, Index columns, MatrixOp op) { inverse_.solve(block, columns, op); };
}

template <class T> ApplyInverse<T> Refiner<T>::inverse_of_matrix() const {
    return [this](std::span<T> block, Index columns, MatrixOp op) { apply_inverse(block, columns, op); };
}

// Applies A^-1 with refinement if the factors belong to a perturbed matrix, because pivots were replaced,
// entries grew, or the precision is lower. (Incomplete factors give no such estimates.) An estimate by such
// factors alone may overlook that A is nearly singular. The working system is refined, because in the given
// system rows of small entries would remain inaccurate. If the working system is not scaled, they may remain
// inaccurate there as well. `is_checked` therefore measures the componentwise error, and makes the product
// infinite if this error is large, so that a bound is not too small. `converges` becomes false after a
// product that does not reach the tolerance.
template <class T> ApplyInverse<T> Refiner<T>::refined_inverse(bool is_checked, bool& converges) const {
    if (verdict_.pivots_replaced == 0 && !verdict_.has_growth() &&
        inverse_.accuracy() == InverseAccuracy::full)
        return inverse_of_matrix();
    return [this, is_checked, &converges](std::span<T> block, Index columns, MatrixOp op) {
        vectors_.scaling().to_working(block, columns, op);
        auto const b = context_.on_all([&] { return std::vector<T>(block.begin(), block.end()); });
        inverse_.solve(block, columns, op);
        RefineOptions options;
        options.op = op;
        options.interrupt = context_.interrupt();
        options.inverse = inverse_.accuracy();
        options.measures_componentwise = is_checked;
        options.max_bytes = vector_bytes_;
        RefineReport const refined =
            espalier::refine<T>(*working_, b, block, columns, inverse_of_working(), options);
        converges = converges && refined.converged;
        if (is_checked && !(refined.componentwise_error <= std::sqrt(static_cast<double>(epsilon<T>))))
            std::ranges::fill(block, T(std::numeric_limits<Real<T>>::infinity()));
        vectors_.scaling().from_working(block, columns, op);
    };
}

template <class T> FactorExaminer<T> Refiner<T>::examiner() const {
    return {context_, vectors_, *working_, inverse_of_working()};
}

template <class T> void Refiner<T>::examine(NumericFactor<T>& factor, Index pivots_replaced, bool may_grow,
                                            std::span<Index const> schur, CscMatrix<T> const& working) {
    forget_factors(pivots_replaced);
    verdict_ = examiner().examine(factor, pivots_replaced, may_grow, schur, working);
}

template <class T>
void Refiner<T>::examine(double smallest_pivot, Index pivots_replaced, CscMatrix<T> const& working) {
    forget_factors(pivots_replaced);
    double const suspicious = largest_suspicious_pivot(static_cast<double>(epsilon<T>));
    if (pivots_replaced == 0 && smallest_pivot > suspicious) return;
    set_matrix(working);
    verdict_.singularity =
        find_singularity<T>(*working_, inverse_of_working(), pivots_replaced, context_.interrupt());
}

template <class T> RefineReport Refiner<T>::refine(std::span<T const> b, std::span<T> x, Index columns,
                                                   RefineOptions const& options) {
    RefineOptions run = options;
    run.inverse = inverse_.accuracy();
    // The report is moved, because a copy could fail on one process.
    RefineReport report = [&] {
        if (!is_scaled()) return refine_working(b, x, columns, run);
        if (auto known = report_without_steps(b, x, columns, run)) return *std::move(known);
        return refine_scaled(b, x, columns, run);
    }();
    if (report.converged && run.method == RefineMethod::automatic && !verdict_.singularity.is_singular &&
        needs_better_rows(report.componentwise_error))
        improve_rows(b, x, columns, run, report);
    // Steps that are not measured one by one have the error after the last of them.
    context_.on_all([&] {
        if (std::ssize(report.history) <= report.iterations)
            report.history.resize(report.iterations + 1, report.history.back());
    });
    return report;
}

template <class T> bool Refiner<T>::wants_digits(RefineOptions const& options) const {
    return options.method == RefineMethod::automatic && options.max_iterations == 0 &&
           !verdict_.singularity.is_singular && verdict_.pivots_replaced == 0 &&
           verdict_.singularity.condition_estimate > ill_conditioned<T>;
}

// Incomplete factors tell little about the pivots of the matrix.
template <class T> bool Refiner<T>::may_be_singular() const {
    return verdict_.singularity.is_singular || verdict_.pivots_replaced > 0 ||
           is_incomplete(inverse_.accuracy());
}

// Whether solutions may do without refinement. Those by factors in lower precision never do. If the matrix may
// be singular, more is tested; see refine_working().
template <class T> bool Refiner<T>::may_need_no_steps(RefineOptions const& options) const {
    return inverse_.accuracy() == InverseAccuracy::full && !may_be_singular() && !wants_digits(options) &&
           options.method != RefineMethod::cg;
}

// Whether the first residuals of one process are those of the caller's matrix.
template <class T> bool Refiner<T>::reads_given() const {
    return context_.is_alone() && inverse_.accuracy() == InverseAccuracy::full;
}

template <class T> std::optional<RefineReport>
Refiner<T>::report_of_given(CscMatrix<T> const& matrix, PatternFingerprint const& pattern,
                            ScalesOfSystem const& scales, std::span<T const> b, std::span<T const> x,
                            Index columns, RefineOptions const& options) {
    constexpr Index most_columns = 4; // for more, DistributedMatrix takes several columns in one pass
    if (!reads_given() || given_needs_steps_ || !may_need_no_steps(options) || columns == 0 ||
        columns > most_columns)
        return {};
    Timer const timer;
    ProgressScope const progress(options.progress, "refinement", 0);
    Index const n = matrix.rows;
    std::optional<BackwardErrors> worst = BackwardErrors{};
    for (Index j = 0; j < columns && worst; ++j) {
        check(options.interrupt);
        auto const errors = given_.errors(matrix, j == 0 ? &pattern : nullptr, scales, x.subspan(j * n, n),
                                          b.subspan(j * n, n), options.op, context_.row_workers());
        if (errors)
            worst->take_larger(*errors);
        else
            worst.reset();
    }
    std::optional<RefineReport> report;
    if (worst) report = report_on(*worst, options, timer);
    given_needs_steps_ = worst && !report;
    if (!report) given_.release();
    return report;
}

// Returns the report if the system is scaled and one pass over the matrix shows that neither it nor the
// working system needs a step of refinement.
template <class T>
std::optional<RefineReport> Refiner<T>::report_without_steps(std::span<T const> b, std::span<T const> x,
                                                             Index columns, RefineOptions const& options) {
    if (!may_need_no_steps(options)) return {};
    Timer const timer;
    auto const report = [&] {
        return report_on(worst_errors<T>(callers_matrix(), x, b, columns, options), options, timer);
    };
    // Without the norm of the working system, the error of this system is only a bound.
    bool const is_bound = !working_->knows_infinity_norm(options.op);
    auto const find_norm = [&] {
        static_cast<void>(working_->infinity_norm(options.op));
        callers_.reset(); // the next one knows the norm
    };
    bool const is_known_to_fail = is_bound && given_needs_steps_;
    if (is_known_to_fail) find_norm();
    auto found = report();
    if (found || !is_bound || is_known_to_fail) return found;
    find_norm();
    return report();
}

// Returns the report if solutions with these errors need no step of refinement.
template <class T> std::optional<RefineReport>
Refiner<T>::report_on(BackwardErrors const& errors, RefineOptions const& options, Timer const& timer) {
    double const tolerance = effective_tolerance<T>(options.tolerance);
    double const target = std::min(target_error<T>(options), tolerance);
    bool const is_good = errors.before_unscaling <= target && errors.normwise <= tolerance &&
                         std::isfinite(errors.componentwise) && !needs_better_rows(errors.componentwise);
    if (!is_good) return {};
    RefineReport report;
    context_.on_all([&] { report.history.push_back(errors.before_unscaling); });
    report.backward_error = errors.normwise;
    report.componentwise_error = errors.componentwise;
    report.converged = true;
    report.time_s = timer.seconds();
    return report;
}

// Calls body(b) while b and x have the scales of the working system, and returns this b. After an exception,
// x has the scales of the caller, too.
template <class T> template <class Body>
std::vector<T> Refiner<T>::in_working_scales(std::span<T const> b, std::span<T> x, Index columns, MatrixOp op,
                                             Body const& body) const {
    LocalScaling const& scaling = vectors_.scaling();
    auto working_b = context_.on_all([&] { return std::vector<T>(b.begin(), b.end()); });
    scaling.to_working(std::span<T>(working_b), columns, op);
    scaling.solution_to_working(x, columns, op);
    try {
        body(std::span<T const>(working_b));
    } catch (...) {
        scaling.from_working(x, columns, op);
        throw;
    }
    scaling.from_working(x, columns, op);
    return working_b;
}

// Whether some rows of a solution with this componentwise error deserve refinement. In a system that needs no
// scales, such rows are those where the solution underflows.
template <class T> bool Refiner<T>::needs_better_rows(double componentwise) const {
    return is_scaled() && !rows_stay_ && componentwise > largest_row_error<T> &&
           inverse_.accuracy() == InverseAccuracy::full;
}

// Improves an accepted solution some rows of which are hardly satisfied. The other rows may become worse; the
// solution stays as it was if it would not be accepted any more.
template <class T> void Refiner<T>::improve_rows(std::span<T const> b, std::span<T> x, Index columns,
                                                 RefineOptions const& options, RefineReport& report) {
    Timer const timer;
    int steps = 0;
    std::vector<T> const accepted = context_.on_all([&] { return std::vector<T>(x.begin(), x.end()); });
    in_working_scales(b, x, columns, options.op, [&](std::span<T const> working_b) {
        steps = refine_rows<T>(*working_, working_b, x, columns, inverse_of_working(), options.op,
                               options.interrupt);
    });
    if (steps == 0) { // for example if a component of the solution is zero
        rows_stay_ = true;
        given_needs_steps_ = false;
        return;
    }
    add_steps(report, steps);
    BackwardErrors const errors = worst_errors<T>(callers_matrix(), x, b, columns, options);
    double const tolerance = effective_tolerance<T>(options.tolerance);
    if (errors.normwise <= tolerance) {
        report.backward_error = errors.normwise;
        report.componentwise_error = errors.componentwise;
    } else {
        std::ranges::copy(accepted, x.begin());
    }
    report.time_s += timer.seconds();
}

// A tiny pivot is harmless unless the solution is so large that the matrix must be singular. With incomplete
// factors, a large solution that leaves no residual is accepted.
template <class T> bool Refiner<T>::shows_singularity(std::span<T const> b, std::span<T const> x,
                                                      Index columns, MatrixOp op,
                                                      double backward_error) const {
    if (!is_incomplete(inverse_.accuracy())) return grows_as_singular<T>(*working_, b, x, columns, op);
    return backward_error <= default_tolerance<T>() &&
           grows_as_singular<T>(*working_, b, x, columns, op, true) &&
           leaves_a_residual<T>(*working_, b, x, columns, op);
}

// b and x belong to the working system.
template <class T> RefineReport Refiner<T>::refine_working(std::span<T const> b, std::span<T> x,
                                                           Index columns, RefineOptions const& options) {
    int steps = 0;
    if (wants_digits(options))
        steps = refine_extra_precisely<T>(*working_, b, x, columns, inverse_of_working(), options.op,
                                          options.interrupt);
    RefineReport report = espalier::refine<T>(*working_, b, x, columns, inverse_of_working(), options);
    add_steps(report, steps);
    if (may_be_singular() && shows_singularity(b, x, columns, options.op, report.backward_error))
        verdict_.singularity.lacks_unique_solutions = true;
    return report;
}

template <class T> RefineReport Refiner<T>::refine_scaled(std::span<T const> b, std::span<T> x, Index columns,
                                                          RefineOptions const& options) {
    Timer const timer;
    LocalScaling const& scaling = vectors_.scaling();
    RefineReport report;
    RefineOptions of_working = options;
    of_working.measures_componentwise = false;
    std::vector<T> const working_b =
        in_working_scales(b, x, columns, options.op, [&](std::span<T const> scaled_b) {
            report = refine_working(scaled_b, x, columns, of_working);
        });
    DistributedMatrix<T> const& matrix = callers_matrix();
    double const tolerance = effective_tolerance<T>(options.tolerance);
    BackwardErrors errors = worst_errors<T>(matrix, x, b, columns, options);
    // The scales may be those of earlier values, and hide an error of the unscaled system.
    if (report.converged && !(errors.normwise <= tolerance) && options.method != RefineMethod::none) {
        RefineReport const more = espalier::refine<T>(matrix, b, x, columns, inverse_of_matrix(), of_working);
        add_steps(report, more.iterations);
        errors = worst_errors<T>(matrix, x, b, columns, options);
        auto working_x = context_.on_all([&] { return std::vector<T>(x.begin(), x.end()); });
        scaling.solution_to_working(std::span<T>(working_x), columns, options.op);
        double const scaled_error =
            normwise_backward_error<T>(*working_, working_x, working_b, columns, options.op);
        context_.on_all([&] { report.history.push_back(scaled_error); });
        report.converged = scaled_error <= tolerance;
    }
    report.backward_error = errors.normwise;
    report.componentwise_error = errors.componentwise;
    report.converged = report.converged && report.backward_error <= tolerance;
    if (!report.converged) report.status = Status::inaccurate;
    report.time_s = timer.seconds();
    return report;
}

template <class T> double Refiner<T>::forward_error(std::span<T const> b, std::span<T const> x, Index columns,
                                                    MatrixOp op) const {
    DistributedMatrix<T> const& matrix = callers_matrix();
    bool converges = true; // if false, the bound is infinite
    auto const bounds = forward_error_bounds<T>(matrix, b, x, columns, refined_inverse(true, converges), op,
                                                context_.interrupt());
    return bounds.empty() ? 0.0 : std::ranges::max(bounds);
}

template <class T> ConditionEstimate Refiner<T>::reciprocal_condition() const {
    DistributedMatrix<T> const& matrix = callers_matrix();
    bool converges = true;
    ConditionEstimate estimate =
        espalier::reciprocal_condition<T>(matrix, refined_inverse(false, converges), context_.interrupt());
    // The componentwise distance to a singular matrix is an upper bound of the normwise one.
    if (verdict_.singularity.is_singular)
        return {std::min(estimate.rcond, 1 / verdict_.singularity.condition_estimate)};
    estimate.is_sure = estimate.is_sure && converges;
    return estimate;
}

template <class T> NullSpaceResult<T> Refiner<T>::null_space(NullSpaceOptions const& options) const {
    return espalier::null_space<T>(callers_matrix(), inverse_of_matrix(), options);
}

ESPALIER_INSTANTIATE_CLASS(Refiner)

} // namespace espalier
