// Espalier as a direct solver of Trilinos, in the interface of Amesos for matrices of Epetra, on any number
// of processes:
//
//     Epetra_LinearProblem problem(&A, &x, &b);
//     espalier::AmesosEspalier solver(problem);
//     if (solver.Solve() != 0) ... solver.LastErrorMessage() ...
//
// Programs get the matrices and vectors of Epetra from TrilinosWrappers of deal.II, from NOX and others. In
// addition, solutions are refined and checked. Requires Trilinos 12 or later. With several processes,
// Trilinos and Espalier must be built with the same MPI library.
#pragma once

#include <Amesos_BaseSolver.h>
#include <Epetra_Comm.h>
#include <Epetra_Import.h>
#include <Epetra_LinearProblem.h>
#include <Epetra_Map.h>
#include <Epetra_MultiVector.h>
#include <Epetra_Operator.h>
#include <Epetra_RowMatrix.h>
#include <Epetra_SerialComm.h>
#ifdef EPETRA_MPI
#include <Epetra_MpiComm.h>
#endif

#include <cstdint>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/espalier.h"

namespace espalier {

/// A solver of Amesos, with the steps SymbolicFactorization(), NumericFactorization() and Solve(). Each step
/// first does the earlier ones that are missing. The matrix is an Epetra_RowMatrix with global indices that
/// count from its index base, 0 or 1, distributed over processes by any one-to-one map of rows.
///
/// The members return 0, or on all processes
///
///     -1    the problem has no matrix, or for Solve() no vectors    -6   the matrix is not square
///     -22   the matrix is singular                                   3   it is not positive definite
///     4     lack of memory                                           -100 - status for any other
///     espalier_status
///
/// and LastErrorMessage() has one line of text. Ordering, structure and schedule are kept when values change.
class AmesosEspalier : public Amesos_BaseSolver {
  public:
    /// A solver for this problem, which must outlive it.
    explicit AmesosEspalier(Epetra_LinearProblem const& problem) : problem_(problem) {}
    AmesosEspalier(AmesosEspalier const&) = delete;            ///< Factors are not copied.
    AmesosEspalier& operator=(AmesosEspalier const&) = delete; ///< Factors are not copied.

    /// The sublist "espalier" has options of the library, by the names of the command: "ordering", "threads",
    /// "tolerance" and so on. Its entry "symmetry" is "general" or "symmetric"; a symmetric matrix is given
    /// with both triangles, which must agree. Values are strings, numbers, or true and false for on and off.
    /// They take effect at the next step, which also reports wrong values. If a value has changed, the
    /// earlier steps are repeated: Solve() analyzes and factorizes again.
    int SetParameters(Teuchos::ParameterList& list) override {
        Teuchos::ParameterList next =
            list.isSublist("espalier") ? list.sublist("espalier") : Teuchos::ParameterList();
        if (Teuchos::haveSameValues(next, options_)) return 0;
        options_ = std::move(next);
        options_are_new_ = true;
        return 0;
    }
    /// Solve() solves A^T X = B if this is true. The factors serve both systems.
    int SetUseTranspose(bool transpose) override {
        transpose_ = transpose;
        return 0;
    }

    /// Ordering, structure and schedule. The values should be typical.
    int SymbolicFactorization() override {
        if (int const error = take_matrix(true)) return error;
        if (int const error = code(espalier_analyze(handle_.get()))) return error;
        ++symbolic_;
        return 0;
    }
    /// Numeric factorization of the current values.
    int NumericFactorization() override {
        if (int const error = take_matrix(false)) return error;
        if (int const error = code(espalier_factorize(handle_.get()))) return error;
        factorized_ = true;
        ++numeric_;
        return 0;
    }
    /// Solves for all vectors of the problem, and refines the solutions (Solver::refine()).
    int Solve() override {
        Epetra_MultiVector* const x = problem_.GetLHS();
        Epetra_MultiVector* const b = problem_.GetRHS();
        if (!x || !b || x->NumVectors() != b->NumVectors())
            return fail(-1, "X and B must have the same number of vectors");
        if (!factorized_ || options_are_new_)
            if (int const error = NumericFactorization()) return error;
        Epetra_RowMatrix const& a = *problem_.GetMatrix();
        Epetra_BlockMap const& of_b = transpose_ ? a.OperatorDomainMap() : a.OperatorRangeMap();
        Epetra_BlockMap const& of_x = transpose_ ? a.OperatorRangeMap() : a.OperatorDomainMap();
        if (!b->Map().PointSameAs(of_b) || !x->Map().PointSameAs(of_x))
            return fail(-1, "the maps of the vectors are not those of the matrix");
        // Consecutive rows, first those of process 0.
        Epetra_Map const rows = consecutive_rows(a);
        Epetra_MultiVector block(rows, b->NumVectors());
        if (block.Import(*b, Epetra_Import(rows, b->Map()), Insert) != 0)
            return fail(-101, "the right-hand sides cannot be distributed by rows");
        std::int64_t const stride = block.Stride();
        espalier_status const status = espalier_drive_rows(
            handle_.get(), transpose_ ? ESPALIER_OP_TRANSPOSE : ESPALIER_OP_NONE, block.NumVectors(),
            block.MyLength(), block.Values(), stride, block.Values(), stride);
        if (int const error = code(status)) return error;
        if (x->Export(block, Epetra_Import(rows, x->Map()), Insert) != 0)
            return fail(-101, "the solution cannot be distributed");
        ++solves_;
        return 0;
    }

