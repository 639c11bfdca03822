// Plain refinement of a block of right-hand sides. A column goes on while a step halves its error.
#include <algorithm>
#include <cmath>
#include <vector>

#include "matrix/norms.hpp"
#include "refine/krylov.hpp"

namespace espalier {

template <class T>
void iterative_refinement(KrylovProblem<T> const& problem, std::span<KrylovColumn<T>> columns) {
    struct State {
        KrylovColumn<T>* column;
        double error;
    };
    std::vector<State> active;
    PackedColumns<T> block(problem.n(), columns.size()), residuals(problem.n(), columns.size());
    auto const measure = [&](std::span<T const> r, std::span<T const> x, std::span<T const> b) {
        return normwise_backward_error<T>(problem.matrix_norm, r, x, b, 1);
    };
    for (auto& column : columns) {
        auto const r = block.column(active.size());
        residual<T>(problem.a, column.x, column.b, r, 1, problem.op);
        double const error = measure(r, column.x, column.b);
        if (std::isfinite(error) && error > problem.target) active.push_back({&column, error});
    }

    // The block begins each step with the residuals of the active columns.
    for (int step = 0; step < problem.max_iterations && !active.empty(); ++step) {
        problem.solve(block.first(active.size()));
        for (std::size_t c = 0; c < active.size(); ++c) {
            add_scaled<T>(T(1), active[c].column->x, block.column(c));
            residuals.put(c, active[c].column->b);
        }
        residual<T>(problem.a, block.first(active.size()), residuals.first(active.size()),
                    residuals.first(active.size()), static_cast<Index>(active.size()), problem.op);
        std::vector<State> going_on;
        for (std::size_t c = 0; c < active.size(); ++c) {
            auto [column, before] = active[c];
            double const error = measure(residuals.column(c), block.column(c), column->b);
            column->errors.push_back(error);
            if (!(error < before)) continue;
            std::copy_n(block.column(c).begin(), problem.n(), column->x.begin());
            if (!(error > problem.target && error < before / 2)) continue;
            block.put(going_on.size(), residuals.column(c));
            going_on.push_back({column, error});
        }
        active = std::move(going_on);
    }
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template void iterative_refinement<T>(KrylovProblem<T> const&, std::span<KrylovColumn<T>>);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
