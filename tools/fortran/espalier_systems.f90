! A system of the Fortran interface: options, matrix, steps. The module espalier adds the results. Programs use only the
! module espalier.
module espalier_systems
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int32, int64, real64
    use espalier_c
    use espalier_checks
    implicit none
    private

    public :: espalier_version, espalier_status_name, espalier_follow

    ! One linear system with its factorization. It is freed when it goes out of scope, and cannot be copied.
    type, public :: espalier_system
        type(c_ptr) :: handle = c_null_ptr ! espalier_solver of C; not to be changed
    contains
        procedure :: create
        procedure :: destroy
        procedure :: get_processes
        procedure :: message
        ! Options, by the names and values of the command.
        procedure :: set_option
        procedure :: get_option
        procedure, private :: set_schur_32, set_schur_64
        generic :: set_schur => set_schur_32, set_schur_64
        ! Callbacks, as in C: c_funloc of bind(c) procedures.
        procedure :: set_log
        procedure :: set_progress
        procedure :: set_cancel
        ! Matrix.
        procedure :: set_csc
        procedure :: set_csr
        procedure :: set_coo
        procedure :: set_values
        procedure :: get_size
        ! Steps.
        procedure :: analyze
        procedure :: factorize
        procedure :: refactorize
        procedure :: solve
        procedure :: refine
        procedure :: drive
        procedure :: solve_batch
        ! Systems of which each process has a part.
        procedure :: set_csc_part
        procedure :: set_csr_part
        procedure :: set_coo_part
        procedure :: set_values_part
        procedure :: refactorize_part
        procedure :: solve_rows
        procedure :: refine_rows
        procedure :: drive_rows
        procedure, private :: refuse_copy
        generic :: assignment(=) => refuse_copy
        final :: finalize
    end type

