/* Tests of the C interface on several processes, in a program with its own messages on the same communicator.
 * Ranks other than 0 pass zeros and null pointers. */
#include <mpi.h>

#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "everywhere.h"
#include "problems.h"

int failures = 0;
int rank, ranks;

static espalier_op const none = ESPALIER_OP_NONE;

/* A message of the caller to the next rank. Its receive matches any message and is pending during the calls.
 */
typedef struct ring {
    MPI_Request request;
    int received;
} ring;

static void start_receive(ring* own) {
    MPI_Irecv(&own->received, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &own->request);
}

static void send_and_receive(ring* own, int number) {
    MPI_Send(&number, 1, MPI_INT, (rank + 1) % ranks, number, MPI_COMM_WORLD);
    MPI_Wait(&own->request, MPI_STATUS_IGNORE);
    CHECK(own->received == number);
    start_receive(own);
}

static void rank_and_size_are_reported(espalier_solver* solver) {
    int found = -1, processes = 0;
    OK(solver, espalier_get_processes(solver, &found, &processes));
    OK(solver, espalier_get_processes(solver, NULL, NULL));
    CHECK(found == rank && processes == ranks);
}

static void a_system_is_solved(espalier_solver* solver, problem const* p, ring* own) {
    int const root = rank == 0;
    int64_t const n = p->n;
    double* const b = malloc((size_t)n * sizeof *b);
    double* const x = malloc((size_t)n * sizeof *x);
    espalier_matrix const matrix = described(p);
    int64_t order = 0, entries = 0, count = 0, positive = 0;
    double real = -1, rcond = -1, phase = 0;
    for (int i = 0; i < n; ++i) b[i] = 1, x[i] = -7;
    OK(solver, espalier_set_matrix(solver, root ? &matrix : NULL));
    OK(solver, espalier_get_size(solver, &order, &entries));
    CHECK(order == n && entries == p->entries);
    OK(solver, espalier_analyze(solver));
    send_and_receive(own, 4);
    OK(solver, espalier_factorize(solver));
    OK(solver,
       espalier_solve(solver, none, root, root ? b : NULL, root ? n : 0, root ? x : NULL, root ? n : 0));
    if (root) CHECK(residual(p, 0, x, b) < 1e-8);
    send_and_receive(own, 5);
    OK(solver,
       espalier_refine(solver, none, root, root ? b : NULL, root ? n : 0, root ? x : NULL, root ? n : 0));
    OK(solver, espalier_report_real(solver, "backward_error", &real));
    CHECK(real >= 0 && real < 1e-14);
    OK(solver, espalier_report_int(solver, "processes", &count));
    CHECK(count == ranks);
    OK(solver, espalier_report_int(solver, "factor.messages", &count));
    CHECK((count > 0) == (ranks > 1));
    OK(solver, espalier_inertia(solver, &positive, NULL, NULL));
    CHECK(positive == n);
    OK(solver, espalier_determinant(solver, &phase, NULL, NULL));
    CHECK(phase == 1);
    OK(solver, espalier_rcond(solver, &rcond));
    CHECK(rcond > 1e-6 && rcond < 1);
    if (!root) CHECK(x[0] == -7 && espalier_rcond(solver, NULL) == ESPALIER_OK);
    if (root) CHECK(espalier_rcond(solver, &rcond) == ESPALIER_OK);

    /* Process 0 changes an option, and all processes repeat the necessary steps. */
    if (root) OK(solver, espalier_set_threads(solver, 2));
    OK(solver,
       espalier_drive(solver, none, root, root ? b : NULL, root ? n : 0, root ? x : NULL, root ? n : 0));
    if (root) CHECK(residual(p, 0, x, b) < 1e-10);
    free(b);
    free(x);
}

