/* Small systems in compressed columns, and how well a vector solves them. */
#ifndef ESPALIER_TESTS_PROBLEMS_H
#define ESPALIER_TESTS_PROBLEMS_H

#include <stdint.h>

#include "espalier/espalier.h"

typedef struct problem {
    int n;
    int entries;
    int32_t* start; /* n + 1, from 0 */
    int32_t* row;
    double* value;
    int symmetric; /* the lower triangle is stored */
} problem;

/* Five-point differences on a k x k grid with `shift` added to the diagonal: definite for shift >= 0. */
problem laplacian(int k, double shift);
/* Seven-point differences on a k x k x k grid; definite. */
problem laplacian3d(int k);
/* The five points with convection: general. */
problem convection(int k, double speed);
/* [0 1; 1 0] blocks along the diagonal, coupled: n / 2 eigenvalues of each sign. */
problem saddle(int n);
void free_problem(problem* p);

/* The arrays as the interface takes them. */
espalier_matrix described(problem const* p);

/* max |A x - b|, or max |A^T x - b|. */
double residual(problem const* p, int transposed, double const* x, double const* b);

#endif
