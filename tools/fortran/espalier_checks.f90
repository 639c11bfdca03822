! Helpers of the module espalier: the end of a call, checks of arrays before they are passed to C, and texts.
module espalier_checks
    use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64
    use espalier_c
    implicit none
    private
    public :: finish, finish_without_solver, refuse, uses_arrays, has_all_rows, is_whole, is_valid, has_columns_of, &
        pass_matrix, pass_values, order_of, operation_of, c_text, fortran_text

    ! The C function that receives the arrays of a call.
    type, public :: c_call
        type(c_ptr) :: solver
        character(32) :: name
        logical :: takes_parts = .false. ! whether the arrays of all processes are used, or only those of process 0
    end type

contains

    ! Returns `ended` in `status`. Without `status`, stops the program with the solver's message after a failure.
    subroutine finish(solver, ended, status)
        type(c_ptr), intent(in) :: solver
        integer(c_int), intent(in) :: ended
        integer, intent(out), optional :: status
        if (present(status)) then
            status = ended
        else if (ended /= espalier_ok) then
            call stop_with(fortran_text(c_message(solver)))
        end if
    end subroutine

    ! Replaces `finish` for calls without a solver, which have no message but `what`.
    subroutine finish_without_solver(what, ended, status)
        character(*), intent(in) :: what
        integer(c_int), intent(in) :: ended
        integer, intent(out), optional :: status
        if (present(status)) then
            status = ended
        else if (ended /= espalier_ok) then
            call stop_with(what//': '//fortran_text(c_status_string(ended)))
        end if
    end subroutine

    ! Ends a call whose arguments are invalid. All processes of the solver return the same status and message.
    subroutine refuse(call_to, what, status)
        type(c_call), intent(in) :: call_to
        character(*), intent(in) :: what
        integer, intent(out), optional :: status
        integer(c_int) :: ended
        ended = c_refuse(call_to%solver, c_text(call_to%name), c_text(what))
        if (c_associated(call_to%solver)) then
            call finish(call_to%solver, ended, status)
        else
            if (.not. present(status)) call stop_with(what)
            status = ended
        end if
    end subroutine

    ! Whether the arrays of this process are used: it is process 0, or all processes pass a part.
    function uses_arrays(call_to) result(uses)
        type(c_call), intent(in) :: call_to
        logical :: uses
        integer(c_int) :: rank, processes
        rank = 0
        uses = .true.
        if (call_to%takes_parts) return
        if (c_get_processes(call_to%solver, rank, processes) == espalier_ok) uses = rank == 0
    end function

    subroutine stop_with(what)
        character(*), intent(in) :: what
        write (error_unit, '(2a)') 'espalier: error: ', what
        error stop
    end subroutine

    ! espalier_index_type of two arrays of indices, or -1 if they are not integers of one kind.
    pure function index_type_of(one, other) result(width)
        integer(c_int), intent(in) :: one, other
        integer(c_int) :: width
        width = -1
        if (one == other .and. one == iachar('i')) width = 0
        if (one == other .and. one == iachar('l')) width = 1
    end function

    ! The value of an integer of either kind, or -1, which C refuses.
    pure function order_of(n) result(order)
        class(*), intent(in) :: n
        integer(int64) :: order
        order = -1
        select type (n)
        type is (integer(int32))
            order = int(n, int64)
        type is (integer(int64))
            order = n
        end select
    end function

    ! The operation of a step, by default espalier_op_none.
    pure function operation_of(op) result(operation)
        integer, intent(in), optional :: op
        integer(c_int) :: operation
        operation = espalier_op_none
        if (present(op)) operation = int(op, c_int)
    end function

    ! The checks below return whether an array is valid, and otherwise refuse the call.

    ! Checks that the columns of an array have at least as many rows as the system.
    function has_all_rows(call_to, given, status) result(valid)
        type(c_call), intent(in) :: call_to
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: valid
        integer(c_int64_t) :: order, entries
        valid = .true.
        if (.not. uses_arrays(call_to)) return
        if (c_get_size(call_to%solver, order, entries) == espalier_ok) valid = given%rows >= order
        if (.not. valid) call refuse(call_to, 'an array has fewer rows than the system', status)
    end function

    ! Checks that an array is not a section of a larger one, because C takes its rows from the leading dimension.
    function is_whole(call_to, given, status) result(valid)
        type(c_call), intent(in) :: call_to
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: valid
        valid = .true.
        if (.not. uses_arrays(call_to)) return
        valid = given%leading == max(1_c_int64_t, given%rows)
        if (.not. valid) call refuse(call_to, 'an array for the Schur complement is a section; pass a copy of it', status)
    end function

    ! Checks that an array has the scalar type of the solver and contiguous columns. Without a solver, the type is not
    ! checked, because the call itself fails.
    function is_valid(call_to, given, status) result(valid)
        type(c_call), intent(in) :: call_to
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: valid
        integer(c_int) :: scalar
        valid = .true.
        if (.not. uses_arrays(call_to)) return
        scalar = given%type
        if (c_associated(call_to%solver)) then
            if (c_get_scalar(call_to%solver, scalar) /= espalier_ok) scalar = -1
        end if
        valid = scalar == given%type .and. given%contiguous /= 0
        if (scalar /= given%type) then
            call refuse(call_to, 'an array does not have the scalar type of the solver', status)
        else if (.not. valid) then
            call refuse(call_to, 'the entries of a column are not contiguous; pass a copy of the array', status)
        end if
    end function

    ! Checks that x is valid and has as many columns as b.
    function has_columns_of(call_to, b, x, status) result(valid)
        type(c_call), intent(in) :: call_to
        type(array), intent(in) :: b, x
        integer, intent(out), optional :: status
        logical :: valid
        valid = is_valid(call_to, x, status)
        if (.not. valid) return
        if (.not. uses_arrays(call_to)) return
        valid = b%columns == x%columns
        if (.not. valid) call refuse(call_to, 'right-hand sides and solutions differ in their numbers of columns', status)
    end function

    ! Passes a matrix, or the part of this process, to C. `order` is needed for coordinates and parts.
    subroutine pass_matrix(call_to, layout, pointers, indices, values, symmetry, triangle, status, order)
        type(c_call), intent(in) :: call_to
        integer(c_int), intent(in) :: layout
        type(array), intent(in) :: pointers, indices, values
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        integer(int64), intent(in), optional :: order
        type(matrix_arrays) :: matrix
        integer(c_int) :: width
        logical :: uses
        uses = uses_arrays(call_to)
        width = index_type_of(pointers%type, indices%type)
        if (uses .and. layout == layout_coo .and. pointers%rows /= indices%rows) then
            call refuse(call_to, 'the arrays of rows and columns have different sizes', status)
        else if (uses .and. width < 0) then
            call refuse(call_to, 'the indices of the matrix are not integers of one kind, int32 or int64', status)
        else if (uses .and. (pointers%contiguous == 0 .or. indices%contiguous == 0)) then
            call refuse(call_to, 'an array of indices is not contiguous; pass a copy of it', status)
        else if (uses .and. indices%rows /= values%rows) then
            call refuse(call_to, 'the arrays of indices and values have different sizes', status)
        else if (is_valid(call_to, values, status)) then
            matrix = matrix_arrays(layout, espalier_general, espalier_full, width, 1, pointers%rows - 1, &
                                   pointers%rows - 1, values%rows, pointers%address, indices%address, values%address)
            if (present(order)) then
                if (layout /= layout_csr) matrix%rows = order
                if (layout /= layout_csc) matrix%cols = order
            end if
            if (present(symmetry)) matrix%symmetry = int(symmetry, c_int)
            if (present(triangle)) matrix%triangle = int(triangle, c_int)
            if (call_to%takes_parts) then
                call finish(call_to%solver, c_set_matrix_part(call_to%solver, matrix), status)
            else
                call finish(call_to%solver, c_set_matrix(call_to%solver, matrix), status)
            end if
        end if
    end subroutine

    ! Passes values in the order of the matrix to C.
    subroutine pass_values(call_to, which, values, status)
        type(c_call), intent(in) :: call_to
        procedure(values_function) :: which
        type(array), intent(in) :: values
        integer, intent(out), optional :: status
        if (.not. is_valid(call_to, values, status)) return
        call finish(call_to%solver, which(call_to%solver, values%rows, values%address), status)
    end subroutine

    pure function c_text(text) result(converted)
        character(*), intent(in) :: text
        character(len_trim(text) + 1) :: converted
        converted = trim(text)//c_null_char
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