    /// One line that describes the failure of the last step; empty after success.
    [[nodiscard]] std::string const& LastErrorMessage() const { return message_; }
    /// The report as JSON, as `espalier solve --json` writes it.
    [[nodiscard]] std::string Report() const {
        char const* text = "{}";
        if (handle_) espalier_report_json(handle_.get(), &text);
        return text;
    }

    /// The interface of Amesos.
    /// @{
    Epetra_LinearProblem const* GetProblem() const override { return &problem_; }
    bool MatrixShapeOK() const override {
        Epetra_RowMatrix const* const a = problem_.GetMatrix();
        return a && a->NumGlobalRows64() == a->NumGlobalCols64();
    }
    bool UseTranspose() const override { return transpose_; }
    /// Returns the communicator of the matrix, or a serial communicator if the problem has no matrix.
    Epetra_Comm const& Comm() const override {
        static Epetra_SerialComm const alone;
        return problem_.GetOperator() ? problem_.GetOperator()->Comm() : alone;
    }
    int NumSymbolicFact() const override { return symbolic_; }
    int NumNumericFact() const override { return numeric_; }
    int NumSolve() const override { return solves_; }
    void PrintStatus() const override {
        if (Comm().MyPID() != 0) return;
        std::cout << "Espalier: " << numeric_ << " factorizations, " << solves_ << " solves, backward error "
                  << report("backward_error") << '\n';
    }
    void PrintTiming() const override {
        if (Comm().MyPID() != 0) return;
        std::cout << "Espalier: analysis " << report("analysis.total_s") << " s, factorization "
                  << report("factor.total_s") << " s, solve " << report("solve.time_s") << " s\n";
    }
    /// @}

  private:
    struct Destroy {
        void operator()(espalier_solver* solver) const { espalier_destroy(&solver); }
    };

    int fail(int code, std::string message) {
        message_ = std::move(message);
        return code;
    }
    int code(espalier_status status) {
        message_ = status == ESPALIER_OK || !handle_ ? espalier_status_string(status)
                                                     : espalier_message(handle_.get());
        switch (status) {
        case ESPALIER_OK:
            message_.clear();
            return 0;
        case ESPALIER_SINGULAR:
            return NumericallySingularMatrixError;
        case ESPALIER_NOT_POSITIVE_DEFINITE:
            return 3;
        case ESPALIER_OUT_OF_MEMORY:
            return 4;
        default:
            return -100 - static_cast<int>(status);
        }
    }
    double report(char const* name) const {
        double value = 0;
        if (handle_) espalier_report_real(handle_.get(), name, &value);
        return value;
    }

    espalier_status create() {
        espalier_solver* made = nullptr;
        espalier_status status = ESPALIER_OK;
#ifdef EPETRA_MPI
        if (auto const* const mpi = dynamic_cast<Epetra_MpiComm const*>(&Comm())) {
            MPI_Comm const comm = mpi->Comm();
            status = mpi->NumProc() > 1 ? espalier_create_mpi(&made, ESPALIER_DOUBLE, &comm)
                                        : espalier_create(&made, ESPALIER_DOUBLE);
        } else
#endif
            status = espalier_create(&made, ESPALIER_DOUBLE);
        handle_.reset(made);
        return status;
    }

    int set_options() {
        symmetry_ = ESPALIER_GENERAL;
        for (auto option = options_.begin(); option != options_.end(); ++option) {
            std::string const name = options_.name(option), value = text_of(options_.entry(option));
            if (name != "symmetry") {
                if (int const error = code(espalier_set_option(handle_.get(), name.c_str(), value.c_str())))
                    return error;
            } else if (value == "symmetric") {
                symmetry_ = ESPALIER_SYMMETRIC;
            } else if (value != "general") {
                return fail(-102, "symmetry is general or symmetric, not " + value);
            }
        }
        options_are_new_ = false;
        return 0;
    }
    static std::string text_of(Teuchos::ParameterEntry const& entry) {
        if (entry.isType<bool>()) return Teuchos::getValue<bool>(entry) ? "on" : "off";
        std::ostringstream text;
        text.precision(17);
        if (entry.isType<double>())
            text << Teuchos::getValue<double>(entry);
        else
            text << entry.getAny(false);
        return text.str();
    }

