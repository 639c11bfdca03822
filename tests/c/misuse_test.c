/* Every wrong call returns a status and leaves a message, and its handle remains usable. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "problems.h"

#define USAGE(part, call) FAILS(solver, ESPALIER_USAGE, part, call)

/* Calls every function that takes a handle with `solver`, which is not a handle. */
static void no_solver(espalier_solver* solver, char const* message) {
    espalier_scalar scalar;
    espalier_matrix const matrix = {0};
    char const* text = NULL;
    char const* const* texts = NULL;
    double number = 0;
    double const* numbers = NULL;
    int64_t count = 0, counts[3];
    int truth = 0;
    espalier_field_type type;
    USAGE(message, espalier_get_scalar(solver, &scalar));
    USAGE(message, espalier_get_processes(solver, NULL, NULL));
    USAGE(message, espalier_refuse(solver, "espalier_solve", "no"));
    USAGE(message, espalier_set_option(solver, "threads", "1"));
    USAGE(message, espalier_get_option(solver, "threads", &text));
    USAGE(message, espalier_set_factorization(solver, ESPALIER_LU));
    USAGE(message, espalier_set_matching(solver, ESPALIER_ON));
    USAGE(message, espalier_set_scaling(solver, ESPALIER_ON));
    USAGE(message, espalier_set_mixed_precision(solver, 1));
    USAGE(message, espalier_set_condition(solver, 1));
    USAGE(message, espalier_set_allow_singular(solver, 1));
    USAGE(message, espalier_set_schur(solver, 0, NULL, 0));
    USAGE(message, espalier_set_ordering(solver, ESPALIER_ORDERING_AMD));
    USAGE(message, espalier_set_ordering_file(solver, "file"));
    USAGE(message, espalier_set_ordering_positions(solver, 1, NULL, 0));
    USAGE(message, espalier_set_threads(solver, 1));
    USAGE(message, espalier_set_bind_threads(solver, 1));
    USAGE(message, espalier_set_topology(solver, "here"));
    USAGE(message, espalier_set_calibration(solver, ESPALIER_OFF));
    USAGE(message, espalier_set_record_trace(solver, 1));
    USAGE(message, espalier_set_schedule(solver, ESPALIER_SCHEDULE_STATIC));
    USAGE(message, espalier_set_allocation(solver, ESPALIER_ALLOC_LOCAL));
    USAGE(message, espalier_set_splitting(solver, ESPALIER_SPLIT_1D));
    USAGE(message, espalier_set_block_widths(solver, 1, 2));
    USAGE(message, espalier_set_amalgamation_fill(solver, 0));
    USAGE(message, espalier_set_pivot_threshold(solver, 0));
    USAGE(message, espalier_set_refinement(solver, ESPALIER_REFINE_CG));
    USAGE(message, espalier_set_max_refine_iterations(solver, 1));
    USAGE(message, espalier_set_tolerance(solver, 1));
    USAGE(message, espalier_set_max_memory(solver, 1));
    USAGE(message, espalier_set_log(solver, NULL, NULL));
    USAGE(message, espalier_set_progress(solver, NULL, NULL));
    USAGE(message, espalier_set_cancel(solver, NULL, NULL));
    USAGE(message, espalier_set_matrix(solver, &matrix));
    USAGE(message, espalier_set_values(solver, 0, NULL));
    USAGE(message, espalier_get_size(solver, &count, &count));
    USAGE(message, espalier_analyze(solver));
    USAGE(message, espalier_factorize(solver));
    USAGE(message, espalier_refactorize(solver, 0, NULL));
    USAGE(message, espalier_solve(solver, ESPALIER_OP_NONE, 0, NULL, 1, NULL, 1));
    USAGE(message, espalier_solve_sparse(solver, ESPALIER_OP_NONE, &matrix, NULL, 1));
    USAGE(message, espalier_refine(solver, ESPALIER_OP_NONE, 0, NULL, 1, NULL, 1));
    USAGE(message, espalier_drive(solver, ESPALIER_OP_NONE, 0, NULL, 1, NULL, 1));
    USAGE(message, espalier_predict(solver, 1, 1, NULL));
    USAGE(message, espalier_write_predicted_trace(solver, "t.paje", 1, 1, NULL));
    USAGE(message, espalier_write_trace(solver, "t.paje", NULL));
    USAGE(message, espalier_inertia(solver, NULL, NULL, NULL));
    USAGE(message, espalier_determinant(solver, NULL, NULL, NULL));
    USAGE(message, espalier_rcond(solver, &number));
    USAGE(message, espalier_null_space(solver, 0, &count));
    USAGE(message, espalier_null_vectors(solver, &number, 1));
    USAGE(message, espalier_selected_inverse(solver, 1, &number));
    USAGE(message, espalier_update(solver, &matrix, 1, NULL));
    USAGE(message, espalier_update_dense(solver, 1, &number, 1, 1, NULL));
    USAGE(message, espalier_factors(solver, counts));
    USAGE(message, espalier_get_factor(solver, 'L', 0, &count, &count, &number));
    USAGE(message, espalier_get_permutations(solver, 0, &count, &count));
    USAGE(message, espalier_solve_lower(solver, 0, NULL, 1, NULL, 1));
    USAGE(message, espalier_solve_lower_adjoint(solver, 0, NULL, 1, NULL, 1));
    USAGE(message, espalier_solve_batch(solver, 1, 0, &number, 1, &number, &number, NULL, NULL));
    USAGE(message, espalier_inverse_diagonal(solver, &number));
    USAGE(message, espalier_schur_complement(solver, &number, 1));
    USAGE(message, espalier_condense(solver, ESPALIER_OP_NONE, 0, NULL, 1, NULL, 1));
    USAGE(message, espalier_expand(solver, ESPALIER_OP_NONE, 0, NULL, 1, NULL, 1, NULL, 1));
    USAGE(message, espalier_report_count(solver, &count));
    USAGE(message, espalier_report_field(solver, 0, &text, &type));
    USAGE(message, espalier_report_bool(solver, "factor.fell_back", &truth));
    USAGE(message, espalier_report_int(solver, "threads", &count));
    USAGE(message, espalier_report_real(solver, "threads", &number));
    USAGE(message, espalier_report_string(solver, "refine.method", &text));
    USAGE(message, espalier_report_reals(solver, "refine.history", &count, &numbers));
    USAGE(message, espalier_report_strings(solver, "notes", &count, &texts));
    USAGE(message, espalier_report_json(solver, &text));
}

