// Helpers of the tests of the factor module: an analyzed system, small matrices, and dense elimination.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "factor/factorize.hpp"
#include "generators/generators.hpp"
#include "kernels/blas.hpp"
#include "matrix/adjacency.hpp"
#include "matrix/convert.hpp"
#include "matrix/dense_reference.hpp"
#include "ordering/ordering.hpp"
#include "symbolic/symbolic.hpp"
#include "symbolic/validate.hpp"

namespace espalier::testing {

using namespace test;

/// Options for narrow cblks, so that small matrices have many.
inline SymbolicOptions narrow_cblks() {
    SymbolicOptions options;
    options.max_width = 12;
    options.min_width = 6;
    return options;
}

/// A matrix, ready to be factorized; the unknowns `schur` are kept.
template <class T> struct System {
    System(CscMatrix<T> const& a, Factorization factorization, int workers, std::vector<Index> schur = {},
           SymbolicOptions options = narrow_cblks(), Topology const& topology = Topology::detect(),
           OrderingMethod ordering = OrderingMethod::amd)
        : matrix(factorization == Factorization::lu ? expand_symmetric(a) : a), kind(factorization),
          kept(std::move(schur)), structure(analyze(options, ordering)),
          plan(make_factor_plan(structure, CostModel{}, workers)), team(topology, workers),
          assembly(matrix, structure), factor(structure) {
        set_blas_threads(1); // as the solver does
    }

    FactorizeStats factorize(FactorizeOptions const& options = {}) {
        factor.allocate({kind}, plan.owner_of_cblk, Allocation::local, team);
        return espalier::factorize(matrix, assembly, plan, factor, team, options);
    }

    CscMatrix<T> matrix;
    Factorization kind;
    std::vector<Index> kept;
    BlockStructure structure;
    FactorPlan plan;
    WorkerTeam team;
    AssemblyMap assembly;
    Factor<T> factor;

  private:
    BlockStructure analyze(SymbolicOptions options, OrderingMethod method) const {
        OrderingOptions ordering;
        ordering.method = method;
        auto const graph = compress(adjacency_graph(matrix), kept);
        options.kept_vertices = static_cast<Index>(graph.last.size());
        auto result = symbolic_factorization(graph, compute_ordering(graph, ordering), options);
        validate(result);
        return result;
    }
};

inline CscMatrix<double> real(std::string const& spec) {
    return std::get<CscMatrix<double>>(generate_matrix(spec).matrix);
}
inline CscMatrix<std::complex<double>> complex(std::string const& spec) {
    return std::get<CscMatrix<std::complex<double>>>(generate_matrix(spec).matrix);
}

/// Returns A - shift I.
template <class T> CscMatrix<T> shifted(CscMatrix<T> a, double shift) {
    for (Index j = 0; j < a.cols; ++j)
        for (Offset p = a.col_ptr[j]; p < a.col_ptr[j + 1]; ++p)
            if (a.row_ind[p] == j) a.values[p] -= static_cast<Real<T>>(shift);
    return a;
}

/// Returns [A 0; 0 B].
template <class T> CscMatrix<T> side_by_side(CscMatrix<T> a, CscMatrix<T> const& b) {
    for (std::size_t j = 1; j < b.col_ptr.size(); ++j)
        a.col_ptr.push_back(a.stored() + b.col_ptr[j] - b.col_ptr[j - 1]);
    for (Index const row : b.row_ind) a.row_ind.push_back(a.rows + row);
    a.values.insert(a.values.end(), b.values.begin(), b.values.end());
    a.rows += b.rows;
    a.cols += b.cols;
    return a;
}

/// The largest modulus.
template <class T> double largest(Dense<T> const& a) {
    double size = 0;
    for (T const value : a.values) size = std::max(size, static_cast<double>(std::abs(value)));
    return size;
}

/// The order of elimination of the reference: first the other unknowns, ascending, then `schur` as given.
inline std::vector<Index> interior_then(std::vector<Index> const& schur, Index n) {
    std::vector<char> is_kept(n, 0);
    for (Index const i : schur) is_kept[i] = 1;
    std::vector<Index> order;
    for (Index i = 0; i < n; ++i)
        if (!is_kept[i]) order.push_back(i);
    order.insert(order.end(), schur.begin(), schur.end());
    return order;
}

/// The full matrix with rows and columns in this order.
template <class T> Dense<T> dense(CscMatrix<T> const& a, std::vector<Index> const& order) {
    auto const whole = to_dense(a);
    Dense<T> out(a.cols);
    for (Index j = 0; j < a.cols; ++j)
        for (Index i = 0; i < a.cols; ++i) out(i, j) = whole(order[i], order[j]);
    return out;
}

/// Expects equal bits in the lower panels.
template <class T> void expect_equal_factors(Factor<T> const& a, Factor<T> const& b) {
    for (CblkId k = 0; k < a.structure().num_cblks(); ++k)
        for (Index j = 0; j < a.cblk(k).width(); ++j)
            ASSERT_TRUE(std::equal(a.lower(k).column(j) + j, a.lower(k).column(j) + a.cblk(k).stride,
                                   b.lower(k).column(j) + j))
                << "cblk " << k;
}

} // namespace espalier::testing
