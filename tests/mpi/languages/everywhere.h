/* Checks that a call has the same status and message on all ranks. */
#ifndef ESPALIER_TESTS_EVERYWHERE_H
#define ESPALIER_TESTS_EVERYWHERE_H

#include <mpi.h>

#include "check.h"

extern int rank, ranks;

/* parts_in_c.c */
void parts_are_joined(void);

/* Whether a text is equal on all ranks. */
static inline int is_everywhere(char const* text) {
    char of_0[1024] = "";
    int same, all;
    if (rank == 0) snprintf(of_0, sizeof of_0, "%s", text);
    MPI_Bcast(of_0, sizeof of_0, MPI_CHAR, 0, MPI_COMM_WORLD);
    same = strcmp(of_0, text) == 0;
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return all;
}

#define EVERYWHERE(expected, part, call)                                                                     \
    do {                                                                                                     \
        FAILS(solver, expected, part, call);                                                                 \
        CHECK(is_everywhere(espalier_message(solver)));                                                      \
    } while (0)

#endif