static void handles(void) {
    espalier_solver* solver = NULL;
    no_solver(NULL, "the solver is null");
    void* const zeros = calloc(1, 4096);
    no_solver(zeros, "not a solver");
    espalier_solver* pretended = zeros;
    espalier_destroy(&pretended); /* does nothing */
    free(zeros);
    espalier_destroy(NULL);
    espalier_destroy(&solver);
    CHECK(espalier_create(NULL, ESPALIER_DOUBLE) == ESPALIER_USAGE);
    int const no_scalars[] = {0, 'x', -1, 'd' + 256, 1 << 30};
    for (int k = 0; k < 5; ++k) {
        solver = (espalier_solver*)&solver;
        CHECK(espalier_create(&solver, (espalier_scalar)no_scalars[k]) == ESPALIER_USAGE);
        CHECK(solver == NULL);
    }
}

/* The calls for several processes, while MPI does not run. Programs in tests/mpi make them with MPI. */
static void processes(espalier_solver* solver) {
    espalier_solver* none = (espalier_solver*)&none;
    espalier_status const status = espalier_create_mpi(&none, ESPALIER_DOUBLE, NULL);
    CHECK((status == ESPALIER_USAGE || status == ESPALIER_UNSUPPORTED) && !none);
    CHECK(espalier_create_mpi_fortran(&none, ESPALIER_DOUBLE, 0) == status);
    CHECK(espalier_follow_mpi(ESPALIER_DOUBLE, NULL) == status);
    CHECK(espalier_follow_mpi_fortran(ESPALIER_DOUBLE, 0) == status);
    int rank = -1, count = -1;
    OK(solver, espalier_get_processes(solver, &rank, &count));
    CHECK(rank == 0 && count == 1);
    USAGE("no such thing", espalier_refuse(solver, "espalier_solve", "no such thing"));
    USAGE("call is null", espalier_refuse(solver, NULL, "no"));
}

