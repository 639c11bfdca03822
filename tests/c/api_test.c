/* The steps of a solver and their results. settings_test.c tests options, reports and callbacks,
 * traces_test.c predictions and traces, and misuse_test.c errors. */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "problems.h"

int failures = 0;

void test_misuse(void);
void test_numa(void);
void test_settings(void);
void test_traces(void);

static void version_and_status(void) {
    int major = -1, minor = -1, patch = -1;
    espalier_version(&major, &minor, &patch);
    CHECK(major == ESPALIER_VERSION_MAJOR && minor == ESPALIER_VERSION_MINOR &&
          patch == ESPALIER_VERSION_PATCH);
    espalier_version(NULL, NULL, NULL);
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", major, minor, patch);
    CHECK(strcmp(text, espalier_version_string()) == 0);
    CHECK(strcmp(espalier_status_string(ESPALIER_OK), "ok") == 0);
    CHECK(strcmp(espalier_status_string(ESPALIER_CANCELLED), "cancelled") == 0);
    CHECK(strcmp(espalier_status_string((espalier_status)99), "unknown") == 0);
}

static void steps_one_by_one(void) {
    problem p = laplacian(12, 0);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    espalier_scalar scalar = ESPALIER_SINGLE;
    OK(solver, espalier_get_scalar(solver, &scalar));
    CHECK(scalar == ESPALIER_DOUBLE);
    int64_t order = 0, entries = 0;
    OK(solver, espalier_get_size(solver, &order, &entries));
    CHECK(order == p.n && entries == p.entries);
    OK(solver, espalier_analyze(solver));
    OK(solver, espalier_factorize(solver));

    enum { columns = 3, ldb = 150, ldx = 160 };
    static double b[columns * ldb], x[columns * ldx];
    for (int k = 0; k < columns * ldb; ++k) b[k] = sin(k);
    for (int k = 0; k < columns * ldx; ++k) x[k] = 7;
    OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, columns, b, ldb, x, ldx));
    OK(solver, espalier_refine(solver, ESPALIER_OP_NONE, columns, b, ldb, x, ldx));
    for (int j = 0; j < columns; ++j) {
        CHECK(residual(&p, 0, x + j * ldx, b + j * ldb) < 1e-13);
        for (int i = p.n; i < ldx; ++i)
            CHECK(x[j * ldx + i] == 7); /* rows between the columns are not written */
    }
    OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, columns, b, ldb, b, ldb)); /* in place */
    for (int i = 0; i < p.n; ++i) CHECK(fabs(b[i] - x[i]) < 1e-12);
    OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, 0, NULL, ldb, NULL, ldx));

    /* Twice the values on the same pattern give half the solution, without a new analysis. */
    double* const twice = malloc((size_t)p.entries * sizeof *twice);
    for (int k = 0; k < p.entries; ++k) twice[k] = 2 * p.value[k];
    double before = 0, after = 0;
    OK(solver, espalier_report_real(solver, "analysis.total_s", &before));
    OK(solver, espalier_set_values(solver, p.entries, twice));
    FAILS(solver, ESPALIER_USAGE, "before espalier_factorize",
          espalier_solve(solver, ESPALIER_OP_NONE, 1, b, ldb, x, ldx));
    OK(solver, espalier_factorize(solver));
    for (int k = 0; k < p.entries; ++k) twice[k] *= 2;
    OK(solver, espalier_refactorize(solver, p.entries, twice));
    OK(solver, espalier_report_real(solver, "analysis.total_s", &after));
    CHECK(before == after);
    for (int i = 0; i < p.n; ++i) b[i] = 1;
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, ldb, x, ldx));
    for (int i = 0; i < p.n; ++i) x[i] *= 4;
    CHECK(residual(&p, 0, x, b) < 1e-12);
    free(twice);
    espalier_destroy(&solver);
    CHECK(solver == NULL);
    free_problem(&p);
}

