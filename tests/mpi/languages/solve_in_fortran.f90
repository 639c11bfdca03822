! Tests of the Fortran module on several processes, in a program with its own messages on the same communicator.
program solve_in_fortran
    use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
    use espalier
    use mpi
    implicit none
    integer, parameter :: k = 12, n = k*k
    integer :: failures = 0, all_failures, rank, ranks, level, error
    integer :: start(n + 1), row(3*n)
    real(real64) :: value(3*n)

    call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, error)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
    call fill()
    call exchange(1)
    call all_call()
    call exchange(2)
    call others_follow()
    call exchange(3)
    call all_have_parts()
    call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
    call MPI_Finalize(error)
    if (all_failures > 0) error stop 1
    if (rank == 0) print '(i0, a)', ranks, ' processes in Fortran: fine'
contains

    subroutine check(condition, what)
        logical, intent(in) :: condition
        character(*), intent(in) :: what
        if (condition) return
        failures = failures + 1
        write (error_unit, '(a, i0, 2a)') 'process ', rank, ' failed: ', what
    end subroutine

    ! Lower triangle of the 5-point Laplacian on a k x k grid.
    subroutine fill()
        integer :: j, entries
        entries = 0
        do j = 1, n
            start(j) = entries + 1
            call add(entries, j, 4._real64)
            if (mod(j, k) /= 0) call add(entries, j + 1, -1._real64)
            if (j + k <= n) call add(entries, j + k, -1._real64)
        end do
        start(n + 1) = entries + 1
    end subroutine

    subroutine add(entries, i, a_ij)
        integer, intent(inout) :: entries
        integer, intent(in) :: i
        real(real64), intent(in) :: a_ij
        entries = entries + 1
        row(entries) = i
        value(entries) = a_ij
    end subroutine

    ! Messages of the caller.
    subroutine exchange(number)
        integer, intent(in) :: number
        integer :: got, status(MPI_STATUS_SIZE)
        call MPI_Sendrecv(number, 1, MPI_INTEGER, mod(rank + 1, ranks), 0, got, 1, MPI_INTEGER, MPI_ANY_SOURCE, &
                          MPI_ANY_TAG, MPI_COMM_WORLD, status, error)
        call check(got == number, 'own messages')
    end subroutine

    subroutine all_call()
        type(espalier_solver) :: solver
        integer, parameter :: none(0) = 0
        real(real64) :: nothing(0), b(n), x(n)
        integer :: status, my_rank, processes, m, entries_here
        integer(int64) :: order, entries
        ! Only process 0 passes arrays that are not empty.
        m = merge(n, 0, rank == 0)
        entries_here = merge(start(n + 1) - 1, 0, rank == 0)
        call solver%create('d', comm=MPI_COMM_WORLD)
        call solver%get_processes(my_rank, processes)
        call check(my_rank == rank .and. processes == ranks, 'rank and processes')
        call solver%set_option('factorization', 'llh')
        b = 1
        x = 0
        if (rank == 0) then
            call solver%set_csc(start, row(:start(n + 1) - 1), value(:start(n + 1) - 1), espalier_symmetric, &
                                espalier_lower)
        else
            call solver%set_csc(none, none, nothing)
        end if
        call solver%drive(b(:m), x(:m))
        if (rank == 0) call check(abs(4*x(1) - x(2) - x(1 + k) - 1) < 1e-12_real64, 'the first equation')
        call solver%get_size(order, entries)
        call check(order == n, 'size')
        call check(solver%report_real('backward_error') < 1e-14_real64, 'backward error')
        call exchange(7)
        ! Errors found by the module on process 0 are errors on all processes.
        call solver%solve(b(:min(5, m)), x(:min(5, m)), status=status)
        call check(status == espalier_usage .and. index(solver%message(), 'fewer rows') > 0, 'short arrays')
        if (rank == 0) then
            call solver%set_csc(start, row(1:5), value(1:7), status=status)
        else
            call solver%set_csc(none, none, nothing, status=status)
        end if
        call check(status == espalier_usage .and. index(solver%message(), 'different sizes') > 0, 'lengths')
        ! The solver remains usable after a matrix that is not positive definite.
        call solver%refactorize(-value(:entries_here), status=status)
        call check(status == espalier_not_positive_definite, 'not positive definite')
        call exchange(8)
        call solver%refactorize(2*value(:entries_here))
        call solver%solve(b(:m), x(:m))
        if (rank == 0) call check(abs(8*x(1) - 2*x(2) - 2*x(1 + k) - 1) < 1e-12_real64, 'the first equation again')
    end subroutine

    ! Each process has k * k / ranks columns and rows, and the last one also the remainder.
    subroutine all_have_parts()
        type(espalier_solver) :: solver
        integer :: first, last, begin, end, status, j
        integer, allocatable :: columns(:)
        real(real64), allocatable :: b(:, :), x(:, :)
        real(real64) :: whole(n)
        first = rank*(n/ranks) + 1
        last = merge(n, first + n/ranks - 1, rank == ranks - 1)
        begin = start(first)
        end = start(last + 1) - 1
        allocate (b(last - first + 1, 2), x(last - first + 1, 2))
        b(:, 1) = 1
        b(:, 2) = [(real(mod(j, 3), real64), j=first, last)]
        call solver%create('d', comm=MPI_COMM_WORLD)
        call solver%set_csc_part(n, start(first:last + 1) - begin + 1, row(begin:end), value(begin:end), &
                                 espalier_symmetric, espalier_lower)
        call solver%drive_rows(b, x)
        call gather(x(:, 1), whole)
        call check(abs(4*whole(1) - whole(2) - whole(1 + k) - 1) < 1e-12_real64, 'the first equation in parts')
        call check(abs(4*whole(n) - whole(n - 1) - whole(n - k) - 1) < 1e-12_real64, 'the last equation in parts')
        call solver%refactorize_part(2*value(begin:end))
        call solver%solve_rows(b(:, 1), x(:, 1))
        call solver%refine_rows(b(:, 1), x(:, 1))
        call gather(x(:, 1), whole)
        call check(abs(8*whole(n) - 2*whole(n - 1) - 2*whole(n - k) - 1) < 1e-12_real64, 'the last one doubled')
        ! As coordinates with the order of the other kind, and as rows, which are equal by symmetry.
        allocate (columns(begin:end))
        do j = first, last
            columns(start(j):start(j + 1) - 1) = j
        end do
        call solver%set_coo_part(int(n, int64), row(begin:end), columns, value(begin:end), espalier_symmetric, &
                                 espalier_lower)
        call solver%drive_rows(b(:, 1), x(:, 1))
        call solver%set_csr_part(n, start(first:last + 1) - begin + 1, row(begin:end), value(begin:end), &
                                 espalier_symmetric, espalier_upper)
        call solver%drive_rows(b(:, 1), x(:, 1))
        call gather(x(:, 1), whole)
        call check(abs(4*whole(n) - whole(n - 1) - whole(n - k) - 1) < 1e-12_real64, 'the last equation by rows')
        call solver%set_values_part(value(begin:end))
        ! Errors on the last process are errors on all processes.
        call solver%drive_rows(b(:, 1), x(merge(2, 1, rank == ranks - 1):, 1), status=status)
        call check(status == espalier_usage .and. index(solver%message(), 'different numbers of rows') > 0, 'rows')
        if (rank == ranks - 1) then
            call solver%set_csc_part(n, start(first:last + 1) - begin + 1, row(begin:end), value, status=status)
        else
            call solver%set_csc_part(n, start(first:last + 1) - begin + 1, row(begin:end), value(begin:end), &
                                     status=status)
        end if
        call check(status == espalier_usage .and. index(solver%message(), 'different sizes') > 0, 'lengths of parts')
        call solver%set_csc_part(1.5, start(first:last + 1) - begin + 1, row(begin:end), value(begin:end), status=status)
        call check(status == espalier_bad_input, 'an order that is not an integer')
        call solver%drive_rows(b(:, 1), x(:, 1))
    end subroutine

    ! Joins the rows of all processes.
    subroutine gather(part, whole)
        real(real64), intent(in) :: part(:)
        real(real64), intent(out) :: whole(:)
        integer :: counts(ranks), j
        call MPI_Allgather(size(part), 1, MPI_INTEGER, counts, 1, MPI_INTEGER, MPI_COMM_WORLD, error)
        call MPI_Allgatherv(part, size(part), MPI_DOUBLE_PRECISION, whole, counts, &
                            [(sum(counts(:j - 1)), j=1, ranks)], MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
    end subroutine

    subroutine others_follow()
        type(espalier_solver) :: solver
        real(real64) :: x(n)
        integer :: status
        if (rank /= 0) then
            call espalier_follow('d', MPI_COMM_WORLD)
            call espalier_follow('d', MPI_COMM_NULL, status)
            call check(status == espalier_usage, 'no communicator')
            return
        end if
        call solver%create('d', comm=MPI_COMM_WORLD)
        call solver%set_csc(start, row(:start(n + 1) - 1), value(:start(n + 1) - 1), espalier_symmetric, espalier_lower)
        x = 1
        call solver%solve(x(:5), x(:5), status=status) ! without communication
        call check(status == espalier_usage, 'short arrays, followed')
        call solver%drive(x, x)
        call check(abs(4*x(1) - x(2) - x(1 + k) - 1) < 1e-12_real64, 'the first equation, followed')
    end subroutine
end program