    // Passes the matrix or its values to the library. All processes agree on which.
    int take_matrix(bool analyzes) {
        if (!problem_.GetMatrix()) return fail(-1, "the problem has no matrix");
        if (!MatrixShapeOK()) return fail(-6, "the matrix is not square");
        factorized_ = false;
        bool const is_new =
            !handle_ || options_are_new_; // options that the list does not have get their default values
        if (is_new) {
            rows_ = no_pattern;
            if (int const error = code(create())) return error;
            if (int const error = set_options()) return error;
        }
        std::vector<std::int64_t> rows, columns;
        std::vector<double> values;
        std::string const unreadable = copy_entries(rows, columns, values);
        bool const is_changed = analyzes || rows != rows_ || columns != columns_;
        int mine[] = {is_changed, !unreadable.empty()};
        int any[] = {0, 0};
        Comm().MaxAll(mine, any, 2);
        if (any[1])
            return fail(-100 - ESPALIER_BAD_INPUT, unreadable.empty()
                                                       ? "another process cannot read its rows of the matrix"
                                                       : unreadable);
        if (!any[0]) return code(espalier_set_values_part(handle_.get(), std::ssize(values), values.data()));
        rows_ = std::move(rows);
        columns_ = std::move(columns);
        Epetra_RowMatrix const& a = *problem_.GetMatrix();
        espalier_matrix part = {};
        part.layout = ESPALIER_COO;
        part.symmetry = symmetry_;
        part.index_type = ESPALIER_INT64;
        part.base = static_cast<int>(a.RowMatrixRowMap().IndexBase64());
        part.rows = part.cols = a.NumGlobalRows64();
        part.entries = std::ssize(values);
        part.pointers = rows_.data();
        part.indices = columns_.data();
        part.values = values.data();
        int const error = code(espalier_set_matrix_part(handle_.get(), &part));
        if (error) rows_ = no_pattern;
        return error;
    }

    // The entries of the rows of this process, by global indices. Returns a message if a row cannot be read.
    std::string copy_entries(std::vector<std::int64_t>& rows, std::vector<std::int64_t>& columns,
                             std::vector<double>& values) const {
        Epetra_RowMatrix const& a = *problem_.GetMatrix();
        std::vector<int> local(a.MaxNumEntries());
        std::vector<double> row(a.MaxNumEntries());
        for (int i = 0; i < a.NumMyRows(); ++i) {
            int entries = 0;
            std::int64_t const number = a.RowMatrixRowMap().GID64(i);
            if (int const error = a.ExtractMyRowCopy(i, a.MaxNumEntries(), entries, row.data(), local.data()))
                return "row " + std::to_string(number) +
                       " of the matrix cannot be read: ExtractMyRowCopy() returns " + std::to_string(error);
            rows.insert(rows.end(), entries, number);
            for (int k = 0; k < entries; ++k) columns.push_back(a.RowMatrixColMap().GID64(local[k]));
            values.insert(values.end(), row.begin(), row.begin() + entries);
        }
        return {};
    }

    static Epetra_Map consecutive_rows(Epetra_RowMatrix const& a) {
        Epetra_BlockMap const& map = a.RowMatrixRowMap();
#ifndef EPETRA_NO_64BIT_GLOBAL_INDICES
        if (map.GlobalIndicesLongLong()) return Epetra_Map(a.NumGlobalRows64(), map.IndexBase64(), a.Comm());
#endif
        return Epetra_Map(static_cast<int>(a.NumGlobalRows64()), static_cast<int>(map.IndexBase64()),
                          a.Comm());
    }

    Epetra_LinearProblem const& problem_;
    std::unique_ptr<espalier_solver, Destroy> handle_;
    Teuchos::ParameterList options_;
    bool options_are_new_ = true, transpose_ = false, factorized_ = false;
    espalier_symmetry symmetry_ = ESPALIER_GENERAL;
    // The rows of the entries of this process if the handle has no matrix; those of a matrix are not
    // negative.
    static inline std::vector<std::int64_t> const no_pattern = {-1};
    std::vector<std::int64_t> rows_, columns_; // rows and columns of the entries of this process
    int symbolic_ = 0, numeric_ = 0, solves_ = 0;
    std::string message_;
};

} // namespace espalier
