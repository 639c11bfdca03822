// Tests of AmesosEspalier with matrices of Epetra, on one process and on several.
#include "espalier/trilinos.hpp"

#include <Epetra_CrsMatrix.h>
#include <Epetra_SerialComm.h>

#include <limits>

#include <gtest/gtest.h>
#include <mpi.h>

namespace {

using espalier::AmesosEspalier;

constexpr int order = 60;

// Rows are distributed in turn, so that no process has consecutive ones.
Epetra_Map rows_in_turn(Epetra_Comm const& comm, int base = 0) {
    std::vector<int> mine;
    for (int i = comm.MyPID(); i < order; i += comm.NumProc()) mine.push_back(base + i);
    return Epetra_Map(-1, static_cast<int>(mine.size()), mine.data(), base, comm);
}

Epetra_CrsMatrix line(Epetra_Map const& map, double wind, double diagonal = 2.5) {
    Epetra_CrsMatrix a(Copy, map, 3);
    int const first = map.IndexBase(), last = first + order - 1;
    for (int k = 0; k < map.NumMyElements(); ++k) {
        int const i = map.GID(k), columns[] = {i, i - 1, i + 1};
        double const values[] = {diagonal, -1 - wind, -1 + wind};
        a.InsertGlobalValues(i, 1, values, columns);
        if (i > first) a.InsertGlobalValues(i, 1, values + 1, columns + 1);
        if (i < last) a.InsertGlobalValues(i, 1, values + 2, columns + 2);
    }
    a.FillComplete();
    return a;
}

class Amesos : public testing::Test {
  protected:
    Epetra_MpiComm comm{MPI_COMM_WORLD};

