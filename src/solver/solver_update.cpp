// Low-rank updates: the factors of A become those of A + W W^H or A - W W^H. With the working system B = S A
// S of a symmetric factorization, the columns S W change B. The matrix is factorized again if it has
// another kind of factorization, or if the structure of the factors or their pivots do not suit the change.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "analysis/checks.hpp"
#include "core/counted.hpp"
#include "core/timer.hpp"
#include "kernels/blas.hpp"
#include "matrix/convert.hpp"
#include "matrix/low_rank.hpp"
#include "matrix/norms.hpp"
#include "runtime/process_limits.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

// Checks the arguments of an update, and the memory for it on process 0.
template <class T>
void Solver<T>::State::check_update(CscMatrix<T> const& matrix, CscMatrix<T> const& w, int sign) const {
    if (w.rows != matrix.rows || w.symmetry != Symmetry::general)
        throw Error(Status::usage, fmt::format("the columns of an update must be a general matrix with {} "
                                               "rows; this matrix is {} and has {}",
                                               matrix.rows, to_string(w.symmetry), counted(w.rows, "row")));
    if (sign != 1 && sign != -1)
        throw Error(Status::usage, fmt::format("the sign of an update is {}; expected 1 or -1", sign));
    w.validate();
    double const products = count_products(w, matrix.symmetry);
    double const bytes = products * static_cast<double>(sizeof(T) + 2 * sizeof(Index)) * 2;
    if (options.max_memory > 0) {
        // besides the products: the former matrix, the changed working system, and the columns, also as dense
        // rows
        double const entry = sizeof(T) + sizeof(Index), stored = static_cast<double>(matrix.stored());
        double const columns = 2 * static_cast<double>(w.stored()) * entry +
                               static_cast<double>(w.cols) * static_cast<double>(system_->order) * sizeof(T);
        double const most = static_cast<double>(std::numeric_limits<std::int64_t>::max());
        auto const needed = static_cast<std::uint64_t>(std::min(bytes + 2 * stored * entry + columns, most));
        std::vector<std::uint64_t> of_process = memory_needs();
        of_process.front() += needed;
        require_memory(context_.largest_sum_of_a_computer(of_process), options.max_memory, "the update");
    }
    // reading the limits of the system takes longer than small updates
    constexpr double worth_checking = 1 << 26;
    if (bytes < worth_checking) return;
    auto const most = static_cast<double>(available_memory_bytes());
    if (bytes > most)
        throw Error(
            Status::out_of_memory,
            fmt::format(
                "the product of the columns of an update has {:.2g} entries, which need {:.2g} bytes; "
                "{:.2g} are available",
                products, bytes, most));
}

// Changes the factors of the only process in place, if possible. Otherwise leaves them unchanged and returns
// the reason.
template <class T> std::optional<std::string>
Solver<T>::State::change_factors(CscMatrix<T> const& changed, CscMatrix<T> const& w, int sign) {
    if (system_->is_simplicial || !factor_.can_update())
        return "an update in place needs symmetric factors with supernodes and without delayed columns";
    if (report.factor.pivots_replaced > 0) return "some pivots were replaced";
    if (refiner_->verdict().has_growth()) return "the factors are inaccurate";
    // A symmetric matrix changes by W W^T, but the factors of a Hermitian one can only be changed by W W^H.
    bool const is_real = std::ranges::all_of(w.values, [](T value) { return imag_part(value) == 0; });
    if (changed.symmetry == Symmetry::symmetric && form_.conjugate() && !is_real)
        return "the columns are complex, but the factors are those of a Hermitian matrix";
    ScaledSystem<T> const& system = analysis_->system;
    try {
        double largest = 0;
        if (form_.has_d() || system.is_scaled()) {
            CscMatrix<T> const scaled = system.apply(changed);
            if (!system.suits(scaled, static_cast<double>(factor_.is_narrow() ? epsilon<Low> : epsilon<T>)))
                return "the scales do not suit the changed matrix";
            if (form_.has_d()) largest = max_abs(scaled);
        }
        switch (factor_.update(system.to_working(w, MatrixOp::none), sign, largest)) {
        case LowRankResult::outside_structure:
            return "the changed matrix needs factors with more entries";
        case LowRankResult::poor_pivots:
            return "pivots in the same order would be too small";
        case LowRankResult::changed:
            break;
        }
        return std::nullopt;
    } catch (Error const& error) {
        if (error.status() != Status::not_positive_definite) factorized_ = false;
        if (error.status() != Status::not_positive_definite || !system_->chooses) throw;
        return error.what();
    }
}

