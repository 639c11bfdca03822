// Tests of SparseDirectEspalier with matrices and vectors of deal.II, beside its own direct solver.
#include "espalier/dealii.hpp"

#include <deal.II/lac/block_sparse_matrix.h>
#include <deal.II/lac/block_vector.h>
#include <deal.II/lac/dynamic_sparsity_pattern.h>
#include <deal.II/lac/solver_control.h>
#include <deal.II/lac/solver_gmres.h>
#include <deal.II/lac/sparse_direct.h>
#include <deal.II/lac/sparse_matrix.h>
#include <deal.II/lac/vector.h>

#include <complex>
#include <limits>

#include <gtest/gtest.h>

namespace {

using dealii::Vector;
using espalier::Error;
using espalier::Status;
using espalier::Symmetry;

constexpr unsigned grid = 12, order = grid * grid;

dealii::SparsityPattern five_points(unsigned wrap = 0) {
    dealii::DynamicSparsityPattern entries(order, order);
    for (unsigned i = 0; i < order; ++i)
        for (unsigned const step : {0u, 1u, grid}) {
            if (i + step >= order) continue;
            entries.add(i, i + step);
            entries.add(i + step, i);
        }
    if (wrap > 0) entries.add(0, wrap);
    dealii::SparsityPattern pattern;
    pattern.copy_from(entries);
    return pattern;
}

// -u'' + wind u' on the grid, with `diagonal` on the diagonal.
template <class Number>
void set_values(dealii::SparseMatrix<Number>& a, double wind, double diagonal = 4, Number factor = 1) {
    for (unsigned i = 0; i < order; ++i)
        for (auto entry = a.begin(i); entry != a.end(i); ++entry)
            entry->value() = factor * Number(entry->column() == i  ? diagonal
                                             : entry->column() > i ? -1 + wind
                                                                   : -1 - wind);
}

template <class VectorType> VectorType filled(VectorType v) {
    for (unsigned i = 0; i < v.size(); ++i) v(i) = 1 + i % 7;
    return v;
}

template <class Call> Status status_of(Call const& call) {
    try {
        call();
    } catch (Error const& error) {
        return error.status();
    }
    return Status::ok;
}

TEST(Dealii, SolvesAsUmfpackDoesWithTheMatrixAndItsTranspose) {
    auto const pattern = five_points();
    dealii::SparseMatrix<double> a(pattern);
    set_values(a, 0.3);
    dealii::SparseDirectUMFPACK umfpack;
    umfpack.initialize(a);
    espalier::SparseDirectEspalier solver;
    solver.initialize(a);
    EXPECT_EQ(solver.m(), order);
    EXPECT_EQ(solver.n(), order);
    auto const b = filled(Vector<double>(order));
    Vector<double> expected(order), x(order);
    umfpack.vmult(expected, b);
    solver.vmult(x, b);
    x -= expected;
    EXPECT_LE(x.linfty_norm(), 1e-13 * expected.linfty_norm());
    umfpack.Tvmult(expected, b);
    solver.Tvmult(x, b);
    x -= expected;
    EXPECT_LE(x.linfty_norm(), 1e-13 * expected.linfty_norm());
    x = b;
    solver.solve(x, true);
    x -= expected;
    EXPECT_LE(x.linfty_norm(), 1e-13 * expected.linfty_norm());
    EXPECT_LE(solver.report().refine.backward_error, 1e-12);
}

struct CountOrderings : espalier::ProgressSink {
    int orderings = 0;
    void begin(std::string_view phase, double) override { orderings += phase == "ordering"; }
    void advance(double) override {}
    void end() override {}
};

TEST(Dealii, TheAnalysisServesOtherValuesAndNotOtherPatterns) {
    auto const first = five_points(), second = five_points(order / 2);
    CountOrderings count;
    espalier::SparseDirectEspalier::AdditionalData data;
    data.options.progress = &count;
    espalier::SparseDirectEspalier solver(data);
    auto const b = filled(Vector<double>(order));
    auto const expect_solved = [&](dealii::SparseMatrix<double> const& a, int orderings) {
        Vector<double> x = b;
        solver.solve(a, x);
        Vector<double> rest(order);
        EXPECT_LE(a.residual(rest, x, b), 1e-12 * b.l2_norm());
        EXPECT_EQ(count.orderings, orderings);
    };
    dealii::SparseMatrix<double> a(first), other(second);
    set_values(a, 0.3);
    expect_solved(a, 1);
    set_values(a, 0.2, 5);
    expect_solved(a, 1);
    set_values(other, 0.2);
    expect_solved(other, 2);
}

TEST(Dealii, SymmetricMatricesAreFactorizedAsSuch) {
    auto const pattern = five_points();
    dealii::SparseMatrix<double> a(pattern);
    set_values(a, 0);
    espalier::SparseDirectEspalier solver;
    solver.initialize(a, {Symmetry::symmetric, {}});
    EXPECT_EQ(solver.report().factorization, espalier::Factorization::llh);
    Vector<double> x = filled(Vector<double>(order)), rest(order);
    auto const b = x;
    solver.solve(x);
    EXPECT_LE(a.residual(rest, x, b), 1e-12 * b.l2_norm());
    set_values(a, 0.3);
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::bad_input);
    EXPECT_EQ(solver.m(), 0U);
}

