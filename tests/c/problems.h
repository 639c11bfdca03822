/* Small systems in compressed columns, and the residuals of their solutions. */
#ifndef ESPALIER_TESTS_PROBLEMS_H
#define ESPALIER_TESTS_PROBLEMS_H

#include <stdint.h>

#include "espalier/espalier.h"

typedef struct problem {
    int n;
    int entries;
    int32_t* start; /* n + 1 entries, counted from 0 */
    int32_t* row;
    double* value;
    int symmetric; /* whether only the lower triangle is stored */
} problem;

/* Five-point differences on a k x k grid with `shift` added to the diagonal: definite for shift >= 0. */
problem laplacian(int k, double shift);
/* Seven-point differences on a k x k x k grid, positive definite. */
problem laplacian3d(int k);
/* Five-point differences with convection, unsymmetric. */
problem convection(int k, double speed);
/* [0 1; 1 0] blocks along the diagonal, coupled: n / 2 eigenvalues of each sign. */
problem saddle(int n);
void free_problem(problem* p);

/* The description of the arrays for the interface. */
espalier_matrix described(problem const* p);

/* max |A x - b|, or max |A^T x - b|. */
double residual(problem const* p, int transposed, double const* x, double const* b);

#endif
