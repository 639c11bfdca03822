/*
 * Espalier as a solver package of PETSc: -pc_factor_mat_solver_type espalier. An unmodified PETSc loads this
 * library with -dll_append and calls PetscDLLibraryRegister_espalier_petsc(), which registers factorizations
 * of AIJ, BAIJ and SBAIJ matrices of one process and of several (docs/programs.md).
 *
 * A factored matrix of PETSc contains one solver of the C interface. Each process passes its rows of the
 * matrix, of right-hand sides and of solutions. The symbolic factorization is the analysis; new values on the
 * same pattern reuse it. Failed factorizations set the error type of the factored matrix, as PETSc expects,
 * so that a KSP diverges with a reason instead of stopping the program.
 */
#define _GNU_SOURCE /* for RTLD_DEFAULT */
#include <dlfcn.h>

#include <petsc/private/matimpl.h>

#include <espalier/espalier.h>

typedef struct {
    espalier_solver* solver;
    PetscBool incomplete;           /* ILU or ICC */
    PetscBool refines;              /* solutions are refined and their errors checked */
    espalier_matrix matrix;         /* how the rows of this process are passed */
    PetscObjectState nonzero_state; /* of the matrix that was passed last */
    PetscObjectState value_state;   /* of the values that were passed last */
    PetscInt schur_size;            /* unknowns of the Schur complement; 0: none */
    char const* status;             /* of the last solve */
} Espalier;

static espalier_scalar const scalar_type =
    PetscDefined(USE_COMPLEX) ? (sizeof(PetscReal) == 4 ? ESPALIER_SINGLE_COMPLEX : ESPALIER_DOUBLE_COMPLEX)
                              : (sizeof(PetscReal) == 4 ? ESPALIER_SINGLE : ESPALIER_DOUBLE);

/* Calls a function of Espalier and raises its failure as an error of PETSc. */
#define EspalierCall(self, call)                                                                             \
    do {                                                                                                     \
        espalier_status const status_ = (call);                                                              \
        PetscCheck(status_ == ESPALIER_OK, PETSC_COMM_SELF, error_code(status_), "Espalier: %s",             \
                   message_of(self, status_));                                                               \
    } while (0)

static char const* message_of(Espalier const* self, espalier_status status) {
    char const* text = self->solver ? espalier_message(self->solver) : "";
    return *text ? text : espalier_status_string(status);
}

/* Functions of Python, if the program is one. */
static struct {
    int (*is_running)(void);    /* Py_IsInitialized */
    int (*has_lock)(void);      /* PyGILState_Check */
    int (*check_signals)(void); /* PyErr_CheckSignals: raises KeyboardInterrupt after Ctrl-C */
    void* (*occurred)(void);    /* PyErr_Occurred */
} python;

static void find_python(void) {
    *(void**)&python.is_running = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    *(void**)&python.has_lock = dlsym(RTLD_DEFAULT, "PyGILState_Check");
    *(void**)&python.check_signals = dlsym(RTLD_DEFAULT, "PyErr_CheckSignals");
    *(void**)&python.occurred = dlsym(RTLD_DEFAULT, "PyErr_Occurred");
}

static int has_python(void) {
    return python.is_running && python.is_running() && python.has_lock();
}

/* Python only notes signals until a call returns. Other programs end at Ctrl-C by themselves. */
static int is_interrupted(void* unused) {
    (void)unused;
    return has_python() && python.check_signals() != 0;
}

static PetscErrorCode error_code(espalier_status status) {
    PetscErrorCode const raised_in_python = -1; /* for petsc4py */
    switch (status) {
    case ESPALIER_CANCELLED:
        return has_python() && python.occurred() ? raised_in_python : PETSC_ERR_LIB;
    case ESPALIER_USAGE:
    case ESPALIER_BAD_INPUT:
        return PETSC_ERR_USER_INPUT;
    case ESPALIER_SINGULAR:
        return PETSC_ERR_MAT_LU_ZRPVT;
    case ESPALIER_NOT_POSITIVE_DEFINITE:
        return PETSC_ERR_MAT_CH_ZRPVT;
    case ESPALIER_INACCURATE:
        return PETSC_ERR_NOT_CONVERGED;
    case ESPALIER_OUT_OF_MEMORY:
        return PETSC_ERR_MEM;
    case ESPALIER_UNSUPPORTED:
        return PETSC_ERR_SUP;
    default:
        return PETSC_ERR_LIB;
    }
}

