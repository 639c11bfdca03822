// Tests of MfemSolver with matrices and finite elements of MFEM.
#include "espalier/mfem.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace {

using espalier::Error;
using espalier::MfemSolver;
using espalier::Status;
using espalier::Symmetry;

// -u'' + wind u' on n points, with `diagonal` on the diagonal.
mfem::SparseMatrix line(int n, double wind, double diagonal = 2.5) {
    mfem::SparseMatrix a(n);
    for (int i = 0; i < n; ++i) {
        a.Add(i, i, diagonal);
        if (i > 0) a.Add(i, i - 1, -1 - wind);
        if (i + 1 < n) a.Add(i, i + 1, -1 + wind);
    }
    a.Finalize();
    return a;
}

mfem::Vector filled(int n, int seed = 1) {
    mfem::Vector b(n);
    b.Randomize(seed);
    return b;
}

double residual(mfem::Operator const& a, mfem::Vector const& x, mfem::Vector const& b,
                bool transposed = false) {
    mfem::Vector rest(b.Size());
    if (transposed)
        a.MultTranspose(x, rest);
    else
        a.Mult(x, rest);
    rest -= b;
    return rest.Normlinf();
}

template <class Call> Status status_of(Call const& call) {
    try {
        call();
    } catch (Error const& error) {
        return error.status();
    }
    return Status::ok;
}

TEST(Mfem, SolvesWithTheMatrixAndItsTransposeOneVectorOrSeveral) {
    mfem::SparseMatrix const a = line(50, 0.4);
    MfemSolver solver(a);
    mfem::Vector const b = filled(50), c = filled(50, 2);
    mfem::Vector x, y;
    solver.Mult(b, x);
    EXPECT_LE(residual(a, x, b), 1e-14);
    solver.MultTranspose(b, x);
    EXPECT_LE(residual(a, x, b, true), 1e-14);
    mfem::Array<mfem::Vector const*> rhs({&b, &c});
    mfem::Array<mfem::Vector*> found({&x, &y});
    solver.ArrayMult(rhs, found);
    EXPECT_LE(residual(a, x, b), 1e-14);
    EXPECT_LE(residual(a, y, c), 1e-14);
}

TEST(Mfem, SolvesAPoissonEquationAndPreconditionsIt) {
    mfem::Mesh mesh = mfem::Mesh::MakeCartesian2D(8, 8, mfem::Element::QUADRILATERAL);
    mfem::H1_FECollection elements(2, 2);
    mfem::FiniteElementSpace space(&mesh, &elements);
    mfem::ConstantCoefficient one(1.0);
    mfem::BilinearForm form(&space);
    form.AddDomainIntegrator(new mfem::DiffusionIntegrator(one));
    form.Assemble();
    mfem::LinearForm load(&space);
    load.AddDomainIntegrator(new mfem::DomainLFIntegrator(one));
    load.Assemble();
    mfem::Array<int> boundary;
    space.GetBoundaryTrueDofs(boundary);
    mfem::GridFunction u(&space);
    u = 0.0;
    mfem::SparseMatrix a;
    mfem::Vector x, b;
    form.FormLinearSystem(boundary, u, load, a, x, b);

    MfemSolver solver({}, Symmetry::symmetric);
    solver.SetOperator(a);
    EXPECT_EQ(solver.report().factorization, espalier::Factorization::llh);
    solver.Mult(b, x);
    form.RecoverFEMSolution(x, load, u);
    EXPECT_NEAR(u.Max(), 0.0737, 1e-3); // -laplace u = 1 on the unit square

    mfem::CGSolver cg;
    cg.SetRelTol(1e-10);
    cg.SetMaxIter(3);
    cg.SetPreconditioner(solver);
    cg.SetOperator(a); // calls SetOperator() of the preconditioner
    mfem::Vector y(x.Size());
    y = 0.0;
    cg.Mult(b, y);
    EXPECT_TRUE(cg.GetConverged());
    EXPECT_LE(cg.GetNumIterations(), 1);
    y -= x;
    EXPECT_LE(y.Normlinf(), 1e-12);
}

TEST(Mfem, FailuresAreExceptionsWithAMessageAndTheSolverRemainsUsable) {
    MfemSolver solver;
    mfem::Vector b = filled(50), x;
    EXPECT_EQ(status_of([&] { solver.Mult(b, x); }), Status::usage);
    mfem::IdentityOperator identity(50);
    EXPECT_EQ(status_of([&] { solver.SetOperator(identity); }), Status::usage);
    mfem::SparseMatrix open(3);
    open.Add(0, 0, 1.0);
    EXPECT_EQ(status_of([&] { solver.SetOperator(open); }), Status::usage);
    mfem::SparseMatrix wide(2, 3);
    wide.Add(0, 0, 1.0);
    wide.Finalize();
    EXPECT_EQ(status_of([&] { solver.SetOperator(wide); }), Status::bad_input);
    EXPECT_EQ(status_of([&] { solver.SetOperator(line(50, std::numeric_limits<double>::quiet_NaN())); }),
              Status::bad_input);
    MfemSolver symmetric({}, Symmetry::symmetric);
    EXPECT_EQ(status_of([&] { symmetric.SetOperator(line(50, 0.4)); }), Status::bad_input);
    mfem::SparseMatrix zero = line(50, 1);
    zero = 0.0;
    EXPECT_EQ(status_of([&] { solver.SetOperator(zero); }), Status::singular);
    solver.options().cancel = [] { return true; };
    EXPECT_EQ(status_of([&] { solver.SetOperator(line(50, 0.4)); }), Status::cancelled);
    solver.options().cancel = {};
    solver.SetOperator(line(50, 0.4));
    EXPECT_EQ(status_of([&] { solver.Mult(filled(49), x); }), Status::usage);
    solver.Mult(b, x);
    EXPECT_LE(residual(line(50, 0.4), x, b), 1e-14);
}

} // namespace