static void an_ordering_from_memory(void) {
    problem p = laplacian(3, 0);
    espalier_matrix matrix = described(&p);
    espalier_solver* solver = NULL;
    int64_t last_first[9], fill_reversed = 0, fill_natural = 0;
    double b[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, x[9];
    for (int i = 0; i < 9; ++i) last_first[i] = 9 - i;
    OK(solver, espalier_create(&solver, ESPALIER_DOUBLE));
    OK(solver, espalier_set_ordering_file(solver, "/nonexistent/ordering"));
    OK(solver, espalier_set_ordering_positions(solver, 9, last_first, 1));
    char const* ordering = NULL;
    OK(solver, espalier_get_option(solver, "ordering", &ordering));
    CHECK(strcmp(ordering, "positions") == 0);
    OK(solver, espalier_set_option(solver, "ordering", ordering)); /* keeps them */
    OK(solver, espalier_set_matrix(solver, &matrix));
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 9, x, 9));
    CHECK(residual(&p, 0, x, b) < 1e-13);
    OK(solver, espalier_report_int(solver, "analysis.nnz_factor", &fill_reversed));
    OK(solver, espalier_set_ordering(solver, ESPALIER_ORDERING_NATURAL));
    OK(solver, espalier_analyze(solver));
    OK(solver, espalier_report_int(solver, "analysis.nnz_factor", &fill_natural));
    CHECK(fill_reversed == fill_natural); /* the grid looks the same from both ends */
    FAILS(solver, ESPALIER_USAGE, "'./positions'", espalier_set_option(solver, "ordering", "positions"));
    espalier_destroy(&solver);
    free_problem(&p);
}

/* Every layout of one matrix gives the same solution. */
static void layouts(void) {
    problem p = convection(9, 0.3);
    int64_t* const column = malloc((size_t)p.entries * sizeof *column);
    int64_t* const row = malloc((size_t)p.entries * sizeof *row);
    int64_t* const start = malloc(((size_t)p.n + 1) * sizeof *start);
    for (int j = 0; j < p.n; ++j)
        for (int k = p.start[j]; k < p.start[j + 1]; ++k) {
            column[k] = j + 1;
            row[k] = p.row[k] + 1;
        }
    for (int j = 0; j <= p.n; ++j) start[j] = p.start[j] + 1;
    espalier_matrix coordinates = described(&p);
    coordinates.layout = ESPALIER_COO;
    coordinates.index_type = ESPALIER_INT64;
    coordinates.base = 1;
    coordinates.pointers = row;
    coordinates.indices = column;
    espalier_matrix rows = coordinates; /* the same arrays are the transpose by rows */
    rows.layout = ESPALIER_CSR;
    rows.pointers = start;
    rows.indices = row;

    double b[81], x[81];
    for (int i = 0; i < p.n; ++i) b[i] = i % 7 - 3;
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &coordinates);
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, p.n, x, p.n));
    CHECK(residual(&p, 0, x, b) < 1e-12);
    OK(solver, espalier_drive(solver, ESPALIER_OP_TRANSPOSE, 1, b, p.n, x, p.n));
    CHECK(residual(&p, 1, x, b) < 1e-12);
    OK(solver, espalier_drive(solver, ESPALIER_OP_ADJOINT, 1, b, p.n, x, p.n));
    CHECK(residual(&p, 1, x, b) < 1e-12);
    OK(solver, espalier_set_matrix(solver, &rows));
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, p.n, x, p.n));
    CHECK(residual(&p, 1, x, b) < 1e-12);
    espalier_destroy(&solver);
    free(column);
    free(row);
    free(start);
    free_problem(&p);
}