/* ---- The rows of this process ---- */

/* The matrix types below give rows of the upper triangle in any case, but only if asked. */
static PetscErrorCode is_upper_only(Mat A, PetscBool* upper_only) {
    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)A, upper_only, MATSEQSBAIJ, MATMPISBAIJ, ""));
    PetscFunctionReturn(0);
}

/* Counts the entries of each row, or copies columns (unless null) and values of all rows to consecutive
 * places. */
static PetscErrorCode visit_rows(Mat A, PetscBool upper, int64_t* counts, int64_t* columns,
                                 PetscScalar* values) {
    PetscInt first, last;
    int64_t place = 0;
    PetscBool upper_only;

    PetscFunctionBegin;
    PetscCall(is_upper_only(A, &upper_only));
    if (upper_only) PetscCall(MatGetRowUpperTriangular(A));
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt row = first; row < last; ++row) {
        PetscInt size;
        PetscInt const* row_columns;
        PetscScalar const* row_values;
        PetscCall(MatGetRow(A, row, &size, &row_columns, &row_values));
        int64_t const begin = place;
        for (PetscInt k = 0; k < size; ++k) {
            if (upper && row_columns[k] < row) continue;
            if (columns) columns[place] = row_columns[k];
            if (values) values[place] = row_values[k];
            ++place;
        }
        if (counts) counts[row - first] = place - begin;
        PetscCall(MatRestoreRow(A, row, &size, &row_columns, &row_values));
    }
    if (upper_only) PetscCall(MatRestoreRowUpperTriangular(A));
    PetscFunctionReturn(0);
}

/* Passes pattern and values of A. */
static PetscErrorCode pass_matrix(Espalier* self, Mat A) {
    PetscBool const upper = self->matrix.triangle == ESPALIER_UPPER ? PETSC_TRUE : PETSC_FALSE;
    int64_t *starts, *columns;
    PetscScalar* values;

    PetscFunctionBegin;
    espalier_matrix part = self->matrix;
    part.layout = ESPALIER_CSR;
    part.index_type = ESPALIER_INT64;
    part.rows = A->rmap->n;
    part.cols = A->cmap->N;
    PetscCall(PetscMalloc1(part.rows + 1, &starts));
    PetscCall(visit_rows(A, upper, starts + 1, NULL, NULL));
    starts[0] = 0;
    for (int64_t row = 0; row < part.rows; ++row) starts[row + 1] += starts[row];
    part.entries = starts[part.rows];
    PetscCall(PetscMalloc2(part.entries, &columns, part.entries, &values));
    PetscCall(visit_rows(A, upper, NULL, columns, values));
    part.pointers = starts;
    part.indices = columns;
    part.values = values;
    espalier_status const status = espalier_set_matrix_part(self->solver, &part);
    PetscCall(PetscFree(starts));
    PetscCall(PetscFree2(columns, values));
    EspalierCall(self, status);
    self->matrix.entries = part.entries;
    self->nonzero_state = A->nonzerostate;
    PetscCall(PetscObjectStateGet((PetscObject)A, &self->value_state));
    PetscFunctionReturn(0);
}

/* Passes the values of A, whose pattern was passed before. */
static PetscErrorCode pass_values(Espalier* self, Mat A) {
    PetscBool const upper = self->matrix.triangle == ESPALIER_UPPER ? PETSC_TRUE : PETSC_FALSE;
    PetscScalar* values;

    PetscFunctionBegin;
    PetscCall(PetscMalloc1(self->matrix.entries, &values));
    PetscCall(visit_rows(A, upper, NULL, NULL, values));
    espalier_status const status = espalier_set_values_part(self->solver, self->matrix.entries, values);
    PetscCall(PetscFree(values));
    EspalierCall(self, status);
    PetscCall(PetscObjectStateGet((PetscObject)A, &self->value_state));
    PetscFunctionReturn(0);
}

/* ---- Solves ---- */