TEST(Dealii, BlockMatricesAreSolvedWithBlockVectors) {
    constexpr unsigned half = 20;
    std::vector<dealii::types::global_dof_index> const sizes{half, half};
    dealii::BlockDynamicSparsityPattern entries(sizes, sizes);
    for (unsigned i = 0; i < half; ++i)
        for (auto const& [row, column] : {std::pair{i, i}, {i, half + i}, {half + i, i}, {i, (i + 1) % half}})
            entries.add(row, column);
    dealii::BlockSparsityPattern pattern;
    pattern.copy_from(entries);
    dealii::BlockSparseMatrix<double> a(pattern); // [ D B ; C 0 ]
    for (unsigned i = 0; i < half; ++i) {
        a.set(i, i, 3);
        a.set(i, (i + 1) % half, 1);
        a.set(i, half + i, 2);
        a.set(half + i, i, -1);
    }
    dealii::BlockVector<double> x(2, half), rest(2, half);
    x = filled(x);
    auto const b = x;
    espalier::SparseDirectEspalier solver;
    solver.initialize(a);
    solver.vmult(x, b);
    EXPECT_LE(a.residual(rest, x, b), 1e-12 * b.l2_norm());
}

TEST(Dealii, ComplexMatricesAreSolved) {
    using Complex = std::complex<double>;
    auto const pattern = five_points();
    dealii::SparseMatrix<Complex> a(pattern);
    set_values(a, 0.3, 4, Complex(1, 2));
    espalier::DealiiSolver<Complex> solver;
    solver.initialize(a);
    Vector<Complex> x = filled(Vector<Complex>(order)), rest(order);
    auto const b = x;
    solver.solve(x);
    a.residual(rest, x, b);
    EXPECT_LE(rest.l2_norm(), 1e-12 * b.l2_norm());
}

TEST(Dealii, AsPreconditionerItNeedsOneIteration) {
    auto const pattern = five_points();
    dealii::SparseMatrix<double> a(pattern);
    set_values(a, 0.3);
    espalier::SparseDirectEspalier inverse;
    inverse.initialize(a);
    dealii::SolverControl control(3, 1e-9);
    dealii::SolverGMRES<Vector<double>> gmres(control);
    Vector<double> x(order);
    auto const b = filled(Vector<double>(order));
    gmres.solve(a, x, b, inverse);
    EXPECT_LE(control.last_step(), 1U);
}

TEST(Dealii, FailuresAreExceptionsWithAMessageAndTheSolverRemainsUsable) {
    auto const pattern = five_points();
    dealii::SparseMatrix<double> a(pattern);
    espalier::SparseDirectEspalier solver;
    Vector<double> x(order), small(3);
    EXPECT_EQ(status_of([&] { solver.vmult(x, x); }), Status::usage);
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::singular) << "zeros";
    set_values(a, 0, 4, std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(status_of([&] { solver.factorize(a); }), Status::bad_input);
    set_values(a, 0, -4);
    espalier::SparseDirectEspalier::AdditionalData data;
    data.symmetry = Symmetry::symmetric;
    data.options.factorization = espalier::Factorization::llh;
    EXPECT_EQ(status_of([&] { solver.initialize(a, data); }), Status::not_positive_definite);
    data.options.cancel = [] { return true; };
    EXPECT_EQ(status_of([&] { solver.initialize(a, data); }), Status::cancelled);
    EXPECT_EQ(status_of([&] { solver.initialize(a); }), Status::ok);
    EXPECT_EQ(status_of([&] { solver.vmult(small, small); }), Status::usage);
    EXPECT_EQ(status_of([&] { solver.vmult(x, x); }), Status::ok);
}

} // namespace