/* With one process, the part is the whole matrix. */
static void one_part(void) {
    problem p = convection(7, 0.2);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, NULL);
    double x[49], b[49];
    for (int i = 0; i < p.n; ++i) b[i] = i % 3;
    OK(solver, espalier_set_matrix_part(solver, &matrix));
    OK(solver, espalier_drive_rows(solver, ESPALIER_OP_TRANSPOSE, 1, p.n, b, p.n, x, p.n));
    CHECK(residual(&p, 1, x, b) < 1e-12);
    OK(solver, espalier_refactorize_part(solver, p.entries, p.value));
    OK(solver, espalier_solve_rows(solver, ESPALIER_OP_NONE, 1, p.n, b, p.n, x, p.n));
    OK(solver, espalier_refine_rows(solver, ESPALIER_OP_NONE, 1, p.n, b, p.n, x, p.n));
    CHECK(residual(&p, 0, x, b) < 1e-12);
    FAILS(solver, ESPALIER_USAGE, "rows = 50",
          espalier_solve_rows(solver, ESPALIER_OP_NONE, 1, 50, b, 50, x, 50));
    FAILS(solver, ESPALIER_USAGE, "48 rows in total",
          espalier_solve_rows(solver, ESPALIER_OP_NONE, 1, 48, b, 48, x, 48));
    FAILS(solver, ESPALIER_USAGE, "part is null", espalier_set_matrix_part(solver, NULL));
    OK(solver, espalier_set_matrix(solver, &matrix));
    FAILS(solver, ESPALIER_USAGE, "not set in parts", espalier_set_values_part(solver, p.entries, p.value));
    espalier_destroy(&solver);
    free_problem(&p);
}

static void sparse_right_hand_sides(void) {
    problem p = laplacian(10, 0.5);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    int32_t const start[] = {0, 1, 3}, row[] = {5, 99, 2};
    double const value[] = {1, -2, 4};
    espalier_matrix const b = {
        .rows = p.n, .cols = 2, .entries = 3, .pointers = start, .indices = row, .values = value};
    double x[200], dense[200] = {0};
    dense[5] = 1;
    dense[100 + 99] = -2;
    dense[100 + 2] = 4;
    OK(solver, espalier_factorize(solver));
    OK(solver, espalier_solve_sparse(solver, ESPALIER_OP_NONE, &b, x, p.n));
    for (int j = 0; j < 2; ++j) CHECK(residual(&p, 0, x + j * 100, dense + j * 100) < 1e-12);
    espalier_destroy(&solver);
    free_problem(&p);
}

/* Solves with 2 + i on the diagonal and i beside it, in both complex types, and with its adjoint. */
static void complex_scalars(void) {
    int32_t const start[] = {0, 2, 4, 5}, row[] = {0, 1, 1, 2, 2};
    double complex const value[] = {2 + I, I, 2 + I, I, 2 + I};
    float complex narrow[5], bf[3], xf[3];
    for (int k = 0; k < 5; ++k) narrow[k] = (float complex)value[k];
    espalier_matrix matrix = {
        .rows = 3, .cols = 3, .entries = 5, .pointers = start, .indices = row, .values = value};
    double complex b[3] = {1, I, 1 + I}, x[3];
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE_COMPLEX, &matrix);
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 3, x, 3));
    CHECK(cabs((2 + I) * x[0] - b[0]) < 1e-14);
    CHECK(cabs(I * x[0] + (2 + I) * x[1] - b[1]) < 1e-14);
    OK(solver, espalier_drive(solver, ESPALIER_OP_ADJOINT, 1, b, 3, x, 3));
    CHECK(cabs((2 - I) * x[2] - b[2]) < 1e-14);
    CHECK(cabs((2 - I) * x[1] - I * x[2] - b[1]) < 1e-14);
    double re = 0, im = 0, log_modulus = 0;
    OK(solver, espalier_determinant(solver, &re, &im, &log_modulus));
    CHECK(cabs((re + I * im) * exp(log_modulus) - cpow(2 + I, 3)) < 1e-13);
    espalier_destroy(&solver);

    matrix.values = narrow;
    solver = with_matrix(ESPALIER_SINGLE_COMPLEX, &matrix);
    for (int i = 0; i < 3; ++i) bf[i] = (float complex)b[i];
    OK(solver, espalier_drive(solver, ESPALIER_OP_TRANSPOSE, 1, bf, 3, xf, 3));
    CHECK(cabsf((2 + I) * xf[2] - bf[2]) < 1e-6F);
    espalier_destroy(&solver);
}

