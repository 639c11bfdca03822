/* Checks of test programs in C. Failures are counted, and the program continues. */
#ifndef ESPALIER_TESTS_CHECK_H
#define ESPALIER_TESTS_CHECK_H

#include <stdio.h>
#include <string.h>

#include "espalier/espalier.h"

extern int failures;

#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            ++failures;                                                                                      \
            fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                          \
        }                                                                                                    \
    } while (0)

/* Checks that a call succeeds and leaves no message. */
#define OK(solver, call)                                                                                     \
    do {                                                                                                     \
        espalier_status const status_ = (call);                                                              \
        if (status_ != ESPALIER_OK || espalier_message(solver)[0] != '\0') {                                 \
            ++failures;                                                                                      \
            fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call,                                \
                    espalier_status_string(status_), espalier_message(solver));                              \
        }                                                                                                    \
    } while (0)

/* Checks that a call fails with this status and that its message contains `part`. */
#define FAILS(solver, expected, part, call)                                                                  \
    do {                                                                                                     \
        espalier_status const status_ = (call);                                                              \
        if (status_ != (expected) || espalier_message(solver)[0] == '\0' ||                                  \
            !strstr(espalier_message(solver), part)) {                                                       \
            ++failures;                                                                                      \
            fprintf(stderr, "%s:%d: %s: expected %s with '%s', and it was %s: %s\n", __FILE__, __LINE__,     \
                    #call, espalier_status_string(expected), part, espalier_status_string(status_),          \
                    espalier_message(solver));                                                               \
        }                                                                                                    \
    } while (0)

/* Creates a solver on one thread. `matrix` may be null. */
static inline espalier_solver* with_matrix(espalier_scalar scalar, espalier_matrix const* matrix) {
    espalier_solver* solver = NULL;
    CHECK(espalier_create(&solver, scalar) == ESPALIER_OK);
    OK(solver, espalier_set_threads(solver, 1));
    if (matrix) OK(solver, espalier_set_matrix(solver, matrix));
    return solver;
}

#endif
