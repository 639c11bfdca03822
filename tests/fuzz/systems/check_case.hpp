// One random case: calls of a solver, and checks of their results. Throws Wrong for the first wrong result.
//
// The bounds, with u the roundoff of the factors, n the order, and c the condition number of the scaled
// matrix:
//
//     backward errors       those reported are the true ones, to a factor 2 and rounding
//     forward-error bound   not below the true error, for c n u < 0.1
//     rcond                 between 0.9 and 10 times the true one, for c n u < 0.01 (at least 0.9 times if a
//                           note says that it may be too large); small if the matrix is singular
//     inertia               exact if no pivot was replaced, the matrix was not reported as singular, and
//                           c n g u < 0.01 with the growth g that the pivoting and updates allow
//     determinant           to a relative error of c n g u, likewise, and refused only with static pivots
//     selected inverse      entries of the scaled inverse to a relative error of c n g u, likewise
//     updates               the new matrix is A + W W^H or A - W W^H to rounding; its results as above
//     Schur complement      if its backward error is within the tolerance: to the error that this explains
//     status                singular matrices are reported, or their system was solved; nonsingular ones
//                           (c n g u < 0.01) are solved, unless static pivots were replaced
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "comm/thread_processes.hpp"
#include "fuzz/systems/random_case.hpp"
#include "fuzz/systems/reference.hpp"

