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
    use, intrinsic :: iso_fortran_env, only: int64, real64
    use espalier_c
    use espalier_checks
    use espalier_systems
    implicit none
    private

    ! Constants of espalier_c.
    public :: espalier_ok, espalier_internal, espalier_usage, espalier_bad_input, espalier_io_error, &
        espalier_singular, espalier_not_positive_definite, espalier_inaccurate, espalier_out_of_memory, &
        espalier_unsupported, espalier_cancelled
    public :: espalier_general, espalier_symmetric, espalier_hermitian, espalier_full, espalier_lower, espalier_upper
    public :: espalier_op_none, espalier_op_transpose, espalier_op_adjoint

    public :: espalier_version, espalier_status_name, espalier_prediction, espalier_follow

    ! One linear system with its factorization. It is freed when it goes out of scope, and cannot be copied. Its procedures for
    ! options, matrix and steps are those of espalier_systems.f90.
    type, extends(espalier_system), public :: espalier_solver
        private
        integer(int64) :: nullity = 0     ! number of columns of null_vectors
        integer(int64) :: entries(3) = -1 ! of the factors L, D and U
    contains
        ! Results of the factorization.
        procedure :: inertia
        procedure :: determinant
        procedure :: rcond
        procedure :: null_space
        procedure :: null_vectors
        procedure :: selected_inverse
        procedure :: inverse_diagonal
        procedure :: update
        procedure :: update_dense
        procedure :: factors
        procedure :: get_factor
        procedure :: get_permutations
        procedure :: solve_lower
        procedure :: solve_lower_adjoint
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
    end type