static void failures_are_everywhere(espalier_solver* solver, problem const* p) {
    int const root = rank == 0;
    problem indefinite = laplacian(20, -2);
    espalier_matrix const matrix = described(&indefinite), good = described(p);
    espalier_matrix broken = good;
    double* const x = calloc((size_t)p->n, sizeof *x);
    if (root) OK(solver, espalier_set_factorization(solver, ESPALIER_LLH));
    OK(solver, espalier_set_matrix(solver, root ? &matrix : NULL));
    EVERYWHERE(ESPALIER_NOT_POSITIVE_DEFINITE, "", espalier_factorize(solver));
    EVERYWHERE(ESPALIER_USAGE, "before espalier_factorize",
               espalier_solve(solver, none, root, x, p->n, x, p->n));

    /* Invalid arguments of process 0 are errors on all processes. */
    EVERYWHERE(ESPALIER_USAGE, "matrix is null", espalier_set_matrix(solver, NULL));
    broken.entries = -1;
    EVERYWHERE(ESPALIER_BAD_INPUT, "-1 entries", espalier_set_matrix(solver, root ? &broken : NULL));
    OK(solver, espalier_set_matrix(solver, root ? &good : NULL));
    OK(solver, espalier_factorize(solver));
    EVERYWHERE(ESPALIER_USAGE, "leading dimension", espalier_solve(solver, none, 1, x, 1, x, 1));
    x[3] = NAN;
    EVERYWHERE(ESPALIER_BAD_INPUT, "row 3", espalier_solve(solver, none, 1, x, p->n, x, p->n));
    EVERYWHERE(ESPALIER_USAGE, "op = 5", espalier_drive(solver, (espalier_op)5, 1, x, p->n, x, p->n));
    EVERYWHERE(ESPALIER_USAGE, "rank is null", espalier_null_space(solver, 0, NULL));
    EVERYWHERE(ESPALIER_USAGE, "no such colour",
               root ? espalier_refuse(solver, "espalier_solve", "no such colour")
                    : espalier_solve(solver, none, 1, NULL, 0, NULL, 0));
    if (ranks > 1)
        EVERYWHERE(ESPALIER_USAGE, "while process 0 calls",
                   root ? espalier_analyze(solver) : espalier_factorize(solver));
    if (!root)
        FAILS(solver, ESPALIER_USAGE, "process 0 alone",
              espalier_write_predicted_trace(solver, "t", 1, 1, NULL));
    EVERYWHERE(ESPALIER_USAGE, "path is null", espalier_write_trace(solver, NULL, NULL));
    EVERYWHERE(ESPALIER_USAGE, "no trace was recorded",
               espalier_write_trace(solver, root ? "t" : NULL, NULL));

    /* The handle remains usable. */
    x[3] = 1;
    OK(solver, espalier_drive(solver, none, root, root ? x : NULL, p->n, root ? x : NULL, p->n));
    free(x);
    free_problem(&indefinite);
}

/* The Schur complement and null vectors of the Laplacian of a path. */
static void results_are_on_process_0(void) {
    int const root = rank == 0, n = 40;
    int start[41], row[80], entries = 0;
    double value[80], s[4] = {0}, basis[40] = {0}, b[40], r[2] = {0}, x[40] = {0};
    int64_t const kept[] = {0, 39};
    int64_t found = -1;
    espalier_matrix matrix = {.symmetry = ESPALIER_SYMMETRIC, .triangle = ESPALIER_LOWER};
    espalier_solver* solver = NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    start[0] = 0;
    for (int j = 0; j < n; ++j) {
        b[j] = 0;
        row[entries] = j, value[entries++] = j == 0 || j == n - 1 ? 1 : 2;
        if (j + 1 < n) row[entries] = j + 1, value[entries++] = -1;
        start[j + 1] = entries;
    }
    matrix.rows = matrix.cols = n;
    matrix.entries = entries;
    matrix.pointers = start, matrix.indices = row, matrix.values = value;
    CHECK(espalier_create_mpi(&solver, ESPALIER_DOUBLE, &world) == ESPALIER_OK);
    if (root) OK(solver, espalier_set_allow_singular(solver, 1));
    if (root) OK(solver, espalier_set_factorization(solver, ESPALIER_LDLT));
    OK(solver, espalier_set_matrix(solver, root ? &matrix : NULL));
    OK(solver, espalier_factorize(solver));
    OK(solver, espalier_null_space(solver, 0, &found));
    CHECK(found == n - 1);
    OK(solver, espalier_null_vectors(solver, root ? basis : NULL, root ? n : 0));
    if (root) CHECK(fabs(fabs(basis[17]) - sqrt(1.0 / n)) < 1e-12);

    if (root) OK(solver, espalier_set_schur(solver, 2, kept, 0));
    OK(solver, espalier_analyze(solver));
    OK(solver, espalier_factorize(solver));
    EVERYWHERE(ESPALIER_USAGE, "schur is null", espalier_schur_complement(solver, NULL, 2));
    OK(solver, espalier_schur_complement(solver, root ? s : NULL, root ? 2 : 0));
    if (root) CHECK(fabs(s[0] - 1.0 / 39) < 1e-12 && fabs(s[1] + 1.0 / 39) < 1e-12);
    b[0] = 3;
    OK(solver,
       espalier_condense(solver, ESPALIER_OP_NONE, root, root ? b : NULL, n, root ? r : NULL, root ? 2 : 0));
    if (root) CHECK(fabs(r[0] - 3) < 1e-12 && fabs(r[1]) < 1e-12);
    r[0] = 39, r[1] = 0, b[0] = 0;
    OK(solver, espalier_expand(solver, ESPALIER_OP_NONE, root, root ? b : NULL, n, root ? r : NULL,
                               root ? 2 : 0, root ? x : NULL, root ? n : 0));
    if (root) CHECK(fabs(x[13] - 26) < 1e-9);
    espalier_destroy(&solver);
}

