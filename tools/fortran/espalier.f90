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
! Every procedure has an optional last argument `status`: espalier_ok, or one of the others below, and then
! message() tells more. Without it a failure stops the program with its message, as with stat= of allocate.
module espalier
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
    implicit none
    private

    ! How a call ended.
    integer, parameter, public :: espalier_ok = 0, espalier_internal = 1, espalier_usage = 2, &
        espalier_bad_input = 3, espalier_io_error = 4, espalier_singular = 5, &
        espalier_not_positive_definite = 6, espalier_inaccurate = 7, espalier_out_of_memory = 8, &
        espalier_unsupported = 9, espalier_cancelled = 10
    ! Symmetry of the values of a matrix.
    integer, parameter, public :: espalier_general = 0, espalier_symmetric = 1, espalier_hermitian = 2
    ! Which entries of a symmetric or Hermitian matrix are given.
    integer, parameter, public :: espalier_full = 0, espalier_lower = 1, espalier_upper = 2
    ! Which system is solved: A x = b, A^T x = b, A^H x = b.
    integer, parameter, public :: espalier_op_none = 0, espalier_op_transpose = 1, espalier_op_adjoint = 2

    public :: espalier_version, espalier_status_name

    integer(c_int), parameter :: layout_csc = 0, layout_csr = 1, layout_coo = 2

    ! One linear system and everything known of it. Freed when it goes out of scope; cannot be copied.
    type, public :: espalier_solver
        private
        type(c_ptr) :: handle = c_null_ptr
        integer(int64) :: nullity = 0 ! columns that null_vectors will write
    contains
        procedure :: create
        procedure :: destroy
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

    ! What the static schedule expects of a factorization on a machine of `processes` with `threads` each: times
    ! in seconds, work_s + idle_s = factor_s * processes * threads; memory of the process that holds most, and of
    ! all; messages between processes and what they carry; tasks on workers. As in espalier.h.
    type, bind(c), public :: espalier_prediction
        integer(c_int) :: processes, threads
        real(c_double) :: factor_s, critical_path_s, work_s, idle_s, efficiency
        real(c_double) :: memory_bytes, total_memory_bytes, message_bytes
        integer(c_int64_t) :: messages, tasks
    end type

    ! espalier_matrix of espalier.h.
    type, bind(c) :: matrix_arrays
        integer(c_int) :: layout, symmetry, triangle, index_type, base
        integer(c_int64_t) :: rows, cols, entries
        type(c_ptr) :: pointers, indices, values
    end type

    ! What array.c tells of an array.
    type, bind(c) :: array
        type(c_ptr) :: address
        integer(c_int) :: type, in_order
        integer(c_int64_t) :: rows, columns, leading
    end type

    abstract interface
        function step(solver, op, nrhs, b, ldb, x, ldx) bind(c) result(status)
            import
            type(c_ptr), value :: solver, b, x
            integer(c_int), value :: op
            integer(c_int64_t), value :: nrhs, ldb, ldx
            integer(c_int) :: status
        end function
    end interface

    procedure(step), bind(c, name='espalier_solve') :: c_solve
    procedure(step), bind(c, name='espalier_refine') :: c_refine
    procedure(step), bind(c, name='espalier_drive') :: c_drive

    interface
        subroutine describe(given, found) bind(c, name='espalier_fortran_array')
            import
            type(*), intent(in) :: given(..)
            type(array), intent(out) :: found
        end subroutine
        function c_version() bind(c, name='espalier_version_string') result(text)
            import
            type(c_ptr) :: text
        end function
        function c_status_string(status) bind(c, name='espalier_status_string') result(text)
            import
            integer(c_int), value :: status
            type(c_ptr) :: text
        end function
        function c_message(solver) bind(c, name='espalier_message') result(text)
            import
            type(c_ptr), value :: solver
            type(c_ptr) :: text
        end function
        function c_create(solver, scalar) bind(c, name='espalier_create') result(status)
            import
            type(c_ptr), intent(out) :: solver
            integer(c_int), value :: scalar
            integer(c_int) :: status
        end function
        subroutine c_destroy(solver) bind(c, name='espalier_destroy')
            import
            type(c_ptr), intent(inout) :: solver
        end subroutine
        function c_get_scalar(solver, scalar) bind(c, name='espalier_get_scalar') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int), intent(out) :: scalar
            integer(c_int) :: status
        end function
        function c_set_option(solver, name, text) bind(c, name='espalier_set_option') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*), text(*)
            integer(c_int) :: status
        end function
        function c_get_option(solver, name, text) bind(c, name='espalier_get_option') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr), intent(out) :: text
            integer(c_int) :: status
        end function
        function c_set_schur(solver, count, unknowns, base) bind(c, name='espalier_set_schur') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int64_t), value :: count
            integer(c_int64_t), intent(in) :: unknowns(*)
            integer(c_int), value :: base
            integer(c_int) :: status
        end function
        function c_set_log(solver, callback, user) bind(c, name='espalier_set_log') result(status)
            import
            type(c_ptr), value :: solver, user
            type(c_funptr), value :: callback
            integer(c_int) :: status
        end function
        function c_set_progress(solver, callback, user) bind(c, name='espalier_set_progress') result(status)
            import
            type(c_ptr), value :: solver, user
            type(c_funptr), value :: callback
            integer(c_int) :: status
        end function
        function c_set_cancel(solver, callback, user) bind(c, name='espalier_set_cancel') result(status)
            import
            type(c_ptr), value :: solver, user
            type(c_funptr), value :: callback
            integer(c_int) :: status
        end function
        function c_set_matrix(solver, matrix) bind(c, name='espalier_set_matrix') result(status)
            import
            type(c_ptr), value :: solver
            type(matrix_arrays), intent(in) :: matrix
            integer(c_int) :: status
        end function
        function c_set_values(solver, entries, values) bind(c, name='espalier_set_values') result(status)
            import
            type(c_ptr), value :: solver, values
            integer(c_int64_t), value :: entries
            integer(c_int) :: status
        end function
        function c_get_size(solver, order, entries) bind(c, name='espalier_get_size') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int64_t), intent(inout) :: order, entries
            integer(c_int) :: status
        end function
        function c_analyze(solver) bind(c, name='espalier_analyze') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int) :: status
        end function
        function c_factorize(solver) bind(c, name='espalier_factorize') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int) :: status
        end function
        function c_refactorize(solver, entries, values) bind(c, name='espalier_refactorize') result(status)
            import
            type(c_ptr), value :: solver, values
            integer(c_int64_t), value :: entries
            integer(c_int) :: status
        end function
        function c_inertia(solver, positive, negative, zero) bind(c, name='espalier_inertia') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int64_t), intent(inout) :: positive, negative, zero
            integer(c_int) :: status
        end function
        function c_determinant(solver, re, im, log_modulus) bind(c, name='espalier_determinant') result(status)
            import
            type(c_ptr), value :: solver
            real(c_double), intent(inout) :: re, im, log_modulus
            integer(c_int) :: status
        end function
        function c_rcond(solver, rcond) bind(c, name='espalier_rcond') result(status)
            import
            type(c_ptr), value :: solver
            real(c_double), intent(inout) :: rcond
            integer(c_int) :: status
        end function
        function c_null_space(solver, tolerance, rank) bind(c, name='espalier_null_space') result(status)
            import
            type(c_ptr), value :: solver
            real(c_double), value :: tolerance
            integer(c_int64_t), intent(inout) :: rank
            integer(c_int) :: status
        end function
        function c_null_vectors(solver, basis, ld) bind(c, name='espalier_null_vectors') result(status)
            import
            type(c_ptr), value :: solver, basis
            integer(c_int64_t), value :: ld
            integer(c_int) :: status
        end function
        function c_schur_complement(solver, schur, ld) bind(c, name='espalier_schur_complement') result(status)
            import
            type(c_ptr), value :: solver, schur
            integer(c_int64_t), value :: ld
            integer(c_int) :: status
        end function
        function c_condense(solver, nrhs, b, ldb, r, ldr) bind(c, name='espalier_condense') result(status)
            import
            type(c_ptr), value :: solver, b, r
            integer(c_int64_t), value :: nrhs, ldb, ldr
            integer(c_int) :: status
        end function
        function c_expand(solver, nrhs, b, ldb, x_schur, lds, x, ldx) bind(c, name='espalier_expand') result(status)
            import
            type(c_ptr), value :: solver, b, x_schur, x
            integer(c_int64_t), value :: nrhs, ldb, lds, ldx
            integer(c_int) :: status
        end function
        function c_predict(solver, processes, threads, prediction) bind(c, name='espalier_predict') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int), value :: processes, threads
            type(espalier_prediction), intent(inout) :: prediction
            integer(c_int) :: status
        end function
        function c_write_predicted_trace(solver, path, processes, threads, matrix_name) &
            bind(c, name='espalier_write_predicted_trace') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: path(*), matrix_name(*)
            integer(c_int), value :: processes, threads
            integer(c_int) :: status
        end function
        function c_write_trace(solver, path, matrix_name) bind(c, name='espalier_write_trace') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: path(*), matrix_name(*)
            integer(c_int) :: status
        end function
        function c_report_int(solver, name, number) bind(c, name='espalier_report_int') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int64_t), intent(inout) :: number
            integer(c_int) :: status
        end function
        function c_report_real(solver, name, number) bind(c, name='espalier_report_real') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            real(c_double), intent(inout) :: number
            integer(c_int) :: status
        end function
        function c_report_bool(solver, name, truth) bind(c, name='espalier_report_bool') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int), intent(inout) :: truth
            integer(c_int) :: status
        end function
        function c_report_string(solver, name, text) bind(c, name='espalier_report_string') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            type(c_ptr), intent(inout) :: text
            integer(c_int) :: status
        end function
        function c_report_reals(solver, name, count, values) bind(c, name='espalier_report_reals') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int64_t), intent(inout) :: count
            type(c_ptr), intent(inout) :: values
            integer(c_int) :: status
        end function
        function c_report_json(solver, text) bind(c, name='espalier_report_json') result(status)
            import
            type(c_ptr), value :: solver
            type(c_ptr), intent(inout) :: text
            integer(c_int) :: status
        end function
        pure function c_strlen(text) bind(c, name='strlen') result(length)
            import
            type(c_ptr), value :: text
            integer(c_size_t) :: length
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

    ! An empty solver in single, double, single complex or double complex numbers: 's', 'd', 'c', 'z'.
    subroutine create(self, scalar, status)
        class(espalier_solver), intent(inout) :: self
        character, intent(in) :: scalar
        integer, intent(out), optional :: status
        call self%destroy()
        call settle(self, c_create(self%handle, int(iachar(scalar), c_int)), status)
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
        call settle(self, c_set_option(self%handle, c_text(name), c_text(value)), status)
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
        call settle(self, ended, status)
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
        call settle(self, c_set_schur(self%handle, size(unknowns, kind=c_int64_t), unknowns, 1_c_int), status)
    end subroutine

    ! void callback(char const* line, void* user)
    subroutine set_log(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call settle(self, c_set_log(self%handle, callback, user), status)
    end subroutine

    ! void callback(char const* phase, double fraction, void* user)
    subroutine set_progress(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call settle(self, c_set_progress(self%handle, callback, user), status)
    end subroutine

    ! int callback(void* user): not 0 ends the call with espalier_cancelled
    subroutine set_cancel(self, callback, user, status)
        class(espalier_solver), intent(inout) :: self
        type(c_funptr), intent(in) :: callback
        type(c_ptr), intent(in) :: user
        integer, intent(out), optional :: status
        call settle(self, c_set_cancel(self%handle, callback, user), status)
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
        call set_matrix(self, layout_csc, starts%rows - 1, starts, indices, numbers, symmetry, triangle, status)
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
        call set_matrix(self, layout_csr, starts%rows - 1, starts, indices, numbers, symmetry, triangle, status)
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
        if (row_indices%rows /= indices%rows) then
            call refuse('rows and columns of the entries are not equally many', status)
            return
        end if
        call set_matrix(self, layout_coo, n, row_indices, indices, numbers, symmetry, triangle, status)
    end subroutine

    ! Other values on the same pattern, in the order of set_csc, set_csr or set_coo.
    subroutine set_values(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        type(array) :: numbers
        call describe(values, numbers)
        if (.not. are_numbers(self, numbers, status)) return
        call settle(self, c_set_values(self%handle, numbers%rows, numbers%address), status)
    end subroutine

    ! Order of the matrix, and entries kept of it.
    subroutine get_size(self, order, entries, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(out) :: order, entries
        integer, intent(out), optional :: status
        order = 0
        entries = 0
        call settle(self, c_get_size(self%handle, order, entries), status)
    end subroutine

    subroutine analyze(self, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out), optional :: status
        call settle(self, c_analyze(self%handle), status)
    end subroutine

    subroutine factorize(self, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(out), optional :: status
        call settle(self, c_factorize(self%handle), status)
    end subroutine

    ! set_values and factorize in one.
    subroutine refactorize(self, values, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: values(..)
        integer, intent(out), optional :: status
        type(array) :: numbers
        call describe(values, numbers)
        if (.not. are_numbers(self, numbers, status)) return
        call settle(self, c_refactorize(self%handle, numbers%rows, numbers%address), status)
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
        call take_step(self, c_solve, right, solution, op, status)
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
        call take_step(self, c_refine, right, solution, op, status)
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
        call take_step(self, c_drive, right, solution, op, status)
    end subroutine

    ! Signs of the eigenvalues of a real symmetric or Hermitian matrix.
    subroutine inertia(self, positive, negative, zero, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(out) :: positive, negative, zero
        integer, intent(out), optional :: status
        positive = 0
        negative = 0
        zero = 0
        call settle(self, c_inertia(self%handle, positive, negative, zero), status)
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
        call settle(self, ended, status)
    end subroutine

    ! Estimate of 1 / (|A| |A^-1|), 1-norms.
    subroutine rcond(self, value, status)
        class(espalier_solver), intent(inout) :: self
        real(real64), intent(out) :: value
        integer, intent(out), optional :: status
        value = 0
        call settle(self, c_rcond(self%handle, value), status)
    end subroutine

    ! The rank, by singular values above tolerance * |A| (0: the default).
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
        if (ended == espalier_ok) ended = c_get_size(self%handle, order, entries)
        self%nullity = order - rank
        call settle(self, ended, status)
    end subroutine

    ! The null vectors that null_space found, n x (n - rank).
    subroutine null_vectors(self, basis, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(inout) :: basis(..)
        integer, intent(out), optional :: status
        type(array) :: found
        call describe(basis, found)
        if (.not. are_numbers(self, found, status)) return
        if (.not. are_long(self, found, status)) return
        if (found%columns < self%nullity) then
            call refuse('the basis has fewer columns than there are null vectors', status)
            return
        end if
        call settle(self, c_null_vectors(self%handle, found%address, found%leading), status)
    end subroutine

    ! The Schur complement on the unknowns of set_schur, k x k.
    subroutine schur_complement(self, schur, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(inout) :: schur(..)
        integer, intent(out), optional :: status
        type(array) :: found
        call describe(schur, found)
        if (.not. are_numbers(self, found, status)) return
        if (.not. is_whole(found, status)) return
        if (found%columns /= found%rows) then
            call refuse('the array for the Schur complement is not square', status)
            return
        end if
        call settle(self, c_schur_complement(self%handle, found%address, found%leading), status)
    end subroutine

    ! Right-hand sides r (k x columns) of the condensed system.
    subroutine condense(self, b, r, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: r(..)
        integer, intent(out), optional :: status
        type(array) :: right, reduced
        call describe(b, right)
        call describe(r, reduced)
        if (.not. are_numbers(self, right, status)) return
        if (.not. are_as_many(self, right, reduced, status)) return
        if (.not. are_long(self, right, status)) return
        if (.not. is_whole(reduced, status)) return
        call settle(self, c_condense(self%handle, right%columns, right%address, right%leading, reduced%address, &
                                     reduced%leading), status)
    end subroutine

    ! The whole solution x from b and the unknowns x_schur (k x columns).
    subroutine expand(self, b, x_schur, x, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..), x_schur(..)
        type(*), intent(inout) :: x(..)
        integer, intent(out), optional :: status
        type(array) :: right, kept, whole
        call describe(b, right)
        call describe(x_schur, kept)
        call describe(x, whole)
        if (.not. are_numbers(self, right, status)) return
        if (.not. are_as_many(self, right, kept, status)) return
        if (.not. are_as_many(self, right, whole, status)) return
        if (.not. are_long(self, right, status)) return
        if (.not. are_long(self, whole, status)) return
        if (.not. is_whole(kept, status)) return
        call settle(self, c_expand(self%handle, right%columns, right%address, right%leading, kept%address, &
                                   kept%leading, whole%address, whole%leading), status)
    end subroutine

    ! What the schedule would be for `processes` of `threads` each (0: the cores of the topology), after analyze.
    subroutine predict(self, processes, threads, prediction, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(in) :: processes, threads
        type(espalier_prediction), intent(out) :: prediction
        integer, intent(out), optional :: status
        prediction = espalier_prediction(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        call settle(self, c_predict(self%handle, int(processes, c_int), int(threads, c_int), prediction), status)
    end subroutine

    ! That schedule as a trace, a file for ViTE or `espalier trace`; compressed when the path ends in .gz.
    subroutine write_predicted_trace(self, path, processes, threads, matrix_name, status)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: path
        integer, intent(in) :: processes, threads
        character(*), intent(in), optional :: matrix_name
        integer, intent(out), optional :: status
        character(:), allocatable :: name
        name = ''
        if (present(matrix_name)) name = matrix_name
        call settle(self, c_write_predicted_trace(self%handle, c_text(path), int(processes, c_int), &
                                                  int(threads, c_int), c_text(name)), status)
    end subroutine

    ! The same of what was recorded since the last analyze or write_trace; with the option record-trace.
    subroutine write_trace(self, path, matrix_name, status)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: path
        character(*), intent(in), optional :: matrix_name
        integer, intent(out), optional :: status
        character(:), allocatable :: name
        name = ''
        if (present(matrix_name)) name = matrix_name
        call settle(self, c_write_trace(self%handle, c_text(path), c_text(name)), status)
    end subroutine

    function report_int(self, name, status) result(number)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        integer(int64) :: number
        number = 0
        call settle(self, c_report_int(self%handle, c_text(name), number), status)
    end function

    function report_real(self, name, status) result(number)
        class(espalier_solver), intent(inout) :: self
        character(*), intent(in) :: name
        integer, intent(out), optional :: status
        real(real64) :: number
        number = 0
        call settle(self, c_report_real(self%handle, c_text(name), number), status)
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
        call settle(self, ended, status)
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
        call settle(self, ended, status)
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
        call settle(self, ended, status)
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
        call settle(self, ended, status)
    end function

    ! Hands a status over, or stops.
    subroutine settle(self, ended, status)
        class(espalier_solver), intent(in) :: self
        integer(c_int), intent(in) :: ended
        integer, intent(out), optional :: status
        if (present(status)) then
            status = ended
        else if (ended /= espalier_ok) then
            call stop_with(self%message())
        end if
    end subroutine

    ! The same for what is found wrong before C is called.
    subroutine refuse(what, status)
        character(*), intent(in) :: what
        integer, intent(out), optional :: status
        if (.not. present(status)) call stop_with(what)
        status = espalier_usage
    end subroutine

    subroutine stop_with(what)
        character(*), intent(in) :: what
        write (error_unit, '(2a)') 'espalier: error: ', what
        error stop
    end subroutine

    subroutine set_matrix(self, layout, n, pointers, indices, values, symmetry, triangle, status)
        class(espalier_solver), intent(inout) :: self
        integer(c_int), intent(in) :: layout
        integer(int64), intent(in) :: n
        type(array), intent(in) :: pointers, indices, values
        integer, intent(in), optional :: symmetry, triangle
        integer, intent(out), optional :: status
        type(matrix_arrays) :: matrix
        integer(c_int) :: width
        width = index_type_of(pointers%type, indices%type)
        if (width < 0) then
            call refuse('the indices of the matrix are not integers of one kind, int32 or int64', status)
        else if (pointers%in_order == 0 .or. indices%in_order == 0) then
            call refuse('an array of indices is not contiguous; give a copy of it', status)
        else if (indices%rows /= values%rows) then
            call refuse('indices and values of the matrix are not equally many', status)
        else if (are_numbers(self, values, status)) then
            matrix = matrix_arrays(layout, espalier_general, espalier_full, width, 1, n, n, values%rows, &
                                   pointers%address, indices%address, values%address)
            if (present(symmetry)) matrix%symmetry = int(symmetry, c_int)
            if (present(triangle)) matrix%triangle = int(triangle, c_int)
            call settle(self, c_set_matrix(self%handle, matrix), status)
        end if
    end subroutine

    ! espalier_index_type of two arrays of indices; -1 when they have none in common.
    pure function index_type_of(one, other) result(width)
        integer(c_int), intent(in) :: one, other
        integer(c_int) :: width
        width = -1
        if (one == other .and. one == iachar('i')) width = 0
        if (one == other .and. one == iachar('l')) width = 1
    end function

    subroutine take_step(self, which, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        procedure(step) :: which
        type(array), intent(in) :: b, x
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        integer(c_int) :: operation
        operation = espalier_op_none
        if (present(op)) operation = int(op, c_int)
        if (.not. are_numbers(self, b, status)) return
        if (.not. are_as_many(self, b, x, status)) return
        if (.not. are_long(self, b, status)) return
        if (.not. are_long(self, x, status)) return
        call settle(self, which(self%handle, operation, b%columns, b%address, b%leading, x%address, x%leading), &
                    status)
    end subroutine

    ! Whether the columns of an array are as long as the system; more is fine.
    function are_long(self, given, status) result(fits)
        class(espalier_solver), intent(in) :: self
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: fits
        integer(c_int64_t) :: order, entries
        fits = .true.
        if (c_get_size(self%handle, order, entries) == espalier_ok) fits = given%rows >= order
        if (.not. fits) call refuse('an array has fewer rows than the system', status) ! else the call itself fails
    end function

    ! Whether an array whose rows only C can count is a whole one, so that its leading dimension tells them.
    function is_whole(given, status) result(fits)
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: fits
        fits = given%leading == max(1_c_int64_t, given%rows)
        if (.not. fits) call refuse('an array for the Schur complement is part of another; give it whole', status)
    end function

    ! Whether an array is of the solver's scalar type, and laid out as C wants it.
    function are_numbers(self, given, status) result(fits)
        class(espalier_solver), intent(in) :: self
        type(array), intent(in) :: given
        integer, intent(out), optional :: status
        logical :: fits
        integer(c_int) :: scalar
        scalar = given%type ! without a handle it is the call itself that fails
        if (c_associated(self%handle)) then
            if (c_get_scalar(self%handle, scalar) /= espalier_ok) scalar = -1
        end if
        fits = scalar == given%type .and. given%in_order /= 0
        if (scalar /= given%type) then
            call refuse('an array is not of the scalar type that the solver was created for', status)
        else if (.not. fits) then
            call refuse('the entries of a column do not follow each other; give a copy of the array', status)
        end if
    end function

    ! And whether it has a column for each of another.
    function are_as_many(self, b, x, status) result(fits)
        class(espalier_solver), intent(in) :: self
        type(array), intent(in) :: b, x
        integer, intent(out), optional :: status
        logical :: fits
        fits = are_numbers(self, x, status)
        if (.not. fits) return
        fits = b%columns == x%columns
        if (.not. fits) call refuse('right-hand sides and solutions have not equally many columns', status)
    end function

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
