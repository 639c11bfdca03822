// Iterative refinement of a block of right-hand sides, with residuals in working precision or in twice that
// precision. A column continues while each step halves its error.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "refine/krylov.hpp"
#include "refine/refine.hpp"

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
        check(problem.interrupt);
        block = PackedColumns<T>(problem.n(), count);
        residuals = PackedColumns<T>(problem.n(), count);
        active.reserve(count);
        errors.resize(count);
        b_norms.resize(count);
        check(problem.interrupt); // many columns take long to allocate
    });
    // Measures the x in the block. A column continues, with its residual in the block, if continues(c, state)
    // is true.
    auto const measure = [&](auto const& continues) {
        auto const width = std::ssize(active);
        for (Index c = 0; c < width; ++c) {
            residuals.put(problem.workers(), c, active[c].column->b);
            b_norms[c] = active[c].column->b_norm;
        }
        problem.measure(block, residuals, b_norms, std::span(errors).first(width));
        Index left = 0;
        for (Index c = 0; c < width; ++c) {
            if (!continues(c, active[c])) continue;
            block.put(problem.workers(), left, residuals.column(c));
            active[left++] = {active[c].column, errors[c]};
        }
        active.resize(left);
    };
    for (auto& column : columns) {
        block.put(problem.workers(), std::ssize(active), column.x);
        active.push_back({&column, infinity});
    }
    measure([&](Index c, State const&) { return std::isfinite(errors[c]) && errors[c] > problem.target; });

    for (int step = 0; step < problem.max_iterations && !active.empty(); ++step) {
        problem.solve(block, std::ssize(active));
        for (Index c = 0; c < std::ssize(active); ++c)
            add_rows<T>(problem.workers(), active[c].column->x, block.column(c));
        measure([&](Index c, State const& state) {
            state.column->errors.push_back(errors[c]);
            if (!(errors[c] < state.error)) return false;
            copy_rows<T>(problem.workers(), block.column(c), state.column->x);
            return errors[c] > problem.target && errors[c] < state.error / 2;
        });
    }
}

template <class T> int refine_extra_precisely(DistributedMatrix<T> const& a, std::span<T const> all_b,
                                              std::span<T> all_x, Index nrhs,
                                              ApplyInverse<T> const& apply_inverse, MatrixOp op,
                                              Interrupt* interrupt) {
    constexpr int max_corrections = 60; // at a rate of 1/2, each adds a bit
    Index const n = a.rows().count();
    std::vector<T> start, correction;
    // Returns the number of corrections of a column.
    auto const correct = [&](std::span<T const> b, std::span<T> x) {
        a.rows().reduction().all_succeed([&] {
            start.assign(x.begin(), x.end());
            correction.resize(x.size());
        });
        double before = infinity;
        for (int step = 0; step < max_corrections; ++step) {
            a.accurate_residual({x}, b, correction, op);
            apply_inverse(correction, 1, op);
            auto const norms = a.rows().reduction().max(2, [&](std::span<double> largest) {
                check(interrupt);
                largest[0] = infinity_norm<T>(std::span<T const>(correction));
                largest[1] = infinity_norm<T>(std::span<T const>(x));
            });
            double const size = norms[0], solution = norms[1];
            // The first correction must be smaller than x itself.
            double const bound = step == 0 ? solution / 2 : before / 2;
            if (!(size <= bound)) {
                // If the corrections stagnate far from convergence, they are useless.
                if (before > static_cast<double>(epsilon<T>) * 8 * solution)
                    std::ranges::copy(start, x.begin());
                return step;
            }
            for (Index i = 0; i < std::ssize(x); ++i) x[i] += correction[i];
            before = size;
            if (size <= static_cast<double>(epsilon<T>) / 2 * solution) return step + 1;
        }
        return max_corrections;
    };
    int steps = 0;
    for (Index j = 0; j < nrhs; ++j)
        steps = std::max(steps, correct(all_b.subspan(j * n, n), all_x.subspan(j * n, n)));
    return steps;
}

template <class T> int refine_rows(DistributedMatrix<T> const& a, std::span<T const> all_b,
                                   std::span<T> all_x, Index nrhs, ApplyInverse<T> const& apply_inverse,
                                   MatrixOp op, Interrupt* interrupt) {
    constexpr int max_steps = 20;
    Index const n = a.rows().count();
    std::vector<T> next;
    a.rows().reduction().all_succeed([&] { next.resize(n); });
    // Returns the number of steps that improved a column.
    auto const improve = [&](std::span<T const> b, std::span<T> x) {
        double error = backward_errors<T>(a, x, b, op).componentwise;
        for (int step = 0; step < max_steps; ++step) {
            if (!(error > largest_row_error<T>)) return step;
            a.rows().reduction().all_succeed([&] { check(interrupt); });
            a.accurate_residual({x}, b, next, op);
            apply_inverse(next, 1, op);
            add_rows<T>(a.rows().workers(), x, next);
            double const before = std::exchange(error, backward_errors<T>(a, next, b, op).componentwise);
            if (!(error < before / 2)) return step;
            std::ranges::copy(next, x.begin());
        }
        return max_steps;
    };
    int steps = 0;
    for (Index j = 0; j < nrhs; ++j)
        steps = std::max(steps, improve(all_b.subspan(j * n, n), all_x.subspan(j * n, n)));
    return steps;
}

ESPALIER_INSTANTIATE_FUNCTION(iterative_refinement)
ESPALIER_INSTANTIATE_FUNCTION(refine_extra_precisely)
ESPALIER_INSTANTIATE_FUNCTION(refine_rows)

} // namespace espalier
