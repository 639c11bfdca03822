// The members of espalier::Solver. Each is a call that all processes make together, and that its State runs.
#include "espalier/espalier.hpp"

#include <utility>

#include "solver/solver_state.hpp"

namespace espalier {

template <class T> Solver<T>::Solver(Options options) : Solver(std::move(options), Communicator()) {}
template <class T> Solver<T>::Solver(Options options, Communicator processes)
    : state_(make_together<State>(processes, std::move(options), processes)) {}
template <class T> void Solver<T>::follow(Options options, Communicator processes) {
    make_together<State>(processes, std::move(options), processes, true)->follow();
}
template <class T> Solver<T>::~Solver() = default;
template <class T> Solver<T>::Solver(Solver&&) noexcept = default;
template <class T> Solver<T>& Solver<T>::operator=(Solver&&) noexcept = default;
template <class T> void Solver<T>::analyze(CscMatrix<T> const& matrix) {
    state_->call("analyze", {}, [&] { state_->analyze(matrix); });
}
template <class T> void Solver<T>::factorize(CscMatrix<T> const& matrix) {
    state_->drop_factors();
    state_->call("factorize", {}, [&] { state_->factorize(matrix); });
}
template <class T> std::vector<T> Solver<T>::solve(std::span<T const> b, Index nrhs, MatrixOp op) {
    return state_->call("solve", {nrhs, op}, [&] { return state_->solve(b); });
}
template <class T> void Solver<T>::solve_in_place(std::span<T> x, Index nrhs, MatrixOp op) {
    state_->call("solve", {nrhs, op}, [&] { state_->solve_in_place(x); });
}
template <class T> std::vector<T> Solver<T>::solve_rows(std::span<T const> b, Index nrhs, MatrixOp op) {
    return state_->call("solve_rows", {nrhs, op}, [&] { return state_->solve_rows(b, nrhs, op); });
}
template <class T> DenseMatrix<T> Solver<T>::solve(CscMatrix<T> const& b, MatrixOp op) {
    return state_->call("solve_sparse", {b.cols, op}, [&] { return state_->solve_sparse(b); });
}
template <class T> RefineReport Solver<T>::refine(CscMatrix<T> const& matrix, std::span<T const> b,
                                                  std::span<T> x, Index nrhs, MatrixOp op) {
    return state_->call("refine", {nrhs, op}, [&] { return state_->refine(matrix, b, x); });
}
template <class T> RefineReport Solver<T>::refine_rows(CscMatrix<T> const& matrix, std::span<T const> b,
                                                       std::span<T> x, Index nrhs, MatrixOp op) {
    return state_->call("refine_rows", {nrhs, op},
                        [&] { return state_->refine_rows(matrix, b, x, nrhs, op); });
}
template <class T> Inertia Solver<T>::inertia() const {
    return state_->call("inertia", {}, [&] { return state_->inertia(); });
}
template <class T> Determinant<T> Solver<T>::determinant() const {
    return state_->call("determinant", {}, [&] { return state_->determinant(); });
}
template <class T> double Solver<T>::reciprocal_condition(CscMatrix<T> const& matrix) {
    return state_->call("reciprocal_condition", {}, [&] { return state_->reciprocal_condition(matrix); });
}
template <class T> NullSpace<T> Solver<T>::null_space(CscMatrix<T> const& matrix, double tolerance) {
    return state_->call("null_space", {0, MatrixOp::none, tolerance},
                        [&] { return state_->null_space(matrix); });
}
template <class T> CscMatrix<T> Solver<T>::selected_inverse(CscMatrix<T> const& matrix) {
    return state_->call("selected_inverse", {}, [&] { return state_->selected_inverse(matrix); });
}
template <class T> std::vector<T> Solver<T>::inverse_diagonal() {
    return state_->call("inverse_diagonal", {}, [&] { return state_->inverse_diagonal(); });
}
template <class T> Factors<T> Solver<T>::factors() const {
    return state_->call("factors", {}, [&] { return state_->factors(); });
}
template <class T> std::vector<T> Solver<T>::solve_lower(std::span<T const> b, Index nrhs) {
    return state_->call("solve_lower", {nrhs}, [&] { return state_->solve_half(b, true); });
}
template <class T> std::vector<T> Solver<T>::solve_lower_adjoint(std::span<T const> b, Index nrhs) {
    return state_->call("solve_lower_adjoint", {nrhs}, [&] { return state_->solve_half(b, false); });
}
template <class T> bool Solver<T>::update(CscMatrix<T>& matrix, CscMatrix<T> const& w, int sign) {
    return state_->call("update", {}, [&] { return state_->update(matrix, w, sign); });
}
template <class T> bool Solver<T>::update(CscMatrix<T>& matrix, DenseMatrix<T> const& w, int sign) {
    return state_->call("update_dense", {}, [&] { return state_->update_dense(matrix, w, sign); });
}
template <class T> DenseMatrix<T> Solver<T>::schur_complement() const {
    return state_->call("schur_complement", {}, [&] { return state_->schur_complement(); });
}
template <class T> std::vector<T> Solver<T>::condense(std::span<T const> b, Index nrhs, MatrixOp op) {
    return state_->call("condense", {nrhs, op}, [&] { return state_->condense(b); });
}
template <class T>
std::vector<T> Solver<T>::expand(std::span<T const> b, std::span<T const> x_schur, Index nrhs, MatrixOp op) {
    return state_->call("expand", {nrhs, op}, [&] { return state_->expand(b, x_schur); });
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
    state_->call("write_trace", {}, [&] { state_->write_trace(path, matrix_name); });
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

ESPALIER_INSTANTIATE_CLASS(Solver)
#define ESPALIER_INSTANTIATE(T)                                                                              \
    template Solution<T> solve<T>(CscMatrix<T> const&, std::span<T const>, Index, Options);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
