! The Fortran interface of Espalier, a direct solver for large sparse systems A x = b: Fortran 2008, with the
! arrays of any type of its Technical Specification 29113, over the C interface (include/espalier/espalier.h,
! whose texts hold here too).
!
!     use espalier
!     type(espalier_solver) :: solver
!     call solver%create('d')
!     call solver%set_csc(col_ptr, row_ind, values)
!     call solver%drive(b, x)
!
! Numbers are real(real32), real(real64) or their complex kinds, as the solver was created; indices are
! integer(int32) or integer(int64), and count from 1. Right-hand sides and solutions are vectors, or blocks with
! one in each column. The entries of a column must follow each other in memory: of x(1::2), give a copy. An array
! that is otherwise is espalier_usage.
!
! Every procedure has an optional argument `status`: espalier_ok, or one of the others below, and then
! message() tells more. Without it a failure stops the program with its message, as with stat= of allocate.
module espalier
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
    use espalier_c
    use espalier_checks
    implicit none
    private

    ! How a call ended.
    public :: espalier_ok, espalier_internal, espalier_usage, espalier_bad_input, espalier_io_error, &
        espalier_singular, espalier_not_positive_definite, espalier_inaccurate, espalier_out_of_memory, &
        espalier_unsupported, espalier_cancelled
    ! Symmetry of the values of a matrix.
    public :: espalier_general, espalier_symmetric, espalier_hermitian
    ! Which entries of a symmetric or Hermitian matrix are given.
    public :: espalier_full, espalier_lower, espalier_upper
    ! Which system is solved: A x = b, A^T x = b, A^H x = b.
    public :: espalier_op_none, espalier_op_transpose, espalier_op_adjoint

    public :: espalier_version, espalier_status_name, espalier_prediction, espalier_follow

    ! One linear system and everything known of it. Freed when it goes out of scope; cannot be copied.
    type, public :: espalier_solver
        private
        type(c_ptr) :: handle = c_null_ptr
        integer(int64) :: nullity = 0 ! columns that null_vectors will write
    contains
        procedure :: create
        procedure :: destroy
        procedure :: get_processes
        procedure :: message
        ! Options, by the command's names and spellings.
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
        procedure, private :: set_coo_32, set_coo_64
        generic :: set_coo => set_coo_32, set_coo_64
        procedure :: set_values
        procedure :: get_size
        ! Steps.
        procedure :: analyze
        procedure :: factorize
        procedure :: refactorize
        procedure :: solve
        procedure :: refine
        procedure :: drive
        ! The same of which each process has a part.
        procedure :: set_csc_part
        procedure :: set_csr_part
        procedure :: set_coo_part
        procedure :: set_values_part
        procedure :: refactorize_part
        procedure :: solve_rows
        procedure :: refine_rows
        procedure :: drive_rows
        ! What the factors tell.
        procedure :: inertia
        procedure :: determinant
        procedure :: rcond
        procedure :: null_space
        procedure :: null_vectors
        procedure :: schur_complement
        procedure :: condense
        procedure :: expand
        ! Predictions and traces.
        procedure :: predict
        procedure :: write_predicted_trace
        procedure :: write_trace
        ! The report, by the names of the command's JSON.
        procedure :: report_int
        procedure :: report_real
        procedure :: report_logical
        procedure :: report_string
        procedure :: report_reals
        procedure :: report_json
        procedure, private :: refuse_copy
        generic :: assignment(=) => refuse_copy
        final :: finalize
    end type

    ! Systems in parts, in espalier_parts.f90: each process of create(comm=...) gives its own, and none may be left
    ! out. `n` is the order of the matrix, an integer(int32) or integer(int64); indices are those of all of it.
    interface
        ! Consecutive columns, those of process 0 first; col_ptr counts from 1 in the part.
        module subroutine set_csc_part(self, n, col_ptr, row_ind, values, symmetry, triangle, status)
            class(espalier_solver), intent(inout) :: self
            class(*), intent(in) :: n
            type(*), intent(in) :: col_ptr(..), row_ind(..), values(..)
            integer, intent(in), optional :: symmetry, triangle
            integer, intent(out), optional :: status
        end subroutine
        ! Consecutive rows.
        module subroutine set_csr_part(self, n, row_ptr, col_ind, values, symmetry, triangle, status)
            class(espalier_solver), intent(inout) :: self
            class(*), intent(in) :: n
            type(*), intent(in) :: row_ptr(..), col_ind(..), values(..)
            integer, intent(in), optional :: symmetry, triangle
            integer, intent(out), optional :: status
        end subroutine
        ! Any entries; those at the same place are summed, whoever gives them.
        module subroutine set_coo_part(self, n, rows, cols, values, symmetry, triangle, status)
            class(espalier_solver), intent(inout) :: self
            class(*), intent(in) :: n
            type(*), intent(in) :: rows(..), cols(..), values(..)
            integer, intent(in), optional :: symmetry, triangle
            integer, intent(out), optional :: status
        end subroutine
        ! Other values of this process's part.
        module subroutine set_values_part(self, values, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(in) :: values(..)
            integer, intent(out), optional :: status
        end subroutine
        module subroutine refactorize_part(self, values, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(in) :: values(..)
            integer, intent(out), optional :: status
        end subroutine
        ! b and x are consecutive rows of right-hand sides and solutions, those of process 0 first.
        module subroutine solve_rows(self, b, x, op, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(in) :: b(..)
            type(*), intent(inout) :: x(..)
            integer, intent(in), optional :: op
            integer, intent(out), optional :: status
        end subroutine
        module subroutine refine_rows(self, b, x, op, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(in) :: b(..)
            type(*), intent(inout) :: x(..)
            integer, intent(in), optional :: op
            integer, intent(out), optional :: status
        end subroutine
        module subroutine drive_rows(self, b, x, op, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(in) :: b(..)
            type(*), intent(inout) :: x(..)
            integer, intent(in), optional :: op
            integer, intent(out), optional :: status
        end subroutine
    end interface

    ! What the factors tell, in espalier_results.f90.
    interface
        ! Signs of the eigenvalues of a real symmetric or Hermitian matrix.
        module subroutine inertia(self, positive, negative, zero, status)
            class(espalier_solver), intent(inout) :: self
            integer(int64), intent(out) :: positive, negative, zero
            integer, intent(out), optional :: status
        end subroutine
        ! det A = phase * exp(log_modulus)
        module subroutine determinant(self, phase, log_modulus, status)
            class(espalier_solver), intent(inout) :: self
            complex(real64), intent(out) :: phase
            real(real64), intent(out) :: log_modulus
            integer, intent(out), optional :: status
        end subroutine
        ! Estimate of 1 / (|A| |A^-1|), 1-norms.
        module subroutine rcond(self, value, status)
            class(espalier_solver), intent(inout) :: self
            real(real64), intent(out) :: value
            integer, intent(out), optional :: status
        end subroutine
        ! The rank, by singular values above tolerance * |A| (0: the default).
        module subroutine null_space(self, tolerance, rank, status)
            class(espalier_solver), intent(inout) :: self
            real(real64), intent(in) :: tolerance
            integer(int64), intent(out) :: rank
            integer, intent(out), optional :: status
        end subroutine
        ! The null vectors that null_space found, n x (n - rank).
        module subroutine null_vectors(self, basis, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(inout) :: basis(..)
            integer, intent(out), optional :: status
        end subroutine
        ! The Schur complement on the unknowns of set_schur, k x k.
        module subroutine schur_complement(self, schur, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(inout) :: schur(..)
            integer, intent(out), optional :: status
        end subroutine
        ! Right-hand sides r (k x columns) of the condensed system.
        module subroutine condense(self, b, r, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(in) :: b(..)
            type(*), intent(inout) :: r(..)
            integer, intent(out), optional :: status
        end subroutine
        ! The whole solution x from b and the unknowns x_schur (k x columns).
        module subroutine expand(self, b, x_schur, x, status)
            class(espalier_solver), intent(inout) :: self
            type(*), intent(in) :: b(..), x_schur(..)
            type(*), intent(inout) :: x(..)
            integer, intent(out), optional :: status
        end subroutine
    end interface

    ! Predictions, traces and the report, in espalier_reports.f90.
    interface
        ! What the schedule would be for `processes` of `threads` each (0: the cores of the topology), after analyze.
        module subroutine predict(self, processes, threads, prediction, status)
            class(espalier_solver), intent(inout) :: self
            integer, intent(in) :: processes, threads
            type(espalier_prediction), intent(out) :: prediction
            integer, intent(out), optional :: status
        end subroutine
        ! That schedule as a trace, a file for ViTE or `espalier trace`; compressed when the path ends in .gz.
        module subroutine write_predicted_trace(self, path, processes, threads, matrix_name, status)
            class(espalier_solver), intent(inout) :: self
            character(*), intent(in) :: path
            integer, intent(in) :: processes, threads
            character(*), intent(in), optional :: matrix_name
            integer, intent(out), optional :: status
        end subroutine
        ! The same of what was recorded since the last analyze or write_trace; with the option record-trace.
        module subroutine write_trace(self, path, matrix_name, status)
            class(espalier_solver), intent(inout) :: self
            character(*), intent(in) :: path
            character(*), intent(in), optional :: matrix_name
            integer, intent(out), optional :: status
        end subroutine
        module function report_int(self, name, status) result(number)
            class(espalier_solver), intent(inout) :: self
            character(*), intent(in) :: name
            integer, intent(out), optional :: status
            integer(int64) :: number
        end function
        module function report_real(self, name, status) result(number)
            class(espalier_solver), intent(inout) :: self
            character(*), intent(in) :: name
            integer, intent(out), optional :: status
            real(real64) :: number
        end function
        module function report_logical(self, name, status) result(truth)
            class(espalier_solver), intent(inout) :: self
            character(*), intent(in) :: name
            integer, intent(out), optional :: status
            logical :: truth
        end function
        module function report_string(self, name, status) result(text)
            class(espalier_solver), intent(inout) :: self
            character(*), intent(in) :: name
            integer, intent(out), optional :: status
            character(:), allocatable :: text
        end function
        module function report_reals(self, name, status) result(values)
            class(espalier_solver), intent(inout) :: self
            character(*), intent(in) :: name
            integer, intent(out), optional :: status
            real(real64), allocatable :: values(:)
        end function
        module function report_json(self, status) result(text)
            class(espalier_solver), intent(inout) :: self
            integer, intent(out), optional :: status
            character(:), allocatable :: text
        end function
    end interface

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

    ! An empty solver in single, double, single complex or double complex numbers: 's', 'd', 'c', 'z'. With an MPI
    ! communicator (an integer; of a type(MPI_Comm) its mpi_val) one that all its processes create, and call
    ! together: process 0 gives matrix and right-hand sides, and the arrays of the others are not looked at.
    subroutine create(self, scalar, status, comm)
        class(espalier_solver), intent(inout) :: self
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
        call settle_without_solver('a solver cannot be created', ended, status)
    end subroutine

    ! On all processes but process 0 of `comm`, in place of create and all calls: takes part in what process 0 does
    ! with its solver, until that is destroyed.
    subroutine espalier_follow(scalar, comm, status)
        character, intent(in) :: scalar
        integer, intent(in) :: comm
        integer, intent(out), optional :: status
        call settle_without_solver('process 0 cannot be followed', &
                                   c_follow(int(iachar(scalar), c_int), int(comm, c_int)), status)
    end subroutine

    ! Number of this process, from 0, and of all that share the solver.
    subroutine get_processes(self, rank, processes, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out) :: rank, processes
        integer, intent(out), optional :: status
        integer(c_int) :: number, many
        number = 0
        many = 0
        call settle(self%handle, c_get_processes(self%handle, number, many), status)
        rank = number
        processes = many
    end subroutine

    ! Frees everything; also done when the solver goes out of scope.
    subroutine destroy(self)
        class(espalier_solver), intent(inout) :: self
        call c_destroy(self%handle)
    end subroutine

    subroutine finalize(self)
        type(espalier_solver), intent(inout) :: self
        call c_destroy(self%handle)
    end subroutine

    subroutine refuse_copy(self, other)
        class(espalier_solver), intent(inout) :: self
        class(espalier_solver), intent(in) :: other
        if (c_associated(self%handle) .or. c_associated(other%handle)) error stop 'an espalier_solver was copied'
    end subroutine

    ! What went wrong in the last call; empty when it succeeded.
    function message(self) result(text)
        class(espalier_solver), intent(in) :: self
        character(:), allocatable :: text
        text = fortran_text(c_message(self%handle))
    end function

    subroutine set_option(self, name, value, status)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name, value
        integer, intent(out), optional :: status
        call settle(self%handle, c_set_option(self%handle, c_text(name), c_text(value)), status)
    end subroutine

    function get_option(self, name, status) result(text)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        character(:), allocatable :: text
        type(c_ptr) :: found
        integer(c_int) :: ended
        found = c_null_ptr
        ended = c_get_option(self%handle, c_text(name), found)
        text = fortran_text(found)
        call settle(self%handle, ended, status)
    end function

    ! The unknowns, counted from 1, whose Schur complement factorize leaves.
    subroutine set_schur_32(self, unknowns, status)
        class(espalier_solver), intent(inout) :: self
        integer(int32), intent(in) :: unknowns(:)
        integer, intent(out), optional :: status
        call self%set_schur_64(int(unknowns, int64), status)
    end subroutine

    subroutine set_schur_64(self, unknowns, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(in) :: unknowns(:)
        integer, intent(out), optional :: status
        call settle(self%handle, c_set_schur(self%handle, size(unknowns, kind=c_int64_t), unknowns, 1_c_int), status)
    end subroutine

    ! void callback(char const* line, void* user)
    subroutine set_log(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call settle(self%handle, c_set_log(self%handle, callback, user), status)
    end subroutine

    ! void callback(char const* phase, double fraction, void* user)
    subroutine set_progress(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call settle(self%handle, c_set_progress(self%handle, callback, user), status)
    end subroutine

    ! int callback(void* user): not 0 ends the call with espalier_cancelled
    subroutine set_cancel(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call settle(self%handle, c_set_cancel(self%handle, callback, user), status)
    end subroutine

    ! Compressed columns: column j is entries col_ptr(j) .. col_ptr(j + 1) - 1.
    subroutine set_csc(self, col_ptr, row_ind, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: col_ptr(..), row_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        type(array) :: starts, indices, numbers
        call describe(col_ptr, starts)
        call describe(row_ind, indices)
        call describe(values, numbers)
        call give_matrix(intended_call(self%handle, 'espalier_set_matrix'), layout_csc, starts%rows - 1, &
                         starts%rows - 1, starts, indices, numbers, symmetry, triangle, status)
    end subroutine

    ! Compressed rows: row i is entries row_ptr(i) .. row_ptr(i + 1) - 1.
    subroutine set_csr(self, row_ptr, col_ind, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: row_ptr(..), col_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        type(array) :: starts, indices, numbers
        call describe(row_ptr, starts)
        call describe(col_ind, indices)
        call describe(values, numbers)
        call give_matrix(intended_call(self%handle, 'espalier_set_matrix'), layout_csr, starts%rows - 1, &
                         starts%rows - 1, starts, indices, numbers, symmetry, triangle, status)
    end subroutine

    ! Coordinates of an n x n matrix: entry k is at rows(k), cols(k); those at the same place are summed.
    subroutine set_coo_32(self, n, rows, cols, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        integer(int32), intent(in) :: n
        type(*), intent(in) :: rows(..), cols(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call set_coo_64(self, int(n, int64), rows, cols, values, symmetry, triangle, status)
    end subroutine

    subroutine set_coo_64(self, n, rows, cols, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(in) :: n
        type(*), intent(in) :: rows(..), cols(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        type(array) :: row_indices, indices, numbers
        call describe(rows, row_indices)
        call describe(cols, indices)
        call describe(values, numbers)
        call give_matrix(intended_call(self%handle, 'espalier_set_matrix'), layout_coo, n, n, row_indices, indices, &
                         numbers, symmetry, triangle, status)
    end subroutine

    ! Other values on the same pattern, in the order of set_csc, set_csr or set_coo.
    subroutine set_values(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        type(array) :: numbers
        call describe(values, numbers)
        call give_values(intended_call(self%handle, 'espalier_set_values'), c_set_values, numbers, status)
    end subroutine

    ! Order of the matrix, and entries kept of it.
    subroutine get_size(self, order, entries, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(out) :: order, entries
        integer, intent(out), optional :: status
        order = 0
        entries = 0
        call settle(self%handle, c_get_size(self%handle, order, entries), status)
    end subroutine

    subroutine analyze(self, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out), optional :: status
        call settle(self%handle, c_analyze(self%handle), status)
    end subroutine

    subroutine factorize(self, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out), optional :: status
        call settle(self%handle, c_factorize(self%handle), status)
    end subroutine

    ! set_values and factorize in one.
    subroutine refactorize(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        type(array) :: numbers
        call describe(values, numbers)
        call give_values(intended_call(self%handle, 'espalier_refactorize'), c_refactorize, numbers, status)
    end subroutine

    ! op(A) x = b without refinement.
    subroutine solve(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        type(array) :: right, solution
        call describe(b, right)
        call describe(x, solution)
        call take_step(self, c_solve, 'espalier_solve', right, solution, op, status)
    end subroutine

    ! Improves x. espalier_inaccurate and espalier_singular: x is the best there is, and not good enough.
    subroutine refine(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        type(array) :: right, solution
        call describe(b, right)
        call describe(x, solution)
        call take_step(self, c_refine, 'espalier_refine', right, solution, op, status)
    end subroutine

    ! All steps: analyze and factorize where they are due, solve and refine.
    subroutine drive(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        type(array) :: right, solution
        call describe(b, right)
        call describe(x, solution)
        call take_step(self, c_drive, 'espalier_drive', right, solution, op, status)
    end subroutine

    subroutine take_step(self, which, name, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        procedure(step) :: which
        character(*), intent(in) :: name
        type(array), intent(in) :: b, x
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        type(intended_call) :: here
        integer(c_int) :: operation
        here = intended_call(self%handle, name)
        operation = espalier_op_none
        if (present(op)) operation = int(op, c_int)
        if (.not. are_numbers(here, b, status)) return
        if (.not. are_as_many(here, b, x, status)) return
        if (.not. are_long(here, b, status)) return
        if (.not. are_long(here, x, status)) return
        call settle(self%handle, which(self%handle, operation, b%columns, b%address, b%leading, x%address, x%leading), &
                    status)
    end subroutine

end module