static void others_may_follow(problem const* p) {
    espalier_solver* solver = NULL;
    espalier_matrix const matrix = described(p);
    MPI_Comm world = MPI_COMM_WORLD;
    if (rank != 0) {
        CHECK(espalier_follow_mpi(ESPALIER_DOUBLE, &world) == ESPALIER_OK);
        return;
    }
    double* const x = malloc((size_t)p->n * sizeof *x);
    for (int i = 0; i < p->n; ++i) x[i] = i % 3;
    CHECK(espalier_create_mpi_fortran(&solver, ESPALIER_DOUBLE, (int)MPI_Comm_c2f(world)) == ESPALIER_OK);
    FAILS(solver, ESPALIER_USAGE, "matrix is null",
          espalier_set_matrix(solver, NULL)); /* without communication */
    OK(solver, espalier_set_matrix(solver, &matrix));
    OK(solver, espalier_drive(solver, none, 1, x, p->n, x, p->n));
    espalier_destroy(&solver);
    free(x);
}

static void misuse_is_refused_everywhere(void) {
    espalier_solver* solver = (espalier_solver*)&rank;
    MPI_Comm world = MPI_COMM_WORLD, nobody = MPI_COMM_NULL;
    CHECK(espalier_create_mpi(NULL, ESPALIER_DOUBLE, &world) == ESPALIER_USAGE);
    CHECK(espalier_create_mpi(&solver, ESPALIER_DOUBLE, NULL) == ESPALIER_USAGE && !solver);
    CHECK(espalier_create_mpi(&solver, ESPALIER_DOUBLE, &nobody) == ESPALIER_USAGE && !solver);
    CHECK(espalier_create_mpi_fortran(&solver, ESPALIER_DOUBLE, (int)MPI_Comm_c2f(nobody)) == ESPALIER_USAGE);
    CHECK(espalier_create_mpi(&solver, (espalier_scalar)'x', &world) == ESPALIER_USAGE && !solver);
    CHECK(espalier_follow_mpi(ESPALIER_DOUBLE, &nobody) == ESPALIER_USAGE);
    CHECK(espalier_follow_mpi_fortran(ESPALIER_DOUBLE, (int)MPI_Comm_c2f(nobody)) == ESPALIER_USAGE);
    CHECK(espalier_follow_mpi(ESPALIER_DOUBLE, &world) == ESPALIER_USAGE); /* process 0 must not follow */
    if (ranks == 1) return;
    CHECK(espalier_create_mpi(&solver, rank == 0 ? ESPALIER_DOUBLE : ESPALIER_SINGLE, &world) ==
          ESPALIER_USAGE);
    if (ranks == 2) return;
    CHECK((rank == 1 ? espalier_follow_mpi(ESPALIER_DOUBLE, &world)
                     : espalier_create_mpi(&solver, ESPALIER_DOUBLE, &world)) == ESPALIER_USAGE);
}

int main(int argc, char** argv) {
    espalier_solver* solver = NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    int level = 0, all = 0;
    ring own = {0};
    problem p = laplacian3d(8);
    CHECK(espalier_create_mpi(&solver, ESPALIER_DOUBLE, &world) == ESPALIER_USAGE); /* before MPI_Init */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    start_receive(&own);
    send_and_receive(&own, 3);
    for (char const* comm_threads = "012"; *comm_threads; ++comm_threads) {
        char const value[] = {*comm_threads, '\0'};
        CHECK(espalier_create_mpi(&solver, ESPALIER_DOUBLE, &world) == ESPALIER_OK);
        if (!solver) break;
        rank_and_size_are_reported(solver);
        if (rank == 0) OK(solver, espalier_set_option(solver, "comm-threads", value));
        OK(solver, espalier_set_threads(solver, 1));
        a_system_is_solved(solver, &p, &own);
        failures_are_everywhere(solver, &p);
        send_and_receive(&own, 6);
        espalier_destroy(&solver);
    }
    results_are_on_process_0();
    parts_are_joined();
    others_may_follow(&p);
    misuse_is_refused_everywhere();
    send_and_receive(&own, 7);
    MPI_Cancel(&own.request);
    MPI_Wait(&own.request, MPI_STATUS_IGNORE);
    free_problem(&p);
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    if (rank == 0 && all == 0) printf("%d processes in C: fine\n", ranks);
    return all != 0;
}
