! The functions of include/espalier/espalier.h and of array.c, with their constants and interoperable types. Only the
! modules of this folder use this module; programs use the module espalier.
module espalier_c
    use, intrinsic :: iso_c_binding
    implicit none
    public

    ! Status of a call.
    integer, parameter :: espalier_ok = 0, espalier_internal = 1, espalier_usage = 2, &
        espalier_bad_input = 3, espalier_io_error = 4, espalier_singular = 5, &
        espalier_not_positive_definite = 6, espalier_inaccurate = 7, espalier_out_of_memory = 8, &
        espalier_unsupported = 9, espalier_cancelled = 10
    ! Symmetry of the values of a matrix.
    integer, parameter :: espalier_general = 0, espalier_symmetric = 1, espalier_hermitian = 2
    ! Stored entries of a symmetric or Hermitian matrix.
    integer, parameter :: espalier_full = 0, espalier_lower = 1, espalier_upper = 2
    ! Operation: A x = b, A^T x = b, A^H x = b.
    integer, parameter :: espalier_op_none = 0, espalier_op_transpose = 1, espalier_op_adjoint = 2

    integer(c_int), parameter :: layout_csc = 0, layout_csr = 1, layout_coo = 2

    ! Prediction of factorization and solve on `processes` processes with `threads` threads each, under the schedule and
    ! splitting of the options, as in espalier.h. Times are in seconds, solve_s for one right-hand side; work_s + idle_s = factor_s * processes *
    ! threads. memory_bytes is the largest memory of a process, total_memory_bytes the sum over all. Messages are
    ! those between processes, and tasks those of the workers. The placement of memory is ignored.
    type, bind(c) :: espalier_prediction
        integer(c_int64_t) :: struct_size = 0
        integer(c_int) :: processes, threads, comm_threads
        real(c_double) :: factor_s, solve_s, critical_path_s, work_s, idle_s, communication_s, efficiency
        real(c_double) :: memory_bytes, total_memory_bytes, message_bytes
        integer(c_int64_t) :: messages, tasks
    end type

    ! espalier_matrix of espalier.h.
    type, bind(c) :: matrix_arrays
        integer(c_int64_t) :: struct_size
        integer(c_int) :: layout, symmetry, triangle, index_type, base
        integer(c_int64_t) :: rows, cols, entries
        type(c_ptr) :: pointers, indices, values
    end type

    ! Description of an array, made by array.c.
    type, bind(c) :: array
        type(c_ptr) :: address
        integer(c_int) :: type, contiguous
        integer(c_int64_t) :: rows, columns, leading
    end type

    ! Results of any type are type(*): C receives their addresses.
    abstract interface
        function solver_function(solver) bind(c) result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int) :: status
        end function
        function solve_function(solver, op, nrhs, b, ldb, x, ldx) bind(c) result(status)
            import
            type(c_ptr), value :: solver, b, x
            integer(c_int), value :: op
            integer(c_int64_t), value :: nrhs, ldb, ldx
            integer(c_int) :: status
        end function
        function half_function(solver, nrhs, b, ldb, x, ldx) bind(c) result(status)
            import
            type(c_ptr), value :: solver, b, x
            integer(c_int64_t), value :: nrhs, ldb, ldx
            integer(c_int) :: status
        end function
        function solve_rows_function(solver, op, nrhs, rows, b, ldb, x, ldx) bind(c) result(status)
            import
            type(c_ptr), value :: solver, b, x
            integer(c_int), value :: op
            integer(c_int64_t), value :: nrhs, rows, ldb, ldx
            integer(c_int) :: status
        end function
        function matrix_function(solver, matrix) bind(c) result(status)
            import
            type(c_ptr), value :: solver
            type(matrix_arrays), intent(in) :: matrix
            integer(c_int) :: status
        end function
        function values_function(solver, entries, values) bind(c) result(status)
            import
            type(c_ptr), value :: solver, values
            integer(c_int64_t), value :: entries
            integer(c_int) :: status
        end function
        function callback_function(solver, callback, user) bind(c) result(status)
            import
            type(c_ptr), value :: solver, user
            type(c_funptr), value :: callback
            integer(c_int) :: status
        end function
        function texts_function(solver, first, second) bind(c) result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: first(*), second(*)
            integer(c_int) :: status
        end function
        function find_function(solver, name, found) bind(c) result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            type(*), intent(inout) :: found
            integer(c_int) :: status
        end function
        function get_1_function(solver, first) bind(c) result(status)
            import
            type(c_ptr), value :: solver
            type(*), intent(inout) :: first
            integer(c_int) :: status
        end function
        function get_2_function(solver, first, second) bind(c) result(status)
            import
            type(c_ptr), value :: solver
            type(*), intent(inout) :: first, second
            integer(c_int) :: status
        end function
        function get_3_function(solver, first, second, third) bind(c) result(status)
            import
            type(c_ptr), value :: solver
            type(*), intent(inout) :: first, second, third
            integer(c_int) :: status
        end function
        function matrix_result_function(solver, values, ld) bind(c) result(status)
            import
            type(c_ptr), value :: solver, values
            integer(c_int64_t), value :: ld
            integer(c_int) :: status
        end function
    end interface

    procedure(solver_function), bind(c, name='espalier_analyze') :: c_analyze
    procedure(solver_function), bind(c, name='espalier_factorize') :: c_factorize
    procedure(solve_function), bind(c, name='espalier_solve') :: c_solve
    procedure(solve_function), bind(c, name='espalier_refine') :: c_refine
    procedure(solve_function), bind(c, name='espalier_drive') :: c_drive
    procedure(half_function), bind(c, name='espalier_solve_lower') :: c_solve_lower
    procedure(half_function), bind(c, name='espalier_solve_lower_adjoint') :: c_solve_lower_adjoint
    procedure(solve_rows_function), bind(c, name='espalier_solve_rows') :: c_solve_rows
    procedure(solve_rows_function), bind(c, name='espalier_refine_rows') :: c_refine_rows
    procedure(solve_rows_function), bind(c, name='espalier_drive_rows') :: c_drive_rows
    procedure(matrix_function), bind(c, name='espalier_set_matrix') :: c_set_matrix
    procedure(matrix_function), bind(c, name='espalier_set_matrix_part') :: c_set_matrix_part
    procedure(values_function), bind(c, name='espalier_set_values') :: c_set_values
    procedure(values_function), bind(c, name='espalier_refactorize') :: c_refactorize
    procedure(values_function), bind(c, name='espalier_set_values_part') :: c_set_values_part
    procedure(values_function), bind(c, name='espalier_refactorize_part') :: c_refactorize_part
    procedure(callback_function), bind(c, name='espalier_set_log') :: c_set_log
    procedure(callback_function), bind(c, name='espalier_set_progress') :: c_set_progress
    procedure(callback_function), bind(c, name='espalier_set_cancel') :: c_set_cancel
    procedure(texts_function), bind(c, name='espalier_refuse') :: c_refuse
    procedure(texts_function), bind(c, name='espalier_set_option') :: c_set_option
    procedure(texts_function), bind(c, name='espalier_write_trace') :: c_write_trace
    procedure(find_function), bind(c, name='espalier_get_option') :: c_get_option
    procedure(find_function), bind(c, name='espalier_report_string') :: c_report_string
    procedure(find_function), bind(c, name='espalier_report_int') :: c_report_int
    procedure(find_function), bind(c, name='espalier_report_real') :: c_report_real
    procedure(find_function), bind(c, name='espalier_report_bool') :: c_report_bool
    procedure(values_function), bind(c, name='espalier_selected_inverse') :: c_selected_inverse
    procedure(get_1_function), bind(c, name='espalier_get_scalar') :: c_get_scalar
    procedure(get_1_function), bind(c, name='espalier_rcond') :: c_rcond
    procedure(get_1_function), bind(c, name='espalier_report_json') :: c_report_json
    procedure(get_2_function), bind(c, name='espalier_get_processes') :: c_get_processes
    procedure(get_2_function), bind(c, name='espalier_get_size') :: c_get_size
    procedure(get_3_function), bind(c, name='espalier_inertia') :: c_inertia
    procedure(get_3_function), bind(c, name='espalier_determinant') :: c_determinant
    procedure(matrix_result_function), bind(c, name='espalier_null_vectors') :: c_null_vectors
    procedure(matrix_result_function), bind(c, name='espalier_schur_complement') :: c_schur_complement

    interface
        function array_of(given) bind(c, name='espalier_fortran_array') result(found)
            import
            type(*), intent(in) :: given(..)
            type(array) :: found
        end function
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
        subroutine c_destroy(solver) bind(c, name='espalier_destroy')
            import
            type(c_ptr), intent(inout) :: solver
        end subroutine
        function c_set_schur(solver, count, unknowns, base) bind(c, name='espalier_set_schur') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int64_t), value :: count
            integer(c_int64_t), intent(in) :: unknowns(*)
            integer(c_int), value :: base
            integer(c_int) :: status
        end function
        function c_null_space(solver, tolerance, rank) bind(c, name='espalier_null_space') result(status)
            import
            type(c_ptr), value :: solver
            real(c_double), value :: tolerance
            integer(c_int64_t), intent(inout) :: rank
            integer(c_int) :: status
        end function
        function c_inverse_diagonal(solver, diagonal) bind(c, name='espalier_inverse_diagonal') result(status)
            import
            type(c_ptr), value :: solver, diagonal
            integer(c_int) :: status
        end function
        function c_factors(solver, entries) bind(c, name='espalier_factors') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int64_t), intent(inout) :: entries(3)
            integer(c_int) :: status
        end function
        function c_get_factor(solver, factor, base, pointers, indices, values) bind(c, name='espalier_get_factor') &
            result(status)
            import
            type(c_ptr), value :: solver, values
            integer(c_signed_char), value :: factor
            integer(c_int), value :: base
            integer(c_int64_t), intent(inout) :: pointers(*), indices(*)
            integer(c_int) :: status
        end function
        function c_get_permutations(solver, base, p, q) bind(c, name='espalier_get_permutations') result(status)
            import
            type(c_ptr), value :: solver
            integer(c_int), value :: base
            integer(c_int64_t), intent(inout) :: p(*), q(*)
            integer(c_int) :: status
        end function
        function c_solve_batch(solver, systems, entries, values, nrhs, b, x, statuses, errors) &
            bind(c, name='espalier_solve_batch') result(status)
            import
            type(c_ptr), value :: solver, values, b, x
            integer(c_int64_t), value :: systems, entries, nrhs
            integer(c_int), intent(inout) :: statuses(*)
            real(c_double), intent(inout) :: errors(*)
            integer(c_int) :: status
        end function
        function c_update(solver, w, sign, in_place) bind(c, name='espalier_update') result(status)
            import
            type(c_ptr), value :: solver
            type(matrix_arrays), intent(in) :: w
            integer(c_int), value :: sign
            integer(c_int), intent(inout) :: in_place
            integer(c_int) :: status
        end function
        function c_update_dense(solver, rank, w, ldw, sign, in_place) bind(c, name='espalier_update_dense') result(status)
            import
            type(c_ptr), value :: solver, w
            integer(c_int64_t), value :: rank, ldw
            integer(c_int), value :: sign
            integer(c_int), intent(inout) :: in_place
            integer(c_int) :: status
        end function
        function c_condense(solver, op, nrhs, b, ldb, r, ldr) bind(c, name='espalier_condense') result(status)
            import
            type(c_ptr), value :: solver, b, r
            integer(c_int), value :: op
            integer(c_int64_t), value :: nrhs, ldb, ldr
            integer(c_int) :: status
        end function
        function c_expand(solver, op, nrhs, b, ldb, x_schur, lds, x, ldx) bind(c, name='espalier_expand') result(status)
            import
            type(c_ptr), value :: solver, b, x_schur, x
            integer(c_int), value :: op
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
        function c_report_reals(solver, name, count, values) bind(c, name='espalier_report_reals') result(status)
            import
            type(c_ptr), value :: solver
            character(kind=c_char), intent(in) :: name(*)
            integer(c_int64_t), intent(inout) :: count
            type(c_ptr), intent(inout) :: values
            integer(c_int) :: status
        end function
        pure function c_strlen(text) bind(c, name='strlen') result(length)
            import
            type(c_ptr), value :: text
            integer(c_size_t) :: length
        end function
    end interface

end module