static void single_precision(void) {
    int32_t const start[] = {0, 2, 3}, row[] = {0, 1, 1};
    float const value[] = {4, 1, 3}, b[] = {1, 2};
    float x[2];
    espalier_matrix matrix = {
        .rows = 2, .cols = 2, .entries = 3, .pointers = start, .indices = row, .values = value};
    matrix.symmetry = ESPALIER_SYMMETRIC;
    matrix.triangle = ESPALIER_LOWER;
    espalier_solver* solver = with_matrix(ESPALIER_SINGLE, &matrix);
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 2, x, 2));
    CHECK(fabsf(4 * x[0] + x[1] - 1) < 1e-6F && fabsf(x[0] + 3 * x[1] - 2) < 1e-6F);
    espalier_destroy(&solver);
}

static void what_factors_tell(void) {
    problem p = saddle(40);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    OK(solver, espalier_factorize(solver));
    int64_t positive = -1, negative = -1, zero = -1;
    OK(solver, espalier_inertia(solver, &positive, &negative, &zero));
    CHECK(positive == 20 && negative == 20 && zero == 0);
    OK(solver, espalier_inertia(solver, NULL, NULL, NULL));
    double re = 0, im = 1, log_modulus = 0, rcond = 0;
    OK(solver, espalier_determinant(solver, &re, &im, &log_modulus));
    CHECK(re == 1 && im == 0 && isfinite(log_modulus)); /* twenty negative eigenvalues */
    OK(solver, espalier_determinant(solver, NULL, NULL, NULL));
    OK(solver, espalier_rcond(solver, &rcond));
    CHECK(rcond > 0.1 && rcond <= 1);
    espalier_destroy(&solver);
    free_problem(&p);
}

/* A graph Laplacian maps constants to zero. */
static void null_space(void) {
    enum { n = 30 };
    int32_t start[n + 1] = {0}, row[2 * n];
    double value[2 * n], basis[n];
    for (int j = 0; j < n; ++j) {
        row[2 * j] = j;
        value[2 * j] = j == 0 || j == n - 1 ? 1 : 2;
        row[2 * j + 1] = j + 1; /* the last column ends before it */
        value[2 * j + 1] = -1;
        start[j + 1] = j + 1 < n ? 2 * j + 2 : 2 * j + 1;
    }
    problem const p = {n, start[n], start, row, value, 1};
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    OK(solver, espalier_set_allow_singular(solver, 1));
    OK(solver, espalier_set_factorization(solver, ESPALIER_LDLT));
    OK(solver, espalier_factorize(solver));
    FAILS(solver, ESPALIER_USAGE, "before espalier_null_space", espalier_null_vectors(solver, basis, n));
    int64_t rank = 0;
    OK(solver, espalier_null_space(solver, 0, &rank));
    CHECK(rank == n - 1);
    OK(solver, espalier_null_vectors(solver, basis, n));
    for (int i = 0; i < n; ++i) CHECK(fabs(fabs(basis[i]) - 1 / sqrt(n)) < 1e-10);
    espalier_destroy(&solver);
}

/* Each stored entry receives the derivative of log |det A| with respect to it. */
static void selected_inverse(void) {
    int32_t const row[] = {0, 2, 1, 1, 2, 0}, column[] = {0, 0, 1, 2, 2, 0};
    double const value[] = {1, 3, 2, 4, 5, 1}; /* [2 0 0; 0 2 4; 3 0 5] */
    double const expected[] = {0.5, 0, 0.5, 0, 0.2, 0.5}, diagonal[] = {0.5, 0.5, 0.2};
    double found[6], own[3];
    espalier_matrix const matrix = {.layout = ESPALIER_COO,
                                    .rows = 3,
                                    .cols = 3,
                                    .entries = 6,
                                    .pointers = row,
                                    .indices = column,
                                    .values = value};
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    OK(solver, espalier_set_supernodes(solver, ESPALIER_ON));
    OK(solver, espalier_factorize(solver));
    FAILS(solver, ESPALIER_USAGE, "set with 6", espalier_selected_inverse(solver, 5, found));
    FAILS(solver, ESPALIER_USAGE, "null", espalier_inverse_diagonal(solver, NULL));
    OK(solver, espalier_selected_inverse(solver, 6, found));
    for (int k = 0; k < 6; ++k) CHECK(fabs(found[k] - expected[k]) < 1e-15);
    OK(solver, espalier_inverse_diagonal(solver, own));
    for (int k = 0; k < 3; ++k) CHECK(fabs(own[k] - diagonal[k]) < 1e-15);
    espalier_destroy(&solver);
}

