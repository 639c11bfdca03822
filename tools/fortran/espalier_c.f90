! The C interface of Espalier (include/espalier/espalier.h) and of array.c as Fortran sees them: constants, types
! that both sides lay out alike, and the functions. For the module espalier; programs use that one.
module espalier_c
    use, intrinsic :: iso_c_binding
    implicit none
    public

    ! How a call ended.
    integer, parameter :: espalier_ok = 0, espalier_internal = 1, espalier_usage = 2, &
        espalier_bad_input = 3, espalier_io_error = 4, espalier_singular = 5, &
        espalier_not_positive_definite = 6, espalier_inaccurate = 7, espalier_out_of_memory = 8, &
        espalier_unsupported = 9, espalier_cancelled = 10
    ! Symmetry of the values of a matrix.
    integer, parameter :: espalier_general = 0, espalier_symmetric = 1, espalier_hermitian = 2
    ! Which entries of a symmetric or Hermitian matrix are given.
    integer, parameter :: espalier_full = 0, espalier_lower = 1, espalier_upper = 2
    ! Which system is solved: A x = b, A^T x = b, A^H x = b.
    integer, parameter :: espalier_op_none = 0, espalier_op_transpose = 1, espalier_op_adjoint = 2

    integer(c_int), parameter :: layout_csc = 0, layout_csr = 1, layout_coo = 2

    ! What is expected of a factorization on a machine of `processes` with `threads` each, under the schedule and
    ! splitting of the options and wherever memory lies: times in seconds, work_s + idle_s = factor_s * processes * threads; memory of the process that holds most, and of
    ! all; messages between processes and what they carry; tasks on workers. As in espalier.h.
    type, bind(c) :: espalier_prediction
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
        function step_rows(solver, op, nrhs, rows, b, ldb, x, ldx) bind(c) result(status)
            import
            type(c_ptr), value :: solver, b, x
            integer(c_int), value :: op
            integer(c_int64_t), value :: nrhs, rows, ldb, ldx
            integer(c_int) :: status
        end function
        function take_values(solver, entries, values) bind(c) result(status)
            import
            type(c_ptr), value :: solver, values
            integer(c_int64_t), value :: entries
            integer(c_int) :: status
        end function
    end interface

    procedure(step), bind(c, name='espalier_solve') :: c_solve
    procedure(step), bind(c, name='espalier_refine') :: c_refine
    procedure(step), bind(c, name='espalier_drive') :: c_drive
    procedure(step_rows), bind(c, name='espalier_solve_rows') :: c_solve_rows
    procedure(step_rows), bind(c, name='espalier_refine_rows') :: c_refine_rows
    procedure(step_rows), bind(c, name='espalier_drive_rows') :: c_drive_rows
    procedure(take_values), bind(c, name='espalier_set_values') :: c_set_values
    procedure(take_values), bind(c, name='espalier_refactorize') :: c_refactorize
    procedure(take_values), bind(c, name='espalier_set_values_part') :: c_set_values_part
    procedure(take_values), bind(c, name='espalier_refactorize_part') :: c_refactorize_part

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
        function c_create_mpi(solver, scalar, comm) bind(c, name='espalier_create_mpi_fortran') result(status)
            import
            type(c_ptr), intent(out) :: solver
            integer(c_int), value :: scalar, comm
            integer(c_int) :: status
        end function
        function c_follow(scalar, comm) bind(c, name='espalier_follow_mpi_fortran') result(status)
            import
            integer(c_int), value :: scalar, comm
            integer(c_int) :: status
        end function
        function c_get_processes(solver, rank, processes) bind(c, name='espalier_get_processes') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int), intent(inout) :: rank, processes
            integer(c_int) :: status
        end function
        function c_refuse(solver, name, text) bind(c, name='espalier_refuse') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*), text(*)
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
        function c_set_matrix_part(solver, part) bind(c, name='espalier_set_matrix_part') result(status)
            import
            type(c_ptr), value :: solver
            type(matrix_arrays), intent(in) :: part
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

end module