/* X = op(A)^-1 B with the unknowns of the Schur complement: condense, solve with the complement, expand. */
static PetscErrorCode solve_with_schur(Mat F, espalier_op op, PetscInt columns, PetscScalar const* b,
                                       PetscInt ldb, PetscScalar* x, PetscInt ldx) {
    Espalier* self = (Espalier*)F->data;
    PetscInt const size = self->schur_size;
    PetscScalar *reduced, *solution;

    PetscFunctionBegin;
    PetscCall(PetscMalloc2(size * columns, &reduced, size * columns, &solution));
    EspalierCall(self, espalier_condense(self->solver, op, columns, b, ldb, reduced, size));
    for (PetscInt j = 0; j < columns; ++j) {
        Vec right, left;
        PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, size, reduced + j * size, &right));
        PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, size, solution + j * size, &left));
        PetscCall(op == ESPALIER_OP_NONE ? MatFactorSolveSchurComplement(F, right, left)
                                         : MatFactorSolveSchurComplementTranspose(F, right, left));
        PetscCall(VecDestroy(&right));
        PetscCall(VecDestroy(&left));
    }
    EspalierCall(self, espalier_expand(self->solver, op, columns, b, ldb, solution, size, x, ldx));
    PetscCall(PetscFree2(reduced, solution));
    PetscFunctionReturn(0);
}

/* The rows of this process of op(A) X = B. A solution whose error is above the tolerance is replaced by
 * infinities, as PETSc does after a failed factorization, unless the user asked for errors. */