/* The factors of [4 1 0; 1 4 1; 0 1 4] = P^T L D L^T P, entry by entry, and the two halves of a solve. */
static void factors(void) {
    int32_t const start[] = {0, 2, 4, 5}, row[] = {0, 1, 1, 2, 2};
    double const value[] = {4, 1, 4, 1, 4}, whole[3][3] = {{4, 1, 0}, {1, 4, 1}, {0, 1, 4}};
    espalier_matrix const matrix = {.symmetry = ESPALIER_SYMMETRIC,
                                    .triangle = ESPALIER_LOWER,
                                    .rows = 3,
                                    .cols = 3,
                                    .entries = 5,
                                    .pointers = start,
                                    .indices = row,
                                    .values = value};
    for (int turn = 0; turn < 3; ++turn) {
        espalier_factorization const kinds[] = {ESPALIER_LLH, ESPALIER_LDLT, ESPALIER_LU};
        espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
        OK(solver, espalier_set_factorization(solver, kinds[turn]));
        OK(solver, espalier_set_supernodes(solver, ESPALIER_ON));
        OK(solver, espalier_factorize(solver));
        int64_t entries[3], p[3], q[3], pointers[4], indices[9];
        double values[9], dense[3][3][3] = {{{0}}}; /* L, D, U; columns first */
        FAILS(solver, ESPALIER_USAGE, "before espalier_factors",
              espalier_get_factor(solver, 'L', 0, NULL, NULL, NULL));
        OK(solver, espalier_factors(solver, entries));
        CHECK(entries[0] >= 5 && (entries[1] > 0) == (turn == 1) && (entries[2] > 0) == (turn == 2));
        FAILS(solver, ESPALIER_USAGE, "base = 2", espalier_get_permutations(solver, 2, p, q));
        FAILS(solver, ESPALIER_USAGE, "'L', 'D' and 'U'",
              espalier_get_factor(solver, 'X', 0, NULL, NULL, NULL));
        if (turn == 0)
            FAILS(solver, ESPALIER_USAGE, "no factor U",
                  espalier_get_factor(solver, 'U', 0, NULL, NULL, NULL));
        OK(solver, espalier_get_permutations(solver, 1, p, q));
        for (int f = 0; f < 3; ++f) {
            if (entries[f] == 0) continue;
            OK(solver, espalier_get_factor(solver, "LDU"[f], 0, pointers, indices, values));
            CHECK(pointers[0] == 0 && pointers[3] == entries[f]);
            for (int j = 0; j < 3; ++j)
                for (int64_t k = pointers[j]; k < pointers[j + 1]; ++k) dense[f][j][indices[k]] = values[k];
        }
        double product[3][3] = {{0}}, l_times[3] = {0, 0, 0}; /* of L and U, L D and L^T, or L and L^T */
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                for (int k = 0; k < 3; ++k) {
                    double const right = turn == 2 ? dense[2][j][k] : dense[0][k][j];
                    double left = dense[0][k][i];
                    if (turn == 1) {
                        left = 0;
                        for (int m = 0; m < 3; ++m) left += dense[0][m][i] * dense[1][k][m];
                    }
                    product[i][j] += left * right;
                    if (j == 0) l_times[i] += left * (k + 1);
                }
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) CHECK(fabs(product[i][j] - whole[p[i] - 1][q[j] - 1]) < 1e-14);
        double x[3];
        if (turn == 2) {
            FAILS(solver, ESPALIER_USAGE, "symmetric", espalier_solve_lower(solver, 1, l_times, 3, x, 3));
        } else {
            OK(solver, espalier_solve_lower(solver, 1, l_times, 3, x, 3));
            for (int i = 0; i < 3; ++i) CHECK(fabs(x[i] - (i + 1)) < 1e-14);
            double right[3] = {0, 0, 0};
            for (int j = 0; j < 3; ++j)
                for (int i = 0; i < 3; ++i) right[j] += dense[0][j][i] * (i + 1);
            OK(solver, espalier_solve_lower_adjoint(solver, 1, right, 3, x, 3));
            for (int i = 0; i < 3; ++i) CHECK(fabs(x[i] - (i + 1)) < 1e-14);
        }
        OK(solver, espalier_factorize(solver));
        FAILS(solver, ESPALIER_USAGE, "before espalier_factors", espalier_get_permutations(solver, 0, p, q));
        espalier_destroy(&solver);
    }
}

