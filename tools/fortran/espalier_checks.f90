! Helpers of the module espalier: the end of a call, checks of arrays before they are passed to C, and texts.
module espalier_checks
    use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64
    use espalier_c
    implicit none
    private
    public :: finish, finish_without_solver, require, require_all_rows, require_whole, require_valid, &
        require_columns_of, is_refused, check_matrix, pass_matrix, pass_values, order_of, operation_of, c_text, fortran_text

    ! The C function that receives the arrays of a call.
    type, public :: c_call
        type(c_ptr) :: solver
        character(32) :: name
        logical :: takes_parts = .false. ! whether the arrays of all processes are used, or only those of process 0
        character(:), allocatable :: problem ! why the arguments are refused
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

    ! The checks below note the first reason to refuse the call; is_refused follows them.

    subroutine require(call_to, holds, what)
        type(c_call), intent(inout) :: call_to
        logical, intent(in) :: holds
        character(*), intent(in) :: what
        if (holds .or. allocated(call_to%problem)) return
        if (uses_arrays(call_to)) call_to%problem = what
    end subroutine

    ! The columns of an array have at least as many rows as the system.
    subroutine require_all_rows(call_to, given)
        type(c_call), intent(inout) :: call_to
        type(array), intent(in) :: given
        integer(c_int64_t) :: order, entries
        if (.not. uses_arrays(call_to)) return
        if (c_get_size(call_to%solver, order, entries) /= espalier_ok) return
        call require(call_to, given%rows >= order, 'an array has fewer rows than the system')
    end subroutine

    ! An array is not a section of a larger one, because C takes its rows from the leading dimension.
    subroutine require_whole(call_to, given)
        type(c_call), intent(inout) :: call_to
        type(array), intent(in) :: given
        call require(call_to, given%leading == max(1_c_int64_t, given%rows), &
                     'an array for the Schur complement is a section; pass a copy of it')
    end subroutine

    ! An array has the scalar type of the solver and contiguous columns. Without a solver, the type is not checked,
    ! because the call itself fails.
    subroutine require_valid(call_to, given)
        type(c_call), intent(inout) :: call_to
        type(array), intent(in) :: given
        integer(c_int) :: scalar
        if (.not. uses_arrays(call_to)) return
        scalar = given%type
        if (c_associated(call_to%solver)) then
            if (c_get_scalar(call_to%solver, scalar) /= espalier_ok) scalar = -1
        end if
        call require(call_to, scalar == given%type, 'an array does not have the scalar type of the solver')
        call require(call_to, given%contiguous /= 0, &
                     'the entries of a column are not contiguous; pass a copy of the array')
    end subroutine

    ! x is valid and has as many columns as b.
    subroutine require_columns_of(call_to, b, x)
        type(c_call), intent(inout) :: call_to
        type(array), intent(in) :: b, x
        call require_valid(call_to, x)
        call require(call_to, b%columns == x%columns, &
                     'right-hand sides and solutions differ in their numbers of columns')
    end subroutine

    ! Whether a check failed, which ends the call. All processes of the solver return the same status and message.
    function is_refused(call_to, status) result(refused)
        type(c_call), intent(in) :: call_to
        integer, intent(out), optional :: status
        logical :: refused
        integer(c_int) :: ended
        refused = allocated(call_to%problem)
        if (.not. refused) return
        ended = c_refuse(call_to%solver, c_text(call_to%name), c_text(call_to%problem))
        if (c_associated(call_to%solver)) then
            call finish(call_to%solver, ended, status)
        else
            if (.not. present(status)) call stop_with(call_to%problem)
            status = ended
        end if
    end function

    ! Checks the arrays of a matrix and describes them for C. `order` is needed for coordinates and parts.
    subroutine check_matrix(call_to, layout, pointers, indices, values, matrix, symmetry, triangle, order)
        type(c_call), intent(inout) :: call_to
        integer(c_int), intent(in) :: layout
        type(array), intent(in) :: pointers, indices, values
        type(matrix_arrays), intent(out) :: matrix
        integer, intent(in), optional :: symmetry, triangle
        integer(int64), intent(in), optional :: order
        integer(c_int) :: width
        width = index_type_of(pointers%type, indices%type)
        call require(call_to, layout /= layout_coo .or. pointers%rows == indices%rows, &
                     'the arrays of rows and columns have different sizes')
        call require(call_to, width >= 0, 'the indices of the matrix are not integers of one kind, int32 or int64')
        call require(call_to, pointers%contiguous /= 0 .and. indices%contiguous /= 0, &
                     'an array of indices is not contiguous; pass a copy of it')
        call require(call_to, indices%rows == values%rows, 'the arrays of indices and values have different sizes')
        call require_valid(call_to, values)
        matrix = matrix_arrays(0, layout, espalier_general, espalier_full, width, 1, pointers%rows - 1, &
                               pointers%rows - 1, values%rows, pointers%address, indices%address, values%address)
        if (present(order)) then
            if (layout /= layout_csr) matrix%rows = order
            if (layout /= layout_csc) matrix%cols = order
        end if
        if (present(symmetry)) matrix%symmetry = int(symmetry, c_int)
        if (present(triangle)) matrix%triangle = int(triangle, c_int)
    end subroutine

    ! Passes a matrix, or the part of this process, to C.
    subroutine pass_matrix(given_call, layout, pointers, indices, values, symmetry, triangle, status, order)
        type(c_call), intent(in) :: given_call
        integer(c_int), intent(in) :: layout
        type(array), intent(in) :: pointers, indices, values
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        integer(int64), intent(in), optional :: order
        type(c_call) :: call_to
        type(matrix_arrays) :: matrix
        call_to = given_call
        call check_matrix(call_to, layout, pointers, indices, values, matrix, symmetry, triangle, order)
        if (is_refused(call_to, status)) return
        if (call_to%takes_parts) then
            call finish(call_to%solver, c_set_matrix_part(call_to%solver, matrix), status)
        else
            call finish(call_to%solver, c_set_matrix(call_to%solver, matrix), status)
        end if
    end subroutine

    ! Passes values in the order of the matrix to C.
    subroutine pass_values(given_call, which, values, status)
        type(c_call), intent(in) :: given_call
        procedure(values_function) :: which
        type(array), intent(in) :: values
        integer, intent(out), optional :: status
        type(c_call) :: call_to
        call_to = given_call
        call require_valid(call_to, values)
        if (is_refused(call_to, status)) return
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
