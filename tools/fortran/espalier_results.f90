! What the factors tell besides solutions: inertia, determinant, condition, null space, Schur complement.
submodule (espalier) espalier_results
    implicit none

contains

    module procedure inertia
        positive = 0
        negative = 0
        zero = 0
        call settle(self%handle, c_inertia(self%handle, positive, negative, zero), status)
    end procedure

    module procedure determinant
        real(c_double) :: re, im
        integer(c_int) :: ended
        re = 0
        im = 0
        log_modulus = 0
        ended = c_determinant(self%handle, re, im, log_modulus)
        phase = cmplx(re, im, real64)
        call settle(self%handle, ended, status)
    end procedure

    module procedure rcond
        value = 0
        call settle(self%handle, c_rcond(self%handle, value), status)
    end procedure

    module procedure null_space
        integer(c_int64_t) :: order, entries
        integer(c_int) :: ended
        rank = 0
        order = 0
        ended = c_null_space(self%handle, tolerance, rank)
        if (ended == espalier_ok) ended = c_get_size(self%handle, order, entries)
        self%nullity = order - rank
        call settle(self%handle, ended, status)
    end procedure

    module procedure null_vectors
        type(array) :: found
        type(intended_call) :: here
        logical :: counts
        here = intended_call(self%handle, 'espalier_null_vectors')
        counts = gives(here)
        call describe(basis, found)
        if (.not. are_numbers(here, found, status)) return
        if (.not. are_long(here, found, status)) return
        if (counts .and. found%columns < self%nullity) then
            call refuse(here, 'the basis has fewer columns than there are null vectors', status)
            return
        end if
        call settle(self%handle, c_null_vectors(self%handle, found%address, found%leading), status)
    end procedure

    module procedure schur_complement
        type(array) :: found
        type(intended_call) :: here
        logical :: counts
        here = intended_call(self%handle, 'espalier_schur_complement')
        counts = gives(here)
        call describe(schur, found)
        if (.not. are_numbers(here, found, status)) return
        if (.not. is_whole(here, found, status)) return
        if (counts .and. found%columns /= found%rows) then
            call refuse(here, 'the array for the Schur complement is not square', status)
            return
        end if
        call settle(self%handle, c_schur_complement(self%handle, found%address, found%leading), status)
    end procedure

    module procedure condense
        type(array) :: right, reduced
        type(intended_call) :: here
        here = intended_call(self%handle, 'espalier_condense')
        call describe(b, right)
        call describe(r, reduced)
        if (.not. are_numbers(here, right, status)) return
        if (.not. are_as_many(here, right, reduced, status)) return
        if (.not. are_long(here, right, status)) return
        if (.not. is_whole(here, reduced, status)) return
        call settle(self%handle, c_condense(self%handle, right%columns, right%address, right%leading, reduced%address, &
                                     reduced%leading), status)
    end procedure

    module procedure expand
        type(array) :: right, kept, whole
        type(intended_call) :: here
        here = intended_call(self%handle, 'espalier_expand')
        call describe(b, right)
        call describe(x_schur, kept)
        call describe(x, whole)
        if (.not. are_numbers(here, right, status)) return
        if (.not. are_as_many(here, right, kept, status)) return
        if (.not. are_as_many(here, right, whole, status)) return
        if (.not. are_long(here, right, status)) return
        if (.not. are_long(here, whole, status)) return
        if (.not. is_whole(here, kept, status)) return
        call settle(self%handle, c_expand(self%handle, right%columns, right%address, right%leading, kept%address, &
                                   kept%leading, whole%address, whole%leading), status)
    end procedure

end submodule