/* [1 2; 2 4] with a right-hand side in its range: x solves the system although the status is an error. */
static void singular_to_working_precision(void) {
    int32_t const row[] = {0, 1, 1}, column[] = {0, 0, 1};
    double const values[] = {1, 2, 4}, b[] = {1, 2};
    espalier_matrix const matrix = {.symmetry = ESPALIER_SYMMETRIC,
                                    .triangle = ESPALIER_LOWER,
                                    .layout = ESPALIER_COO,
                                    .rows = 2,
                                    .cols = 2,
                                    .entries = 3,
                                    .pointers = row,
                                    .indices = column,
                                    .values = values};
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    double x[2] = {9, 9}, estimate = 0;
    int is_singular = 0;
    OK(solver, espalier_analyze(solver));
    OK(solver, espalier_factorize(solver));
    OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 2, x, 2));
    FAILS(solver, ESPALIER_SINGULAR, "singular", espalier_refine(solver, ESPALIER_OP_NONE, 1, b, 2, x, 2));
    CHECK(fabs(x[0] + 2 * x[1] - 1) <= 1e-15 * (fabs(x[0]) + 2 * fabs(x[1]) + 1));
    OK(solver, espalier_report_bool(solver, "factor.numerically_singular", &is_singular));
    OK(solver, espalier_report_real(solver, "factor.condition_estimate", &estimate));
    CHECK(is_singular && estimate > 1e15);
    espalier_destroy(&solver);
}

/* [d 1; 1 d] for d = 2, 1 and 3, the second of which is singular. */
static void batch(void) {
    int32_t const row[] = {1, 0, 1, 0}, column[] = {1, 1, 0, 0};
    double const values[] = {2, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 3}, b[] = {3, 3, 1, 2, 8, 4};
    espalier_matrix const matrix = {.layout = ESPALIER_COO,
                                    .rows = 2,
                                    .cols = 2,
                                    .entries = 4,
                                    .pointers = row,
                                    .indices = column,
                                    .values = values};
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    double x[6], errors[3];
    espalier_status status[3];
    OK(solver, espalier_solve_batch(solver, 3, 4, values, 1, b, x, status, errors));
    CHECK(status[0] == ESPALIER_OK && status[1] == ESPALIER_SINGULAR && status[2] == ESPALIER_OK);
    CHECK(fabs(x[0] - 1) < 1e-15 && fabs(x[1] - 1) < 1e-15 && fabs(x[4] - 2.5) < 1e-15 &&
          fabs(x[5] - 0.5) < 1e-15);
    CHECK(errors[0] < 1e-15 && errors[2] < 1e-15);
    FAILS(solver, ESPALIER_USAGE, "0 systems",
          espalier_solve_batch(solver, 0, 4, values, 1, b, x, status, NULL));
    FAILS(solver, ESPALIER_USAGE, "set with 4",
          espalier_solve_batch(solver, 3, 3, values, 1, b, x, status, NULL));
    FAILS(solver, ESPALIER_USAGE, "status is null",
          espalier_solve_batch(solver, 3, 4, values, 1, b, x, NULL, NULL));
    espalier_destroy(&solver);
}

