/* A cancelled step returns soon, and its handle remains usable. Prints the delay. Its limit is 100 ms or, on
 * a slow machine, half of the time that the rest of the step would have taken. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "check.h"
#include "problems.h"

int failures = 0;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Cancels once `after` seconds have passed. */
typedef struct wish {
    double begin;
    double after;
    int asked;
} wish;

static int cancel(void* user) {
    wish* const w = user;
    ++w->asked;
    return now() - w->begin >= w->after;
}

static problem p;
static double *b, *x;
enum { columns = 64 };

/* Runs the steps before this one, which are not cancelled. */
typedef struct step {
    char const* name;
    espalier_status (*before)(espalier_solver* solver);
    espalier_status (*take)(espalier_solver* solver);
} step;

static espalier_status nothing(espalier_solver* solver) {
    (void)solver;
    return ESPALIER_OK;
}

static espalier_status solve(espalier_solver* solver) {
    return espalier_solve(solver, ESPALIER_OP_NONE, columns, b, p.n, x, p.n);
}

static espalier_status forget_solution(espalier_solver* solver) {
    for (size_t k = 0; k < columns * (size_t)p.n; ++k) x[k] = 0;
    return espalier_factorize(solver);
}

static espalier_status refine(espalier_solver* solver) {
    return espalier_refine(solver, ESPALIER_OP_NONE, columns, b, p.n, x, p.n);
}

/* Cancels the step after `after` seconds. Returns the seconds from then until the step returned, or
 * infinity if it was complete. */
static double cancel_once(espalier_solver* solver, step const* s, double after, int* asked) {
    OK(solver, s->before(solver));
    wish w = {.after = after};
    OK(solver, espalier_set_cancel(solver, cancel, &w));
    w.begin = now();
    espalier_status const status = s->take(solver);
    double const latency = now() - w.begin - w.after;
    if (status != ESPALIER_OK) FAILS(solver, ESPALIER_CANCELLED, "cancelled", status);
    OK(solver, espalier_set_cancel(solver, NULL, NULL));
    *asked = w.asked;
    return status == ESPALIER_OK ? INFINITY : latency;
}

/* Runs the whole step twice, because the first run is slower, then cancels it after a fifth of that time.
 * Other programs that use the processors may delay the whole step, so that an attempt is complete before it is
 * to be cancelled, or the attempt, which then returns late. At most ten attempts are made, each after a
 * shorter time than the one before. */
static void cancel_step(espalier_solver* solver, step const* s) {
    double whole = INFINITY;
    for (int round = 0; round < 2; ++round) {
        OK(solver, s->before(solver));
        double const begin = now();
        OK(solver, s->take(solver));
        whole = fmin(whole, now() - begin);
    }
    double after = whole / 5;
    double const allowed = fmax(0.1, (whole - after) / 2);
    double latency = INFINITY;
    for (int attempt = 0; attempt < 10 && latency >= allowed; ++attempt) {
        int asked = 0;
        latency = cancel_once(solver, s, after, &asked);
        printf("%s: whole %.3f s, asked %d times, returned %.1f ms after the request\n", s->name, whole,
               asked, 1e3 * latency);
        after /= 2;
    }
    CHECK(latency < allowed);
}

int main(int argc, char** argv) {
    p = laplacian3d(argc > 1 ? atoi(argv[1]) : 36);
    espalier_matrix const matrix = described(&p);
    b = malloc(columns * (size_t)p.n * sizeof *b);
    x = malloc(columns * (size_t)p.n * sizeof *x);
    if (!b || !x) return 2;
    for (size_t k = 0; k < columns * (size_t)p.n; ++k) b[k] = (double)(k % 17) - 8;
    espalier_solver* solver = NULL;
    CHECK(espalier_create(&solver, ESPALIER_DOUBLE) == ESPALIER_OK);
    OK(solver, espalier_set_matrix(solver, &matrix));
    OK(solver, espalier_set_threads(solver, 2));

    step const steps[] = {{"analyze", nothing, espalier_analyze},
                          {"factorize", espalier_analyze, espalier_factorize},
                          {"solve", espalier_factorize, solve},
                          {"refine", forget_solution, refine}};
    for (int k = 0; k < 4; ++k) cancel_step(solver, &steps[k]);

    wish at_once = {0};
    OK(solver, espalier_set_cancel(solver, cancel, &at_once));
    FAILS(solver, ESPALIER_CANCELLED, "cancelled", espalier_factorize(solver));
    FAILS(solver, ESPALIER_CANCELLED, "cancelled", espalier_analyze(solver));
    OK(solver, espalier_set_cancel(solver, NULL, NULL));
    OK(solver, espalier_drive(solver, ESPALIER_OP_NONE, 1, b, p.n, x, p.n));
    CHECK(residual(&p, 0, x, b) < 1e-10);
    espalier_destroy(&solver);
    free_problem(&p);
    free(b);
    free(x);
    if (failures) fprintf(stderr, "%d checks failed\n", failures);
    return failures != 0;
}