contains

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

    ! update() with the nonzeros of a dense W, n or n x k.
    subroutine update_dense(self, w, sign, in_place, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: w(..)
        integer, intent(in) :: sign
        logical, intent(out), optional :: in_place
        integer, intent(out), optional :: status
        type(c_call) :: call_to
        type(array) :: columns
        integer(c_int) :: is_in_place, ended
        is_in_place = 0
        call_to = c_call(self%handle, 'espalier_update_dense')
        columns = array_of(w)
        call require_valid(call_to, columns)
        call require_all_rows(call_to, columns)
        if (present(in_place)) in_place = .false.
        if (is_refused(call_to, status)) return
        ended = c_update_dense(self%handle, columns%columns, columns%address, columns%leading, int(sign, c_int), is_in_place)
        if (present(in_place)) in_place = is_in_place /= 0
        call finish(self%handle, ended, status)
    end subroutine

    ! Copies the factors into sparse matrices, which the solver keeps until they change. entries: the numbers of nonzeros of L,
    ! D and U; 0 for a factor that does not exist. With p and q of get_permutations, A(p, p) = L L^H, L L^T, L D L^H or L D L^T,
    ! and A(p, q) = L U.
    subroutine factors(self, entries, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(out) :: entries(3)
        integer, intent(out), optional :: status
        entries = 0
        call finish(self%handle, c_factors(self%handle, entries), status)
        self%entries = entries
    end subroutine

    ! The compressed columns of factor 'L', 'D' or 'U', counted from 1: n + 1 starts, and a row and a value for each entry.
    subroutine get_factor(self, factor, col_ptr, row_ind, values, status)
        class(espalier_solver), intent(inout) :: self
        character, intent(in) :: factor
        integer(int64), intent(out) :: col_ptr(:), row_ind(:)
        type(*), intent(inout) :: values(..)
        integer, intent(out), optional :: status
        type(array) :: found
        type(c_call) :: call_to
        integer(int64) :: order, entries, needed
        integer(c_int) :: ended
        integer(c_int64_t), allocatable :: starts(:), rows(:)
        call_to = c_call(self%handle, 'espalier_get_factor')
        found = array_of(values)
        call self%get_size(order, entries, ended)
        needed = self%entries(max(1, index('LDU', factor)))
        call require_valid(call_to, found)
        call require(call_to, size(col_ptr, kind=int64) > order, 'there is no room for the starts of the columns')
        call require(call_to, size(row_ind, kind=int64) >= needed .and. found%rows >= needed, &
                     'there is no room for the entries of the factor')
        if (is_refused(call_to, status)) return
        allocate (starts(order + 1), rows(max(needed, 0_int64)))
        ended = c_get_factor(self%handle, int(iachar(factor), c_signed_char), 1, starts, rows, found%address)
        if (ended == espalier_ok) then
            col_ptr(:order + 1) = starts
            row_ind(:needed) = rows
        end if
        call finish(self%handle, ended, status)
    end subroutine

    ! The permutations of the factors, counted from 1: row k of L is row p(k) of A, and column k of L^H, L^T or U is column q(k).
    subroutine get_permutations(self, p, q, status)
        class(espalier_solver), intent(inout) :: self
        integer(int64), intent(out) :: p(:), q(:)
        integer, intent(out), optional :: status
        type(c_call) :: call_to
        integer(int64) :: order, entries
        integer(c_int) :: ended
        integer(c_int64_t), allocatable :: rows(:), columns(:)
        call_to = c_call(self%handle, 'espalier_get_permutations')
        call self%get_size(order, entries, ended)
        call require(call_to, size(p, kind=int64) >= order .and. size(q, kind=int64) >= order, &
                     'an array has fewer entries than the system has rows')
        if (is_refused(call_to, status)) return
        allocate (rows(order), columns(order))
        ended = c_get_permutations(self%handle, 1, rows, columns)
        if (ended == espalier_ok) then
            p(:order) = rows
            q(:order) = columns
        end if
        call finish(self%handle, ended, status)
    end subroutine

    ! x = (L D)^-1 b, where D is the identity for llh and llt, in the order of the rows of L.
    subroutine solve_lower(self, b, x, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(out), optional :: status
        call run_half(self, c_solve_lower, 'espalier_solve_lower', array_of(b), array_of(x), status)
    end subroutine

    ! x = L^-H b for llh and ldlh, L^-T b for llt and ldlt.
    subroutine solve_lower_adjoint(self, b, x, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: x(..)
        integer, intent(out), optional :: status
        call run_half(self, c_solve_lower_adjoint, 'espalier_solve_lower_adjoint', array_of(b), array_of(x), status)
    end subroutine

    subroutine run_half(self, which, name, b, x, status)
        class(espalier_solver), intent(inout) :: self
        procedure(half_function) :: which
        character(*), intent(in) :: name
        type(array), intent(in) :: b, x
        integer, intent(out), optional :: status
        type(c_call) :: call_to
        call_to = c_call(self%handle, name)
        call require_valid(call_to, b)
        call require_columns_of(call_to, b, x)
        call require_all_rows(call_to, b)
        call require_all_rows(call_to, x)
        if (is_refused(call_to, status)) return
        call finish(self%handle, which(self%handle, b%columns, b%address, b%leading, x%address, x%leading), status)
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

    ! Right-hand sides r (k x columns) of the condensed system, from those of op(A) x = b.
    subroutine condense(self, b, r, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..)
        type(*), intent(inout) :: r(..)
        integer, intent(in), optional :: op
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
        call finish(self%handle, c_condense(self%handle, operation_of(op), right%columns, right%address, right%leading, &
                                            reduced%address, reduced%leading), status)
    end subroutine

    ! The complete solution x of op(A) x = b from b and the unknowns x_schur (k x columns).
    subroutine expand(self, b, x_schur, x, op, status)
        class(espalier_solver), intent(inout) :: self
        type(*), intent(in) :: b(..), x_schur(..)
        type(*), intent(inout) :: x(..)
        integer, intent(in), optional :: op
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
        call finish(self%handle, c_expand(self%handle, operation_of(op), right%columns, right%address, right%leading, &
                                          kept%address, kept%leading, whole%address, whole%leading), status)
    end subroutine

    ! Predicts the factorization on `processes` with `threads` each (0: the cores of the topology), after analyze.
    subroutine predict(self, processes, threads, prediction, status)
        class(espalier_solver), intent(inout) :: self
        integer, intent(in) :: processes, threads
        type(espalier_prediction), intent(out) :: prediction
        integer, intent(out), optional :: status
        prediction = espalier_prediction(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
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

    ! The text as a C string, empty if it is absent.
    function optional_text(text) result(converted)
        character(*), intent(in), optional :: text
        character(:), allocatable :: converted
        converted = c_null_char
        if (present(text)) converted = c_text(text)
    end function

end module
