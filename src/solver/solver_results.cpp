// What a factorization knows beyond solutions, behind espalier::Solver: inertia, determinant, condition, null
// space, Schur complement.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/timer.hpp"
#include "factor/pivots.hpp"
#include "factor/schur.hpp"
#include "kernels/single_threaded_blas.hpp"
#include "refine/condition.hpp"
#include "refine/null_space.hpp"
#include "solve/solve.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> void Solver<T>::State::require_schur(char const* what) const {
    require_factors(what);
    if (analysis_->options.schur.empty())
        throw Error(Status::usage,
                    fmt::format("{} needs a Schur complement, and Options::schur is empty", what));
}

template <class T> Inertia Solver<T>::State::inertia() {
    require_factors("inertia");
    PivotSigns const signs = is_narrow_ ? pivot_signs(ensemble_.template pivots<Low>())
                                        : pivot_signs(ensemble_.template pivots<T>());
    return {signs.positive, signs.negative, signs.zero};
}

template <class T> double Solver<T>::State::reciprocal_condition(CscMatrix<T> const& matrix) {
    require_no_schur("reciprocal_condition");
    require_same_pattern(matrix, "reciprocal_condition");
    SingleThreadedBlas const blas;
    report.factor.rcond = espalier::reciprocal_condition<T>(matrix, inverse_of_matrix(), interrupt_.get());
    return report.factor.rcond;
}

template <class T> NullSpace<T> Solver<T>::State::null_space(CscMatrix<T> const& matrix, double tolerance) {
    require_no_schur("null_space");
    require_same_pattern(matrix, "null_space");
    if (!(tolerance >= 0) || tolerance >= 1)
        throw Error(Status::usage,
                    fmt::format("a tolerance of {} for singular values is not in [0, 1)", tolerance));
    SingleThreadedBlas const blas;
    NullSpaceOptions run;
    run.tolerance = tolerance;
    run.first_block = std::min<Index>(matrix.cols, std::max<Index>(4, report.factor.pivots_replaced + 2));
    run.interrupt = interrupt_.get();
    run.max_bytes = options.max_memory;
    NullSpaceResult<T> found = espalier::null_space<T>(matrix, inverse_of_matrix(), run);
    Index const rank = matrix.cols - found.basis.cols;
    return {rank, std::move(found.basis), std::move(found.singular_values)};
}

// det A = det B (-1)^odd exp(log_factor), B being the working system (scaled_system.hpp).
template <class T> Determinant<T> Solver<T>::State::determinant() {
    require_no_schur("determinant");
    // Replaced pivots stand for zeros, as far as anyone can tell.
    if (report.factor.numerically_singular) return {T(0), -std::numeric_limits<double>::infinity()};
    T phase(1);
    double log_modulus = analysis_->system.log_factor();
    auto const take = [&](auto const& product) {
        phase = static_cast<T>(product.phase);
        log_modulus += product.log_modulus;
    };
    if (is_narrow_)
        take(pivot_product(ensemble_.template pivots<Low>()));
    else
        take(pivot_product(ensemble_.template pivots<T>()));
    return {analysis_->system.odd() ? -phase : phase, log_modulus};
}

template <class T> DenseMatrix<T> Solver<T>::State::schur_complement() {
    require_schur("schur_complement");
    return espalier::schur_complement<T>(ensemble_.template factor<T>(), analysis_->options.schur);
}

template <class T> std::vector<T> Solver<T>::State::eliminate_interior(std::span<T const> b, Index nrhs) {
    Index const n = analysis_->structure.n;
    require_block(b.size(), n, nrhs, "the right-hand side");
    std::vector<T> x(b.begin(), b.end());
    analysis_->system.to_working(std::span<T>(x), nrhs);
    ensemble_.template sweep<T>({x.data(), n, nrhs, std::max<Index>(1, n)}, SweepPart::forward,
                                MatrixOp::none);
    return x;
}

template <class T> std::vector<T> Solver<T>::State::condense(std::span<T const> b, Index nrhs) {
    require_schur("condense");
    Timer const timer;
    SingleThreadedBlas const blas;
    auto const x = eliminate_interior(b, nrhs);
    auto const& schur = analysis_->options.schur;
    auto const n = static_cast<std::size_t>(analysis_->structure.n);
    std::vector<T> condensed;
    condensed.reserve(schur.size() * static_cast<std::size_t>(nrhs));
    for (Index j = 0; j < nrhs; ++j)
        for (Index const i : schur) condensed.push_back(x[j * n + static_cast<std::size_t>(i)]);
    report.solve_s = timer.seconds();
    report.nrhs = nrhs;
    return condensed;
}

template <class T>
std::vector<T> Solver<T>::State::expand(std::span<T const> b, std::span<T const> x_schur, Index nrhs) {
    require_schur("expand");
    auto const& schur = analysis_->options.schur;
    require_block(x_schur.size(), static_cast<Index>(schur.size()), nrhs,
                  "the solution of the condensed system");
    Timer const timer;
    SingleThreadedBlas const blas;
    auto x = eliminate_interior(b, nrhs);
    Index const n = analysis_->structure.n;
    for (Index j = 0; j < nrhs; ++j)
        for (std::size_t s = 0; s < schur.size(); ++s)
            x[j * static_cast<std::size_t>(n) + static_cast<std::size_t>(schur[s])] =
                x_schur[j * schur.size() + s];
    ensemble_.template sweep<T>({x.data(), n, nrhs, std::max<Index>(1, n)}, SweepPart::backward,
                                MatrixOp::none);
    analysis_->system.from_working(std::span<T>(x), nrhs);
    report.solve_s = timer.seconds();
    report.nrhs = nrhs;
    return x;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Inertia Solver<T>::State::inertia();                                                            \
    template Determinant<T> Solver<T>::State::determinant();                                                 \
    template double Solver<T>::State::reciprocal_condition(CscMatrix<T> const&);                             \
    template NullSpace<T> Solver<T>::State::null_space(CscMatrix<T> const&, double);                         \
    template DenseMatrix<T> Solver<T>::State::schur_complement();                                            \
    template std::vector<T> Solver<T>::State::condense(std::span<T const>, Index);                           \
    template std::vector<T> Solver<T>::State::expand(std::span<T const>, std::span<T const>, Index);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