namespace espalier::fuzz {

struct Wrong : std::runtime_error {
    using std::runtime_error::runtime_error;
};

template <class... Parts> void require(bool holds, fmt::format_string<Parts...> text, Parts&&... parts) {
    if (!holds) throw Wrong(fmt::format(text, std::forward<Parts>(parts)...));
}

/// All results of a solver for one matrix, on process 0.
template <class T> struct Answers {
    std::optional<Error> error;
    Report report;
    RefineReport refined;
    std::vector<T> x;
    std::optional<Inertia> signs;
    std::optional<Determinant<T>> determinant;
    double rcond = -1;
    bool rcond_is_sure = true; ///< No note says that it may be too large.
    DenseMatrix<T> schur;
    std::optional<CscMatrix<T>> inverse; ///< The selected inverse.
};

/// A matrix with its right-hand sides and what the solver says about it.
template <class T> struct Step {
    CscMatrix<T> a;
    std::vector<T> b;
    Answers<T> answers;
};

struct Tally {
    long solved = 0, inaccurate = 0, singular = 0, refused = 0;
};

template <class T> class Case {
  public:
    using X = Extended<T>;

    explicit Case(std::uint64_t seed) : draws_(seed) {
        processes_ = draws_.chance(0.2) ? static_cast<int>(draws_.between(2, 4)) : 1;
        using enum Factorization;
        kind_ = draws_.one_of({automatic, llh, llt, ldlt, ldlh, lu, ldlt, lu});
        matrix_.emplace(draws_, kind_);
        options_ = draw_options<T>(draws_, kind_);
        Index const n = matrix_->matrix().cols;
        nrhs_ = draws_.chance(0.6) ? 1 : draws_.between(2, 5);
        if (draws_.chance(0.3)) op_ = draws_.one_of({MatrixOp::transpose, MatrixOp::adjoint});
        if (draws_.chance(0.15) && n > 4)
            for (Index i = 0; i < n; ++i)
                if (draws_.chance(0.15)) options_.schur.push_back(i);
        rounds_ = draws_.chance(0.5) ? 1 : draws_.between(2, 3);
        if (processes_ == 1 && options_.schur.empty()) {
            wants_inverse_ = draws_.chance(0.25);
            if (draws_.chance(0.25)) change_ = random_change();
        }
    }

    [[nodiscard]] std::string description() const {
        Options const usual;
        std::string text = fmt::format(
            "{}, {}, n = {}, {}, nrhs {}, op {}, {} process(es)", to_string(scalar_of<T>), matrix_->family(),
            matrix_->matrix().cols, to_string(matrix_->matrix().symmetry), nrhs_, to_string(op_), processes_);
        for (auto const name : option_names())
            if (get_option(options_, name) != get_option(usual, name))
                text += fmt::format(" --{} {}", name, get_option(options_, name));
        if (!options_.schur.empty()) text += fmt::format(" schur of {}", options_.schur.size());
        return text;
    }

    void run(Tally& tally) {
        std::vector<Step<T>> steps;
        for (Index k = 0; k < rounds_; ++k) {
            if (k > 0) matrix_->change();
            steps.push_back({matrix_->matrix(), right_hand_sides(matrix_->matrix()), {}});
        }
        std::optional<Step<T>> updated;
        auto const ask_all = [&](Communicator const& comm) {
            Solver<T> solver(options_, comm);
            for (Step<T>& step : steps) {
                bool const is_root = comm.rank() == 0;
                auto const& a = is_root ? step.a : CscMatrix<T>();
                auto const found =
                    ask(solver, a, is_root ? step.b : std::vector<T>(), [&] { solver.factorize(a); });
                if (is_root) step.answers = found;
            }
            if (change_ && !steps.back().answers.error) updated = update(solver, steps.back());
        };
        if (processes_ == 1)
            ask_all({});
        else
            run_processes(processes_, ask_all);
        for (std::size_t k = 0; k < steps.size(); ++k)
            judge(steps[k], fmt::format("matrix {} of {}", k + 1, steps.size()), tally);
        if (updated) judge(*updated, "the updated matrix", tally);
    }

  private:
    std::vector<T> right_hand_sides(CscMatrix<T> const& a) {
        Index const n = a.cols;
        std::vector<T> b(n * nrhs_);
        for (Index c = 0; c < nrhs_; ++c) {
            bool const is_zero = draws_.chance(0.03), is_product = draws_.chance(0.4);
            std::vector<T> x(n);
            for (T& value : x) value = is_zero ? T(0) : draw_value<T>(draws_, Values::uniform);
            if (is_product) {
                auto const dense = test::to_dense(a, op_);
                for (Index j = 0; j < n; ++j)
                    for (Index i = 0; i < n; ++i) b[c * n + i] += dense(i, j) * x[j];
            } else {
                std::copy(x.begin(), x.end(), b.begin() + c * n);
            }
        }
        return b;
    }

    // W with one or two columns of up to three entries.
    CscMatrix<T> random_change() {
        CscMatrix<T> w;
        w.rows = matrix_->matrix().cols;
        for (w.cols = 0; w.cols < draws_.between(1, 2); ++w.cols) {
            std::set<Index> rows;
            for (Index k = draws_.between(1, 3); k > 0; --k) rows.insert(draws_.between(0, w.rows - 1));
            for (Index const i : rows) {
                w.row_ind.push_back(i);
                w.values.push_back(draw_value<T>(draws_, Values::uniform));
            }
            w.col_ptr.push_back(std::ssize(w.row_ind));
        }
        sign_ = draws_.one_of({1, -1});
        return w;
    }

    // Changes the factorized matrix of `before` and asks again. Nothing if the new matrix is refused.
    std::optional<Step<T>> update(Solver<T>& solver, Step<T> const& before) const {
        Step<T> after = before;
        try {
            (void)solver.update(after.a, *change_, sign_);
        } catch (Error const& error) {
            bool const is_expected = error.status() == Status::not_positive_definite ||
                                     error.status() == Status::singular ||
                                     error.status() == Status::unsupported;
            if (!is_expected) throw;
            return std::nullopt;
        }
        require_change(before.a, after.a);
        after.answers = ask(solver, after.a, after.b, [] {});
        return after;
    }

    void require_change(CscMatrix<T> const& before, CscMatrix<T> const& after) const {
        auto const old = test::to_dense<X>(before), now = test::to_dense<X>(after);
        Dense<X> w(change_->rows, change_->cols);
        for (Index j = 0; j < w.cols; ++j)
            for (Offset p : change_->entries_of(j)) w(change_->row_ind[p], j) = X(change_->values[p]);
        bool const is_hermitian = before.symmetry != Symmetry::symmetric;
        for (Index j = 0; j < old.cols; ++j)
            for (Index i = 0; i < old.cols; ++i) {
                X sum = old(i, j);
                long double terms = std::abs(sum);
                for (Index k = 0; k < w.cols; ++k) {
                    X const term = static_cast<long double>(sign_) * w(i, k) * conj_if(is_hermitian, w(j, k));
                    sum += term;
                    terms += std::abs(term);
                }
                require(std::abs(sum - now(i, j)) <= 8 * static_cast<long double>(epsilon<T>) * terms,
                        "entry ({}, {}) of the updated matrix is wrong", i, j);
            }
    }

    template <class Factorize> Answers<T> ask(Solver<T>& solver, CscMatrix<T> const& a,
                                              std::vector<T> const& b, Factorize const& factorize) const {
        Answers<T> out;
        try {
            factorize();
            bool const is_hermitian = solver.report().factorization == Factorization::llh ||
                                      solver.report().factorization == Factorization::ldlh ||
                                      (!is_complex<T> && solver.report().factorization != Factorization::lu);
            if (options_.schur.empty()) {
                out.x = solver.solve(b, nrhs_, op_);
                out.refined = solver.refine(a, b, out.x, nrhs_, op_);
                out.determinant = unless_inaccurate([&] { return solver.determinant(); });
            } else {
                out.schur = solver.schur_complement();
            }
            if (is_hermitian) out.signs = unless_inaccurate([&] { return solver.inertia(); });
            FactorReport const& factor = solver.report().factor;
            if (wants_inverse_ && factor.pivots_replaced == 0 && factor.scalar == scalar_of<T>) {
                out.inverse = unless_inaccurate([&] { return solver.selected_inverse(a); });
                if (has_note(solver.report(), "the selected inverse is inaccurate")) out.inverse.reset();
            }
            out.report = solver.report();
            if (options_.schur.empty()) ask_condition(solver, a, out);
        } catch (Error const& error) {
            out.error = error;
            out.report = solver.report();
        }
        return out;
    }

    // Comes last, because it may factorize the matrix again.
    void ask_condition(Solver<T>& solver, CscMatrix<T> const& a, Answers<T>& out) const {
        out.rcond = out.report.factor.rcond = solver.reciprocal_condition(a);
        out.rcond_is_sure =
            !has_note(solver.report(), "the estimated reciprocal condition number may be too large");
    }

    static bool has_note(Report const& report, std::string_view beginning) {
        return std::ranges::any_of(report.notes,
                                   [&](auto const& note) { return note.starts_with(beginning); });
    }

    // Nothing if the factors are too inaccurate for the result.
    template <class Call> static auto unless_inaccurate(Call const& call) {
        std::optional<decltype(call())> result;
        try {
            result = call();
        } catch (Error const& error) {
            if (error.status() != Status::inaccurate) throw;
        }
        return result;
    }

    void judge(Step<T> const& step, std::string const& which, Tally& tally) const {
        try {
            judge(step.a, step.b, step.answers, tally);
        } catch (Wrong const& wrong) {
            RefineReport const& refined = step.answers.refined;
            std::string text = fmt::format(
                "{}: {}\n    {} after {} steps of {}, backward error {:.1e}, at first {:.1e}", which,
                wrong.what(), to_string(refined.status), refined.iterations, to_string(refined.method),
                refined.backward_error, refined.history.empty() ? -1 : refined.history.front());
            for (auto const& note : step.answers.report.notes) text += "\n    note: " + note;
            throw Wrong(text);
        }
    }

    void judge(CscMatrix<T> const& a, std::vector<T> const& b, Answers<T> const& found, Tally& tally) const {
        Dense<X> const dense = test::to_dense<X>(a);
        bool is_hermitian = true; // perhaps by its values only
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = j; i < a.cols; ++i) is_hermitian &= dense(i, j) == conj(dense(j, i));
        if (!options_.schur.empty()) return judge_schur(dense, is_hermitian, found, tally);
        Reference<T> const truth(dense, is_hermitian);
        double const lost = lost_digits(truth, found.report);
        if (found.error) return judge_error(found, truth, lost, is_hermitian, tally);
        FactorReport const& factor = found.report.factor;
        bool const is_flagged = factor.numerically_singular || found.refined.status != Status::ok;
        ++(found.refined.status == Status::ok         ? tally.solved
           : found.refined.status == Status::singular ? tally.singular
                                                      : tally.inaccurate);
        judge_backward_errors(truth, b, found);
        if (!truth.is_singular) judge_forward_error(truth, b, found);
        judge_rcond(truth, found);
        if (lost < 0.01) {
            require(!factor.numerically_singular && found.refined.status != Status::singular,
                    "a nonsingular matrix of condition {:.1e} is reported as singular",
                    truth.scaled_condition);
            bool const may_stall = options_.pivoting == Pivoting::static_pivots && factor.pivots_replaced > 0;
            if (options_.refine == RefineMethod::automatic && !may_stall)
                require(found.refined.status == Status::ok,
                        "not solved: {}, condition {:.1e}, backward error {:.1e}",
                        to_string(found.refined.status), truth.scaled_condition,
                        found.refined.backward_error);
        }
        if (truth.is_singular && !is_flagged) judge_singular(truth, found);
        if (lost < 0.01 && factor.pivots_replaced == 0) {
            // Entries may grow without bound with static pivots.
            require(found.determinant || options_.pivoting == Pivoting::static_pivots,
                    "the determinant is refused, condition {:.1e}", truth.scaled_condition);
            if (found.signs)
                require(*found.signs == truth.signs, "inertia {} {} {} instead of {} {} {}, condition {:.1e}",
                        found.signs->positive, found.signs->negative, found.signs->zero, truth.signs.positive,
                        truth.signs.negative, truth.signs.zero, truth.scaled_condition);
            if (found.determinant) judge_determinant(truth, found, lost * growth_without_supernodes(found));
            if (found.inverse) judge_inverse(dense, truth, found, lost);
        }
    }

