// Results of the factors in the C interface: inertia, determinant, condition, null space, Schur complement.
#include "c/c_handle.hpp"

using namespace espalier;

espalier_status espalier_inertia(espalier_solver* solver, int64_t* positive, int64_t* negative,
                                 int64_t* zero) {
    return guarded(solver, [&](espalier_solver& self) {
        Inertia const inertia = self.session->inertia();
        if (positive) *positive = inertia.positive;
        if (negative) *negative = inertia.negative;
        if (zero) *zero = inertia.zero;
    });
}

espalier_status espalier_determinant(espalier_solver* solver, double* phase_re, double* phase_im,
                                     double* log_modulus) {
    return guarded(solver, [&](espalier_solver& self) {
        auto const determinant = self.session->determinant();
        if (phase_re) *phase_re = determinant.phase.real();
        if (phase_im) *phase_im = determinant.phase.imag();
        if (log_modulus) *log_modulus = determinant.log_modulus;
    });
}

espalier_status espalier_rcond(espalier_solver* solver, double* rcond) {
    return guarded(solver, [&](espalier_solver& self) { self.session->reciprocal_condition(rcond); });
}

espalier_status espalier_null_space(espalier_solver* solver, double tolerance, int64_t* rank) {
    return guarded(solver, [&](espalier_solver& self) { self.session->null_space(tolerance, rank); });
}

espalier_status espalier_null_vectors(espalier_solver* solver, void* basis, int64_t ld) {
    return guarded(solver, [&](espalier_solver& self) { self.session->null_vectors(basis, ld); });
}

espalier_status espalier_selected_inverse(espalier_solver* solver, int64_t entries, void* inverse) {
    return guarded(solver, [&](espalier_solver& self) { self.session->selected_inverse(entries, inverse); });
}

espalier_status espalier_inverse_diagonal(espalier_solver* solver, void* diagonal) {
    return guarded(solver, [&](espalier_solver& self) { self.session->inverse_diagonal(diagonal); });
}

espalier_status espalier_factors(espalier_solver* solver, int64_t entries[3]) {
    return guarded(solver, [&](espalier_solver& self) { self.session->factors(entries); });
}

espalier_status espalier_get_factor(espalier_solver* solver, char factor, int base, int64_t* pointers,
                                    int64_t* indices, void* values) {
    return guarded(solver, [&](espalier_solver& self) {
        self.session->get_factor(factor, base, pointers, indices, values);
    });
}

espalier_status espalier_get_permutations(espalier_solver* solver, int base, int64_t* p, int64_t* q) {
    return guarded(solver, [&](espalier_solver& self) { self.session->get_permutations(base, p, q); });
}

espalier_status espalier_solve_lower(espalier_solver* solver, int64_t nrhs, void const* b, int64_t ldb,
                                     void* x, int64_t ldx) {
    return guarded(solver, [&](espalier_solver& self) {
        self.session->solve_half(true, {b, nrhs, ldb}, {x, nrhs, ldx});
    });
}

espalier_status espalier_solve_lower_adjoint(espalier_solver* solver, int64_t nrhs, void const* b,
                                             int64_t ldb, void* x, int64_t ldx) {
    return guarded(solver, [&](espalier_solver& self) {
        self.session->solve_half(false, {b, nrhs, ldb}, {x, nrhs, ldx});
    });
}

espalier_status espalier_update(espalier_solver* solver, espalier_matrix const* w, int sign, int* in_place) {
    return guarded(solver, [&](espalier_solver& self) {
        bool const changed = self.session->update(w, sign);
        if (in_place) *in_place = changed ? 1 : 0;
    });
}

espalier_status espalier_update_dense(espalier_solver* solver, int64_t rank, void const* w, int64_t ldw,
                                      int sign, int* in_place) {
    return guarded(solver, [&](espalier_solver& self) {
        bool const changed = self.session->update_dense({w, rank, ldw}, sign);
        if (in_place) *in_place = changed ? 1 : 0;
    });
}

espalier_status espalier_schur_complement(espalier_solver* solver, void* schur, int64_t ld) {
    return guarded(solver, [&](espalier_solver& self) { self.session->schur_complement(schur, ld); });
}

espalier_status espalier_condense(espalier_solver* solver, espalier_op op, int64_t nrhs, void const* b,
                                  int64_t ldb, void* r, int64_t ldr) {
    return guarded(
        solver, [&](espalier_solver& self) { self.session->condense(op, {b, nrhs, ldb}, {r, nrhs, ldr}); });
}

espalier_status espalier_expand(espalier_solver* solver, espalier_op op, int64_t nrhs, void const* b,
                                int64_t ldb, void const* x_schur, int64_t lds, void* x, int64_t ldx) {
    return guarded(solver, [&](espalier_solver& self) {
        self.session->expand(op, {b, nrhs, ldb}, {x_schur, nrhs, lds}, {x, nrhs, ldx});
    });
}
