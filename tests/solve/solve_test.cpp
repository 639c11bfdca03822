// Triangular solves against a product with the matrix, however the tree is cut into branches.
#include "solve/solve.hpp"

#include <gtest/gtest.h>

#include "factor/factorize.hpp"
#include "matrix/adjacency.hpp"
#include "matrix/generators.hpp"
#include "matrix/spmv.hpp"
#include "symbolic/symbolic.hpp"

namespace espalier {
namespace {

template <class T> struct Solved {
    std::vector<T> x;
    std::size_t branches = 0;
};

template <class T>
Solved<T> solve_with(CscMatrix<T> const& a, Factorization kind, int workers, std::vector<T> b, Index nrhs) {
    SymbolicOptions symbolic;
    symbolic.max_width = 10;
    symbolic.min_width = 5;
    auto const compressed = compress(adjacency_graph(a));
    auto const structure =
        symbolic_factorization(compressed, compute_ordering(compressed.graph, {}), symbolic);
    FactorPlan const plan = make_factor_plan(structure, CostModel{}, workers);
    WorkerTeam team(Topology::detect(), workers);
    Factor<T> factor(structure);
    factor.allocate({kind}, plan.owner_of_cblk, Allocation::local, team);
    factorize(a, AssemblyMap(a, structure), plan, factor, team, {});
    solve<T>(factor, plan, {b.data(), a.cols, nrhs, a.cols}, team);
    return {std::move(b), plan.partition.branches.size()};
}

// x known, b = A x: the solve must bring x back.
template <class T> void expect_solves(CscMatrix<T> const& a, Factorization kind) {
    for (Index const nrhs : {Index{1}, Index{2}, Index{65}}) {
        std::vector<T> x(static_cast<std::size_t>(a.cols * nrhs));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = T(1) + T(static_cast<Real<T>>(i % 7)) / T(4);
        std::vector<T> b(x.size());
        multiply<T>(MatrixOp::none, T(1), a, x, T(0), b, nrhs);
        for (int const workers : {1, 2, 5}) {
            auto const solved = solve_with(a, kind, workers, b, nrhs);
            if (workers > 1) {
                EXPECT_GT(solved.branches, 5U); // the cut has something to do
            }
            for (std::size_t i = 0; i < x.size(); ++i)
                ASSERT_LE(std::abs(solved.x[i] - x[i]), 1e-10)
                    << to_string(kind) << ", " << workers << " workers, entry " << i;
        }
    }
}

TEST(Solve, BringsBackAKnownSolution) {
    auto const elasticity = std::get<CscMatrix<double>>(generate_matrix("elast3d:4").matrix);
    expect_solves(elasticity, Factorization::llh);
    expect_solves(elasticity, Factorization::ldlt);
    expect_solves(std::get<CscMatrix<double>>(generate_matrix("convdiff3d:4").matrix), Factorization::lu);
    auto const hermitian = std::get<CscMatrix<std::complex<double>>>(generate_matrix("hermitian3d:6").matrix);
    expect_solves(hermitian, Factorization::llh);
    expect_solves(hermitian, Factorization::ldlh);
    expect_solves(std::get<CscMatrix<std::complex<double>>>(generate_matrix("helmholtz3d:6").matrix),
                  Factorization::llt);
}

TEST(Solve, GivesTheSameBitsForTheSameWorkers) {
    auto const a = std::get<CscMatrix<double>>(generate_matrix("elast3d:4").matrix);
    std::vector<double> const b(static_cast<std::size_t>(a.cols), 1.0);
    EXPECT_EQ(solve_with(a, Factorization::llh, 3, b, 1).x, solve_with(a, Factorization::llh, 3, b, 1).x);
}

} // namespace
} // namespace espalier