/* Updates [4 1 0; 1 4 1; 0 1 4] by columns inside and outside of its pattern. */
static void update(void) {
    int32_t const start[] = {0, 2, 4, 5}, row[] = {0, 1, 1, 2, 2}, w_start[] = {0, 2};
    double const value[] = {4, 1, 4, 1, 4}, b[] = {1, 2, 3}, w_value[] = {1, 2};
    double const expected[2][3] = {{16 / 119.0, 13 / 119.0, 86 / 119.0}, {-2 / 135.0, 19 / 45.0, 44 / 135.0}};
    espalier_matrix const matrix = {.symmetry = ESPALIER_SYMMETRIC,
                                    .triangle = ESPALIER_LOWER,
                                    .rows = 3,
                                    .cols = 3,
                                    .entries = 5,
                                    .pointers = start,
                                    .indices = row,
                                    .values = value};
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    OK(solver, espalier_set_factorization(solver, ESPALIER_LLH));
    OK(solver, espalier_set_ordering(solver, ESPALIER_ORDERING_NATURAL));
    OK(solver, espalier_factorize(solver));
    double x[3], inverse[5], unchanged[3];
    OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 3, unchanged, 3));
    for (int k = 0; k < 2; ++k) {
        int32_t const w_row[] = {0, k == 0 ? 1 : 2};
        espalier_matrix w = {
            .rows = 3, .cols = 1, .entries = 2, .pointers = w_start, .indices = w_row, .values = w_value};
        int in_place = -1;
        FAILS(solver, ESPALIER_USAGE, "1 or -1", espalier_update(solver, &w, 0, &in_place));
        if (k == 0) {
            OK(solver, espalier_update(solver, &w, 1, &in_place));
        } else {
            double const dense[] = {1, 0, 2, 7, 0, 0, 0, 7};
            FAILS(solver, ESPALIER_USAGE, "leading dimension of w is 2",
                  espalier_update_dense(solver, 2, dense, 2, 1, &in_place));
            OK(solver, espalier_update_dense(solver, 2, dense, 4, 1, &in_place));
        }
        CHECK(in_place == 0 || in_place == 1);
        OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 3, x, 3));
        OK(solver, espalier_refine(solver, ESPALIER_OP_NONE, 1, b, 3, x, 3));
        for (int i = 0; i < 3; ++i) CHECK(fabs(x[i] - expected[k][i]) < 1e-14);
        OK(solver, espalier_selected_inverse(solver, 5, inverse));
        OK(solver, espalier_set_values(solver, 5, value));
        OK(solver, espalier_factorize(solver)); /* of the matrix that was set */
        FAILS(solver, ESPALIER_NOT_POSITIVE_DEFINITE, "not positive", espalier_update(solver, &w, -1, NULL));
        OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 3, x, 3));
        for (int i = 0; i < 3; ++i) CHECK(x[i] == unchanged[i]);
        w.rows = 2;
        FAILS(solver, ESPALIER_USAGE, "w has 2 rows", espalier_update(solver, &w, 1, NULL));
    }
    espalier_destroy(&solver);
}

/* The Schur complement on unknowns 2 and 0 of a 3 x 3 system, worked by hand, and the solution from it. */
static void schur(void) {
    int32_t const start[] = {0, 2, 5, 7}, row[] = {0, 1, 0, 1, 2, 1, 2};
    double const value[] = {4, 1, 2, 5, 3, 1, 6}; /* [4 2 0; 1 5 1; 0 3 6] */
    espalier_matrix const matrix = {
        .rows = 3, .cols = 3, .entries = 7, .pointers = start, .indices = row, .values = value};
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    int64_t const kept[] = {3, 1};
    OK(solver, espalier_set_schur(solver, 2, kept, 1));
    OK(solver, espalier_factorize(solver));
    double s[4], r[2], x[3];
    double const b[] = {1, 2, 3};
    OK(solver, espalier_schur_complement(solver, s, 2));
    double const expected[] = {6 - 3 * 1 / 5., 0 - 2 * 1 / 5., 0 - 3 * 1 / 5., 4 - 2 * 1 / 5.};
    for (int k = 0; k < 4; ++k) CHECK(fabs(s[k] - expected[k]) < 1e-14);
    OK(solver, espalier_condense(solver, ESPALIER_OP_NONE, 1, b, 3, r, 2));
    CHECK(fabs(r[0] - (3 - 3 * 2 / 5.)) < 1e-14 && fabs(r[1] - (1 - 2 * 2 / 5.)) < 1e-14);
    double const det = s[0] * s[3] - s[1] * s[2];
    double const xs[] = {(r[0] * s[3] - r[1] * s[2]) / det, (s[0] * r[1] - s[1] * r[0]) / det};
    OK(solver, espalier_expand(solver, ESPALIER_OP_NONE, 1, b, 3, xs, 2, x, 3));
    CHECK(fabs(4 * x[0] + 2 * x[1] - 1) < 1e-14 && fabs(x[0] + 5 * x[1] + x[2] - 2) < 1e-14);
    CHECK(fabs(3 * x[1] + 6 * x[2] - 3) < 1e-14);
    OK(solver, espalier_condense(solver, ESPALIER_OP_TRANSPOSE, 1, b, 3, r, 2));
    CHECK(fabs(r[0] - (3 - 1 * 2 / 5.)) < 1e-14 && fabs(r[1] - (1 - 1 * 2 / 5.)) < 1e-14);
    double const xt[] = {(r[0] * s[3] - r[1] * s[1]) / det, (s[0] * r[1] - s[2] * r[0]) / det};
    OK(solver, espalier_expand(solver, ESPALIER_OP_TRANSPOSE, 1, b, 3, xt, 2, x, 3));
    CHECK(fabs(4 * x[0] + x[1] - 1) < 1e-14 && fabs(2 * x[0] + 5 * x[1] + 3 * x[2] - 2) < 1e-14);
    CHECK(fabs(x[1] + 6 * x[2] - 3) < 1e-14);
    FAILS(solver, ESPALIER_USAGE, "op", espalier_condense(solver, (espalier_op)3, 1, b, 3, r, 2));
    FAILS(solver, ESPALIER_USAGE, "", espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 3, x, 3));
    OK(solver, espalier_set_schur(solver, 0, NULL, 0));
    OK(solver, espalier_analyze(solver));
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 3, x, 3));
    CHECK(fabs(4 * x[0] + 2 * x[1] - 1) < 1e-14);
    espalier_destroy(&solver);
}

