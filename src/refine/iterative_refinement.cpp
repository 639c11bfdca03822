// Iterative refinement of a block of right-hand sides. A column continues while a step halves its error.
#include <algorithm>
#include <cmath>
#include <vector>

#include "refine/krylov.hpp"

namespace espalier {

template <class T>
void iterative_refinement(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    struct State {
        KrylovColumn<T>* column;
        double error;
    };
    auto const count = std::ssize(columns);
    PackedColumns<T> block, residuals;
    std::vector<State> active;
    std::vector<double> errors, b_norms;
    problem.rows().reduction().all_succeed([&] {
        block = PackedColumns<T>(problem.n(), count);
        residuals = PackedColumns<T>(problem.n(), count);
        active.reserve(count);
        errors.resize(count);
        b_norms.resize(count);
    });
    // Measures the x in the block. A column continues, with its residual in the block, if keep(state, error)
    // is true.
    auto const measure = [&](auto const& goes_on) {
        auto const width = std::ssize(active);
        for (Index c = 0; c < width; ++c) {
            residuals.put(c, active[c].column->b);
            b_norms[c] = active[c].column->b_norm;
        }
        problem.measure(block, residuals, b_norms, std::span(errors).first(width));
        Index left = 0;
        for (Index c = 0; c < width; ++c) {
            if (!goes_on(c, active[c])) continue;
            block.put(left, residuals.column(c));
            active[left++] = {active[c].column, errors[c]};
        }
        active.resize(left);
    };
    for (auto& column : columns) {
        block.put(std::ssize(active), column.x);
        active.push_back({&column, infinity});
    }
    measure([&](Index c, State const&) { return std::isfinite(errors[c]) && errors[c] > problem.target; });

    for (int step = 0; step < problem.max_iterations && !active.empty(); ++step) {
        problem.solve(block, std::ssize(active));
        for (Index c = 0; c < std::ssize(active); ++c)
            add_scaled<T>(T(1), active[c].column->x, block.column(c));
        measure([&](Index c, State const& state) {
            state.column->errors.push_back(errors[c]);
            if (!(errors[c] < state.error)) return false;
            std::ranges::copy(block.column(c), state.column->x.begin());
            return errors[c] > problem.target && errors[c] < state.error / 2;
        });
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void iterative_refinement<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
