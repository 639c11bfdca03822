/* Solves a system, and gets a status for a call in the wrong order. */
#include <espalier/espalier.h>
#include <stdio.h>

int main(void) {
    int const starts[] = {0, 2, 4, 5}, rows[] = {0, 1, 1, 2, 2};
    double const values[] = {2, -1, 2, -1, 2};
    double x[] = {1, 1, 1};
    espalier_matrix a = {0};
    espalier_solver* solver = NULL;
    espalier_status status;

    a.symmetry = ESPALIER_SYMMETRIC;
    a.triangle = ESPALIER_LOWER;
    a.rows = a.cols = 3;
    a.entries = 5;
    a.pointers = starts;
    a.indices = rows;
    a.values = values;
    if (espalier_create(&solver, ESPALIER_DOUBLE) != ESPALIER_OK) return 1;
    if (espalier_analyze(solver) != ESPALIER_USAGE) return 2;
    status = espalier_set_matrix(solver, &a);
    if (status == ESPALIER_OK) status = espalier_drive(solver, ESPALIER_OP_NONE, 1, x, 3, x, 3);
    if (status == ESPALIER_OK)
        printf("%.1f %.1f %.1f\n", x[0], x[1], x[2]);
    else
        fprintf(stderr, "%s\n", espalier_message(solver));
    espalier_destroy(&solver);
    return (int)status;
}
