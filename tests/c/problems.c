#include "problems.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void* memory(size_t count, size_t size) {
    void* const found = calloc(count > 0 ? count : 1, size);
    if (!found) abort();
    return found;
}

static problem room_for(int n, int most, int symmetric) {
    problem p = {.n = n, .symmetric = symmetric};
    p.start = memory((size_t)n + 1, sizeof *p.start);
    p.row = memory((size_t)most, sizeof *p.row);
    p.value = memory((size_t)most, sizeof *p.value);
    return p;
}

static void add(problem* p, int row, double value) {
    p->row[p->entries] = row;
    p->value[p->entries++] = value;
}

static problem grid(int k, double shift, double speed, int symmetric) {
    problem p = room_for(k * k, 5 * k * k, symmetric);
    for (int j = 0; j < k * k; ++j) {
        int const x = j % k, y = j / k;
        if (!symmetric && y > 0) add(&p, j - k, -1);
        if (!symmetric && x > 0) add(&p, j - 1, -1 + speed);
        add(&p, j, 4 + shift);
        if (x + 1 < k) add(&p, j + 1, -1 - speed);
        if (y + 1 < k) add(&p, j + k, -1);
        p.start[j + 1] = p.entries;
    }
    return p;
}

problem laplacian(int k, double shift) {
    return grid(k, shift, 0, 1);
}
problem convection(int k, double speed) {
    return grid(k, 0, speed, 0);
}

problem laplacian3d(int k) {
    problem p = room_for(k * k * k, 4 * k * k * k, 1);
    for (int j = 0; j < p.n; ++j) {
        add(&p, j, 6.1);
        if (j % k + 1 < k) add(&p, j + 1, -1);
        if (j / k % k + 1 < k) add(&p, j + k, -1);
        if (j / (k * k) + 1 < k) add(&p, j + k * k, -1);
        p.start[j + 1] = p.entries;
    }
    return p;
}

problem saddle(int n) {
    problem p = room_for(n, 3 * n, 1);
    for (int j = 0; j < n; ++j) {
        if (j % 2 == 0 && j + 1 < n) add(&p, j + 1, 1);
        if (j + 2 < n) add(&p, j + 2, 0.1);
        p.start[j + 1] = p.entries;
    }
    return p;
}

void free_problem(problem* p) {
    free(p->start);
    free(p->row);
    free(p->value);
    memset(p, 0, sizeof *p);
}

espalier_matrix described(problem const* p) {
    espalier_matrix const matrix = {
        .symmetry = p->symmetric ? ESPALIER_SYMMETRIC : ESPALIER_GENERAL,
        .triangle = p->symmetric ? ESPALIER_LOWER : ESPALIER_FULL,
        .rows = p->n,
        .cols = p->n,
        .entries = p->entries,
        .pointers = p->start,
        .indices = p->row,
        .values = p->value,
    };
    return matrix;
}

double residual(problem const* p, int transposed, double const* x, double const* b) {
    double* const y = memory((size_t)p->n, sizeof *y); /* zeros */
    for (int j = 0; j < p->n; ++j)
        for (int k = p->start[j]; k < p->start[j + 1]; ++k) {
            int const i = p->row[k];
            if (!transposed || p->symmetric) y[i] += p->value[k] * x[j];
            if ((transposed && !p->symmetric) || (p->symmetric && i != j)) y[j] += p->value[k] * x[i];
        }
    double worst = 0;
    for (int i = 0; i < p->n; ++i) {
        double const difference = fabs(y[i] - b[i]);
        if (!(difference <= worst)) worst = difference;
    }
    free(y);
    return worst;
}