    // c n g u with the growth g that the pivoting allows.
    [[nodiscard]] double lost_digits(Reference<T> const& truth, Report const& report) const {
        // A factorization that failed has not reported its scalar.
        bool const is_single =
            epsilon<T> > 1e-10 || report.factor.scalar == Scalar::s || report.factor.scalar == Scalar::c;
        double const u = is_single ? epsilon<float> : epsilon<double>;
        double growth = 1;
        bool const has_pivots =
            report.factorization != Factorization::llh && report.factorization != Factorization::llt;
        if (report.factor_path == "simplicial")
            growth = 100; // pivots may be those of other values
        else if (has_pivots)
            growth = options_.pivoting == Pivoting::delayed ? 1 / options_.pivot_tolerance : 1 / std::sqrt(u);
        // Pivots that are changed in place keep their order, and their change may be as large as this.
        if (has_pivots && report.factor.updates > 0) growth = std::max(growth, 1 / std::sqrt(std::sqrt(u)));
        return std::max(truth.scaled_condition, unscaled_condition(truth, report)) *
               static_cast<double>(truth.matrix.cols + 1) * u * growth;
    }
    // Without scaling, the condition of the matrix itself counts.
    [[nodiscard]] double unscaled_condition(Reference<T> const& truth, Report const& report) const {
        return report.analysis.scaled || truth.rcond == 0 ? 1 : 1 / truth.rcond;
    }

