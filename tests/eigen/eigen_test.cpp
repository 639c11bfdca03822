// Tests of EigenLLT, EigenLDLT and EigenLU, like Eigen's tests of its own sparse solvers: systems with a
// known solution, in every scalar, both storage orders and both index types, with dense and sparse right-hand
// sides.
#include "espalier/eigen.hpp"

#include <Eigen/LU>
#include <Eigen/SparseCholesky>

#include <complex>
#include <cstdint>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace {

using Eigen::Index;
using SparseD = Eigen::SparseMatrix<double>;

template <class Scalar> Scalar random_scalar(std::mt19937& random) {
    std::uniform_real_distribution<typename Eigen::NumTraits<Scalar>::Real> uniform(-1, 1);
    if constexpr (Eigen::NumTraits<Scalar>::IsComplex) {
        auto const real = uniform(random);
        return {real, uniform(random)};
    } else {
        return uniform(random);
    }
}

// About four off-diagonal entries per row, and a diagonal of `shift` plus noise.
template <class Matrix> Matrix random_matrix(Index n, double shift, unsigned seed) {
    using Scalar = typename Matrix::Scalar;
    using Place = typename Matrix::StorageIndex;
    std::mt19937 random(seed);
    std::uniform_int_distribution<Place> place(0, static_cast<Place>(n - 1));
    std::vector<Eigen::Triplet<Scalar, Place>> entries;
    for (Place i = 0; i < n; ++i) {
        entries.emplace_back(
            i, i, Scalar(static_cast<typename Matrix::RealScalar>(shift)) + random_scalar<Scalar>(random));
        for (int k = 0; k < 4; ++k) entries.emplace_back(i, place(random), random_scalar<Scalar>(random));
    }
    Matrix a(n, n);
    a.setFromTriplets(entries.begin(), entries.end());
    return a;
}

template <class Matrix> Matrix symmetrized(Matrix const& m) {
    return Matrix(m + Matrix(m.adjoint()));
}

// [ D  B^H ; B  0 ] with definite D: an indefinite matrix with a zero diagonal block.
template <class Matrix> Matrix saddle_point(Index half, unsigned seed) {
    Matrix const d = symmetrized(random_matrix<Matrix>(half, 12, seed));
    Matrix const b = random_matrix<Matrix>(half, 3, seed + 1);
    std::vector<Eigen::Triplet<typename Matrix::Scalar, typename Matrix::StorageIndex>> entries;
    using Place = typename Matrix::StorageIndex;
    auto const shift = static_cast<Place>(half);
    for (Index outer = 0; outer < half; ++outer) {
        for (typename Matrix::InnerIterator e(d, outer); e; ++e)
            entries.emplace_back(static_cast<Place>(e.row()), static_cast<Place>(e.col()), e.value());
        for (typename Matrix::InnerIterator e(b, outer); e; ++e) {
            auto const row = static_cast<Place>(e.row()), col = static_cast<Place>(e.col());
            entries.emplace_back(row + shift, col, e.value());
            entries.emplace_back(col, row + shift, Eigen::numext::conj(e.value()));
        }
    }
    Matrix a(2 * half, 2 * half);
    a.setFromTriplets(entries.begin(), entries.end());
    return a;
}

template <class Matrix> using Vector = Eigen::Matrix<typename Matrix::Scalar, Eigen::Dynamic, 1>;

template <class Matrix> constexpr auto close() {
    return static_cast<typename Matrix::RealScalar>(2000) *
           std::numeric_limits<typename Matrix::RealScalar>::epsilon();
}

// The solver finds the solution from which the right-hand side was computed.
template <class Solver, class Matrix> void expect_solves(Solver const& solver, Matrix const& a) {
    ASSERT_EQ(solver.info(), Eigen::Success);
    Vector<Matrix> const x = Vector<Matrix>::Random(a.cols());
    Vector<Matrix> b = a * x;
    b = solver.solve(b);
    EXPECT_TRUE(b.isApprox(x, close<Matrix>()));
    EXPECT_EQ(solver.info(), Eigen::Success) << solver.lastErrorMessage();
}

template <class Matrix> class EigenSolvers : public testing::Test {};
using MatrixTypes = testing::Types<SparseD, Eigen::SparseMatrix<float, Eigen::RowMajor>,
                                   Eigen::SparseMatrix<std::complex<float>>,
                                   Eigen::SparseMatrix<std::complex<double>, Eigen::RowMajor, std::int64_t>>;