static PetscErrorCode solve_block(Mat F, espalier_op op, PetscInt columns, PetscScalar const* b, PetscInt ldb,
                                  PetscScalar* x, PetscInt ldx) {
    Espalier* self = (Espalier*)F->data;
    PetscInt const rows = F->rmap->n;

    PetscFunctionBegin;
    if (self->schur_size > 0) {
        PetscCall(solve_with_schur(F, op, columns, b, ldb, x, ldx));
        PetscFunctionReturn(0);
    }
    espalier_status const status = self->refines
                                       ? espalier_drive_rows(self->solver, op, columns, rows, b, ldb, x, ldx)
                                       : espalier_solve_rows(self->solver, op, columns, rows, b, ldb, x, ldx);
    self->status = espalier_status_string(status);
    if (status == ESPALIER_INACCURATE || status == ESPALIER_SINGULAR) {
        PetscCall(PetscInfo(F, "Espalier: %s\n", message_of(self, status)));
        PetscCheck(!F->erroriffailure, PETSC_COMM_SELF, error_code(status), "Espalier: %s",
                   message_of(self, status));
        for (PetscInt j = 0; j < columns; ++j)
            for (PetscInt i = 0; i < rows; ++i) x[i + j * ldx] = PETSC_INFINITY;
    } else {
        EspalierCall(self, status);
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_vector(Mat F, espalier_op op, Vec b, Vec x) {
    PetscInt const leading = PetscMax(F->rmap->n, 1);
    PetscScalar const* from;
    PetscScalar* to;

    PetscFunctionBegin;
    PetscCall(VecGetArrayRead(b, &from));
    PetscCall(VecGetArray(x, &to));
    PetscCall(solve_block(F, op, 1, from, leading, to, leading));
    PetscCall(VecRestoreArray(x, &to));
    PetscCall(VecRestoreArrayRead(b, &from));
    PetscFunctionReturn(0);
}

static PetscErrorCode solve_dense(Mat F, espalier_op op, Mat B, Mat X) {
    PetscBool dense;
    PetscInt ldb, ldx;
    PetscScalar const* from;
    PetscScalar* to;

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompareAny((PetscObject)B, &dense, MATSEQDENSE, MATMPIDENSE, ""));
    PetscCheck(dense, PetscObjectComm((PetscObject)B), PETSC_ERR_ARG_WRONG,
               "Espalier: the right-hand sides must be a dense matrix");
    PetscCall(PetscObjectTypeCompareAny((PetscObject)X, &dense, MATSEQDENSE, MATMPIDENSE, ""));
    PetscCheck(dense, PetscObjectComm((PetscObject)X), PETSC_ERR_ARG_WRONG,
               "Espalier: the solutions must be a dense matrix");
    PetscCall(MatDenseGetLDA(B, &ldb));
    PetscCall(MatDenseGetLDA(X, &ldx));
    PetscCall(MatDenseGetArrayRead(B, &from));
    PetscCall(MatDenseGetArray(X, &to));
    PetscCall(solve_block(F, op, B->cmap->N, from, PetscMax(ldb, 1), to, PetscMax(ldx, 1)));
    PetscCall(MatDenseRestoreArray(X, &to));
    PetscCall(MatDenseRestoreArrayRead(B, &from));
    PetscFunctionReturn(0);
}

static PetscErrorCode MatSolve_Espalier(Mat F, Vec b, Vec x) {
    return solve_vector(F, ESPALIER_OP_NONE, b, x);
}
static PetscErrorCode MatSolveTranspose_Espalier(Mat F, Vec b, Vec x) {
    return solve_vector(F, ESPALIER_OP_TRANSPOSE, b, x);
}
static PetscErrorCode MatMatSolve_Espalier(Mat F, Mat B, Mat X) {
    return solve_dense(F, ESPALIER_OP_NONE, B, X);
}
static PetscErrorCode MatMatSolveTranspose_Espalier(Mat F, Mat B, Mat X) {
    return solve_dense(F, ESPALIER_OP_TRANSPOSE, B, X);
}

/* ---- Factorizations ---- */

/* Records a failed step as PETSc expects: an error, or a type of failure that a KSP understands. */
static PetscErrorCode record_failure(Mat F, Espalier* self, espalier_status status, MatFactorError singular) {
    PetscFunctionBegin;
    MatFactorError type = MAT_FACTOR_NOERROR;
    if (status == ESPALIER_SINGULAR) type = singular;
    if (status == ESPALIER_NOT_POSITIVE_DEFINITE) type = MAT_FACTOR_NUMERIC_ZEROPIVOT;
    if (status == ESPALIER_OUT_OF_MEMORY) type = MAT_FACTOR_OUTMEMORY;
    if (type == MAT_FACTOR_NOERROR || F->erroriffailure) EspalierCall(self, status);
    PetscCall(PetscInfo(F, "Espalier: %s\n", message_of(self, status)));
    F->factorerrortype = type;
    PetscFunctionReturn(0);
}

static PetscErrorCode MatFactorNumeric_Espalier(Mat F, Mat A, MatFactorInfo const* info) {
    Espalier* self = (Espalier*)F->data;
    PetscObjectState state;

    PetscFunctionBegin;
    (void)info;
    F->factorerrortype = MAT_FACTOR_NOERROR;
    F->erroriffailure = A->erroriffailure;
    PetscCall(PetscObjectStateGet((PetscObject)A, &state));
    if (A->nonzerostate != self->nonzero_state)
        PetscCall(pass_matrix(self, A));
    else if (state != self->value_state)
        PetscCall(pass_values(self, A));
    espalier_status const status = espalier_factorize(self->solver);
    if (status != ESPALIER_OK) {
        PetscCall(record_failure(F, self, status, MAT_FACTOR_NUMERIC_ZEROPIVOT));
        PetscFunctionReturn(0);
    }
    if (self->schur_size > 0) {
        PetscScalar* schur;
        PetscInt leading;
        PetscCall(
            MatSetUnfactored(F->schur)); /* Solves have factorized the complement of the values before. */
        PetscCall(MatDenseGetLDA(F->schur, &leading));
        PetscCall(MatDenseGetArrayWrite(F->schur, &schur));
        EspalierCall(self, espalier_schur_complement(self->solver, schur, leading));
        PetscCall(MatDenseRestoreArrayWrite(F->schur, &schur));
        PetscCall(MatAssemblyBegin(F->schur, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(F->schur, MAT_FINAL_ASSEMBLY));
        F->schur_status = MAT_FACTOR_SCHUR_UNFACTORED;
    }
    F->assembled = PETSC_TRUE;
    PetscFunctionReturn(0);
}

/* Reads -mat_espalier_NAME for each option of the library. */
static PetscErrorCode read_options(Mat F, Espalier* self) {
    PetscFunctionBegin;
    PetscOptionsBegin(PetscObjectComm((PetscObject)F), ((PetscObject)F)->prefix, "Espalier options", "Mat");
    for (int64_t k = 0; k < espalier_option_count(); ++k) {
        char const* name = espalier_option_name(k);
        char const* current;
        char key[128], value[PETSC_MAX_PATH_LEN];
        PetscBool set;
        PetscCall(PetscSNPrintf(key, sizeof key, "-mat_espalier_%s", name));
        for (char* c = key + 1; *c; ++c)
            if (*c == '-') *c = '_';
        EspalierCall(self, espalier_get_option(self->solver, name, &current));
        PetscCall(PetscOptionsString(key, espalier_option_help(k), "docs/user-guide.md", current, value,
                                     sizeof value, &set));
        if (set) EspalierCall(self, espalier_set_option(self->solver, name, value));
    }
    PetscOptionsEnd();
    char const* refine;
    EspalierCall(self, espalier_get_option(self->solver, "refine", &refine));
    PetscCall(PetscStrcmp(refine, "none", &self->refines));
    self->refines = !self->refines && !self->incomplete ? PETSC_TRUE : PETSC_FALSE;
    PetscFunctionReturn(0);
}

static void log_line(char const* line, void* F) {
    (void)PetscInfo((Mat)F, "Espalier: %s\n", line);
}

static PetscErrorCode factor_symbolic(Mat F, Mat A, MatFactorInfo const* info) {
    Espalier* self = (Espalier*)F->data;

    PetscFunctionBegin;
    if (self->incomplete) EspalierCall(self, espalier_set_levels(self->solver, (int64_t)info->levels));
    F->erroriffailure = A->erroriffailure;
    PetscCall(read_options(F, self));
    EspalierCall(self, espalier_set_log(self->solver, log_line, F));
    PetscCall(pass_matrix(self, A));
    espalier_status const status = espalier_analyze(self->solver);
    if (status != ESPALIER_OK) PetscCall(record_failure(F, self, status, MAT_FACTOR_STRUCT_ZEROPIVOT));
    F->ops->solve = MatSolve_Espalier;
    F->ops->solvetranspose = MatSolveTranspose_Espalier;
    F->ops->matsolve = MatMatSolve_Espalier;
    F->ops->matsolvetranspose = MatMatSolveTranspose_Espalier;
    F->ops->lufactornumeric = MatFactorNumeric_Espalier;
    F->ops->choleskyfactornumeric = MatFactorNumeric_Espalier;
    PetscFunctionReturn(0);
}

static PetscErrorCode MatLUFactorSymbolic_Espalier(Mat F, Mat A, IS rows, IS columns,
                                                   MatFactorInfo const* info) {
    (void)rows;
    (void)columns;
    return factor_symbolic(F, A, info);
}
static PetscErrorCode MatCholeskyFactorSymbolic_Espalier(Mat F, Mat A, IS order, MatFactorInfo const* info) {
    (void)order;
    return factor_symbolic(F, A, info);
}

/* ---- What else a factored matrix can do ---- */

static PetscErrorCode MatGetInertia_Espalier(Mat F, PetscInt* negative, PetscInt* zero, PetscInt* positive) {
    Espalier* self = (Espalier*)F->data;
    int64_t counts[3];

    PetscFunctionBegin;
    EspalierCall(self, espalier_inertia(self->solver, &counts[0], &counts[1], &counts[2]));
    if (positive) PetscCall(PetscIntCast(counts[0], positive));
    if (negative) PetscCall(PetscIntCast(counts[1], negative));
    if (zero) PetscCall(PetscIntCast(counts[2], zero));
    PetscFunctionReturn(0);
}

static PetscErrorCode MatFactorSetSchurIS_Espalier(Mat F, IS is) {
    Espalier* self = (Espalier*)F->data;
    PetscMPIInt processes;
    PetscInt const* indices;
    int64_t* unknowns;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)F), &processes));
    PetscCheck(processes == 1, PetscObjectComm((PetscObject)F), PETSC_ERR_SUP,
               "Espalier: Schur complements are available on one process");
    PetscCall(ISGetLocalSize(is, &self->schur_size));
    PetscCall(ISGetIndices(is, &indices));
    PetscCall(PetscMalloc1(self->schur_size, &unknowns));
    for (PetscInt k = 0; k < self->schur_size; ++k) unknowns[k] = indices[k];
    PetscCall(ISRestoreIndices(is, &indices));
    espalier_status const status = espalier_set_schur(self->solver, self->schur_size, unknowns, 0);
    PetscCall(PetscFree(unknowns));
    EspalierCall(self, status);
    PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, self->schur_size, self->schur_size, NULL, &F->schur));
    if (F->factortype == MAT_FACTOR_CHOLESKY) {
        PetscBool const hermitian = self->matrix.symmetry == ESPALIER_HERMITIAN ? PETSC_TRUE : PETSC_FALSE;
        PetscCall(MatSetOption(F->schur, hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode MatGetInfo_Espalier(Mat F, MatInfoType type, MatInfo* info) {
    Espalier* self = (Espalier*)F->data;
    double entries = 0, memory = 0;

    PetscFunctionBegin;
    (void)type;
    PetscCall(PetscMemzero(info, sizeof *info));
    char const* field = self->incomplete ? "incomplete.nnz_factor" : "analysis.nnz_factor";
    EspalierCall(self, espalier_report_real(self->solver, field, &entries));
    EspalierCall(self, espalier_report_real(self->solver, "analysis.memory_bytes", &memory));
    info->block_size = 1;
    info->nz_allocated = info->nz_used = entries;
    info->memory = memory;
    PetscFunctionReturn(0);
}

static PetscErrorCode view_real(Espalier* self, PetscViewer viewer, char const* label, char const* field) {
    double value;

    PetscFunctionBegin;
    if (espalier_report_real(self->solver, field, &value) == ESPALIER_OK)
        PetscCall(PetscViewerASCIIPrintf(viewer, "%s: %g\n", label, value));
    PetscFunctionReturn(0);
}

static PetscErrorCode MatView_Espalier(Mat F, PetscViewer viewer) {
    Espalier* self = (Espalier*)F->data;
    PetscBool text;
    PetscViewerFormat format;
    char const* value;

    PetscFunctionBegin;
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &text));
    if (!text) PetscFunctionReturn(0);
    PetscCall(PetscViewerGetFormat(viewer, &format));
    if (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL) PetscFunctionReturn(0);
    PetscCall(PetscViewerASCIIPrintf(viewer, "Espalier %s run parameters:\n", espalier_version_string()));
    PetscCall(PetscViewerASCIIPushTab(viewer));
    if (format == PETSC_VIEWER_ASCII_INFO_DETAIL)
        for (int64_t k = 0; k < espalier_option_count(); ++k) {
            EspalierCall(self, espalier_get_option(self->solver, espalier_option_name(k), &value));
            PetscCall(PetscViewerASCIIPrintf(viewer, "%s: %s\n", espalier_option_name(k), value));
        }
    if (espalier_report_string(self->solver, "settings.factorization", &value) == ESPALIER_OK)
        PetscCall(PetscViewerASCIIPrintf(viewer, "factorization: %s\n", value));
    if (espalier_report_string(self->solver, "settings.ordering", &value) == ESPALIER_OK)
        PetscCall(PetscViewerASCIIPrintf(viewer, "ordering: %s\n", value));
    PetscCall(view_real(self, viewer, "threads of each process", "threads"));
    if (self->incomplete) {
        PetscCall(view_real(self, viewer, "levels", "incomplete.levels"));
        PetscCall(view_real(self, viewer, "entries of the factor", "incomplete.nnz_factor"));
    } else {
        PetscCall(view_real(self, viewer, "entries of the factor", "analysis.nnz_factor"));
        PetscCall(view_real(self, viewer, "operations", "analysis.flops"));
        PetscCall(view_real(self, viewer, "pivots replaced", "factor.pivots_replaced"));
    }
    PetscCall(view_real(self, viewer, "bytes of memory", "analysis.memory_bytes"));
    if (self->status) PetscCall(PetscViewerASCIIPrintf(viewer, "last solve: %s\n", self->status));
    if (self->status && self->refines) PetscCall(view_real(self, viewer, "backward error", "backward_error"));
    PetscCall(PetscViewerASCIIPopTab(viewer));
    PetscFunctionReturn(0);
}

static PetscErrorCode MatFactorGetSolverType_Espalier(Mat F, MatSolverType* type) {
    (void)F;
    *type = "espalier";
    return 0;
}

static PetscErrorCode MatDestroy_Espalier(Mat F) {
    Espalier* self = (Espalier*)F->data;

    PetscFunctionBegin;
    if (self) espalier_destroy(&self->solver);
    PetscCall(PetscFree(F->data));
    PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorSetSchurIS_C", NULL));
    PetscFunctionReturn(0);
}

/* ---- Making a factored matrix ---- */

/* Symmetry, triangle and kind of factorization, before options are read. */
static PetscErrorCode choose(Espalier* self, Mat A, MatFactorType type) {
    PetscBool upper_only;

    PetscFunctionBegin;
    PetscCall(is_upper_only(A, &upper_only));
    PetscBool const general = type == MAT_FACTOR_LU || type == MAT_FACTOR_ILU ? PETSC_TRUE : PETSC_FALSE;
    if (!general || upper_only) {
        PetscBool const hermitian =
            PetscDefined(USE_COMPLEX) && A->hermitian == PETSC_BOOL3_TRUE ? PETSC_TRUE : PETSC_FALSE;
        self->matrix.symmetry = hermitian ? ESPALIER_HERMITIAN : ESPALIER_SYMMETRIC;
        self->matrix.triangle = ESPALIER_UPPER;
    }
    self->incomplete = type == MAT_FACTOR_ILU || type == MAT_FACTOR_ICC ? PETSC_TRUE : PETSC_FALSE;
    if (self->incomplete) EspalierCall(self, espalier_set_method(self->solver, ESPALIER_METHOD_ILU));
    if (general)
        EspalierCall(self, espalier_set_factorization(self->solver, ESPALIER_LU));
    else if (A->spd == PETSC_BOOL3_TRUE)
        EspalierCall(self, espalier_set_factorization(self->solver, ESPALIER_LLH));
    PetscFunctionReturn(0);
}

static PetscErrorCode MatGetFactor_Espalier(Mat A, MatFactorType type, Mat* factored) {
    MPI_Comm const comm = PetscObjectComm((PetscObject)A);
    PetscMPIInt processes;
    Espalier* self;
    Mat F;

    PetscFunctionBegin;
    PetscCall(MatCreate(comm, &F));
    PetscCall(MatSetSizes(F, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
    PetscCall(PetscStrallocpy("espalier", &((PetscObject)F)->type_name));
    PetscCall(MatSetUp(F));
    PetscCall(PetscNew(&self));
    F->data = self;
    F->ops->destroy = MatDestroy_Espalier;

    PetscCallMPI(MPI_Comm_size(comm, &processes));
    EspalierCall(self, processes == 1 ? espalier_create(&self->solver, scalar_type)
                                      : espalier_create_mpi(&self->solver, scalar_type, &comm));
    if (has_python()) EspalierCall(self, espalier_set_cancel(self->solver, is_interrupted, NULL));
    PetscCall(choose(self, A, type));

    F->factortype = type;
    F->canuseordering = PETSC_FALSE;
    PetscCall(PetscFree(F->solvertype));
    PetscCall(PetscStrallocpy("espalier", &F->solvertype));
    for (int k = 0; k < MAT_FACTOR_NUM_TYPES; ++k)
        PetscCall(PetscStrallocpy(MATORDERINGEXTERNAL, (char**)&F->preferredordering[k]));
    F->ops->lufactorsymbolic = MatLUFactorSymbolic_Espalier;
    F->ops->ilufactorsymbolic = MatLUFactorSymbolic_Espalier;
    F->ops->choleskyfactorsymbolic = MatCholeskyFactorSymbolic_Espalier;
    F->ops->iccfactorsymbolic = MatCholeskyFactorSymbolic_Espalier;
    F->ops->view = MatView_Espalier;
    F->ops->getinfo = MatGetInfo_Espalier;
    if (type == MAT_FACTOR_CHOLESKY) F->ops->getinertia = MatGetInertia_Espalier;
    PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorGetSolverType_C",
                                         MatFactorGetSolverType_Espalier));
    if (!self->incomplete)
        PetscCall(PetscObjectComposeFunction((PetscObject)F, "MatFactorSetSchurIS_C",
                                             MatFactorSetSchurIS_Espalier));
    *factored = F;
    PetscFunctionReturn(0);
}

/* PETSc calls this function after it has loaded the library; the name follows from that of the file. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_espalier_petsc(void) {
    MatType const matrices[] = {MATSEQAIJ, MATMPIAIJ, MATSEQBAIJ, MATMPIBAIJ, MATSEQSBAIJ, MATMPISBAIJ};
    MatFactorType const factors[] = {MAT_FACTOR_LU, MAT_FACTOR_CHOLESKY, MAT_FACTOR_ILU, MAT_FACTOR_ICC};

    PetscFunctionBegin;
    find_python();
    /* Otherwise the first registration would initialize the package and then drop all solvers that this
     * registered. */
    PetscCall(MatInitializePackage());
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; ++i)
        for (size_t j = 0; j < sizeof factors / sizeof *factors; ++j)
            PetscCall(MatSolverTypeRegister("espalier", matrices[i], factors[j], MatGetFactor_Espalier));
    PetscFunctionReturn(0);
}
