! Systems of which each process has a part: columns, rows or entries of the matrix, and rows of right-hand sides and
! solutions.
submodule (espalier) espalier_parts
    implicit none

contains

    module procedure set_csc_part
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csc, array_of(col_ptr), &
                         array_of(row_ind), array_of(values), symmetry, triangle, status, order_of(n))
    end procedure

    module procedure set_csr_part
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csr, array_of(row_ptr), &
                         array_of(col_ind), array_of(values), symmetry, triangle, status, order_of(n))
    end procedure

    module procedure set_coo_part
        call pass_matrix(c_call(self%handle, 'espalier_set_matrix_part', .true.), layout_coo, array_of(rows), &
                         array_of(cols), array_of(values), symmetry, triangle, status, order_of(n))
    end procedure

    module procedure set_values_part
        call pass_values(c_call(self%handle, 'espalier_set_values_part', .true.), c_set_values_part, array_of(values), &
                         status)
    end procedure

    module procedure refactorize_part
        call pass_values(c_call(self%handle, 'espalier_refactorize_part', .true.), c_refactorize_part, &
                         array_of(values), status)
    end procedure

    module procedure solve_rows
        call run_rows_step(self, c_solve_rows, 'espalier_solve_rows', array_of(b), array_of(x), op, status)
    end procedure

    module procedure refine_rows
        call run_rows_step(self, c_refine_rows, 'espalier_refine_rows', array_of(b), array_of(x), op, status)
    end procedure

    module procedure drive_rows
        call run_rows_step(self, c_drive_rows, 'espalier_drive_rows', array_of(b), array_of(x), op, status)
    end procedure

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

end submodule