    void judge_error(Answers<T> const& found, Reference<T> const& truth, double lost, bool is_hermitian,
                     Tally& tally) const {
        Status const status = found.error->status();
        bool const may_be_indefinite = !is_hermitian || truth.signs.positive < truth.matrix.cols;
        bool const is_allowed = status == Status::singular ? !(lost < 0.01)
                                : status == Status::not_positive_definite
                                    ? may_be_indefinite || !(lost < 0.01)
                                : status == Status::unsupported ? true
                                                                : false;
        require(is_allowed, "Error{{{}}} {} (condition {:.1e})", to_string(status), found.error->what(),
                truth.scaled_condition);
        ++(status == Status::singular ? tally.singular : tally.refused);
    }

    void judge_backward_errors(Reference<T> const& truth, std::vector<T> const& b,
                               Answers<T> const& found) const {
        Index const n = truth.matrix.cols;
        double const u = static_cast<double>(epsilon<T>);
        if (!std::ranges::all_of(found.x, [](T value) { return is_finite(value); }))
            return require(found.refined.status != Status::ok,
                           "status ok with a solution that is not finite");
        double normwise = 0, componentwise = 0;
        long double norm = 0;
        for (Index i = 0; i < n; ++i) {
            long double sum = 0;
            for (Index j = 0; j < n; ++j) sum += std::abs(entry(truth.matrix, i, j));
            norm = std::max(norm, sum);
        }
        for (Index c = 0; c < nrhs_; ++c) {
            long double residual = 0, of_x = 0, of_b = 0;
            for (Index i = 0; i < n; ++i) {
                X r = X(b[c * n + i]);
                long double terms = std::abs(r);
                of_b = std::max(of_b, terms);
                of_x = std::max(of_x, std::abs(X(found.x[c * n + i])));
                for (Index j = 0; j < n; ++j) {
                    X const term = entry(truth.matrix, i, j) * X(found.x[c * n + j]);
                    r -= term;
                    terms += std::abs(term);
                }
                residual = std::max(residual, std::abs(r));
                if (terms > 0)
                    componentwise = std::max(componentwise, static_cast<double>(std::abs(r) / terms));
            }
            if (residual > 0)
                normwise = std::max(normwise, static_cast<double>(residual / (norm * of_x + of_b)));
        }
        auto const agree = [&](char const* name, double reported, double actual) {
            bool const both_infinite = !std::isfinite(actual) && !(reported < 1);
            require(both_infinite || (reported <= 2 * actual + 20 * u && actual <= 2 * reported + 20 * u),
                    "{} backward error {:.3e}, actually {:.3e}", name, reported, actual);
        };
        agree("normwise", found.refined.backward_error, normwise);
        agree("componentwise", found.refined.componentwise_error, componentwise);
        double const tolerance = options_.tolerance > 0 ? options_.tolerance : u < 1e-10 ? 1e-12 : 1e-5;
        require(found.refined.status != Status::ok || normwise <= 1.01 * tolerance + 2 * u,
                "status ok with backward error {:.3e}", normwise);
    }

