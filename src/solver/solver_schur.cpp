// The Schur complement in espalier::Solver, and the two halves of a solve with it.
#include "analysis/checks.hpp"
#include "core/timer.hpp"
#include "kernels/blas.hpp"
#include "solver/solver_state.hpp"

namespace espalier {

template <class T> DenseMatrix<T> Solver<T>::State::schur_complement() {
    require("schur_complement", {Need::schur});
    std::span<Index const> kept;
    if (analysis_) kept = analysis_->options.schur;
    return factor_.schur_complement(kept);
}

// Eliminates the interior unknowns. `own` receives the owned rows, from which expand() continues. Returns all
// rows on process 0.
template <class T>
std::vector<T> Solver<T>::State::eliminate_interior(std::span<T const> b, std::vector<T>& own) {
    expect_blocks(b.size(), "the right-hand side");
    require_memory_of_columns({3 * call_.columns, 3 * call_.columns, 0, call_.columns}, "a condensation");
    std::vector<T> whole = context_.on_all(
        [&] { return context_.is_root() ? std::vector<T>(b.begin(), b.end()) : std::vector<T>(); });
    if (call_.columns == 0) return whole;
    own = vectors_->right_hand_sides(whole, call_.columns, call_.op);
    vectors_->scaling().to_working(std::span<T>(own), call_.columns, call_.op);
    factor_.condense(own, call_.columns, call_.op);
    vectors_->return_solutions(own, whole, call_.columns, call_.op);
    return whole;
}

template <class T> std::vector<T> Solver<T>::State::condense(std::span<T const> b) {
    require("condense", {Need::schur});
    Timer const timer;
    SingleThreadedBlas const blas;
    std::vector<T> own;
    std::vector<T> const x = eliminate_interior(b, own);
    std::vector<T> condensed;
    context_.on_all([&] {
        if (!context_.is_root()) return;
        for (Index j = 0; j < call_.columns; ++j)
            for (Index const i : analysis_->options.schur) condensed.push_back(x[j * system_->order + i]);
    });
    report_solve(timer);
    return condensed;
}

template <class T> std::vector<T> Solver<T>::State::expand(std::span<T const> b, std::span<T const> x_schur) {
    require("expand", {Need::schur});
    context_.on_root([&] {
        require_block(x_schur.size(), system_->kept, call_.columns, "the solution of the condensed system");
    });
    Timer const timer;
    SingleThreadedBlas const blas;
    Index const n = system_->order, columns = call_.columns;
    std::vector<T> own;
    std::vector<T> x = eliminate_interior(b, own);
    if (columns == 0) return x;
    // The owners of the kept unknowns replace the results of condense() by x_schur.
    std::vector<Index> is_kept;
    context_.on_root([&] {
        is_kept.assign(n, 0);
        for (Index s = 0; s < system_->kept; ++s) {
            Index const i = analysis_->options.schur[s];
            is_kept[i] = 1;
            for (Index j = 0; j < columns; ++j) x[j * n + i] = x_schur[j * system_->kept + s];
        }
    });
    std::vector<Index> const own_is_kept = vectors_->deal(is_kept);
    std::vector<T> const given = vectors_->solutions(x, columns, call_.op);
    Index const rows = std::ssize(own_is_kept);
    for (Index j = 0; j < columns; ++j)
        for (Index l = 0; l < rows; ++l)
            if (own_is_kept[l] != 0) own[j * rows + l] = given[j * rows + l];
    factor_.expand(own, columns, call_.op);
    vectors_->scaling().from_working(std::span<T>(own), columns, call_.op);
    vectors_->return_solutions(own, x, columns, call_.op);
    report_solve(timer);
    return x;
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template DenseMatrix<T> Solver<T>::State::schur_complement();                                            \
    template std::vector<T> Solver<T>::State::condense(std::span<T const>);                                  \
    template std::vector<T> Solver<T>::State::expand(std::span<T const>, std::span<T const>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
