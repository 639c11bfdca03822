// Maximizing the product means minimizing the sum of the costs
//     cost(i, j) = log max_i |a_ij| - log |a_ij| >= 0,
// and optimal duals u, v of this assignment problem give the scales
//     r_i = exp(u_i),   c_j = exp(v_j) / max_i |a_ij|,
// because then |r_i a_ij c_j| = exp(u_i + v_j - cost(i, j)) <= 1.
#include "scaling/matching.hpp"

#include <limits>

#include <fmt/format.h>

#include "matrix/convert.hpp"
#include "scaling/assignment.hpp"
#include "scaling/log_modulus.hpp"

namespace espalier {
namespace {

// Costs of the nonzero entries of a general matrix; log_maxima[j] = log max_i |a_ij|, or 0 for a zero column.
template <class T> SparseCosts column_costs(CscMatrix<T> const& a, std::vector<double>& log_maxima) {
    SparseCosts costs;
    costs.n = a.cols;
    costs.col_ptr.reserve(a.cols + 1);
    costs.row_ind.reserve(a.stored());
    costs.cost.reserve(a.stored());
    log_maxima.assign(a.cols, 0.0);
    for (Index j = 0; j < a.cols; ++j) {
        double maximum = -std::numeric_limits<double>::infinity();
        for (Offset k : a.entries_of(j)) {
            require_finite(a.values[k], a.row_ind[k], j);
            if (a.values[k] == T(0)) continue;
            costs.row_ind.push_back(a.row_ind[k]);
            costs.cost.push_back(log_modulus(a.values[k]));
            maximum = std::max(maximum, costs.cost.back());
        }
        costs.col_ptr.push_back(std::ssize(costs.cost));
        for (Offset k : costs.entries_of(j)) costs.cost[k] = maximum - costs.cost[k];
        if (!costs.entries_of(j).empty()) log_maxima[j] = maximum;
    }
    return costs;
}

// Computes scales from their logarithms, clamped to 2^-1000 .. 2^1000. Multiplying all row scales and
// dividing all column scales by the same factor changes no product of the two; this is done if it avoids
// clamping.
void exponentiate(std::vector<double>& rows, std::vector<double>& columns) {
    double const limit = 1000 * std::log(2.0);
    double lowest = 0, highest = 0;
    auto const widen = [&](double value) {
        lowest = std::min(lowest, value);
        highest = std::max(highest, value);
    };
    for (double const value : rows) widen(value);
    for (double const value : columns) widen(-value);
    double const shift = std::max(-lowest, highest) > limit ? -(lowest + highest) / 2 : 0;
    for (double& value : rows) value = std::exp(std::clamp(value + shift, -limit, limit));
    for (double& value : columns) value = std::exp(std::clamp(value - shift, -limit, limit));
}

} // namespace

template <class T> Matching maximum_product_matching(CscMatrix<T> const& a, Interrupt* interrupt) {
    if (a.rows != a.cols)
        throw Error(Status::bad_input,
                    fmt::format("the matrix is {} x {}; a matching needs a square matrix", a.rows, a.cols));
    std::vector<double> log_maxima;
    auto const costs = a.symmetry == Symmetry::general ? column_costs(a, log_maxima)
                                                       : column_costs(expand_symmetric(a), log_maxima);
    auto assignment = solve_assignment(costs, interrupt);
    for (Index j = 0; j < a.cols; ++j) assignment.column_dual[j] -= log_maxima[j];
    exponentiate(assignment.row_dual, assignment.column_dual);
    return {std::move(assignment.row_of_column), std::move(assignment.row_dual),
            std::move(assignment.column_dual), assignment.size};
}

std::vector<double> symmetric_scaling(Matching const& matching) {
    std::vector<double> scale(matching.row_scale.size());
    for (Index i = 0; i < std::ssize(scale); ++i)
        scale[i] = std::sqrt(matching.row_scale[i]) * std::sqrt(matching.column_scale[i]);
    return scale;
}

#define ESPALIER_INSTANTIATE(T) template Matching maximum_product_matching(CscMatrix<T> const&, Interrupt*);
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

} // namespace espalier