TYPED_TEST_SUITE(EigenSolvers, MatrixTypes);

TYPED_TEST(EigenSolvers, CholeskyReadsEitherTriangle) {
    TypeParam const a = symmetrized(random_matrix<TypeParam>(120, 10, 1));
    // The other triangle must be ignored.
    TypeParam lower = a.template triangularView<Eigen::Lower>();
    lower.coeffRef(0, 119) = 1000;
    TypeParam upper = a.template triangularView<Eigen::Upper>();
    upper.coeffRef(119, 0) = 1000;
    expect_solves(espalier::EigenLLT<TypeParam>(lower), a);
    expect_solves(espalier::EigenLLT<TypeParam, Eigen::Upper>(upper), a);
}

TYPED_TEST(EigenSolvers, LdltSolvesIndefiniteSystems) {
    TypeParam const a = saddle_point<TypeParam>(60, 2);
    expect_solves(espalier::EigenLDLT<TypeParam>(a), a);
    expect_solves(espalier::EigenLDLT<TypeParam, Eigen::Upper>(a), a);
}

TYPED_TEST(EigenSolvers, LuSolvesWithTheMatrixItsTransposeAndItsAdjoint) {
    TypeParam const a = random_matrix<TypeParam>(120, 6, 3);
    espalier::EigenLU<TypeParam> const lu(a);
    expect_solves(lu, a);
    Vector<TypeParam> const x = Vector<TypeParam>::Random(a.cols());
    Vector<TypeParam> y = a.transpose() * x;
    y = lu.transpose().solve(y);
    EXPECT_TRUE(y.isApprox(x, close<TypeParam>()));
    y = a.adjoint() * x;
    y = lu.adjoint().solve(y);
    EXPECT_TRUE(y.isApprox(x, close<TypeParam>()));
}

TYPED_TEST(EigenSolvers, EveryKindOfRightHandSideIsSolved) {
    using Scalar = typename TypeParam::Scalar;
    using Dense = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
    using DenseByRows = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using SparseByRows = Eigen::SparseMatrix<Scalar, Eigen::RowMajor>;
    TypeParam const a = random_matrix<TypeParam>(120, 6, 3);
    espalier::EigenLU<TypeParam> const lu(a);

    DenseByRows const x = DenseByRows::Random(a.cols(), 3);
    DenseByRows const b = a * x;
    Dense found = Dense::Zero(a.cols(), 5);
    found.middleCols(1, 3) = lu.solve(Scalar(2) * b);
    EXPECT_TRUE(found.middleCols(1, 3).isApprox(Scalar(2) * x, close<TypeParam>()))
        << "an expression into a block";

    TypeParam const x_sparse = random_matrix<TypeParam>(a.cols(), 1, 99);
    TypeParam const b_sparse = a * x_sparse;
    TypeParam const found_sparse = lu.solve(b_sparse); // 120 columns: several groups
    EXPECT_TRUE(Dense(found_sparse).isApprox(Dense(x_sparse), close<TypeParam>()));
    SparseByRows const transposed = lu.transpose().solve(SparseByRows(a.transpose()));
    EXPECT_TRUE(Dense(transposed).isApprox(Dense::Identity(120, 120), close<TypeParam>()));
}

TYPED_TEST(EigenSolvers, DeterminantsEqualThoseOfTheDenseMatrix) {
    using Scalar = typename TypeParam::Scalar;
    using Small = Eigen::Matrix<Scalar, 3, 3>;
    auto const expect_determinant = [](auto const& solver, Small const& a) {
        Scalar const expected = a.determinant();
        EXPECT_LE(std::abs(solver.determinant() - expected), close<TypeParam>() * std::abs(expected));
        EXPECT_NEAR(solver.logAbsDeterminant(), std::log(std::abs(expected)), 10 * close<TypeParam>());
        EXPECT_LE(std::abs(solver.signDeterminant() - expected / std::abs(expected)), close<TypeParam>());
    };
    Small general = Small::Random() + Small::Identity();
    expect_determinant(espalier::EigenLU<TypeParam>(general.sparseView()), general);
    Small indefinite = general + Small(general.adjoint());
    indefinite(1, 1) = 0;
    expect_determinant(espalier::EigenLDLT<TypeParam>(indefinite.sparseView()), indefinite);
}

