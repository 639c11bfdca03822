/* Threads with separate handles do not affect each other. Each thread solves systems of its own, of both
 * kinds, with options and failures of its own, and gets the same bits as alone. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "problems.h"

int failures = 0;

enum { side = 14, n = side * side, threads = 4, rounds = 5 };

typedef struct work {
    pthread_t thread;
    int number;
    double x[n];
    int errors;
} work;

static void* solve_some(void* argument) {
    work* const w = argument;
    problem p = w->number % 2 ? laplacian(side, w->number) : convection(side, 0.1 * w->number);
    espalier_matrix const matrix = described(&p);
    double b[n];
    for (int i = 0; i < n; ++i) b[i] = i % (w->number + 2);
    for (int round = 0; round < rounds; ++round) {
        espalier_solver* solver = NULL;
        w->errors += espalier_create(&solver, ESPALIER_DOUBLE) != ESPALIER_OK;
        w->errors += espalier_set_threads(solver, 1 + w->number % 2) != ESPALIER_OK;
        w->errors += espalier_set_bind_threads(solver, 0) != ESPALIER_OK;
        w->errors += espalier_set_ordering(solver, (espalier_ordering)(w->number % 3)) != ESPALIER_OK;
        w->errors += espalier_factorize(solver) != ESPALIER_USAGE;
        w->errors += strstr(espalier_message(solver), "before espalier_set_matrix") == NULL;
        w->errors += espalier_set_matrix(solver, &matrix) != ESPALIER_OK;
        w->errors += espalier_drive(solver, ESPALIER_OP_NONE, 1, b, n, w->x, n) != ESPALIER_OK;
        w->errors += residual(&p, 0, w->x, b) > 1e-10;
        espalier_destroy(&solver);
    }
    free_problem(&p);
    return NULL;
}

int main(void) {
    static work alone[threads], together[threads];
    for (int t = 0; t < threads; ++t) {
        alone[t].number = together[t].number = t;
        solve_some(&alone[t]);
        CHECK(alone[t].errors == 0);
    }
    for (int t = 0; t < threads; ++t)
        CHECK(pthread_create(&together[t].thread, NULL, solve_some, &together[t]) == 0);
    for (int t = 0; t < threads; ++t) {
        CHECK(pthread_join(together[t].thread, NULL) == 0);
        CHECK(together[t].errors == 0);
        CHECK(memcmp(alone[t].x, together[t].x, sizeof alone[t].x) == 0);
    }
    if (failures) fprintf(stderr, "%d checks failed\n", failures);
    return failures != 0;
}