    [[nodiscard]] X entry(Dense<X> const& a, Index i, Index j) const { // of op(A)
        return op_ == MatrixOp::none ? a(i, j) : conj_if(op_ == MatrixOp::adjoint, a(j, i));
    }

    // Row i of b - op(A) x for one column, as if in twice the precision of long double.
    [[nodiscard]] X accurate_residual(Reference<T> const& truth, T const* b, T const* x, Index i) const {
        AccurateSum re, im;
        re.add(std::real(X(b[i])));
        im.add(std::imag(X(b[i])));
        for (Index j = 0; j < truth.matrix.cols; ++j) {
            X const a = entry(truth.matrix, i, j), v(x[j]);
            re.add_product(-std::real(a), std::real(v));
            re.add_product(std::imag(a), std::imag(v));
            im.add_product(-std::real(a), std::imag(v));
            im.add_product(-std::imag(a), std::real(v));
        }
        if constexpr (is_complex<T>)
            return X(re.value(), im.value());
        else
            return re.value();
    }

    // The error is op(A)^-1 (b - op(A) x). The difference to a solution by the reference would have the
    // rounding errors of that solution, which are larger than the error of small entries of a badly scaled
    // one.
    void judge_forward_error(Reference<T> const& truth, std::vector<T> const& b,
                             Answers<T> const& found) const {
        double const bound = found.refined.forward_error;
        if (bound < 0 || !std::isfinite(bound)) return;
        Index const n = truth.matrix.cols;
        double const u = static_cast<double>(epsilon<T>);
        if (!(truth.scaled_condition * static_cast<double>(n) * u < 0.1)) return;
        double error = 0;
        for (Index c = 0; c < nrhs_; ++c) {
            long double largest = 0, difference = 0, rounding = 0;
            std::vector<X> residual(n);
            for (Index i = 0; i < n; ++i)
                residual[i] = accurate_residual(truth, &b[c * n], &found.x[c * n], i);
            for (Index i = 0; i < n; ++i) {
                X of_x(0);
                long double terms = 0;
                for (Index j = 0; j < n; ++j) {
                    X const term = entry(truth.inverse, i, j) * residual[j];
                    of_x += term;
                    terms += std::abs(term);
                }
                largest = std::max(largest, std::abs(X(found.x[c * n + i])));
                difference = std::max(difference, std::abs(of_x));
                rounding = std::max(rounding, terms * static_cast<long double>(truth.error()));
            }
            if (difference > rounding)
                error = std::max(error, static_cast<double>((difference - rounding) / largest));
        }
        require(bound >= error * 0.99,
                "the bound of the forward error is {:.3e}, the error {:.3e} (condition {:.1e})", bound, error,
                truth.scaled_condition);
    }