contains

    ! Version of the library, as "0.1.0".
    function espalier_version() result(text)
        character(:), allocatable :: text
        text = fortran_text(c_version())
    end function

    ! Short name of a status: "ok", "bad_input", ...
    function espalier_status_name(status) result(text)
        integer, intent(in) :: status
        character(:), allocatable :: text
        text = fortran_text(c_status_string(int(status, c_int)))
    end function

    ! Creates an empty solver in single, double, single complex or double complex precision: 's', 'd', 'c', 'z'. With
    ! an MPI communicator (an integer; the mpi_val of a type(MPI_Comm)), all its processes create the solver and make
    ! the same calls. Process 0 passes the matrix and the right-hand sides; arrays of other processes are ignored.
    subroutine create(self, scalar, status, comm)
        class(espalier_system), intent(inout) :: self
        character, intent(in) :: scalar
        integer, intent(out), optional :: status
        integer, intent(in), optional :: comm
        integer(c_int) :: ended
        call self%destroy()
        if (present(comm)) then
            ended = c_create_mpi(self%handle, int(iachar(scalar), c_int), int(comm, c_int))
        else
            ended = c_create(self%handle, int(iachar(scalar), c_int))
        end if
        call finish_without_solver('cannot create a solver', ended, status)
    end subroutine

    ! Replaces create and all other calls on all processes except process 0 of `comm`: takes part in the calls of process
    ! 0 until it destroys its solver.
    subroutine espalier_follow(scalar, comm, status)
        character, intent(in) :: scalar
        integer, intent(in) :: comm
        integer, intent(out), optional :: status
        call finish_without_solver('cannot follow process 0', &
                                   c_follow(int(iachar(scalar), c_int), int(comm, c_int)), status)
    end subroutine

    ! Rank of this process, from 0, and number of processes of the solver.
    subroutine get_processes(self, rank, processes, status)
        class(espalier_system), intent(inout) :: self
        integer, intent(out) :: rank, processes
        integer, intent(out), optional :: status
        integer(c_int) :: number, many
        number = 0
        many = 0
        call finish(self%handle, c_get_processes(self%handle, number, many), status)
        rank = number
        processes = many
    end subroutine

    ! Frees everything; also done when the solver goes out of scope.
    subroutine destroy(self)
        class(espalier_system), intent(inout) :: self
        call c_destroy(self%handle)
    end subroutine

    subroutine finalize(self)
        type(espalier_system), intent(inout) :: self
        call c_destroy(self%handle)
    end subroutine

    subroutine refuse_copy(self, other)
        class(espalier_system), intent(inout) :: self
        class(espalier_system), intent(in) :: other
        if (c_associated(self%handle) .or. c_associated(other%handle)) error stop 'an espalier_solver must not be copied'
    end subroutine

    ! Message about the failure of the last call; empty if the call succeeded.
    function message(self) result(text)
        class(espalier_system), intent(in) :: self
        character(:), allocatable :: text
        text = fortran_text(c_message(self%handle))
    end function

    subroutine set_option(self, name, value, status)
        class(espalier_system), intent(inout) :: self
        character(*), intent(in) :: name, value
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_option(self%handle, c_text(name), c_text(value)), status)
    end subroutine

    function get_option(self, name, status) result(text)
        class(espalier_system), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        character(:), allocatable :: text
        type(c_ptr) :: found
        integer(c_int) :: ended
        found = c_null_ptr
        ended = c_get_option(self%handle, c_text(name), found)
        text = fortran_text(found)
        call finish(self%handle, ended, status)
    end function

    ! Sets the unknowns, counted from 1, whose Schur complement factorize computes.
    subroutine set_schur_32(self, unknowns, status)
        class(espalier_system), intent(inout) :: self
        integer(int32), intent(in) :: unknowns(:)
        integer, intent(out), optional :: status
        call self%set_schur_64(int(unknowns, int64), status)
    end subroutine

    subroutine set_schur_64(self, unknowns, status)
        class(espalier_system), intent(inout) :: self
        integer(int64), intent(in) :: unknowns(:)
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_schur(self%handle, size(unknowns, kind=c_int64_t), unknowns, 1), status)
    end subroutine

    ! void callback(char const* line, void* user)
    subroutine set_log(self, callback, user, status)
        class(espalier_system), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_log(self%handle, callback, user), status)
    end subroutine

    ! void callback(char const* phase, double fraction, void* user)
    subroutine set_progress(self, callback, user, status)
        class(espalier_system), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_progress(self%handle, callback, user), status)
    end subroutine

    ! int callback(void* user): a nonzero result ends the call with espalier_cancelled
    subroutine set_cancel(self, callback, user, status)
        class(espalier_system), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_cancel(self%handle, callback, user), status)
    end subroutine

    ! Compressed columns: column j has the entries col_ptr(j) .. col_ptr(j + 1) - 1.
    subroutine set_csc(self, col_ptr, row_ind, values, symmetry, triangle, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: col_ptr(..), row_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix'), layout_csc, array_of(col_ptr), array_of(row_ind), &
                         array_of(values), symmetry, triangle, status)
    end subroutine

    ! Compressed rows: row i has the entries row_ptr(i) .. row_ptr(i + 1) - 1.
    subroutine set_csr(self, row_ptr, col_ind, values, symmetry, triangle, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: row_ptr(..), col_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix'), layout_csr, array_of(row_ptr), array_of(col_ind), &
                         array_of(values), symmetry, triangle, status)
    end subroutine

    ! Coordinates of an n x n matrix, n an integer(int32) or integer(int64): entry k is at rows(k), cols(k). Entries at
    ! the same position are summed.
    subroutine set_coo(self, n, rows, cols, values, symmetry, triangle, status)
        class(espalier_system), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: rows(..), cols(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix'), layout_coo, array_of(rows), array_of(cols), &
                         array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! New values on the same pattern, in the order of set_csc, set_csr or set_coo.
    subroutine set_values(self, values, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_set_values'), c_set_values, array_of(values), status)
    end subroutine

    ! Order of the matrix, and number of its stored entries.
    subroutine get_size(self, order, entries, status)
        class(espalier_system), intent(inout) :: self
        integer(int64), intent(out) :: order, entries
        integer, intent(out), optional :: status
        order = 0
        entries = 0
        call finish(self%handle, c_get_size(self%handle, order, entries), status)
    end subroutine

    subroutine analyze(self, status)
        class(espalier_system), intent(inout) :: self
        integer, intent(out), optional :: status
        call finish(self%handle, c_analyze(self%handle), status)
    end subroutine

    subroutine factorize(self, status)
        class(espalier_system), intent(inout) :: self
        integer, intent(out), optional :: status
        call finish(self%handle, c_factorize(self%handle), status)
    end subroutine

    ! Combines set_values and factorize.
    subroutine refactorize(self, values, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_refactorize'), c_refactorize, array_of(values), status)
    end subroutine

    ! Solves op(A) x = b without refinement.
    subroutine solve(self, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_step(self, c_solve, 'espalier_solve', array_of(b), array_of(x), op, status)
    end subroutine

    ! Improves x. With espalier_inaccurate and espalier_singular, x is the best solution found, but not good enough.
    subroutine refine(self, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_step(self, c_refine, 'espalier_refine', array_of(b), array_of(x), op, status)
    end subroutine

    ! Analyzes and factorizes if necessary, solves and refines.
    subroutine drive(self, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_step(self, c_drive, 'espalier_drive', array_of(b), array_of(x), op, status)
    end subroutine

    subroutine run_step(self, which, name, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        procedure(solve_function) :: which
        character(*), intent(in) :: name
        type(array), intent(in) :: b, x
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        type(c_call) :: call_to
        call_to = c_call(self%handle, name)
        call require_valid(call_to, b)
        call require_columns_of(call_to, b, x)
        call require_all_rows(call_to, b)
        call require_all_rows(call_to, x)
        if (is_refused(call_to, status)) return
        call finish(self%handle, which(self%handle, operation_of(op), b%columns, b%address, b%leading, x%address, &
                                       x%leading), status)
    end subroutine

    ! Systems in parts. Each process of create(comm=...) passes its part, and all processes must call. `n` is the order
    ! of the whole matrix, an integer(int32) or integer(int64). Indices refer to the whole matrix.

    ! Consecutive columns, beginning with those of process 0; col_ptr(1) is 1 in each part.
    subroutine set_csc_part(self, n, col_ptr, row_ind, values, symmetry, triangle, status)
        class(espalier_system), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: col_ptr(..), row_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csc, array_of(col_ptr), &
                         array_of(row_ind), array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! Consecutive rows.
    subroutine set_csr_part(self, n, row_ptr, col_ind, values, symmetry, triangle, status)
        class(espalier_system), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: row_ptr(..), col_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csr, array_of(row_ptr), &
                         array_of(col_ind), array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! Any entries; entries at the same position are summed, also those of different processes.
    subroutine set_coo_part(self, n, rows, cols, values, symmetry, triangle, status)
        class(espalier_system), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: rows(..), cols(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_coo, array_of(rows), &
                         array_of(cols), array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! New values of the part of this process.
    subroutine set_values_part(self, values, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_set_values_part', .true.), c_set_values_part, array_of(values), &
                         status)
    end subroutine

    subroutine refactorize_part(self, values, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_refactorize_part', .true.), c_refactorize_part, &
                         array_of(values), status)
    end subroutine

    ! b and x are consecutive rows of right-hand sides and solutions, beginning with those of process 0.
    subroutine solve_rows(self, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_rows_step(self, c_solve_rows, 'espalier_solve_rows', array_of(b), array_of(x), op, status)
    end subroutine

    subroutine refine_rows(self, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_rows_step(self, c_refine_rows, 'espalier_refine_rows', array_of(b), array_of(x), op, status)
    end subroutine

    subroutine drive_rows(self, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_rows_step(self, c_drive_rows, 'espalier_drive_rows', array_of(b), array_of(x), op, status)
    end subroutine

    subroutine run_rows_step(self, which, name, b, x, op, status)
        class(espalier_system), intent(inout) :: self
        procedure(solve_rows_function) :: which
        character(*), intent(in) :: name
        type(array), intent(in) :: b, x
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        type(c_call) :: call_to
        call_to = c_call(self%handle, name, .true.)
        call require_valid(call_to, b)
        call require_columns_of(call_to, b, x)
        call require(call_to, b%rows == x%rows, 'right-hand sides and solutions have different numbers of rows')
        if (is_refused(call_to, status)) return
        call finish(self%handle, which(self%handle, operation_of(op), b%columns, b%rows, b%address, b%leading, x%address, &
                                       x%leading), status)
    end subroutine

    ! Factorizes and solves size(statuses) systems with the pattern of the matrix, across the threads. `values` has the values
    ! of each matrix as one column, and b and x the vectors: one column for each system, or the same number of columns for
    ! each, one system after another. `statuses` is that of each system, and `errors` its backward error.
    subroutine solve_batch(self, values, b, x, statuses, errors, status)
        class(espalier_system), intent(inout) :: self
        type(*), intent(in) :: values(..), b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(out) :: statuses(:)
        real(real64), intent(out), optional :: errors(:)
        integer, intent(out), optional :: status
        type(array) :: given, right, solutions
        type(c_call) :: call_to
        integer(c_int64_t) :: systems, order, entries
        integer(c_int) :: ended
        integer(c_int), allocatable :: each(:)
        real(c_double), allocatable :: errors_of(:)
        systems = size(statuses, kind=c_int64_t)
        call_to = c_call(self%handle, 'espalier_solve_batch')
        given = array_of(values)
        right = array_of(b)
        solutions = array_of(x)
        call self%get_size(order, entries, ended)
        call require_valid(call_to, given)
        call require_valid(call_to, right)
        call require_columns_of(call_to, right, solutions)
        call require(call_to, given%columns == systems, 'there are not as many columns of values as statuses')
        call require(call_to, systems > 0 .and. modulo(right%columns, max(systems, 1_c_int64_t)) == 0, &
                     'the right-hand sides are not a multiple of the systems')
        call require(call_to, right%rows == order .and. solutions%rows == order .and. right%leading == order &
                     .and. solutions%leading == order .and. given%leading == given%rows, &
                     'an array has gaps or another number of rows than the systems')
        if (present(errors)) call require(call_to, size(errors, kind=c_int64_t) == systems, &
                                          'there are not as many errors as statuses')
        statuses = espalier_usage
        if (is_refused(call_to, status)) return
        allocate (each(systems), errors_of(systems))
        each = espalier_usage
        errors_of = 0
        ended = c_solve_batch(self%handle, systems, given%rows, given%address, right%columns/systems, right%address, &
                              solutions%address, each, errors_of)
        statuses = each
        if (present(errors)) errors = errors_of
        call finish(self%handle, ended, status)
    end subroutine

end module
