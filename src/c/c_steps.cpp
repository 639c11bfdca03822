// The matrix and the steps of the C interface.
#include "c/c_handle.hpp"

using namespace espalier;

espalier_status espalier_set_matrix(espalier_solver* solver, espalier_matrix const* matrix) {
    return guarded(solver, [&](espalier_solver& self) { self.session->set_matrix(matrix); });
}

espalier_status espalier_set_values(espalier_solver* solver, int64_t entries, void const* values) {
    return guarded(solver, [&](espalier_solver& self) { self.session->set_values(entries, values, false); });
}

espalier_status espalier_get_size(espalier_solver* solver, int64_t* order, int64_t* entries) {
    return guarded(solver, [&](espalier_solver& self) {
        Index const found = self.session->order();
        if (order) *order = found;
        if (entries) *entries = self.session->stored();
    });
}

espalier_status espalier_analyze(espalier_solver* solver) {
    return guarded(solver, [](espalier_solver& self) { self.session->analyze(); });
}

espalier_status espalier_factorize(espalier_solver* solver) {
    return guarded(solver, [](espalier_solver& self) { self.session->factorize(); });
}

espalier_status espalier_refactorize(espalier_solver* solver, int64_t entries, void const* values) {
    return guarded(solver, [&](espalier_solver& self) { self.session->refactorize(entries, values, false); });
}

// A step with all rows on process 0, and one with some rows on each process.
#define ESPALIER_STEP(step)                                                                                  \
    espalier_status espalier_##step(espalier_solver* solver, espalier_op op, int64_t nrhs, void const* b,    \
                                    int64_t ldb, void* x, int64_t ldx) {                                     \
        return guarded(solver, [&](espalier_solver& self) {                                                  \
            self.session->step(op, {}, {b, nrhs, ldb}, {x, nrhs, ldx});                                      \
        });                                                                                                  \
    }                                                                                                        \
    espalier_status espalier_##step##_rows(espalier_solver* solver, espalier_op op, int64_t nrhs,            \
                                           int64_t rows, void const* b, int64_t ldb, void* x, int64_t ldx) { \
        return guarded(solver, [&](espalier_solver& self) {                                                  \
            self.session->step(op, rows, {b, nrhs, ldb}, {x, nrhs, ldx});                                    \
        });                                                                                                  \
    }
ESPALIER_STEP(solve)
ESPALIER_STEP(refine)
ESPALIER_STEP(drive)
#undef ESPALIER_STEP

espalier_status espalier_solve_sparse(espalier_solver* solver, espalier_op op, espalier_matrix const* b,
                                      void* x, int64_t ldx) {
    return guarded(solver, [&](espalier_solver& self) { self.session->solve_sparse(op, b, x, ldx); });
}

espalier_status espalier_solve_batch(espalier_solver* solver, int64_t systems, int64_t entries,
                                     void const* values, int64_t nrhs, void const* b, void* x,
                                     espalier_status* status, double* errors) {
    return guarded(solver, [&](espalier_solver& self) {
        self.session->solve_batch({systems, entries, values, nrhs, b, x, status, errors});
    });
}

espalier_status espalier_set_matrix_part(espalier_solver* solver, espalier_matrix const* part) {
    return guarded(solver, [&](espalier_solver& self) { self.session->set_matrix_part(part); });
}

espalier_status espalier_set_values_part(espalier_solver* solver, int64_t entries, void const* values) {
    return guarded(solver, [&](espalier_solver& self) { self.session->set_values(entries, values, true); });
}

espalier_status espalier_refactorize_part(espalier_solver* solver, int64_t entries, void const* values) {
    return guarded(solver, [&](espalier_solver& self) { self.session->refactorize(entries, values, true); });
}

espalier_status espalier_refuse(espalier_solver* solver, char const* call, char const* message) {
    return guarded(solver, [&](espalier_solver& self) {
        require_pointer(call, "call");
        self.session->refuse(call, message ? message : "");
    });
}