    void judge_rcond(Reference<T> const& truth, Answers<T> const& found) const {
        double const u = static_cast<double>(epsilon<T>),
                     rounding = static_cast<double>(truth.matrix.cols) * u;
        require(found.rcond >= 0 && found.rcond <= 1, "rcond = {}", found.rcond);
        double const lost =
            std::max(truth.scaled_condition, truth.rcond > 0 ? 1 / truth.rcond : infinity) * rounding;
        if (lost < 0.01)
            require(found.rcond >= 0.9 * truth.rcond &&
                        (found.rcond <= 10 * truth.rcond || !found.rcond_is_sure),
                    "rcond = {:.2e}, actually {:.2e}", found.rcond, truth.rcond);
        else if (found.rcond_is_sure)
            require(found.rcond <= 1000 * (truth.rcond + rounding), "rcond = {:.2e}, actually {:.2e}",
                    found.rcond, truth.rcond);
    }

    // Status ok bounds the backward error by the tolerance, and judge_backward_errors() has compared it with
    // the true one; the factors must also show that the matrix is singular.
    void judge_singular(Reference<T> const& truth, Answers<T> const& found) const {
        double const u = static_cast<double>(epsilon<T>);
        require(found.report.factor.rcond <= 1000 * u * static_cast<double>(truth.matrix.cols),
                "a singular matrix, status ok with rcond {:.1e}", found.report.factor.rcond);
    }

    void judge_determinant(Reference<T> const& truth, Answers<T> const& found, double lost) const {
        auto const& [phase, log_modulus] = *found.determinant;
        X const ratio = X(phase) / truth.phase;
        double const modulus = std::abs(log_modulus - static_cast<double>(truth.log_modulus));
        double const allowed =
            10 * lost + 1e-13 * std::abs(log_modulus) + 100 * static_cast<double>(epsilon<T>);
        require(modulus <= allowed, "log |det| is wrong by {:.1e}; allowed are {:.1e}", modulus, allowed);
        require(static_cast<double>(std::abs(ratio - X(1))) <= allowed,
                "the phase of the determinant is wrong by {:.1e}",
                static_cast<double>(std::abs(ratio - X(1))));
    }

    // Without supernodes, entries may grow more than `lost` allows. The first backward error shows how much.
    static double growth_without_supernodes(Answers<T> const& answers) {
        auto const& errors = answers.refined.history;
        bool const may_grow = answers.report.factor_path == "simplicial" && !errors.empty();
        return may_grow ? std::max(1.0, errors.front() / static_cast<double>(100 * epsilon<T>)) : 1;
    }

