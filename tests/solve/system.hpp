// Shared by the tests of this room: small random systems, factorized, and dense arithmetic on the same
// matrix.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "factor/factorize.hpp"
#include "matrix/adjacency.hpp"
#include "matrix/dense_reference.hpp"
#include "solve/solve.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier::testing {

using namespace test;

/// A random matrix for a factorization `kind`: a chain, so that the tree is deep, and four more entries in
/// each column. If the factorization chooses pivots, the diagonal does not dominate.
template <class T> CscMatrix<T> random_system(Factorization kind, Index n, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<Index> row(0, n - 1);
    bool const hermitian = is_complex<T> && (kind == Factorization::llh || kind == Factorization::ldlh);
    bool const general = kind == Factorization::lu;
    bool const definite = kind == Factorization::llh || kind == Factorization::llt;
    CscMatrix<T> a;
    a.rows = a.cols = n;
    a.symmetry = general ? Symmetry::general : hermitian ? Symmetry::hermitian : Symmetry::symmetric;
    std::vector<Index> rows;
    for (Index j = 0; j < n; ++j) {
        rows.assign({j});
        if (j + 1 < n) rows.push_back(j + 1);
        for (int i = 0; i < 4; ++i)
            if (Index const r = row(random); general || r > j) rows.push_back(r);
        std::sort(rows.begin(), rows.end());
        rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
        for (Index const r : rows) {
            T value = random_scalar<T>(random);
            if (r == j) value = definite ? T(20) + value : T(3) / T(2) * value;
            if (r == j && hermitian) value = T(real_part(value));
            a.row_ind.push_back(r);
            a.values.push_back(value);
        }
        a.col_ptr.push_back(static_cast<Offset>(a.row_ind.size()));
    }
    return a;
}

template <class T> std::vector<T> product(Dense<T> const& a, std::vector<T> const& x) {
    std::vector<T> y(x.size(), T(0));
    for (std::size_t first = 0; first < x.size(); first += static_cast<std::size_t>(a.cols))
        for (Index j = 0; j < a.cols; ++j)
            for (Index i = 0; i < a.cols; ++i) y[first + i] += a(i, j) * x[first + j];
    return y;
}

/// The largest difference over the largest entry of `expected`; NaN stays.
template <class T> double difference(std::vector<T> const& x, std::vector<T> const& expected) {
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        double const d = std::abs(x[i] - expected[i]);
        if (!(d <= largest)) largest = d;
        scale = std::max(scale, static_cast<double>(std::abs(expected[i])));
    }
    return largest / std::max(scale, 1e-30);
}

/// A factorized matrix. Cblks are narrow and the tree is cut as if for many workers, so that all parts of a
/// solve have work for each number of `workers`.
template <class T> struct Factorized {
    /// The last `kept` vertices of the ordering are kept for a Schur complement.
    Factorized(CscMatrix<T> const& a, Factorization kind, int workers, int cut_for = 5, Index kept = 0)
        : structure(analyze(a, kept)), plan(make_plan(structure, workers, cut_for)),
          team(Topology::detect(), workers), factor(structure) {
        factor.allocate({kind}, plan.owner_of_cblk, Allocation::local, team);
        factorize(a, AssemblyMap(a, structure), plan, factor, team, {});
    }

    static BlockStructure analyze(CscMatrix<T> const& a, Index kept = 0) {
        SymbolicOptions symbolic;
        symbolic.max_width = 10;
        symbolic.min_width = 5;
        symbolic.kept_vertices = kept;
        auto const compressed = compress(adjacency_graph(a));
        return symbolic_factorization(compressed, compute_ordering(compressed.graph, {}), symbolic);
    }

    // The plan for `cut_for` workers, with its tasks given to `workers`.
    static FactorPlan make_plan(BlockStructure const& structure, int workers, int cut_for) {
        CostModel const model;
        FactorPlan plan = make_factor_plan(structure, model, cut_for);
        for (TaskGraph* const graph : {&plan.factor.graph, &plan.solve.graph})
            for (WorkerId& home : graph->home) home %= workers;
        plan.factor_schedule = list_schedule(plan.factor.graph, workers);
        for (WorkerId& owner : plan.owner_of_cblk) owner %= workers;
        plan.solve_schedule = list_schedule(plan.solve.graph, workers);
        return plan;
    }

    MatrixView<T> view(std::vector<T>& x) const {
        return {x.data(), structure.n, static_cast<Index>(x.size()) / structure.n, structure.n};
    }

    BlockStructure structure;
    FactorPlan plan;
    WorkerTeam team;
    Factor<T> factor;
};

inline constexpr Factorization all_factorizations[] = {
    Factorization::llh, Factorization::llt, Factorization::ldlt, Factorization::ldlh, Factorization::lu};

} // namespace espalier::testing