// Finishes a change of the factors in place.
template <class T> void Solver<T>::State::finish_update(CscMatrix<T> const& changed, bool keeps_pattern) {
    if (!keeps_pattern) {
        factor_.drop_assembly();
        pattern_ = PatternFingerprint(changed, context_.threads());
    }
    working_.set(changed, analysis_->system);
    refiner_->set_matrix(working_.of(changed));
    report.refine = {};
    report.factor.rcond = -1;
    notes_.drop_after_analysis();
    if (form_.has_d() && (form_.conjugate() || !is_complex<T>))
        report.factor.negative_pivots = factor_.inertia().negative;
    if (factor_.is_narrow())
        refiner_->forget_factors(0);
    else
        supernodal_->examine(working_.of(changed));
    if (options.condition) estimate_condition();
}

// Without an analysis, factorize() makes one.
template <class T> void Solver<T>::State::factorize_any(CscMatrix<T> const& matrix) {
    bool const is_known = context_.on_root([&] { return pattern_.matches(matrix, context_.threads()); });
    if (system_ && !is_known) analyze(matrix, options_of_analysis());
    factorize(matrix);
}

template <class T> bool Solver<T>::State::update(CscMatrix<T>& matrix, CscMatrix<T> const& w, int sign) {
    require("update", {Need::all_eliminated, Need::complete});
    Timer const timer;
    SingleThreadedBlas const blas;
    std::optional<MatrixChange<T>> change;
    std::optional<std::string> reason;
    // Drops an analysis of the changed pattern, which is of no use then. Other processes follow in their next
    // call.
    auto const undo = [&](bool keeps_analysis) {
        if (!change) return;
        change->undo();
        if (!keeps_analysis && !pattern_.matches(matrix)) drop_analysis();
    };
    try {
        context_.on_root([&] {
            require_pattern(matrix, pattern_, "update", context_.threads());
            check_update(matrix, w, sign);
            if (system_->is_simplicial && simplicial_.is_ldl())
                factorize_by_supernodes(matrix, "updates change the factors in place");
            change.emplace(matrix, outer_product(w, sign, matrix.symmetry));
            if (auto const place = change->overflow())
                throw Error(Status::bad_input, fmt::format("the update makes the value at row {}, column {} "
                                                           "(counted from 0) too large for its precision",
                                                           place->first, place->second));
        });
        if (context_.is_alone())
            reason = change_factors(matrix, w, sign);
        else
            context_.on_all([&] { reason = "there are several processes"; });
        if (reason) factorize_any(matrix);
    } catch (Error const& error) {
        bool const is_numerical = error.status() == Status::not_positive_definite ||
                                  error.status() == Status::singular || error.status() == Status::inaccurate;
        bool const factorizes_again = reason && is_numerical;
        undo(factorizes_again);
        if (factorizes_again) factorize_any(matrix);
        throw;
    } catch (...) {
        undo(false);
        throw;
    }
    if (reason) {
        notes_.add("the update needed a new factorization: {}", *reason);
        return false;
    }
    finish_update(matrix, change->keeps_pattern());
    ++report.factor.updates;
    report.factor.update_s = timer.seconds();
    return true;
}

template <class T>
bool Solver<T>::State::update_dense(CscMatrix<T>& matrix, DenseMatrix<T> const& w, int sign) {
    CscMatrix<T> columns = context_.on_all([] { return CscMatrix<T>(); });
    context_.on_root([&] {
        require_block(w.values.size(), w.rows, w.cols, "the columns of an update");
        columns = nonzeros(w);
    });
    return update(matrix, columns, sign);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template bool Solver<T>::State::update(CscMatrix<T>&, CscMatrix<T> const&, int);                         \
    template bool Solver<T>::State::update_dense(CscMatrix<T>&, DenseMatrix<T> const&, int);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