static void options(espalier_solver* solver) {
    char const* text = NULL;
    USAGE("name is null", espalier_set_option(solver, NULL, "1"));
    USAGE("value is null", espalier_set_option(solver, "threads", NULL));
    USAGE("unknown option 'colour'; the options are factorization,",
          espalier_set_option(solver, "colour", "red"));
    USAGE("threads needs auto or a whole number", espalier_set_option(solver, "threads", "many"));
    USAGE("name is null", espalier_get_option(solver, NULL, &text));
    USAGE("value is null", espalier_get_option(solver, "threads", NULL));
    USAGE("unknown option", espalier_get_option(solver, "", &text));
    USAGE("factorization = 6", espalier_set_factorization(solver, (espalier_factorization)6));
    USAGE("factorization = -1", espalier_set_factorization(solver, (espalier_factorization)-1));
    USAGE("matching = 3", espalier_set_matching(solver, (espalier_toggle)3));
    USAGE("scaling = 1000", espalier_set_scaling(solver, (espalier_toggle)1000));
    USAGE("outside of 0 .. 1", espalier_set_mixed_precision(solver, 2));
    USAGE("outside of 0 .. 1", espalier_set_condition(solver, -1));
    USAGE("outside of 0 .. 1", espalier_set_allow_singular(solver, 7));
    int64_t const unknowns[] = {0, -5};
    USAGE("-1 unknowns", espalier_set_schur(solver, -1, unknowns, 0));
    USAGE("unknowns is null", espalier_set_schur(solver, 1, NULL, 0));
    USAGE("below the base 0", espalier_set_schur(solver, 2, unknowns, 0));
    USAGE("below the base 1", espalier_set_schur(solver, 1, unknowns, 1));
    USAGE("base = 2", espalier_set_schur(solver, 1, unknowns, 2));
    USAGE("method = 3", espalier_set_method(solver, (espalier_method)3));
    USAGE("levels needs", espalier_set_levels(solver, -1));
    USAGE("block-size needs", espalier_set_block_size(solver, 7));
    USAGE("supernodes = 3", espalier_set_supernodes(solver, (espalier_toggle)3));
    USAGE("pivoting = 3", espalier_set_pivoting(solver, (espalier_pivoting)3));
    USAGE("pivot-tolerance needs a number above zero and at most 0.5", espalier_set_pivot_tolerance(solver, 0.75));
    USAGE("runtime = 3", espalier_set_runtime(solver, (espalier_runtime)3));
    USAGE("coarsen is null", espalier_set_coarsen(solver, NULL));
    USAGE("coarse string", espalier_set_coarsen(solver, "F("));
    USAGE("ordering = 9", espalier_set_ordering(solver, (espalier_ordering)9));
    USAGE("espalier_set_ordering_file", espalier_set_ordering(solver, ESPALIER_ORDERING_USER));
    USAGE("path is null", espalier_set_ordering_file(solver, NULL));
    USAGE("empty", espalier_set_ordering_file(solver, ""));
    USAGE("positions is null", espalier_set_ordering_positions(solver, 2, NULL, 0));
    USAGE("0 positions", espalier_set_ordering_positions(solver, 0, unknowns, 0));
    USAGE("base = 2", espalier_set_ordering_positions(solver, 2, unknowns, 2));
    USAGE("below the base 0", espalier_set_ordering_positions(solver, 2, unknowns, 0));
    USAGE("threads needs", espalier_set_threads(solver, -1));
    USAGE("threads needs", espalier_set_threads(solver, 1 << 20));
    USAGE("outside of 0 .. 1", espalier_set_bind_threads(solver, 2));
    USAGE("topology is null", espalier_set_topology(solver, NULL));
    USAGE("topology needs", espalier_set_topology(solver, ""));
    USAGE("numa:0", espalier_set_topology(solver, "numa:0"));
    FAILS(solver, ESPALIER_IO_ERROR, "/nonexistent/machine.xml",
          espalier_set_topology(solver, "/nonexistent/machine.xml"));
    USAGE("calibration = 3", espalier_set_calibration(solver, (espalier_toggle)3));
    USAGE("outside of 0 .. 1", espalier_set_record_trace(solver, 2));
    USAGE("schedule = 5", espalier_set_schedule(solver, (espalier_schedule)5));
    USAGE("alloc = 3", espalier_set_allocation(solver, (espalier_allocation)3));
    USAGE("split = 3", espalier_set_splitting(solver, (espalier_splitting)3));
    USAGE("min-block-width needs", espalier_set_block_widths(solver, -1, 2));
    USAGE("min-block-width 3 is above max-block-width 2", espalier_set_block_widths(solver, 3, 2));
    USAGE("max-block-width needs", espalier_set_block_widths(solver, 1, INT64_MAX));
    USAGE("amalgamation-fill needs", espalier_set_amalgamation_fill(solver, -0.5));
    USAGE("pivot-threshold needs", espalier_set_pivot_threshold(solver, NAN));
    USAGE("refine = 6", espalier_set_refinement(solver, (espalier_refinement)6));
    USAGE("max-refine-iterations needs", espalier_set_max_refine_iterations(solver, -1));
    USAGE("tolerance needs", espalier_set_tolerance(solver, -1));
    USAGE("tolerance needs", espalier_set_tolerance(solver, INFINITY));
    USAGE("outside", espalier_set_max_memory(solver, UINT64_MAX));
    USAGE("scalar is null", espalier_get_scalar(solver, NULL));
}