    static double error(Epetra_CrsMatrix const& a, Epetra_MultiVector const& x, Epetra_MultiVector const& b,
                        bool transposed = false) {
        Epetra_MultiVector rest(b);
        a.Multiply(transposed, x, rest);
        rest.Update(-1, b, 1);
        std::vector<double> norms(b.NumVectors());
        rest.NormInf(norms.data());
        return *std::max_element(norms.begin(), norms.end());
    }
};

TEST_F(Amesos, SolvesWithTheMatrixAndItsTransposeForAnyMap) {
    for (int const base : {0, 1}) {
        Epetra_Map const map = rows_in_turn(comm, base);
        Epetra_CrsMatrix a = line(map, 0.4);
        Epetra_MultiVector b(map, 2), x(map, 2);
        b.Random();
        Epetra_LinearProblem const problem(&a, &x, &b);
        AmesosEspalier solver(problem);
        ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
        EXPECT_LE(error(a, x, b), 1e-14);
        solver.SetUseTranspose(true);
        ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
        EXPECT_LE(error(a, x, b, true), 1e-14);
        EXPECT_EQ(solver.NumNumericFact(), 1);
        EXPECT_EQ(solver.NumSolve(), 2);
    }
}

TEST_F(Amesos, ValuesAndPatternsMayChange) {
    Epetra_Map const map = rows_in_turn(comm);
    Epetra_CrsMatrix a = line(map, 0.4), c = line(map, 0.4);
    Epetra_MultiVector b(map, 1), x(map, 1);
    b.Random();
    Epetra_LinearProblem problem(&a, &x, &b);
    AmesosEspalier solver(problem);
    ASSERT_EQ(solver.SymbolicFactorization(), 0) << solver.LastErrorMessage();
    ASSERT_EQ(solver.NumericFactorization(), 0) << solver.LastErrorMessage();
    a.Scale(3);
    ASSERT_EQ(solver.NumericFactorization(), 0) << solver.LastErrorMessage();
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_LE(error(a, x, b), 1e-13);
    EXPECT_EQ(solver.NumSymbolicFact(), 1);
    Epetra_CrsMatrix diagonal(Copy, map, 1);
    for (int k = 0; k < map.NumMyElements(); ++k) {
        int const i = map.GID(k);
        double const value = 2 + i;
        diagonal.InsertGlobalValues(i, 1, &value, &i);
    }
    diagonal.FillComplete();
    problem.SetOperator(&diagonal);
    ASSERT_EQ(solver.NumericFactorization(), 0) << solver.LastErrorMessage();
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_LE(error(diagonal, x, b), 1e-14);
}

TEST_F(Amesos, OptionsComeFromASublist) {
    Epetra_Map const map = rows_in_turn(comm);
    Epetra_CrsMatrix a = line(map, 0), unsymmetric = line(map, 0.4);
    Epetra_MultiVector b(map, 1), x(map, 1);
    b.Random();
    Epetra_LinearProblem problem(&a, &x, &b);
    AmesosEspalier solver(problem);
    Teuchos::ParameterList list;
    list.sublist("espalier").set("symmetry", "symmetric").set("ordering", "amd").set("threads", 1);
    list.sublist("espalier").set("tolerance", 1e-13).set("mixed-precision", false);
    solver.SetParameters(list);
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_LE(error(a, x, b), 1e-14);
    for (char const* const text : {"\"factorization\":\"llh\"", "\"ordering\":\"amd\"", "\"threads\":1,"})
        EXPECT_NE(solver.Report().find(text), std::string::npos) << text << " in " << solver.Report();
    problem.SetOperator(&unsymmetric);
    EXPECT_EQ(solver.NumericFactorization(), -100 - ESPALIER_BAD_INPUT);
    EXPECT_NE(solver.LastErrorMessage(), "");
    list.sublist("espalier").set("symmetry", "hermitean");
    solver.SetParameters(list);
    EXPECT_EQ(solver.Solve(), -100 - ESPALIER_USAGE);
    list.sublist("espalier") = Teuchos::ParameterList();
    list.sublist("espalier").set("ordring", "amd");
    solver.SetParameters(list);
    EXPECT_EQ(solver.Solve(), -100 - ESPALIER_USAGE);
    EXPECT_NE(solver.LastErrorMessage().find("ordering"), std::string::npos) << solver.LastErrorMessage();
    list.sublist("espalier") = Teuchos::ParameterList();
    list.sublist("espalier").set("tolerance", -1.0);
    solver.SetParameters(list);
    EXPECT_EQ(solver.Solve(), -100 - ESPALIER_USAGE);
    EXPECT_NE(solver.LastErrorMessage().find("tolerance"), std::string::npos) << solver.LastErrorMessage();
    solver.SetParameters(*Teuchos::rcp(new Teuchos::ParameterList));
    EXPECT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
}

TEST_F(Amesos, SolveTakesOptionsThatAreSetAfterAFactorization) {
    Epetra_Map const map = rows_in_turn(comm);
    Epetra_CrsMatrix a = line(map, 0.4);
    Epetra_MultiVector b(map, 1), x(map, 1);
    b.Random();
    Epetra_LinearProblem const problem(&a, &x, &b);
    AmesosEspalier solver(problem);
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    Teuchos::ParameterList list;
    list.sublist("espalier").set("tolerance", "nonsense");
    solver.SetParameters(list);
    for (int k = 0; k < 2; ++k) {
        EXPECT_EQ(solver.Solve(), -100 - ESPALIER_USAGE);
        EXPECT_NE(solver.LastErrorMessage().find("tolerance"), std::string::npos)
            << solver.LastErrorMessage();
    }
    list.sublist("espalier").set("tolerance", "1e-13").set("ordering", "amd");
    solver.SetParameters(list);
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_NE(solver.Report().find("\"ordering\":\"amd\""), std::string::npos) << solver.Report();
    EXPECT_EQ(solver.NumNumericFact(), 2);
    solver.SetParameters(list); // The factors are kept, because no value has changed.
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_EQ(solver.NumNumericFact(), 2);
    EXPECT_LE(error(a, x, b), 1e-14);
}

// A matrix in which one process cannot read a row.
class Unreadable : public Epetra_CrsMatrix {
  public:
    using Epetra_CrsMatrix::Epetra_CrsMatrix;
    explicit Unreadable(Epetra_CrsMatrix const& a) : Epetra_CrsMatrix(a) {}
    bool fails = true;
    int ExtractMyRowCopy(int row, int length, int& entries, double* values, int* indices) const override {
        if (fails && GRID(row) == 7) return -5;
        return Epetra_CrsMatrix::ExtractMyRowCopy(row, length, entries, values, indices);
    }
};

TEST_F(Amesos, ARowThatCannotBeReadIsAnErrorOnAllProcesses) {
    Epetra_Map const map = rows_in_turn(comm);
    Unreadable a(line(map, 0.4));
    Epetra_MultiVector b(map, 1), x(map, 1);
    b.Random();
    Epetra_LinearProblem const problem(&a, &x, &b);
    AmesosEspalier solver(problem);
    for (int k = 0; k < 2; ++k) {
        EXPECT_EQ(solver.Solve(), -100 - ESPALIER_BAD_INPUT);
        char const* const expected = map.MyGID(7) ? "row 7 " : "another process";
        EXPECT_EQ(solver.LastErrorMessage().find(expected), 0u) << solver.LastErrorMessage();
    }
    a.fails = false;
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_LE(error(a, x, b), 1e-14);
    a.fails = true;
    EXPECT_EQ(solver.NumericFactorization(), -100 - ESPALIER_BAD_INPUT);
    a.fails = false;
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_LE(error(a, x, b), 1e-14);
}

TEST_F(Amesos, FailuresAreCodesWithAMessageOnAllProcesses) {
    Epetra_Map const map = rows_in_turn(comm);
    Epetra_CrsMatrix a = line(map, 0.4);
    Epetra_MultiVector b(map, 1), x(map, 1), two(map, 2);
    b.Random();
    Epetra_LinearProblem problem(&a, &x, &b);
    AmesosEspalier solver(problem);
    a.PutScalar(0);
    EXPECT_EQ(solver.Solve(), NumericallySingularMatrixError);
    EXPECT_NE(solver.LastErrorMessage(), "");
    a.PutScalar(std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(solver.Solve(), -100 - ESPALIER_BAD_INPUT);
    problem.SetRHS(&two);
    EXPECT_EQ(solver.Solve(), -1);
    problem.SetRHS(&b);
    Epetra_CrsMatrix good = line(map, 0.4);
    problem.SetOperator(&good);
    EXPECT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    EXPECT_LE(error(good, x, b), 1e-14);
    Epetra_LinearProblem const empty;
    AmesosEspalier nothing(empty);
    EXPECT_EQ(nothing.SymbolicFactorization(), -1);
    EXPECT_FALSE(nothing.MatrixShapeOK());
    EXPECT_EQ(nothing.Comm().NumProc(), 1);
    nothing.PrintStatus();
    nothing.PrintTiming();
}

TEST(AmesosSerial, NeedsNoMpi) {
    Epetra_SerialComm const comm;
    Epetra_Map const map(order, 0, comm);
    Epetra_CrsMatrix a = line(map, 0.4);
    Epetra_MultiVector b(map, 1), x(map, 1), rest(map, 1);
    b.PutScalar(1);
    Epetra_LinearProblem const problem(&a, &x, &b);
    AmesosEspalier solver(problem);
    ASSERT_EQ(solver.Solve(), 0) << solver.LastErrorMessage();
    a.Multiply(false, x, rest);
    rest.Update(-1, b, 1);
    double norm = 1;
    rest.NormInf(&norm);
    EXPECT_LE(norm, 1e-14);
}

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    int given = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    int const code = RUN_ALL_TESTS();
    MPI_Finalize();
    return code;
}
