! Tests of every procedure of the module, in all scalar types and index kinds, and of invalid arguments.
module checks
    use, intrinsic :: iso_fortran_env, only: error_unit
    implicit none
    integer :: failures = 0
contains
    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        failures = failures + 1
        write (error_unit, '(2a)') 'failed: ', what
    end subroutine
end module

module callbacks
    use, intrinsic :: iso_c_binding
    implicit none
    integer :: lines = 0, steps = 0, calls = 0
contains
    subroutine take_line(line, user) bind(c)
        character(kind=c_char), intent(in) :: line(*)
        type(c_ptr), value :: user
        if (line(1) /= c_null_char .and. .not. c_associated(user)) lines = lines + 1
    end subroutine

    subroutine take_progress(phase, fraction, user) bind(c)
        character(kind=c_char), intent(in) :: phase(*)
        real(c_double), value :: fraction
        type(c_ptr), value :: user
        if (phase(1) /= c_null_char .and. fraction <= 1 .and. .not. c_associated(user)) steps = steps + 1
    end subroutine

    function always_cancel(user) bind(c) result(answer)
        type(c_ptr), value :: user
        integer(c_int) :: answer
        if (.not. c_associated(user)) calls = calls + 1
        answer = 1
    end function
end module

program module_test
    use, intrinsic :: iso_c_binding
    use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64, error_unit
    use callbacks
    use checks
    use espalier
    implicit none

    ! [ 4 1 0; 2 5 1; 0 3 6 ]
    integer(int32), parameter :: col_ptr(4) = [1, 3, 6, 8], row_ind(7) = [1, 2, 1, 2, 3, 2, 3]
    integer(int32), parameter :: columns(7) = [1, 1, 2, 2, 2, 3, 3]
    real(real64), parameter :: a(7) = [4, 2, 1, 5, 3, 1, 6]

    call layouts()
    call scalars()
    call steps_and_blocks()
    call results()
    call factors()
    call batch()
    call singular_to_working_precision()
    call incomplete()
    call predictions_and_traces()
    call options_and_report()
    call refusals()
    if (failures > 0) error stop 1