// A function that accepts any of Eigen's solvers.
template <class Solver> Eigen::VectorXd implicit_steps(SparseD const& a, Eigen::VectorXd u) {
    Solver solver;
    solver.analyzePattern(a);
    for (int step = 1; step <= 3; ++step) {
        SparseD scaled = a;
        scaled.diagonal().array() += step;
        solver.factorize(scaled);
        if (solver.info() != Eigen::Success) return {};
        u = solver.solve(u);
    }
    return u;
}

TEST(EigenDropIn, GenericCodeGetsEqualResultsFromBothLibraries) {
    SparseD const a = symmetrized(random_matrix<SparseD>(200, 10, 6));
    Eigen::VectorXd const start = Eigen::VectorXd::Random(200);
    Eigen::VectorXd const expected = implicit_steps<Eigen::SimplicialLDLT<SparseD>>(a, start);
    EXPECT_TRUE(implicit_steps<espalier::EigenLLT<SparseD>>(a, start).isApprox(expected, 1e-12));
    EXPECT_TRUE(implicit_steps<espalier::EigenLDLT<SparseD>>(a, start).isApprox(expected, 1e-12));
    EXPECT_TRUE(implicit_steps<espalier::EigenLU<SparseD>>(a, start).isApprox(expected, 1e-12));
}

TEST(EigenDropIn, ComplexSymmetricMatricesAreSolvedOnRequest) {
    using Matrix = Eigen::SparseMatrix<std::complex<double>>;
    Matrix const m = random_matrix<Matrix>(80, 8, 7);
    Matrix const a = m + Matrix(m.transpose());
    expect_solves(espalier::EigenLDLT<Matrix, Eigen::Lower | Eigen::Symmetric>(a), a);
    expect_solves(espalier::EigenLDLT<Matrix, Eigen::Upper | Eigen::Symmetric>(a), a);
}

TEST(EigenDropIn, FactorizeSucceedsAfterAnAnalysisWithoutValues) {
    SparseD const a = random_matrix<SparseD>(60, 6, 8);
    SparseD pattern = a;
    pattern.coeffs().setZero();
    espalier::EigenLU<SparseD> solver;
    solver.analyzePattern(pattern);
    EXPECT_EQ(solver.info(), Eigen::Success);
    solver.factorize(a);
    expect_solves(solver, a);
}

TEST(EigenDropIn, OnlyANewPatternIsAnalyzedAgain) {
    SparseD const a = random_matrix<SparseD>(80, 6, 9), other = random_matrix<SparseD>(90, 6, 10);
    espalier::EigenLU<SparseD> solver(a);
    double const before = solver.report().analysis.total_s;
    solver.factorize(SparseD(a * 2.0));
    EXPECT_EQ(solver.report().analysis.total_s, before) << "the time of the one analysis there was";
    expect_solves(solver, SparseD(a * 2.0));
    solver.factorize(other);
    EXPECT_EQ(solver.rows(), 90);
    expect_solves(solver, other);
    solver.compute(a);
    expect_solves(solver, a);
}

TEST(EigenDropIn, UncompressedMatricesAndMapsAreRead) {
    SparseD a = symmetrized(random_matrix<SparseD>(50, 10, 11));
    a.reserve(Eigen::VectorXi::Constant(50, 20));
    ASSERT_FALSE(a.isCompressed());
    expect_solves(espalier::EigenLLT<SparseD>(a), a);
    a.makeCompressed();
    Eigen::Map<SparseD> const map(50, 50, a.nonZeros(), a.outerIndexPtr(), a.innerIndexPtr(), a.valuePtr());
    espalier::EigenLLT<SparseD> solver;
    solver.compute(map);
    expect_solves(solver, a);
}

TEST(EigenDropIn, EmptySystemsHaveEmptySolutions) {
    SparseD const empty(0, 0);
    espalier::EigenLU<SparseD> const lu(empty);
    espalier::EigenLLT<SparseD> const llt(empty);
    ASSERT_EQ(lu.info(), Eigen::Success);
    EXPECT_EQ(Eigen::VectorXd(lu.solve(Eigen::VectorXd(0))).size(), 0);
    EXPECT_EQ(llt.determinant(), 1);
    SparseD const some = random_matrix<SparseD>(10, 6, 12);
    espalier::EigenLU<SparseD> const ten(some);
    Eigen::MatrixXd const none = ten.solve(Eigen::MatrixXd(10, 0));
    EXPECT_EQ(none.rows(), 10);
    EXPECT_EQ(none.cols(), 0);
}