    // The entries are not refined.
    void judge_inverse(Dense<X> const& dense, Reference<T> const& truth, Answers<T> const& answers,
                       double lost) const {
        CscMatrix<T> const& found = *answers.inverse;
        double const growth = growth_without_supernodes(answers);
        auto const scaled = equilibrated(dense);
        long double largest = 0; // entry of the scaled inverse
        for (Index j = 0; j < dense.cols; ++j)
            for (Index i = 0; i < dense.cols; ++i)
                largest =
                    std::max(largest, std::abs(truth.inverse(i, j)) / (scaled.column[i] * scaled.row[j]));
        for (Index j = 0; j < found.cols; ++j)
            for (Offset p : found.entries_of(j)) {
                Index const i = found.row_ind[p];
                long double const error = std::abs(X(found.values[p]) - truth.inverse(i, j));
                long double const allowed =
                    static_cast<long double>(1000 * lost * growth + 100 * epsilon<T>) * largest *
                    scaled.column[i] * scaled.row[j];
                require(error <= allowed,
                        "entry ({}, {}) of the inverse is wrong by {:.1e}; allowed are {:.1e}", i, j,
                        static_cast<double>(error), static_cast<double>(allowed));
            }
    }

    // S and the inertia of the interior block.
    void judge_schur(Dense<X> const& dense, bool is_hermitian, Answers<T> const& found, Tally& tally) const {
        std::vector<Index> interior;
        for (Index i = 0; i < dense.cols; ++i)
            if (std::ranges::find(options_.schur, i) == options_.schur.end()) interior.push_back(i);
        auto const block = [&](std::vector<Index> const& rows, std::vector<Index> const& columns) {
            Dense<X> part(std::ssize(rows), std::ssize(columns));
            for (Index j = 0; j < part.cols; ++j)
                for (Index i = 0; i < part.rows; ++i) part(i, j) = dense(rows[i], columns[j]);
            return part;
        };
        Reference<T> const truth(block(interior, interior), is_hermitian);
        double const lost = lost_digits(truth, found.report);
        if (found.error) return judge_error(found, truth, lost, is_hermitian, tally);
        ++tally.solved;
        auto const a_is = block(interior, options_.schur), a_si = block(options_.schur, interior);
        auto const right = truth.solve(a_is);
        auto const reduced = product(a_si, right);
        FactorReport const& factor = found.report.factor;
        double const left_norm = static_cast<double>(infinity_norm(product(a_si, truth.inverse)));
        double const allowed = 100 * static_cast<double>(dense.cols) *
                               (factor.schur_error + epsilon<T>)*static_cast<double>(infinity_norm(dense)) *
                               (1 + left_norm) * (1 + static_cast<double>(infinity_norm(right)));
        double const tolerance = epsilon<T> < 1e-10 ? 1e-12 : 1e-5;
        if (lost < 0.01)
            require(!factor.numerically_singular,
                    "a nonsingular interior of condition {:.1e} is reported as singular",
                    truth.scaled_condition);
        if (lost < 0.01 && factor.schur_error <= tolerance) {
            for (Index j = 0; j < reduced.cols; ++j)
                for (Index i = 0; i < reduced.rows; ++i) {
                    X const exact = dense(options_.schur[i], options_.schur[j]) - reduced(i, j);
                    double const error = static_cast<double>(
                        std::abs(X(found.schur.values[i + j * found.schur.rows]) - exact));
                    require(error <= allowed,
                            "an entry of the Schur complement is wrong by {:.1e}; allowed are {:.1e}", error,
                            allowed);
                }
            if (found.signs && factor.pivots_replaced == 0)
                require(*found.signs == truth.signs, "inertia of the interior {} {} {} instead of {} {} {}",
                        found.signs->positive, found.signs->negative, found.signs->zero, truth.signs.positive,
                        truth.signs.negative, truth.signs.zero);
        }
    }

    Draws draws_;
    int processes_ = 1;
    Factorization kind_ = Factorization::automatic;
    std::optional<RandomMatrix<T>> matrix_;
    Options options_;
    Index nrhs_ = 1, rounds_ = 1;
    MatrixOp op_ = MatrixOp::none;
    bool wants_inverse_ = false;
    std::optional<CscMatrix<T>> change_; ///< W of an update.
    int sign_ = 1;
};

} // namespace espalier::fuzz
