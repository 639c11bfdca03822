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
        logical :: uses
        call_to = c_call(self%handle, 'espalier_null_vectors')
        uses = uses_arrays(call_to)
        found = array_of(basis)
        if (.not. is_valid(call_to, found, status)) return
        if (.not. has_all_rows(call_to, found, status)) return
        if (uses .and. found%columns < self%nullity) then
            call refuse(call_to, 'the basis has fewer columns than there are null vectors', status)
            return
        end if
        call finish(self%handle, c_null_vectors(self%handle, found%address, found%leading), status)
    end procedure

    module procedure schur_complement
        type(array) :: found
        type(c_call) :: call_to
        logical :: uses
        call_to = c_call(self%handle, 'espalier_schur_complement')
        uses = uses_arrays(call_to)
        found = array_of(schur)
        if (.not. is_valid(call_to, found, status)) return
        if (.not. is_whole(call_to, found, status)) return
        if (uses .and. found%columns /= found%rows) then
            call refuse(call_to, 'the array for the Schur complement is not square', status)
            return
        end if
        call finish(self%handle, c_schur_complement(self%handle, found%address, found%leading), status)
    end procedure

    module procedure condense
        type(array) :: right, reduced
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_condense')
        right = array_of(b)
        reduced = array_of(r)
        if (.not. is_valid(call_to, right, status)) return
        if (.not. has_columns_of(call_to, right, reduced, status)) return
        if (.not. has_all_rows(call_to, right, status)) return
        if (.not. is_whole(call_to, reduced, status)) return
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
        if (.not. is_valid(call_to, right, status)) return
        if (.not. has_columns_of(call_to, right, kept, status)) return
        if (.not. has_columns_of(call_to, right, whole, status)) return
        if (.not. has_all_rows(call_to, right, status)) return
        if (.not. has_all_rows(call_to, whole, status)) return
        if (.not. is_whole(call_to, kept, status)) return
        call finish(self%handle, c_expand(self%handle, right%columns, right%address, right%leading, kept%address, &
                                          kept%leading, whole%address, whole%leading), status)
    end procedure

end submodule