contains

    real(real64) function residual(x, b)
        real(real64), intent(in) :: x(3), b(3)
        residual = maxval(abs([4*x(1) + x(2), 2*x(1) + 5*x(2) + x(3), 3*x(2) + 6*x(3)] - b))
    end function

    real(real64) function residual_of_transpose(x, b)
        real(real64), intent(in) :: x(3), b(3)
        residual_of_transpose = maxval(abs([4*x(1) + 2*x(2), x(1) + 5*x(2) + 3*x(3), x(2) + 6*x(3)] - b))
    end function

    subroutine layouts()
        type(espalier_solver) :: solver
        real(real64), parameter :: b(3) = [1, 2, 3]
        real(real64) :: x(3), strided(14)
        integer :: strided_col_ptr(8), status
        call solver%create('d')
        call solver%set_csc(col_ptr, row_ind, a)
        call solver%drive(b, x)
        call check(residual(x, b) < 1e-14_real64, 'columns, int32')
        call solver%set_csc(int(col_ptr, int64), int(row_ind, int64), a)
        call solver%drive(b, x)
        call check(residual(x, b) < 1e-14_real64, 'columns, int64')
        call solver%set_csr(col_ptr, row_ind, a)
        call solver%drive(b, x)
        call check(residual_of_transpose(x, b) < 1e-14_real64, 'rows, int32')
        call solver%set_csr(int(col_ptr, int64), int(row_ind, int64), a)
        call solver%drive(b, x, op=espalier_op_transpose)
        call check(residual(x, b) < 1e-14_real64, 'rows, int64, transposed')
        call solver%set_coo(3, row_ind, columns, a)
        call solver%drive(b, x)
        call check(residual(x, b) < 1e-14_real64, 'coordinates, int32')
        call solver%set_coo(3_int64, int(row_ind, int64), int(columns, int64), a)
        call solver%drive(b, x, op=espalier_op_adjoint)
        call check(residual_of_transpose(x, b) < 1e-14_real64, 'coordinates, int64, adjoint')
        strided = -1
        strided(1::2) = a
        strided_col_ptr(1::2) = col_ptr
        call solver%set_csc(col_ptr, row_ind, (strided(1::2)))
        call solver%drive(b, x)
        call check(residual(x, b) < 1e-14_real64, 'copy of strided values')
        call solver%set_csc(strided_col_ptr(1::2), row_ind, a, status=status)
        call check(status == espalier_usage, 'strided indices')
        call solver%set_csc(col_ptr, row_ind, strided(1::2), status=status)
        call check(status == espalier_usage, 'strided values')
        call solver%drive(b, strided(1:6:2), status=status)
        call check(status == espalier_usage, 'strided solution')
    end subroutine

    ! Tridiagonal with 2 on the diagonal and 1 beside it, as a lower triangle: x = 1 for b = (3, 4, 3).
    subroutine scalars()
        type(espalier_solver) :: solver
        integer, parameter :: lower_ptr(4) = [1, 3, 5, 6], lower_row(5) = [1, 2, 2, 3, 3]
        real(real32) :: s(5), bs(3), xs(3)
        complex(real32) :: c(5), bc(3), xc(3)
        complex(real64) :: z(5), bz(3), xz(3)
        s = [2, 1, 2, 1, 2]
        bs = [3, 4, 3]
        call solver%create('s')
        call solver%set_csc(lower_ptr, lower_row, s, espalier_symmetric, espalier_lower)
        call solver%drive(bs, xs)
        call check(maxval(abs(xs - 1)) < 1e-5, 'single')
        c = s
        bc = bs*(0, 1)
        call solver%create('c')
        call solver%set_csc(lower_ptr, lower_row, c, espalier_symmetric, espalier_lower)
        call solver%drive(bc, xc)
        call check(maxval(abs(xc - (0, 1))) < 1e-5, 'single complex')
        z = s
        bz = bc
        call solver%create('z')
        call solver%set_csc(lower_ptr, lower_row, z, espalier_hermitian, espalier_lower)
        call solver%drive(bz, xz)
        call check(maxval(abs(xz - (0, 1))) < 1e-13_real64, 'double complex')
    end subroutine

    subroutine steps_and_blocks()
        type(espalier_solver) :: solver
        real(real64) :: b(4, 2), x(3, 2), vector(3), wide(5, 3)
        integer :: status
        integer(int64) :: order, entries
        b = reshape([1, 2, 3, 99, 4, 5, 6, 99], [4, 2]) ! one row more than the system
        wide = 0
        call solver%create('d')
        call solver%set_csc(col_ptr, row_ind, a)
        call solver%get_size(order, entries)
        call check(order == 3 .and. entries == 7, 'size')
        call solver%analyze()
        call solver%factorize()
        call solver%solve(b, x)
        call solver%refine(b, x)
        call check(residual(x(:, 1), b(:3, 1)) < 1e-14_real64, 'first of a block')
        call check(residual(x(:, 2), b(:3, 2)) < 1e-14_real64, 'second of a block')
        call solver%refactorize(2*a)
        call solver%solve(b(:3, 1), vector)
        call solver%refine(b(:3, 1), vector)
        call check(residual(2*vector, b(:3, 1)) < 1e-14_real64, 'twice the values')
        call solver%set_values(a)
        call solver%drive(b, x)
        call check(residual(x(:, 2), b(:3, 2)) < 1e-14_real64, 'the old values')
        call solver%drive(b(:3, :), wide(:3, 2:3)) ! parts of blocks
        call check(maxval(abs(wide(:3, 2:3) - x)) < 1e-14_real64, 'parts of blocks')
        call check(maxval(abs(wide(:, 1))) < 1e-300_real64, 'beside a part')
        call check(maxval(abs(wide(4:, :))) < 1e-300_real64, 'below a part')
        call solver%drive(b(1:3, 1), wide(1, 1:3), status=status)
        call check(status == espalier_usage, 'a row as a vector')
        call solver%solve(b(:2, :), x, status=status)
        call check(status == espalier_usage, 'columns that are too short')
        call solver%solve(b(:2, 1), x(:, 1), status=status)
        call check(status == espalier_usage, 'a vector that is too short')
        call solver%solve(b, b) ! in place
        call check(maxval(abs(b(:3, :) - x)) < 1e-14_real64 .and. all(nint(b(4, :)) == 99), 'in place')
    end subroutine

    ! [4 2; 2 5] = L L^T with L = [2 0; 1 2] in the natural order.
    subroutine factors()
        type(espalier_solver) :: solver
        integer(int64) :: entries(3), starts(3), rows(3), p(2), q(2)
        real(real64) :: values(3), x(2)
        integer :: status
        call solver%create('d')
        call solver%set_option('factorization', 'llh')
        call solver%set_option('ordering', 'natural')
        call solver%set_coo(2, [1, 2, 2], [1, 1, 2], [4._real64, 2._real64, 5._real64], espalier_symmetric, &
                            espalier_lower)
        call solver%factorize()
        call solver%factors(entries)
        call check(all(entries == [3, 0, 0]), 'entries of the factors')
        call solver%get_permutations(p, q)
        call check(all(p == [1, 2]) .and. all(q == p), 'permutations')
        call solver%get_factor('L', starts, rows, values)
        call check(all(starts == [1, 3, 4]) .and. all(rows == [1, 2, 2]), 'pattern of the factor')
        call check(maxval(abs(values - [2, 1, 2])) < 1e-15_real64, 'values of the factor')
        call solver%solve_lower([2._real64, 5._real64], x)
        call check(maxval(abs(x - [1, 2])) < 1e-15_real64, 'solve with L')
        call solver%solve_lower_adjoint([4._real64, 4._real64], x)
        call check(maxval(abs(x - [1, 2])) < 1e-15_real64, 'solve with L^T')
        call solver%get_factor('L', starts, rows(:2), values, status)
        call check(status == espalier_usage, 'no room for a factor')
        call solver%get_factor('U', starts, rows, values, status)
        call check(status == espalier_usage, 'no factor U')
        call solver%get_permutations(p(:1), q, status)
        call check(status == espalier_usage, 'no room for a permutation')
    end subroutine

    ! [1 2; 2 4] with a right-hand side in its range: x solves the system although the status is an error.
    subroutine singular_to_working_precision()
        type(espalier_solver) :: solver
        real(real64) :: x(2)
        integer :: status
        call solver%create('d')
        call solver%set_csc([1, 3, 5], [1, 2, 1, 2], [1._real64, 2._real64, 2._real64, 4._real64])
        call solver%analyze()
        call solver%factorize()
        x = 9
        call solver%solve([1._real64, 2._real64], x)
        call solver%refine([1._real64, 2._real64], x, status=status)
        call check(status == espalier_singular, 'status of a singular system')
        call check(abs(x(1) + 2 * x(2) - 1) <= 1e-15_real64 * (abs(x(1)) + 2 * abs(x(2)) + 1), 'its solution')
        call check(solver%report_real('factor.condition_estimate') > 1e15_real64, 'its condition')
        call solver%destroy()
    end subroutine

    ! [d 1; 1 d] for d = 2, 1 and 3, the second of which is singular.
    subroutine batch()
        type(espalier_solver) :: solver
        real(real64) :: values(4, 3), x(2, 3), errors(3)
        integer :: statuses(3), status
        call solver%create('d')
        values = reshape([2, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 3], [4, 3])
        call solver%set_csc([1, 3, 5], [1, 2, 1, 2], values(:, 1))
        call solver%solve_batch(values, reshape([3._real64, 3._real64, 1._real64, 2._real64, 8._real64, 4._real64], [2, 3]), &
                                x, statuses, errors)
        call check(all(statuses == [espalier_ok, espalier_singular, espalier_ok]), 'statuses of a batch')
        call check(maxval(abs(x(:, [1, 3]) - reshape([1._real64, 1._real64, 2.5_real64, 0.5_real64], [2, 2]))) &
                   < 1e-15_real64 .and. maxval(errors([1, 3])) < 1e-15_real64, 'batch')
        call solver%solve_batch(values(:, :2), x, x, statuses, errors, status)
        call check(status == espalier_usage, 'fewer values than systems')
        call solver%solve_batch(values, x(:1, :), x, statuses, errors, status)
        call check(status == espalier_usage, 'fewer rows than the systems')
    end subroutine

    subroutine results()
        type(espalier_solver) :: solver
        integer(int64) :: positive, negative, zero, rank
        complex(real64) :: phase
        real(real64) :: log_modulus, rcond, s(2, 2), part(4, 2), r(2, 1), xs(2, 1), b(3, 1), x(3, 1), basis(2, 1), none(2, 0)
        integer :: status
        logical :: in_place
        call solver%create('d')
        call solver%set_option('factorization', 'ldlt')
        call solver%set_coo(2, [1, 2, 2], [1, 1, 2], [1._real64, 2._real64, 1._real64], espalier_symmetric, &
                            espalier_lower)
        call solver%factorize()
        call solver%inertia(positive, negative, zero)
        call check(positive == 1 .and. negative == 1 .and. zero == 0, 'inertia')
        call solver%determinant(phase, log_modulus)
        call check(abs(phase*exp(log_modulus) + 3) < 1e-14_real64, 'determinant')
        call solver%rcond(rcond)
        call check(abs(rcond - 1._real64/3) < 1e-2_real64, 'rcond')
        call solver%selected_inverse(x(:, 1))
        call check(maxval(abs(x(:, 1) - [-1._real64, 2._real64, -1._real64]/3)) < 1e-14_real64, 'selected inverse')
        call solver%inverse_diagonal(x(:2, 1))
        call check(maxval(abs(x(:2, 1) + 1._real64/3)) < 1e-14_real64, 'diagonal of the inverse')
        call solver%inverse_diagonal(x(:1, 1), status)
        call check(status == espalier_usage, 'no room for the diagonal of the inverse')
        ! [1 2; 2 1] + [1; 2] [1 2], and back
        call solver%update([1, 3], [1, 2], [1._real64, 2._real64], 1)
        call solver%solve([6._real64, 9._real64], x(:2, 1))
        call check(maxval(abs(x(:2, 1) - [1, 1])) < 1e-14_real64, 'update')
        call solver%update([1, 3], [1, 2], [1._real64, 2._real64], -1, in_place)
        call solver%solve([3._real64, 3._real64], x(:2, 1))
        call check(maxval(abs(x(:2, 1) - [1, 1])) < 1e-14_real64, 'downdate')
        call solver%update([1, 3], [1, 2], [1._real32, 2._real32], 1, in_place, status)
        call check(status == espalier_usage .and. .not. in_place, 'update of another type')
        call solver%update_dense(reshape([1._real64, 2._real64, 0._real64, 1._real64], [2, 2]), 1, in_place)
        call solver%solve([6._real64, 10._real64], x(:2, 1))
        call check(maxval(abs(x(:2, 1) - [1, 1])) < 1e-14_real64 .and. in_place, 'dense update')
        call solver%update_dense([1._real64], 1, in_place, status)
        call check(status == espalier_usage .and. .not. in_place, 'dense update of another size')

        call solver%set_option('allow-singular', 'on')
        call solver%set_coo(2, [1, 2, 2], [1, 1, 2], [1._real64, -1._real64, 1._real64], espalier_symmetric, &
                            espalier_lower)
        call solver%factorize()
        call solver%null_space(0._real64, rank)
        call solver%null_vectors(basis)
        call check(rank == 1 .and. abs(basis(1, 1) - basis(2, 1)) < 1e-12_real64, 'null space')
        call solver%null_vectors(none, status=status)
        call check(status == espalier_usage, 'no room for the null space')

        call solver%create('d')
        call solver%set_csc(col_ptr, row_ind, a)
        call solver%set_schur([3, 1])
        call solver%factorize()
        call solver%schur_complement(s)
        call solver%schur_complement(part(:2, :), status)
        call check(status == espalier_usage, 'Schur complement in a part')
        call solver%schur_complement(part(:1, :1), status)
        call check(status == espalier_usage, 'Schur complement in a smaller part')
        call check(abs(s(1, 1) - (6 - 3*1/5._real64)) < 1e-14_real64, 'Schur complement')
        b(:, 1) = [1, 2, 3]
        call solver%condense(b, r)
        xs(1, 1) = (r(1, 1)*s(2, 2) - s(1, 2)*r(2, 1))/(s(1, 1)*s(2, 2) - s(1, 2)*s(2, 1))
        xs(2, 1) = (s(1, 1)*r(2, 1) - s(2, 1)*r(1, 1))/(s(1, 1)*s(2, 2) - s(1, 2)*s(2, 1))
        call solver%expand(b, xs, x)
        call check(residual(x(:, 1), b(:, 1)) < 1e-14_real64, 'expanded')
        call solver%condense(b, r, espalier_op_transpose)
        xs(1, 1) = (r(1, 1)*s(2, 2) - s(2, 1)*r(2, 1))/(s(1, 1)*s(2, 2) - s(1, 2)*s(2, 1))
        xs(2, 1) = (s(1, 1)*r(2, 1) - s(1, 2)*r(1, 1))/(s(1, 1)*s(2, 2) - s(1, 2)*s(2, 1))
        call solver%expand(b, xs, x, espalier_op_transpose)
        call check(residual_of_transpose(x(:, 1), b(:, 1)) < 1e-14_real64, 'expanded for the transpose')
        call solver%set_schur([3_int64], status)
        call check(status == espalier_ok, 'unknowns of 64 bits')
    end subroutine

    ! ILU(1) as preconditioner of a five-point Laplacian on a grid of 20 x 20.
    subroutine incomplete()
        integer, parameter :: m = 20, n = m*m
        type(espalier_solver) :: solver
        integer :: i, status
        integer(int64) :: iterations, positive, negative, zero
        integer :: row(3*n), column(3*n)
        real(real64) :: value(3*n), x(n), error
        row = [([i, merge(i + 1, i, mod(i, m) /= 0), merge(i + m, i, i + m <= n)], i=1, n)]
        column = [([i, i, i], i=1, n)]
        value = merge(2._real64, -1._real64, row == column) ! those on the diagonal are summed
        value(::3) = 6 - 2*count(reshape(row == column, [3, n]), 1) ! to 4
        call solver%create('d')
        call solver%set_option('method', 'ilu')
        call solver%set_option('levels', '1')
        call solver%set_coo(n, row, column, value, espalier_symmetric, espalier_lower)
        call solver%drive([(1._real64, i=1, n)], x)
        error = solver%report_real('backward_error')
        iterations = solver%report_int('incomplete.iterations')
        call check(error <= 1e-12_real64 .and. iterations > 1 .and. minval(x) > 0, 'incomplete factors')
        call solver%inertia(positive, negative, zero, status)
        call check(status == espalier_usage .and. index(solver%message(), 'ilu') > 0, 'inertia of incomplete factors')
    end subroutine

    subroutine predictions_and_traces()
        type(espalier_solver) :: solver
        type(espalier_prediction) :: here, there
        character(*), parameter :: path = 'fortran_module_test.paje'
        character(16) :: line
        integer :: status, unit
        call solver%create('d')
        call solver%set_option('record-trace', 'on')
        call solver%set_csc(col_ptr, row_ind, a)
        call solver%predict(1, 1, here, status)
        call check(status == espalier_usage .and. index(solver%message(), 'espalier_analyze') > 0, 'too early')
        call solver%analyze()
        call solver%predict(1, 1, here)
        call check(abs(here%factor_s - here%work_s) <= 1e-12_real64*here%work_s, 'one worker is never idle')
        call check(here%solve_s > 0, 'predicted solve')
        call check(here%tasks > 0 .and. here%messages == 0 .and. here%memory_bytes > 0, 'predicted here')
        call solver%predict(2, 3, there)
        call check(there%processes == 2 .and. there%threads == 3, 'predicted machine')
        call check(abs(there%work_s + there%idle_s - 6*there%factor_s) <= 1e-12_real64*there%factor_s, 'sum of times')
        call check(there%total_memory_bytes >= there%memory_bytes, 'memory')
        call solver%set_option('comm-threads', '0')
        call solver%analyze()
        call solver%predict(2, 3, there)
        call check(there%comm_threads == 0, 'no communication threads')
        call check((there%communication_s > 0) .eqv. (there%messages > 0), 'communication of the workers')
        call check(abs(there%work_s + there%communication_s + there%idle_s - 6*there%factor_s) <= &
                   1e-12_real64*there%factor_s, 'sum of times with communication')
        call solver%set_option('comm-threads', '1')
        call solver%analyze()
        call solver%predict(0, 1, there, status)
        call check(status == espalier_usage, 'no process')
        call solver%factorize()
        call solver%write_trace(path, 'tridiagonal')
        open (newunit=unit, file=path, status='old', action='read')
        read (unit, '(a)') line
        close (unit, status='delete')
        call check(line(1:9) == '%EventDef', 'trace')
        call solver%write_predicted_trace(path, 2, 3)
        open (newunit=unit, file=path, status='old', action='read')
        read (unit, '(a)') line
        close (unit, status='delete')
        call check(line(1:9) == '%EventDef', 'predicted trace')
        call solver%write_trace('nonexistent/'//path, status=status)
        call check(status == espalier_io_error, 'no such directory')
    end subroutine

    subroutine options_and_report()
        type(espalier_solver) :: solver
        real(real64) :: x(3)
        real(real64), allocatable :: history(:)
        character(:), allocatable :: json
        type(c_funptr) :: callback
        integer :: status
        call solver%create('d')
        call solver%set_option('ordering', 'amd')
        call check(solver%get_option('ordering') == 'amd', 'option')
        call solver%set_csc(col_ptr, row_ind, a)
        callback = c_funloc(take_line)
        call solver%set_log(callback, c_null_ptr)
        callback = c_funloc(take_progress)
        call solver%set_progress(callback, c_null_ptr)
        call solver%drive([1._real64, 2._real64, 3._real64], x)
        call check(lines > 0 .and. steps > 0, 'callbacks')
        call check(solver%report_int('solve.nrhs') == 1, 'whole number')
        call check(solver%report_real('backward_error') < 1e-15_real64, 'number')
        call check(solver%report_logical('refine.converged'), 'truth value')
        call check(solver%report_string('settings.factorization') == 'lu', 'text')
        history = solver%report_reals('refine.history')
        call check(size(history) > 0, 'numbers')
        json = solver%report_json()
        call check(json(1:1) == '{' .and. index(json, '"backward_error":') > 0, 'JSON')
        callback = c_funloc(always_cancel)
        call solver%set_cancel(callback, c_null_ptr)
        call solver%factorize(status)
        call check(status == espalier_cancelled .and. calls > 0, 'cancel')
        call solver%set_cancel(c_null_funptr, c_null_ptr)
        call solver%factorize()
        call check(len(espalier_version()) >= 5, 'version')
        call check(espalier_status_name(espalier_cancelled) == 'cancelled', 'name of a status')
    end subroutine

    subroutine refusals()
        type(espalier_solver) :: solver
        real(real64) :: x(3), block(3, 2)
        real(real32) :: narrow(3)
        integer :: status
        call solver%analyze(status)
        call check(status == espalier_usage .and. solver%message() == 'the solver is null', 'before create')
        call solver%solve(x, x, status=status)
        call check(status == espalier_usage, 'solve before create')
        call solver%create('x', status)
        call check(status == espalier_usage, 'no such scalar')
        call solver%create('d', status)
        call check(status == espalier_ok, 'create')
        call solver%factorize(status)
        call check(status == espalier_usage .and. index(solver%message(), 'espalier_set_matrix') > 0, 'no matrix')
        call solver%set_csc(col_ptr, row_ind, real(a, real32), status=status)
        call check(status == espalier_usage, 'values of another kind')
        call solver%set_csc(col_ptr, row_ind, [1, 2, 3, 4, 5, 6, 7], status=status)
        call check(status == espalier_usage, 'values that are not reals')
        call solver%set_csc(col_ptr, row_ind, a(1:6), status=status)
        call check(status == espalier_usage, 'too few values')
        call solver%set_coo(3, row_ind, columns(1:6), a, status=status)
        call check(status == espalier_usage, 'too few columns')
        call solver%set_csc([2, 3, 6, 8], row_ind, a, status=status)
        call check(status == espalier_bad_input .and. index(solver%message(), 'first column start is 2') > 0, 'start')
        call solver%set_csc(col_ptr, row_ind, a)
        call solver%set_option('threads', 'many', status)
        call check(status == espalier_usage .and. index(solver%message(), 'many') > 0, 'option')
        x = 1
        call solver%drive(x, x(1:2), status=status)
        call check(status == espalier_usage, 'too short')
        narrow = 1
        call solver%drive(narrow, narrow, status=status)
        call check(status == espalier_usage, 'vectors of another kind')
        block = 1
        call solver%drive(block, block(:, 1:1), status=status)
        call check(status == espalier_usage, 'columns that differ')
        call solver%drive(x, x, op=9, status=status)
        call check(status == espalier_usage, 'no such operation')
        call solver%drive(x, x, status=status)
        call check(status == espalier_ok, 'after all that')
    end subroutine

end program
