/* Tests of systems of which every process has a part, in C. */
#include <math.h>
#include <stdlib.h>

#include "everywhere.h"
#include "problems.h"

static espalier_op const none = ESPALIER_OP_NONE;

/* First column or row of a rank. Higher ranks have more, and rank 0 of several has none. */
static int first_of(int n, int of) {
    return ranks == 1 ? of * n : n * of * (of - 1) / (ranks * (ranks - 1));
}

/* The columns of this rank. `start` must have room for their starts. */
static espalier_matrix columns_of(problem const* p, int32_t* start) {
    int const first = first_of(p->n, rank), end = first_of(p->n, rank + 1);
    espalier_matrix part = described(p);
    for (int j = first; j <= end; ++j) start[j - first] = p->start[j] - p->start[first];
    part.cols = end - first;
    part.entries = start[end - first];
    part.pointers = start;
    part.indices = p->row + p->start[first];
    part.values = p->value + p->start[first];
    return part;
}

/* Largest error of op(A) x = b on all ranks. Each has `rows` rows, with leading dimension `leading`. */
static double error_of(problem const* p, int transposed, int nrhs, int rows, int leading, double const* x,
                       double const* b) {
    double* const whole = malloc(2 * (size_t)p->n * sizeof *whole);
    int* const counts = malloc(2 * (size_t)ranks * sizeof *counts);
    double largest = 0;
    MPI_Allgather(&rows, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    counts[ranks] = 0;
    for (int r = 1; r < ranks; ++r) counts[ranks + r] = counts[ranks + r - 1] + counts[r - 1];
    for (int k = 0; k < nrhs; ++k) {
        MPI_Allgatherv(x + k * leading, rows, MPI_DOUBLE, whole, counts, counts + ranks, MPI_DOUBLE,
                       MPI_COMM_WORLD);
        MPI_Allgatherv(b + k * leading, rows, MPI_DOUBLE, whole + p->n, counts, counts + ranks, MPI_DOUBLE,
                       MPI_COMM_WORLD);
        largest = fmax(largest, residual(p, transposed, whole, whole + p->n));
    }
    free(counts);
    free(whole);
    return largest;
}

static void columns_and_rows(espalier_solver* solver, problem const* p) {
    int const rows = first_of(p->n, ranks - rank) - first_of(p->n, ranks - rank - 1); /* in reverse order */
    int const leading = rows + 3;
    int32_t* const start = malloc((size_t)(p->n + 1) * sizeof *start);
    double* const b = malloc(4 * (size_t)leading * sizeof *b);
    double* const x = b + 2 * leading;
    espalier_matrix const part = columns_of(p, start);
    int64_t order = 0, entries = 0;
    for (int k = 0; k < 2 * leading; ++k) b[k] = 1 + k % 7, x[k] = -9;
    OK(solver, espalier_set_matrix_part(solver, &part));
    OK(solver, espalier_get_size(solver, &order, &entries));
    CHECK(order == p->n && entries == p->entries);
    OK(solver, espalier_drive_rows(solver, none, 2, rows, b, leading, x, leading));
    CHECK(error_of(p, 0, 2, rows, leading, x, b) < 1e-10);
    CHECK(x[rows] == -9 && x[leading + rows] == -9);
    OK(solver, espalier_solve_rows(solver, ESPALIER_OP_TRANSPOSE, 1, rows, b, leading, x, leading));
    CHECK(error_of(p, 1, 1, rows, leading, x, b) < 1e-8);
    OK(solver, espalier_refine_rows(solver, ESPALIER_OP_TRANSPOSE, 1, rows, b, leading, x, leading));
    CHECK(error_of(p, 1, 1, rows, leading, x, b) < 1e-10);
    OK(solver, espalier_drive_rows(solver, none, 0, rows, NULL, leading, NULL, leading));

    /* The matrix times two. */
    double* const twice = malloc(((size_t)part.entries + 1) * sizeof *twice);
    for (int k = 0; k < part.entries; ++k) twice[k] = 2 * ((double const*)part.values)[k];
    OK(solver, espalier_refactorize_part(solver, part.entries, twice));
    OK(solver, espalier_solve_rows(solver, none, 1, rows, b, leading, x, leading));
    for (int i = 0; i < rows; ++i) x[i] *= 2;
    CHECK(error_of(p, 0, 1, rows, leading, x, b) < 1e-8);
    OK(solver, espalier_set_values_part(solver, part.entries, part.values));
    OK(solver, espalier_drive_rows(solver, none, 1, rows, b, leading, b, leading));
    free(twice);
    free(b);
    free(start);
}

/* As rows, the arrays are the transpose. As coordinates, each entry is the sum of two halves on two ranks. */
static void other_layouts(espalier_solver* solver, problem const* p) {
    int const first = first_of(p->n, rank), rows = first_of(p->n, rank + 1) - first;
    int32_t* const start = malloc((size_t)(p->n + 1) * sizeof *start);
    double* const x = malloc(2 * (size_t)(rows + 1) * sizeof *x);
    double* const b = x + rows + 1;
    int64_t* const place = malloc(4 * (size_t)p->entries * sizeof *place);
    double* const half = malloc(2 * (size_t)p->entries * sizeof *half);
    espalier_matrix part = columns_of(p, start);
    for (int i = 0; i < rows; ++i) b[i] = (first + i) % 5;
    part.layout = ESPALIER_CSR;
    part.rows = part.cols, part.cols = p->n;
    OK(solver, espalier_set_matrix_part(solver, &part));
    OK(solver, espalier_drive_rows(solver, none, 1, rows, b, rows + 1, x, rows + 1));
    CHECK(error_of(p, 1, 1, rows, rows + 1, x, b) < 1e-10);

    espalier_matrix coordinates = described(p);
    int64_t* const column = place + 2 * p->entries;
    int count = 0;
    for (int j = 0; j < p->n; ++j)
        for (int k = p->start[j]; k < p->start[j + 1]; ++k)
            for (int copy = 0; copy < 2; ++copy) {
                if ((k + copy) % ranks != rank) continue;
                place[count] = p->row[k] + 1, column[count] = j + 1;
                half[count++] = p->value[k] / 2;
            }
    coordinates.layout = ESPALIER_COO;
    coordinates.index_type = ESPALIER_INT64;
    coordinates.base = 1;
    coordinates.entries = count;
    coordinates.pointers = place, coordinates.indices = column, coordinates.values = half;
    OK(solver, espalier_set_matrix_part(solver, &coordinates));
    OK(solver, espalier_drive_rows(solver, none, 1, rows, b, rows + 1, x, rows + 1));
    CHECK(error_of(p, 0, 1, rows, rows + 1, x, b) < 1e-10);
    free(half);
    free(place);
    free(x);
    free(start);
}

/* Only the last rank passes an invalid argument. */
static void faults_are_everywhere(espalier_solver* solver, problem const* p) {
    int const faulty = rank == ranks - 1, rows = first_of(p->n, rank + 1) - first_of(p->n, rank);
    int32_t* const start = malloc((size_t)(p->n + 1) * sizeof *start);
    double* const x = calloc((size_t)rows + 1, sizeof *x);
    espalier_matrix const part = columns_of(p, start);
    espalier_matrix broken = part;
    int const ld = rows + 1;
    EVERYWHERE(ESPALIER_USAGE, "part is null", espalier_set_matrix_part(solver, faulty ? NULL : &part));
    broken.entries = faulty ? -1 : part.entries;
    EVERYWHERE(ESPALIER_BAD_INPUT, "-1 entries", espalier_set_matrix_part(solver, &broken));
    broken = part, broken.cols -= faulty;
    EVERYWHERE(ESPALIER_BAD_INPUT, "last column start", espalier_set_matrix_part(solver, &broken));
    broken = part;
    if (faulty) broken.indices = NULL;
    EVERYWHERE(ESPALIER_USAGE, "indices is null", espalier_set_matrix_part(solver, &broken));
    broken = part;
    if (faulty) broken.symmetry = (espalier_symmetry)7;
    EVERYWHERE(ESPALIER_USAGE, "symmetry = 7", espalier_set_matrix_part(solver, &broken));
    if (ranks > 1) {
        broken = part;
        if (faulty) broken.symmetry = ESPALIER_SYMMETRIC, broken.triangle = ESPALIER_LOWER;
        EVERYWHERE(ESPALIER_USAGE, "differs from that of process 0",
                   espalier_set_matrix_part(solver, &broken));
        broken = part, broken.rows += faulty;
        EVERYWHERE(ESPALIER_USAGE, "differs from that of process 0",
                   espalier_set_matrix_part(solver, &broken));
    }
    if (faulty) {
        ((int32_t*)start)[0] = 1;
        EVERYWHERE(ESPALIER_BAD_INPUT, "first column start", espalier_set_matrix_part(solver, &part));
        start[0] = 0;
        p->row[p->entries - 1] += p->n;
        EVERYWHERE(ESPALIER_BAD_INPUT, "is outside", espalier_set_matrix_part(solver, &part));
        p->row[p->entries - 1] -= p->n;
    } else {
        EVERYWHERE(ESPALIER_BAD_INPUT, "first column start", espalier_set_matrix_part(solver, &part));
        EVERYWHERE(ESPALIER_BAD_INPUT, "is outside", espalier_set_matrix_part(solver, &part));
    }
    OK(solver, espalier_set_matrix_part(solver, &part));
    EVERYWHERE(ESPALIER_USAGE, "before espalier_factorize",
               espalier_solve_rows(solver, none, 1, rows, x, ld, x, ld));
    EVERYWHERE(ESPALIER_USAGE, "was set with",
               espalier_refactorize_part(solver, part.entries + faulty, part.values));
    EVERYWHERE(ESPALIER_USAGE, "values is null",
               espalier_set_values_part(solver, part.entries, faulty ? NULL : part.values));
    EVERYWHERE(ESPALIER_USAGE, "rows in total",
               espalier_drive_rows(solver, none, 1, rows - faulty, x, ld, x, ld));
    EVERYWHERE(ESPALIER_USAGE, "rows = -1",
               espalier_drive_rows(solver, none, 1, faulty ? -1 : rows, x, ld, x, ld));
    EVERYWHERE(ESPALIER_USAGE, "op = 9",
               espalier_drive_rows(solver, faulty ? (espalier_op)9 : none, 1, rows, x, ld, x, ld));
    EVERYWHERE(ESPALIER_USAGE, "leading dimension of x",
               espalier_drive_rows(solver, none, 1, rows, x, ld, x, faulty ? 0 : ld));
    EVERYWHERE(ESPALIER_USAGE, "b is null",
               espalier_drive_rows(solver, none, 1, rows, faulty ? NULL : x, ld, x, ld));
    if (ranks > 1) {
        EVERYWHERE(ESPALIER_USAGE, "right-hand sides",
                   espalier_drive_rows(solver, none, 1 - faulty, rows, x, ld, x, ld));
        EVERYWHERE(ESPALIER_USAGE, "op is adjoint",
                   espalier_drive_rows(solver, faulty ? ESPALIER_OP_ADJOINT : none, 1, rows, x, ld, x, ld));
        EVERYWHERE(ESPALIER_USAGE, "while process 0 calls",
                   faulty ? espalier_drive(solver, none, 1, x, ld, x, ld)
                          : espalier_drive_rows(solver, none, 1, rows, x, ld, x, ld));
    }
    EVERYWHERE(ESPALIER_USAGE, "no such row",
               faulty ? espalier_refuse(solver, "espalier_drive_rows", "no such row")
                      : espalier_drive_rows(solver, none, 1, rows, x, ld, x, ld));
    if (faulty) x[1] = NAN;
    EVERYWHERE(ESPALIER_BAD_INPUT, "row 1", espalier_drive_rows(solver, none, 1, rows, x, ld, x, ld));
    x[1] = 0;
    OK(solver, espalier_drive_rows(solver, none, 1, rows, x, ld, x, ld));

    /* The whole matrix on process 0 replaces the parts. */
    espalier_matrix const whole = described(p);
    OK(solver, espalier_set_matrix(solver, rank == 0 ? &whole : NULL));
    EVERYWHERE(ESPALIER_USAGE, "not set in parts",
               espalier_refactorize_part(solver, part.entries, part.values));
    OK(solver, espalier_drive_rows(solver, none, 1, rows, x, ld, x, ld));
    free(x);
    free(start);
}

void parts_are_joined(void) {
    MPI_Comm world = MPI_COMM_WORLD;
    espalier_solver* solver = NULL;
    problem general = convection(9, 0.4), symmetric = laplacian(9, 0);
    CHECK(espalier_create_mpi(&solver, ESPALIER_DOUBLE, &world) == ESPALIER_OK);
    if (!solver) return;
    EVERYWHERE(ESPALIER_USAGE, "before espalier_set_matrix", espalier_set_values_part(solver, 0, NULL));
    columns_and_rows(solver, &symmetric);
    columns_and_rows(solver, &general);
    other_layouts(solver, &general);
    faults_are_everywhere(solver, &general);
    espalier_destroy(&solver);
    free_problem(&general);
    free_problem(&symmetric);
}
