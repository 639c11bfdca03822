! The Fortran interface of Espalier, a direct solver for large sparse systems A x = b. It is Fortran 2008 with the
! assumed-type arrays of Technical Specification 29113, on top of the C interface. The documentation in
! include/espalier/espalier.h also applies here.
!
!     use espalier
!     type(espalier_solver) :: solver
!     call solver%create('d')
!     call solver%set_csc(col_ptr, row_ind, values)
!     call solver%drive(b, x)
!
! Numbers are real(real32), real(real64) or their complex kinds, as chosen by create. Indices are integer(int32) or
! integer(int64), and count from 1. Right-hand sides and solutions are vectors, or blocks with one column for each.
! The entries of a column must be contiguous in memory; pass a copy of sections such as x(1::2). Invalid arrays give
! espalier_usage.
!
! Every procedure has an optional argument `status`, which returns espalier_ok or another status; message() then
! describes the failure. Without `status`, a failure stops the program with its message, like allocate without stat=.
module espalier
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
    use espalier_c
    use espalier_checks
    implicit none
    private

    ! Constants of espalier_c.
    public :: espalier_ok, espalier_internal, espalier_usage, espalier_bad_input, espalier_io_error, &
        espalier_singular, espalier_not_positive_definite, espalier_inaccurate, espalier_out_of_memory, &
        espalier_unsupported, espalier_cancelled
    public :: espalier_general, espalier_symmetric, espalier_hermitian, espalier_full, espalier_lower, espalier_upper
    public :: espalier_op_none, espalier_op_transpose, espalier_op_adjoint

    public :: espalier_version, espalier_status_name, espalier_prediction, espalier_follow

    ! One linear system with its factorization. It is freed when it goes out of scope, and cannot be copied.
    type, public :: espalier_solver
        private
        type(c_ptr) :: handle = c_null_ptr
        integer(int64) :: nullity = 0 ! number of columns of null_vectors
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
        ! Systems of which each process has a part.
        procedure :: set_csc_part
        procedure :: set_csr_part
        procedure :: set_coo_part
        procedure :: set_values_part
        procedure :: refactorize_part
        procedure :: solve_rows
        procedure :: refine_rows
        procedure :: drive_rows
        ! Results of the factorization.
        procedure :: inertia
        procedure :: determinant
        procedure :: rcond
        procedure :: null_space
        procedure :: null_vectors
        procedure :: selected_inverse
        procedure :: inverse_diagonal
        procedure :: update
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
        call finish_without_solver('cannot create a solver', ended, status)
    end subroutine

    ! Replaces create and all other calls on all processes but process 0 of `comm`: takes part in the calls of process
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
        class(espalier_solver), intent(inout) :: self
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
        if (c_associated(self%handle) .or. c_associated(other%handle)) error stop 'an espalier_solver must not be copied'
    end subroutine

    ! Message about the failure of the last call; empty if the call succeeded.
    function message(self) result(text)
        class(espalier_solver), intent(in) :: self
        character(:), allocatable :: text
        text = fortran_text(c_message(self%handle))
    end function

    subroutine set_option(self, name, value, status)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name, value
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_option(self%handle, c_text(name), c_text(value)), status)
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
        call finish(self%handle, ended, status)
    end function

    ! Sets the unknowns, counted from 1, whose Schur complement factorize computes.
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
        call finish(self%handle, c_set_schur(self%handle, size(unknowns, kind=c_int64_t), unknowns, 1), status)
    end subroutine

    ! void callback(char const* line, void* user)
    subroutine set_log(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_log(self%handle, callback, user), status)
    end subroutine

    ! void callback(char const* phase, double fraction, void* user)
    subroutine set_progress(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_progress(self%handle, callback, user), status)
    end subroutine

    ! int callback(void* user): a nonzero result ends the call with espalier_cancelled
    subroutine set_cancel(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call finish(self%handle, c_set_cancel(self%handle, callback, user), status)
    end subroutine

    ! Compressed columns: column j has the entries col_ptr(j) .. col_ptr(j + 1) - 1.
    subroutine set_csc(self, col_ptr, row_ind, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: col_ptr(..), row_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix'), layout_csc, array_of(col_ptr), array_of(row_ind), &
                         array_of(values), symmetry, triangle, status)
    end subroutine

    ! Compressed rows: row i has the entries row_ptr(i) .. row_ptr(i + 1) - 1.
    subroutine set_csr(self, row_ptr, col_ind, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: row_ptr(..), col_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix'), layout_csr, array_of(row_ptr), array_of(col_ind), &
                         array_of(values), symmetry, triangle, status)
    end subroutine

    ! Coordinates of an n x n matrix, n an integer(int32) or integer(int64): entry k is at rows(k), cols(k). Entries at
    ! the same position are summed.
    subroutine set_coo(self, n, rows, cols, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: rows(..), cols(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix'), layout_coo, array_of(rows), array_of(cols), &
                         array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! New values on the same pattern, in the order of set_csc, set_csr or set_coo.
    subroutine set_values(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_set_values'), c_set_values, array_of(values), status)
    end subroutine

    ! Order of the matrix, and number of its stored entries.
    subroutine get_size(self, order, entries, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(out) :: order, entries
        integer, intent(out), optional :: status
        order = 0
        entries = 0
        call finish(self%handle, c_get_size(self%handle, order, entries), status)
    end subroutine

    subroutine analyze(self, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out), optional :: status
        call finish(self%handle, c_analyze(self%handle), status)
    end subroutine

    subroutine factorize(self, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out), optional :: status
        call finish(self%handle, c_factorize(self%handle), status)
    end subroutine

    ! Combines set_values and factorize.
    subroutine refactorize(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_refactorize'), c_refactorize, array_of(values), status)
    end subroutine

    ! Solves op(A) x = b without refinement.
    subroutine solve(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_step(self, c_solve, 'espalier_solve', array_of(b), array_of(x), op, status)
    end subroutine

    ! Improves x. With espalier_inaccurate and espalier_singular, x is the best solution found, but not good enough.
    subroutine refine(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_step(self, c_refine, 'espalier_refine', array_of(b), array_of(x), op, status)
    end subroutine

    ! Analyzes and factorizes if necessary, solves and refines.
    subroutine drive(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_step(self, c_drive, 'espalier_drive', array_of(b), array_of(x), op, status)
    end subroutine

    subroutine run_step(self, which, name, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
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
        class(espalier_solver), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: col_ptr(..), row_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csc, array_of(col_ptr), &
                         array_of(row_ind), array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! Consecutive rows.
    subroutine set_csr_part(self, n, row_ptr, col_ind, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: row_ptr(..), col_ind(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csr, array_of(row_ptr), &
                         array_of(col_ind), array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! Any entries; entries at the same position are summed, also those of different processes.
    subroutine set_coo_part(self, n, rows, cols, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        class(*), intent(in) :: n
        type(*), intent(in) :: rows(..), cols(..), values(..)
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_coo, array_of(rows), &
                         array_of(cols), array_of(values), symmetry, triangle, status, order_of(n))
    end subroutine

    ! New values of the part of this process.
    subroutine set_values_part(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_set_values_part', .true.), c_set_values_part, array_of(values), &
                         status)
    end subroutine

    subroutine refactorize_part(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_refactorize_part', .true.), c_refactorize_part, &
                         array_of(values), status)
    end subroutine

    ! b and x are consecutive rows of right-hand sides and solutions, beginning with those of process 0.
    subroutine solve_rows(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_rows_step(self, c_solve_rows, 'espalier_solve_rows', array_of(b), array_of(x), op, status)
    end subroutine

    subroutine refine_rows(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_rows_step(self, c_refine_rows, 'espalier_refine_rows', array_of(b), array_of(x), op, status)
    end subroutine

    subroutine drive_rows(self, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        call run_rows_step(self, c_drive_rows, 'espalier_drive_rows', array_of(b), array_of(x), op, status)
    end subroutine

    ! Signs of the eigenvalues of a real symmetric or Hermitian matrix.
    subroutine inertia(self, positive, negative, zero, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(out) :: positive, negative, zero
        integer, intent(out), optional :: status
        positive = 0
        negative = 0
        zero = 0
        call finish(self%handle, c_inertia(self%handle, positive, negative, zero), status)
    end subroutine

    ! det A = phase * exp(log_modulus)
    subroutine determinant(self, phase, log_modulus, status)
        class(espalier_solver), intent(inout) :: self
        complex(real64), intent(out) :: phase
        real(real64), intent(out) :: log_modulus
        integer, intent(out), optional :: status
        real(c_double) :: re, im
        integer(c_int) :: ended
        re = 0
        im = 0
        log_modulus = 0
        ended = c_determinant(self%handle, re, im, log_modulus)
        phase = cmplx(re, im, real64)
        call finish(self%handle, ended, status)
    end subroutine

    ! Estimate of 1 / (|A| |A^-1|), 1-norms.
    subroutine rcond(self, value, status)
        class(espalier_solver), intent(inout) :: self
        real(real64), intent(out) :: value
        integer, intent(out), optional :: status
        value = 0
        call finish(self%handle, c_rcond(self%handle, value), status)
    end subroutine

    ! The rank: the number of singular values above tolerance * |A| (0: the default tolerance).
    subroutine null_space(self, tolerance, rank, status)
        class(espalier_solver), intent(inout) :: self
        real(real64), intent(in) :: tolerance
        integer(int64), intent(out) :: rank
        integer, intent(out), optional :: status
        integer(c_int64_t) :: order, entries
        integer(c_int) :: ended
        rank = 0
        order = 0
        ended = c_null_space(self%handle, tolerance, rank)
        if (ended == espalier_ok) call self%get_size(order, entries, ended)
        self%nullity = order - rank
        call finish(self%handle, ended, status)
    end subroutine

    ! The null vectors found by null_space, n x (n - rank).
    subroutine null_vectors(self, basis, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(inout) :: basis(..)
        integer, intent(out), optional :: status
        type(array) :: found
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_null_vectors')
        found = array_of(basis)
        call require_valid(call_to, found)
        call require_all_rows(call_to, found)
        call require(call_to, found%columns >= self%nullity, 'the basis has fewer columns than there are null vectors')
        if (is_refused(call_to, status)) return
        call finish(self%handle, c_null_vectors(self%handle, found%address, found%leading), status)
    end subroutine

    ! For each entry (i, j) of the matrix, in its order, the entry (j, i) of the inverse.
    subroutine selected_inverse(self, inverse, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(inout) :: inverse(..)
        integer, intent(out), optional :: status
        call pass_values(c_call(self%handle, 'espalier_selected_inverse'), c_selected_inverse, array_of(inverse), status)
    end subroutine

    ! The diagonal of the inverse.
    subroutine inverse_diagonal(self, diagonal, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(inout) :: diagonal(..)
        integer, intent(out), optional :: status
        type(array) :: found
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_inverse_diagonal')
        found = array_of(diagonal)
        call require_valid(call_to, found)
        call require_all_rows(call_to, found)
        if (is_refused(call_to, status)) return
        call finish(self%handle, c_inverse_diagonal(self%handle, found%address), status)
    end subroutine

    ! Replaces A by A + sign W W^H (sign 1 or -1; W W^T if A is symmetric) and its factors by those of the new matrix. W has
    ! the compressed columns col_ptr(j) .. col_ptr(j + 1) - 1. in_place: whether the factors were changed in place.
    subroutine update(self, col_ptr, row_ind, values, sign, in_place, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: col_ptr(..), row_ind(..), values(..)
        integer, intent(in) :: sign
        logical, intent(out), optional :: in_place
        integer, intent(out), optional :: status
        type(c_call) :: call_to
        type(matrix_arrays) :: w
        integer(c_int64_t) :: order, entries
        integer(c_int) :: is_in_place, ended
        is_in_place = 0
        call_to = c_call(self%handle, 'espalier_update')
        call self%get_size(order, entries, ended)
        call check_matrix(call_to, layout_csc, array_of(col_ptr), array_of(row_ind), array_of(values), w, order=order)
        if (present(in_place)) in_place = .false.
        if (is_refused(call_to, status)) return
        ended = c_update(self%handle, w, int(sign, c_int), is_in_place)
        if (present(in_place)) in_place = is_in_place /= 0
        call finish(self%handle, ended, status)
    end subroutine

    ! The Schur complement on the unknowns of set_schur, k x k.
    subroutine schur_complement(self, schur, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(inout) :: schur(..)
        integer, intent(out), optional :: status
        type(array) :: found
        type(c_call) :: call_to
        call_to = c_call(self%handle, 'espalier_schur_complement')
        found = array_of(schur)
        call require_valid(call_to, found)
        call require_whole(call_to, found)
        call require(call_to, found%columns == found%rows, 'the array for the Schur complement is not square')
        if (is_refused(call_to, status)) return
        call finish(self%handle, c_schur_complement(self%handle, found%address, found%leading), status)
    end subroutine

    ! Right-hand sides r (k x columns) of the condensed system.
    subroutine condense(self, b, r, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: r(..)
        integer, intent(out), optional :: status
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
    end subroutine

    ! The complete solution x from b and the unknowns x_schur (k x columns).
    subroutine expand(self, b, x_schur, x, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..), x_schur(..)
        type(*), intent(inout) :: x(..)
        integer, intent(out), optional :: status
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
    end subroutine

    ! Predicts the factorization on `processes` with `threads` each (0: the cores of the topology), after analyze.
    subroutine predict(self, processes, threads, prediction, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(in) :: processes, threads
        type(espalier_prediction), intent(out) :: prediction
        integer, intent(out), optional :: status
        prediction = espalier_prediction(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        call finish(self%handle, c_predict(self%handle, int(processes, c_int), int(threads, c_int), prediction), status)
    end subroutine

    ! Writes the predicted schedule as a trace for ViTE or `espalier trace`, compressed if the path ends in .gz.
    subroutine write_predicted_trace(self, path, processes, threads, matrix_name, status)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: path
        integer, intent(in) :: processes, threads
        character(*), intent(in), optional :: matrix_name
        integer, intent(out), optional :: status
        call finish(self%handle, c_write_predicted_trace(self%handle, c_text(path), int(processes, c_int), &
                                                         int(threads, c_int), optional_text(matrix_name)), status)
    end subroutine

    ! Writes the run since the last analyze or write_trace as a trace, if the option record-trace is on.
    subroutine write_trace(self, path, matrix_name, status)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: path
        character(*), intent(in), optional :: matrix_name
        integer, intent(out), optional :: status
        call finish(self%handle, c_write_trace(self%handle, c_text(path), optional_text(matrix_name)), status)
    end subroutine

    function report_int(self, name, status) result(number)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        integer(int64) :: number
        number = 0
        call finish(self%handle, c_report_int(self%handle, c_text(name), number), status)
    end function

    function report_real(self, name, status) result(number)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        real(real64) :: number
        number = 0
        call finish(self%handle, c_report_real(self%handle, c_text(name), number), status)
    end function

    function report_logical(self, name, status) result(truth)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        logical :: truth
        integer(c_int) :: number, ended
        number = 0
        ended = c_report_bool(self%handle, c_text(name), number)
        truth = number /= 0
        call finish(self%handle, ended, status)
    end function

    function report_string(self, name, status) result(text)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        character(:), allocatable :: text
        type(c_ptr) :: found
        integer(c_int) :: ended
        found = c_null_ptr
        ended = c_report_string(self%handle, c_text(name), found)
        text = fortran_text(found)
        call finish(self%handle, ended, status)
    end function

    function report_reals(self, name, status) result(values)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        real(real64), allocatable :: values(:)
        real(c_double), pointer :: found(:)
        type(c_ptr) :: address
        integer(c_int64_t) :: count
        integer(c_int) :: ended
        count = 0
        address = c_null_ptr
        ended = c_report_reals(self%handle, c_text(name), count, address)
        if (count > 0) then
            call c_f_pointer(address, found, [count])
            values = found
        else
            allocate (values(0))
        end if
        call finish(self%handle, ended, status)
    end function

    function report_json(self, status) result(text)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out), optional :: status
        character(:), allocatable :: text
        type(c_ptr) :: found
        integer(c_int) :: ended
        found = c_null_ptr
        ended = c_report_json(self%handle, found)
        text = fortran_text(found)
        call finish(self%handle, ended, status)
    end function

    subroutine run_rows_step(self, which, name, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
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

    ! The text as a C string, empty if it is absent.
    function optional_text(text) result(converted)
        character(*), intent(in), optional :: text
        character(:), allocatable :: converted
        converted = c_null_char
        if (present(text)) converted = c_text(text)
    end function

end module