TEST(EigenFailures, InfoReportsThemAndTheSolverRemainsUsable) {
    SparseD const good = symmetrized(random_matrix<SparseD>(40, 10, 13));
    SparseD const indefinite = saddle_point<SparseD>(20, 14);
    espalier::EigenLLT<SparseD> llt(indefinite);
    EXPECT_EQ(llt.info(), Eigen::NumericalIssue);
    EXPECT_FALSE(llt.lastErrorMessage().empty());
    llt.compute(good);
    expect_solves(llt, good);

    SparseD singular = good;
    singular.row(7) *= 0.0;
    EXPECT_EQ(espalier::EigenLU<SparseD>(singular).info(), Eigen::NumericalIssue);
    SparseD not_finite = good;
    not_finite.coeffRef(3, 3) = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(espalier::EigenLU<SparseD>(not_finite).info(), Eigen::InvalidInput);
    EXPECT_EQ(espalier::EigenLU<SparseD>(SparseD(good.leftCols(30))).info(), Eigen::InvalidInput);
}

TEST(EigenFailures, AnInaccurateSolutionIsANumericalIssue) {
    SparseD const a = random_matrix<SparseD>(60, 4, 15);
    espalier::EigenLU<SparseD> lu;
    lu.options().tolerance = 1e-30; // cannot be reached
    lu.compute(a);
    ASSERT_EQ(lu.info(), Eigen::Success);
    Eigen::VectorXd const x = lu.solve(Eigen::VectorXd::Random(60));
    EXPECT_EQ(lu.info(), Eigen::NumericalIssue);
    EXPECT_NE(lu.lastErrorMessage().find("backward error"), std::string::npos) << lu.lastErrorMessage();
    EXPECT_TRUE(x.allFinite());
    EXPECT_GT(lu.report().refine.backward_error, 0);
}

TEST(EigenFailures, ARightHandSideThatIsNotFiniteIsNamed) {
    SparseD const a = random_matrix<SparseD>(60, 6, 15);
    espalier::EigenLU<SparseD> const lu(a);
    Eigen::MatrixXd b = Eigen::MatrixXd::Ones(60, 70);
    b(5, 1) = std::numeric_limits<double>::quiet_NaN();
    Eigen::MatrixXd const x = lu.solve(b);
    EXPECT_EQ(lu.info(), Eigen::InvalidInput);
    EXPECT_EQ(lu.lastErrorMessage(),
              "the right-hand side has a NaN or infinity at row 5, column 1 (counted from 0)");
    EXPECT_TRUE(x.col(1).hasNaN());
    // The groups of columns of a sparse right-hand side that succeed do not hide the one that fails.
    SparseD const sparse = lu.solve(SparseD(b.sparseView()));
    EXPECT_EQ(sparse.cols(), 70);
    EXPECT_EQ(lu.info(), Eigen::InvalidInput);
    EXPECT_NE(lu.lastErrorMessage().find("row 5, column 1 (counted from 0)"), std::string::npos);
    b(5, 1) = 1;
    b(6, 33) = std::numeric_limits<double>::infinity();
    static_cast<void>(SparseD(lu.solve(SparseD(b.sparseView()))));
    EXPECT_NE(lu.lastErrorMessage().find("row 6, column 1 (counted from 0), in the columns from 32 on"),
              std::string::npos)
        << lu.lastErrorMessage();
    b(6, 33) = 1;
    static_cast<void>(Eigen::MatrixXd(lu.solve(b)));
    EXPECT_EQ(lu.info(), Eigen::Success) << lu.lastErrorMessage();
}

TEST(EigenFailures, FailuresNotCausedByTheMatrixAreThrown) {
    SparseD const a = random_matrix<SparseD>(60, 4, 16);
    espalier::EigenLU<SparseD> lu;
    lu.options().max_memory = 1000;
    EXPECT_THROW(lu.compute(a), std::bad_alloc);
    lu.options().max_memory = 0;
    lu.options().threads = -1;
    EXPECT_THROW(lu.compute(a), espalier::Error);
    lu.options() = {};
    lu.compute(a);
    expect_solves(lu, a);
}

} // namespace
