// The pipeline behind espalier::Solver: each step reads what the one before it left in the state.
#include "espalier/espalier.hpp"

#include <fmt/format.h>

#include "core/timer.hpp"
#include "machine/machine_file.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> void Solver<T>::State::note(std::string text) {
    if (options.log) options.log(text);
    report.notes.push_back(std::move(text));
}

template <class T> double Solver<T>::State::tolerance() const {
    return options.tolerance > 0 ? options.tolerance : default_tolerance<T>();
}

template <class T> void Solver<T>::State::require_factors(char const* what) const {
    if (!factorized_) throw Error(Status::usage, fmt::format("{} was called before factorize", what));
}

template <class T> void Solver<T>::State::require_no_schur(char const* what) const {
    require_factors(what);
    if (!analysis_->options.schur.empty())
        throw Error(
            Status::usage,
            fmt::format("{} needs the whole matrix factorized, and a Schur complement was asked for; use "
                        "condense and expand",
                        what));
}

// Its arrays may then be used, as those of the analyzed matrix were checked.
template <class T>
void Solver<T>::State::require_same_pattern(CscMatrix<T> const& matrix, char const* what) const {
    if (!(PatternFingerprint(matrix) == analysis_->pattern) || matrix.values.size() != matrix.row_ind.size())
        throw Error(
            Status::usage,
            fmt::format("{} was given a matrix of another order or pattern than the factorized one", what));
}

template <class T> void Solver<T>::State::analyze(CscMatrix<T> const& matrix) {
    if (options.record_trace)
        ensemble_.restart_recording();
    else
        recording_.drop();
    Timer const timer;
    factorized_ = false;
    ensemble_.drop_factors();
    analysis_.reset();
    report.analysis = {};
    report.factor = {};
    report.refine = {};
    report.notes.clear();
    Analysis<T> made =
        analyze_system(matrix, options,
                       {machine_model(topology_, report.processes, report.threads), interrupt_, background_,
                        recording_.recorder(), [this](std::string text) { note(std::move(text)); }},
                       report);
    report.analysis.total_s = timer.seconds();
    require_memory(report.analysis.memory_bytes, options.max_memory);
    analysis_ = std::move(made);
    try {
        ensemble_.share_plan(analysis_->structure, analysis_->plan, std::move(analysis_->plans));
    } catch (...) {
        analysis_.reset();
        throw;
    }
    notes_of_analysis_ = report.notes.size();
    sample_memory();
}

template <class T> Solver<T>::Solver(Options options) : Solver(std::move(options), Communicator()) {}
template <class T> Solver<T>::Solver(Options options, Communicator processes)
    : state_(std::make_unique<State>(std::move(options), std::move(processes))) {}
template <class T> void Solver<T>::follow(Options options, Communicator processes) {
    State(std::move(options), std::move(processes), true).follow();
}
template <class T> Solver<T>::~Solver() = default;
template <class T> Solver<T>::Solver(Solver&&) noexcept = default;
template <class T> Solver<T>& Solver<T>::operator=(Solver&&) noexcept = default;
template <class T> void Solver<T>::analyze(CscMatrix<T> const& matrix) {
    state_->together("analyze", [&] { state_->analyze(matrix); });
}
template <class T> void Solver<T>::factorize(CscMatrix<T> const& matrix) {
    state_->together("factorize", [&] { state_->factorize(matrix); });
}
template <class T> std::vector<T> Solver<T>::solve(std::span<T const> b, Index nrhs, MatrixOp op) {
    return state_->together("solve", [&] {
        std::vector<T> x(b.begin(), b.end());
        state_->solve(x, nrhs, op);
        return x;
    });
}
template <class T> void Solver<T>::solve_in_place(std::span<T> x, Index nrhs, MatrixOp op) {
    state_->together("solve_in_place", [&] { state_->solve(x, nrhs, op); });
}
template <class T> DenseMatrix<T> Solver<T>::solve(CscMatrix<T> const& b, MatrixOp op) {
    return state_->together("solve", [&] { return state_->solve(b, op); });
}
template <class T> RefineReport Solver<T>::refine(CscMatrix<T> const& matrix, std::span<T const> b,
                                                  std::span<T> x, Index nrhs, MatrixOp op) {
    state_->together("refine", [&] { state_->refine(matrix, b, x, nrhs, op); });
    return state_->report.refine;
}
template <class T> Inertia Solver<T>::inertia() const {
    return state_->together("inertia", [&] { return state_->inertia(); });
}
template <class T> Determinant<T> Solver<T>::determinant() const {
    return state_->together("determinant", [&] { return state_->determinant(); });
}
template <class T> double Solver<T>::reciprocal_condition(CscMatrix<T> const& matrix) {
    return state_->together("reciprocal_condition", [&] { return state_->reciprocal_condition(matrix); });
}
template <class T> NullSpace<T> Solver<T>::null_space(CscMatrix<T> const& matrix, double tolerance) {
    return state_->together("null_space", [&] { return state_->null_space(matrix, tolerance); });
}
template <class T> DenseMatrix<T> Solver<T>::schur_complement() const {
    return state_->together("schur_complement", [&] { return state_->schur_complement(); });
}
template <class T> std::vector<T> Solver<T>::condense(std::span<T const> b, Index nrhs) {
    return state_->together("condense", [&] { return state_->condense(b, nrhs); });
}
template <class T>
std::vector<T> Solver<T>::expand(std::span<T const> b, std::span<T const> x_schur, Index nrhs) {
    return state_->together("expand", [&] { return state_->expand(b, x_schur, nrhs); });
}
template <class T> Prediction Solver<T>::predict(int processes, int threads) const {
    return state_->predict(processes, threads);
}
template <class T> Prediction Solver<T>::write_predicted_trace(std::string const& path, int processes,
                                                               int threads,
                                                               std::string const& matrix_name) const {
    return state_->predict(processes, threads, &path, matrix_name);
}
template <class T> Prediction Solver<T>::simulate(Simulation const& what) const {
    return state_->simulate(what);
}
template <class T> void Solver<T>::write_trace(std::string const& path, std::string const& matrix_name) {
    state_->together("write_trace", [&] { state_->write_trace(path, matrix_name); });
}
template <class T> Report const& Solver<T>::report() const {
    return state_->report;
}
template <class T> Options const& Solver<T>::options() const {
    return state_->options;
}
template <class T> void Solver<T>::set_options(Options options) {
    state_->set_options(std::move(options));
}

template <class T>
Solution<T> solve(CscMatrix<T> const& matrix, std::span<T const> b, Index nrhs, Options options) {
    Solver<T> solver(std::move(options));
    solver.analyze(matrix);
    solver.factorize(matrix);
    std::vector<T> x = solver.solve(b, nrhs);
    solver.refine(matrix, b, x, nrhs);
    return {std::move(x), solver.report()};
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template class Solver<T>;                                                                                \
    template Solution<T> solve<T>(CscMatrix<T> const&, std::span<T const>, Index, Options);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