/* Makes calls too early. Their messages name the missing step, `when`. */
static void too_early(espalier_solver* solver, char const* when) {
    double b[4] = {0}, x[4];
    int64_t rank = 0;
    espalier_matrix const none = {.rows = 4};
    USAGE(when, espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
    USAGE(when, espalier_solve_sparse(solver, ESPALIER_OP_NONE, &none, x, 4));
    USAGE(when, espalier_refine(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
    USAGE(when, espalier_inertia(solver, &rank, &rank, &rank));
    USAGE(when, espalier_determinant(solver, b, b, b));
    USAGE(when, espalier_rcond(solver, b));
    USAGE(when, espalier_null_space(solver, 0, &rank));
    USAGE(when, espalier_null_vectors(solver, x, 4));
    USAGE(when, espalier_selected_inverse(solver, 4, x));
    USAGE(when, espalier_inverse_diagonal(solver, x));
    USAGE(when, espalier_schur_complement(solver, x, 4));
    USAGE(when, espalier_condense(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
    USAGE(when, espalier_expand(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4, x, 4));
}

static void before_the_matrix(espalier_solver* solver) {
    double b[4] = {0}, x[4];
    int64_t size = 0;
    too_early(solver, "before espalier_set_matrix");
    USAGE("before espalier_set_matrix", espalier_set_values(solver, 1, b));
    USAGE("before espalier_set_matrix", espalier_refactorize(solver, 1, b));
    USAGE("before espalier_set_matrix", espalier_analyze(solver));
    USAGE("before espalier_set_matrix", espalier_factorize(solver));
    USAGE("before espalier_set_matrix", espalier_get_size(solver, &size, &size));
    USAGE("before espalier_set_matrix", espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
}

static void matrices(espalier_solver* solver, espalier_matrix const* good) {
    espalier_matrix bad;
    USAGE("matrix is null", espalier_set_matrix(solver, NULL));
#define WITH(change) (bad = *good, bad.change, espalier_set_matrix(solver, &bad))
    USAGE("pointers is null", WITH(pointers = NULL));
    USAGE("indices is null", WITH(indices = NULL));
    USAGE("values is null", WITH(values = NULL));
    USAGE("layout = 3", WITH(layout = (espalier_layout)3));
    USAGE("symmetry = -1", WITH(symmetry = (espalier_symmetry)-1));
    USAGE("triangle = 3", WITH(triangle = (espalier_triangle)3));
    USAGE("index_type = 2", WITH(index_type = (espalier_index_type)2));
    USAGE("base = 2", WITH(base = 2));
    USAGE("use triangle = full", WITH(symmetry = ESPALIER_GENERAL));
#define BAD(part, change) FAILS(solver, ESPALIER_BAD_INPUT, part, WITH(change))
    BAD("negative size", rows = -1);
    BAD("negative size", cols = -1);
    BAD("exceeds the limit", cols = INT64_MAX);
    BAD("must be square", rows = 5);
    BAD("-3 entries", entries = -3);
    BAD("entries", entries = INT64_MAX);
    BAD("which means", entries = good->entries - 1);
    BAD("expected the base 1", base = 1);
    USAGE("matrix.struct_size = 7", WITH(struct_size = 7));
    USAGE("struct_size", WITH(struct_size = UINT64_MAX));
    OK(solver, WITH(struct_size = sizeof bad));
    struct {
        espalier_matrix known;
        int64_t later;
    } longer = {*good, 0};
    longer.known.struct_size = sizeof longer;
    OK(solver, espalier_set_matrix(solver, &longer.known));
    longer.later = 1;
    FAILS(solver, ESPALIER_UNSUPPORTED, "does not know", espalier_set_matrix(solver, &longer.known));
    double spoiled[64];
    memcpy(spoiled, good->values, (size_t)good->entries * sizeof *spoiled);
    spoiled[2] = NAN;
    BAD("value 2 at row", values = spoiled);
    int32_t const falling[] = {0, 2, 1, 5, 10};
    BAD("decrease from 2 to 1", pointers = falling);
    int32_t wrong_rows[64];
    memcpy(wrong_rows, good->indices, (size_t)good->entries * sizeof *wrong_rows);
    wrong_rows[1] = 1000000;
    BAD("row 1000000 is outside 0 .. 3", indices = wrong_rows);
    int32_t const start[] = {0, 1}, row[] = {0};
    double const one[] = {1};
    espalier_matrix const oblong = {
        .rows = 2, .cols = 1, .entries = 1, .pointers = start, .indices = row, .values = one};
    FAILS(solver, ESPALIER_BAD_INPUT, "2 rows and 1 column;", espalier_set_matrix(solver, &oblong));

    /* A rejected matrix leaves the previous one unchanged. */
    int64_t order = 0;
    OK(solver, espalier_get_size(solver, &order, NULL));
    CHECK(order == 4);
    USAGE("there are 3 values", espalier_set_values(solver, 3, one));
    USAGE("values is null", espalier_set_values(solver, good->entries, NULL));
    FAILS(solver, ESPALIER_BAD_INPUT, "value 2 at row", espalier_set_values(solver, good->entries, spoiled));
    USAGE("there are -1 values", espalier_refactorize(solver, -1, one));
#undef WITH
#undef BAD
}

static void blocks(espalier_solver* solver) {
    double b[8] = {1, 2, 3, 4, 5, 6, 7, 8}, x[8] = {0};
    OK(solver, espalier_factorize(solver));
#define BLOCK(part, nrhs, b, ldb, x, ldx)                                                                    \
    USAGE(part, espalier_solve(solver, ESPALIER_OP_NONE, nrhs, b, ldb, x, ldx));                             \
    USAGE(part, espalier_refine(solver, ESPALIER_OP_NONE, nrhs, b, ldb, x, ldx));                            \
    USAGE(part, espalier_drive(solver, ESPALIER_OP_NONE, nrhs, b, ldb, x, ldx))
    BLOCK("b is null", 1, NULL, 4, x, 4);
    BLOCK("x is null", 1, b, 4, NULL, 4);
    BLOCK("b has -1 columns", -1, b, 4, x, 4);
    BLOCK("leading dimension of b is 3", 1, b, 3, x, 4);
    BLOCK("leading dimension of x is -4", 1, b, 4, x, -4);
    BLOCK("larger than the address space", INT64_MAX / 2, b, 4, x, 4);
#undef BLOCK
    USAGE("op = 3", espalier_solve(solver, (espalier_op)3, 1, b, 4, x, 4));
    USAGE("op = -1", espalier_refine(solver, (espalier_op)-1, 1, b, 4, x, 4));
    USAGE("op = 99", espalier_drive(solver, (espalier_op)99, 1, b, 4, x, 4));
    b[2] = NAN;
    FAILS(solver, ESPALIER_BAD_INPUT, "b has a NaN or infinity at row 2, column 0",
          espalier_solve(solver, ESPALIER_OP_NONE, 2, b, 4, x, 4));
    b[2] = 3;
    x[1] = INFINITY;
    FAILS(solver, ESPALIER_BAD_INPUT, "x has a NaN or infinity at row 1",
          espalier_refine(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));

    int32_t const start[] = {0, 1}, row[] = {9};
    espalier_matrix sparse = {
        .rows = 4, .cols = 1, .entries = 1, .pointers = start, .indices = row, .values = b};
    USAGE("b is null", espalier_solve_sparse(solver, ESPALIER_OP_NONE, NULL, x, 4));
    USAGE("op = 7", espalier_solve_sparse(solver, (espalier_op)7, &sparse, x, 4));
    FAILS(solver, ESPALIER_BAD_INPUT, "row 9 is outside",
          espalier_solve_sparse(solver, ESPALIER_OP_NONE, &sparse, x, 4));
    USAGE("x is null", espalier_solve_sparse(solver, ESPALIER_OP_NONE, &sparse, NULL, 4));
    sparse.rows = 5;
    USAGE("5 rows", espalier_solve_sparse(solver, ESPALIER_OP_NONE, &sparse, x, 5));
    sparse.rows = 4;
    sparse.symmetry = ESPALIER_SYMMETRIC;
    USAGE("general", espalier_solve_sparse(solver, ESPALIER_OP_NONE, &sparse, x, 4));
}

static void results(espalier_solver* solver) {
    double number = 0;
    int64_t count = 0;
    int truth = 0;
    char const* text = NULL;
    char const* const* texts = NULL;
    double const* numbers = NULL;
    espalier_field_type type;
    USAGE("rcond is null", espalier_rcond(solver, NULL));
    USAGE("rank is null", espalier_null_space(solver, 0, NULL));
    USAGE("tolerance", espalier_null_space(solver, -1, &count));
    USAGE("tolerance", espalier_null_space(solver, NAN, &count));
    USAGE("before espalier_null_space", espalier_null_vectors(solver, &number, 4));
    USAGE("Schur", espalier_schur_complement(solver, &number, 1));
    USAGE("count is null", espalier_report_count(solver, NULL));
    USAGE("field -1 is outside", espalier_report_field(solver, -1, &text, &type));
    USAGE("is outside", espalier_report_field(solver, 1000, &text, &type));
    OK(solver, espalier_report_field(solver, 0, NULL, NULL));
    USAGE("no field 'nothing'", espalier_report_bool(solver, "nothing", &truth));
    USAGE("name is null", espalier_report_int(solver, NULL, &count));
    USAGE("value is null", espalier_report_bool(solver, "factor.fell_back", NULL));
    USAGE("value is null", espalier_report_int(solver, "threads", NULL));
    USAGE("value is null", espalier_report_real(solver, "threads", NULL));
    USAGE("value is null", espalier_report_string(solver, "refine.method", NULL));
    USAGE("count is null", espalier_report_reals(solver, "refine.history", NULL, &numbers));
    USAGE("values is null", espalier_report_reals(solver, "refine.history", &count, NULL));
    USAGE("count is null", espalier_report_strings(solver, "notes", NULL, &texts));
    USAGE("values is null", espalier_report_strings(solver, "notes", &count, NULL));
    USAGE("json is null", espalier_report_json(solver, NULL));
    USAGE("no field", espalier_report_real(solver, "", &number));
    USAGE("no field", espalier_report_string(solver, "analysis", &text));
    USAGE("no field", espalier_report_reals(solver, "%s%n", &count, &numbers));
    USAGE("a whole number, not texts", espalier_report_strings(solver, "threads", &count, &texts));
}

/* Numerical failures and limits have statuses of their own. */
static void numbers(espalier_solver* solver, espalier_matrix const* good) {
    double b[4] = {1, 1, 1, 1}, x[4];
    double spoiled[64];
    memcpy(spoiled, good->values, (size_t)good->entries * sizeof *spoiled);
    spoiled[0] = -4;
    OK(solver, espalier_set_factorization(solver, ESPALIER_LLH));
    OK(solver, espalier_set_matrix(solver, good));
    FAILS(solver, ESPALIER_NOT_POSITIVE_DEFINITE, "", espalier_refactorize(solver, good->entries, spoiled));
    OK(solver, espalier_refactorize(solver, good->entries, good->values));
    OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
    spoiled[0] = NAN;
    FAILS(solver, ESPALIER_BAD_INPUT, "value 0 at row", espalier_refactorize(solver, good->entries, spoiled));
    USAGE("before espalier_factorize", espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
    OK(solver, espalier_factorize(solver));
    OK(solver, espalier_solve(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
    OK(solver, espalier_set_factorization(solver, ESPALIER_FACTORIZATION_AUTO));
    OK(solver, espalier_set_max_memory(solver, 1));
    FAILS(solver, ESPALIER_OUT_OF_MEMORY, "the limit is 1 byte", espalier_analyze(solver));
    OK(solver, espalier_set_max_memory(solver, 0));
    OK(solver, espalier_set_ordering_file(solver, "/nonexistent/ordering"));
    FAILS(solver, ESPALIER_IO_ERROR, "/nonexistent/ordering", espalier_analyze(solver));
    OK(solver, espalier_set_ordering(solver, ESPALIER_ORDERING_SCOTCH));
    int64_t const order[] = {1, 0, 1};
    OK(solver, espalier_set_ordering_positions(solver, 3, order, 0));
    USAGE("3 positions", espalier_analyze(solver));
    int64_t const far[] = {17};
    OK(solver, espalier_set_ordering(solver, ESPALIER_ORDERING_SCOTCH));
    OK(solver, espalier_set_schur(solver, 1, far, 0));
    USAGE("17", espalier_analyze(solver));
    OK(solver, espalier_set_schur(solver, 0, NULL, 0));
    OK(solver, espalier_set_tolerance(solver, 1e-300));
    espalier_status const status = espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4);
    CHECK(status == ESPALIER_OK || status == ESPALIER_INACCURATE); /* the solution may happen to be exact */
    OK(solver, espalier_set_tolerance(solver, 0));

    int32_t const start[] = {0, 1, 1}, row[] = {0};
    espalier_matrix const empty_column = {
        .rows = 2, .cols = 2, .entries = 1, .pointers = start, .indices = row, .values = b};
    OK(solver, espalier_set_matrix(solver, &empty_column));
    FAILS(solver, ESPALIER_SINGULAR, "singular", espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 2, x, 2));
    OK(solver, espalier_set_matrix(solver, good));
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4));
}

/* A callback that calls functions of the solver. */
static espalier_solver* running = NULL;
static int refused = 0;

static void call_back(char const* line, void* user) {
    (void)line;
    (void)user;
    refused += espalier_factorize(running) == ESPALIER_USAGE && strstr(espalier_message(running), "busy");
    espalier_solver* same = running;
    espalier_destroy(&same);
    refused += same == running;
}

static void from_callbacks(espalier_solver* solver) {
    running = solver;
    refused = 0;
    OK(solver, espalier_set_log(solver, call_back, NULL));
    OK(solver, espalier_analyze(solver));
    CHECK(refused >= 2);
    OK(solver, espalier_set_log(solver, NULL, NULL));
}

void test_misuse(void) {
    handles();
    espalier_solver* solver = NULL;
    CHECK(espalier_create(&solver, ESPALIER_DOUBLE) == ESPALIER_OK);
    OK(solver, espalier_set_threads(solver, 1));
    processes(solver);
    options(solver);
    before_the_matrix(solver);
    problem p = laplacian(2, 0);
    espalier_matrix const good = described(&p);
    OK(solver, espalier_set_matrix(solver, &good));
    too_early(solver, "before espalier_factorize");
    OK(solver, espalier_analyze(solver));
    too_early(solver, "before espalier_factorize");
    matrices(solver, &good);
    blocks(solver);
    results(solver);
    numbers(solver, &good);
    from_callbacks(solver);
    double b[4] = {1, 2, 3, 4}, x[4];
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, 4, x, 4)); /* the handle is still usable */
    CHECK(residual(&p, 0, x, b) < 1e-14);
    espalier_destroy(&solver);
    free_problem(&p);
}
