! What the procedures of the module espalier have in common: how a call ends, what is right with arrays before C
! gets them, and texts between the two languages.
module espalier_checks
    use, intrinsic :: iso_fortran_env, only: error_unit
    use espalier_c
    implicit none
    private
    public :: settle, settle_without_solver, refuse, gives, index_type_of, are_long, is_whole, are_numbers, are_as_many, &
        give_matrix, give_values, c_text, fortran_text

    ! Which function of C the arrays are for.
    type, public :: intended_call
        type(c_ptr) :: solver
        character(32) :: name
        logical :: takes_parts = .false. ! the arrays of all processes count
    end type

contains

    ! Hands a status over, or stops.
    subroutine settle(solver, ended, status)
        type(c_ptr), intent(in) :: solver
        integer(c_int), intent(in) :: ended
        integer, intent(out), optional :: status
        if (present(status)) then
            status = ended
        else if (ended /= espalier_ok) then
            call stop_with(fortran_text(c_message(solver)))
        end if
    end subroutine

    ! The same where no solver has a message.
    subroutine settle_without_solver(what, ended, status)
        character(*), intent(in) :: what
        integer(c_int), intent(in) :: ended
        integer, intent(out), optional :: status
        if (present(status)) then
            status = ended
        else if (ended /= espalier_ok) then
            call stop_with(what//': '//fortran_text(c_status_string(ended)))
        end if
    end subroutine

    ! The same for what is found wrong before C is called, which then all processes of the solver learn.
    subroutine refuse(here, what, status)
        type(intended_call), intent(in) :: here
        character(*), intent(in) :: what
        integer, intent(out), optional :: status
        integer(c_int) :: ended
        ended = c_refuse(here%solver, c_text(here%name), c_text(what))
        if (c_associated(here%solver)) then
            call settle(here%solver, ended, status)
        else
            if (.not. present(status)) call stop_with(what)
            status = ended
        end if
    end subroutine

    ! Whether the arrays of this process count: it is process 0, or all give a part.
    function gives(here) result(counts)
        type(intended_call), intent(in) :: here
        logical :: counts
        integer(c_int) :: rank, processes
        rank = 0
        counts = .true.
        if (here%takes_parts) return
        if (c_get_processes(here%solver, rank, processes) == espalier_ok) counts = rank == 0
    end function

    subroutine stop_with(what)
        character(*), intent(in) :: what
        write (error_unit, '(2a)') 'espalier: error: ', what
        error stop
    end subroutine

    ! espalier_index_type of two arrays of indices; -1 when they have none in common.
    pure function index_type_of(one, other) result(width)
        integer(c_int), intent(in) :: one, other
        integer(c_int) :: width
        width = -1
        if (one == other .and. one == iachar('i')) width = 0
        if (one == other .and. one == iachar('l')) width = 1
    end function

    ! Whether the columns of an array are as long as the system; more is fine.
    function are_long(here, given, status) result(fits)
        type(intended_call), intent(in) :: here
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: fits
        integer(c_int64_t) :: order, entries
        fits = .true.
        if (.not. gives(here)) return
        if (c_get_size(here%solver, order, entries) == espalier_ok) fits = given%rows >= order
        if (.not. fits) call refuse(here, 'an array has fewer rows than the system', status) ! else the call itself fails
    end function

    ! Whether an array whose rows only C can count is a whole one, so that its leading dimension tells them.
    function is_whole(here, given, status) result(fits)
        type(intended_call), intent(in) :: here
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: fits
        fits = .true.
        if (.not. gives(here)) return
        fits = given%leading == max(1_c_int64_t, given%rows)
        if (.not. fits) call refuse(here, 'an array for the Schur complement is part of another; give it whole', status)
    end function

    ! Whether an array is of the solver's scalar type, and laid out as C wants it.
    function are_numbers(here, given, status) result(fits)
        type(intended_call), intent(in) :: here
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: fits
        integer(c_int) :: scalar
        fits = .true.
        if (.not. gives(here)) return
        scalar = given%type ! without a handle it is the call itself that fails
        if (c_associated(here%solver)) then
            if (c_get_scalar(here%solver, scalar) /= espalier_ok) scalar = -1
        end if
        fits = scalar == given%type .and. given%in_order /= 0
        if (scalar /= given%type) then
            call refuse(here, 'an array is not of the scalar type that the solver was created for', status)
        else if (.not. fits) then
            call refuse(here, 'the entries of a column do not follow each other; give a copy of the array', status)
        end if
    end function

    ! And whether it has a column for each of another.
    function are_as_many(here, b, x, status) result(fits)
        type(intended_call), intent(in) :: here
        type(array), intent(in) :: b, x
        integer, intent(out), optional :: status
        logical :: fits
        fits = are_numbers(here, x, status)
        if (.not. fits) return
        if (.not. gives(here)) return
        fits = b%columns == x%columns
        if (.not. fits) call refuse(here, 'right-hand sides and solutions have not equally many columns', status)
    end function

    ! A matrix, or this process's part of one, to C.
    subroutine give_matrix(here, layout, rows, cols, pointers, indices, values, symmetry, triangle, status)
        type(intended_call), intent(in) :: here
        integer(c_int), intent(in) :: layout
        integer(c_int64_t), intent(in) :: rows, cols
        type(array), intent(in) :: pointers, indices, values
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        type(matrix_arrays) :: matrix
        integer(c_int) :: width
        logical :: counts
        counts = gives(here)
        width = index_type_of(pointers%type, indices%type)
        if (counts .and. layout == layout_coo .and. pointers%rows /= indices%rows) then
            call refuse(here, 'rows and columns of the entries are not equally many', status)
        else if (counts .and. width < 0) then
            call refuse(here, 'the indices of the matrix are not integers of one kind, int32 or int64', status)
        else if (counts .and. (pointers%in_order == 0 .or. indices%in_order == 0)) then
            call refuse(here, 'an array of indices is not contiguous; give a copy of it', status)
        else if (counts .and. indices%rows /= values%rows) then
            call refuse(here, 'indices and values of the matrix are not equally many', status)
        else if (are_numbers(here, values, status)) then
            matrix = matrix_arrays(layout, espalier_general, espalier_full, width, 1, rows, cols, values%rows, &
                                   pointers%address, indices%address, values%address)
            if (present(symmetry)) matrix%symmetry = int(symmetry, c_int)
            if (present(triangle)) matrix%triangle = int(triangle, c_int)
            if (here%takes_parts) then
                call settle(here%solver, c_set_matrix_part(here%solver, matrix), status)
            else
                call settle(here%solver, c_set_matrix(here%solver, matrix), status)
            end if
        end if
    end subroutine

    ! Values in the order of the matrix.
    subroutine give_values(here, which, values, status)
        type(intended_call), intent(in) :: here
        procedure(take_values) :: which
        type(array), intent(in) :: values
        integer, intent(out), optional :: status
        if (.not. are_numbers(here, values, status)) return
        call settle(here%solver, which(here%solver, values%rows, values%address), status)
    end subroutine

    pure function c_text(text) result(converted)
        character(*), intent(in) :: text
        character(kind=c_char) :: converted(len_trim(text) + 1)
        integer :: k
        do k = 1, len_trim(text)
            converted(k) = text(k:k)
        end do
        converted(len_trim(text) + 1) = c_null_char
    end function

    function fortran_text(text) result(converted)
        type(c_ptr), intent(in) :: text
        character(:), allocatable :: converted
        character(kind=c_char), pointer :: characters(:)
        integer :: k, length
        length = 0
        if (c_associated(text)) length = int(c_strlen(text))
        allocate (character(length) :: converted)
        if (length == 0) return
        call c_f_pointer(text, characters, [length])
        do k = 1, length
            converted(k:k) = characters(k)
        end do
    end function

end module