/* ILU(1) as preconditioner: the solution, the report, new values, and a call that needs complete factors. */
static void incomplete(void) {
    problem p = laplacian(30, 0);
    espalier_matrix const matrix = described(&p);
    espalier_solver* solver = with_matrix(ESPALIER_DOUBLE, &matrix);
    OK(solver, espalier_set_method(solver, ESPALIER_METHOD_ILU));
    OK(solver, espalier_set_levels(solver, 1));
    OK(solver, espalier_set_threads(solver, 2));
    int64_t const n = p.n;
    double *b = malloc((size_t)n * sizeof *b), *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; ++i) b[i] = 1 + (double)(i % 5);
    char const* method = NULL;
    int64_t iterations = 0, entries = 0;
    double error = 1, first = 0;
    for (int k = 0; k < 2; ++k) {
        OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, n, x, n));
        OK(solver, espalier_report_real(solver, "backward_error", &error));
        CHECK(error <= 1e-12);
        OK(solver, espalier_report_string(solver, "settings.method", &method));
        CHECK(strcmp(method, "ilu") == 0);
        OK(solver, espalier_report_int(solver, "incomplete.iterations", &iterations));
        OK(solver, espalier_report_int(solver, "incomplete.nnz_factor", &entries));
        CHECK(iterations > 1 && entries > n);
        if (k == 0) {
            first = x[n / 2];
            for (int64_t i = 0; i < p.entries; ++i) p.value[i] *= 2;
            OK(solver, espalier_refactorize(solver, p.entries, p.value));
        }
    }
    CHECK(fabs(2 * x[n / 2] - first) < 1e-9 * fabs(first));
    int64_t count = 0;
    FAILS(solver, ESPALIER_USAGE, "the method is ilu", espalier_inertia(solver, &count, NULL, NULL));
    free(b);
    free(x);
    espalier_destroy(&solver);
    free_problem(&p);
}

int main(void) {
    version_and_status();
    steps_one_by_one();
    an_ordering_from_memory();
    layouts();
    one_part();
    sparse_right_hand_sides();
    complex_scalars();
    single_precision();
    what_factors_tell();
    null_space();
    selected_inverse();
    factors();
    batch();
    singular_to_working_precision();
    update();
    schur();
    incomplete();
    test_settings();
    test_traces();
    test_misuse();
    test_numa();
    if (failures) fprintf(stderr, "%d checks failed\n", failures);
    return failures != 0;
}
