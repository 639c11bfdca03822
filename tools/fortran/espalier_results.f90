! Results of a factorization other than solutions: inertia, determinant, condition, null space, Schur complement.
submodule (espalier) espalier_results
    implicit none

contains

    module procedure inertia
        positive = 0
        negative = 0
        zero = 0
        call finish(self%handle, c_inertia(self%handle, positive, negative, zero), status)
    end procedure

    module procedure determinant
        real(c_double) :: re, im
        integer(c_int) :: ended
        re = 0
        im = 0
        log_modulus = 0
        ended = c_determinant(self%handle, re, im, log_modulus)
        phase = cmplx(re, im, real64)
        call finish(self%handle, ended, status)
    end procedure

    module procedure rcond
        value = 0
        call finish(self%handle, c_rcond(self%handle, value), status)
    end procedure

    module procedure null_space
        integer(c_int64_t) :: order, entries
        integer(c_int) :: ended
        rank = 0
        order = 0
        ended = c_null_space(self%handle, tolerance, rank)
        if (ended == espalier_ok) ended = c_get_size(self%handle, order, entries)
        self%nullity = order - rank
        call finish(self%handle, ended, status)
    end procedure

    module procedure null_vectors
        type(array) :: found
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_null_vectors')
        found = array_of(basis)
        call require_valid(call_to, found)
        call require_all_rows(call_to, found)
        call require(call_to, found%columns >= self%nullity, 'the basis has fewer columns than there are null vectors')
        if (is_refused(call_to, status)) return
        call finish(self%handle, c_null_vectors(self%handle, found%address, found%leading), status)
    end procedure

    module procedure schur_complement
        type(array) :: found
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_schur_complement')
        found = array_of(schur)
        call require_valid(call_to, found)
        call require_whole(call_to, found)
        call require(call_to, found%columns == found%rows, 'the array for the Schur complement is not square')
        if (is_refused(call_to, status)) return
        call finish(self%handle, c_schur_complement(self%handle, found%address, found%leading), status)
    end procedure

    module procedure condense
        type(array) :: right, reduced
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_condense')
        right = array_of(b)
        reduced = array_of(r)
        call require_valid(call_to, right)
        call require_columns_of(call_to, right, reduced)
        call require_all_rows(call_to, right)
        call require_whole(call_to, reduced)
        if (is_refused(call_to, status)) return
        call finish(self%handle, c_condense(self%handle, right%columns, right%address, right%leading, reduced%address, &
                                            reduced%leading), status)
    end procedure

    module procedure expand
        type(array) :: right, kept, whole
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_expand')
        right = array_of(b)
        kept = array_of(x_schur)
        whole = array_of(x)
        call require_valid(call_to, right)
        call require_columns_of(call_to, right, kept)
        call require_columns_of(call_to, right, whole)
        call require_all_rows(call_to, right)
        call require_all_rows(call_to, whole)
        call require_whole(call_to, kept)
        if (is_refused(call_to, status)) return
        call finish(self%handle, c_expand(self%handle, right%columns, right%address, right%leading, kept%address, &
                                          kept%leading, whole%address, whole%leading), status)
    end procedure

end submodule
