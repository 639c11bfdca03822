! Systems of which each process has a part: the matrix by columns, rows or entries, right-hand sides and solutions
! by rows.
submodule (espalier) espalier_parts
    implicit none

contains

    module procedure set_csc_part
        type(array) :: starts, indices, numbers
        call describe(col_ptr, starts)
        call describe(row_ind, indices)
        call describe(values, numbers)
        call give_matrix(intended_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csc, order_of(n), &
                         starts%rows - 1, starts, indices, numbers, symmetry, triangle, status)
    end procedure

    module procedure set_csr_part
        type(array) :: starts, indices, numbers
        call describe(row_ptr, starts)
        call describe(col_ind, indices)
        call describe(values, numbers)
        call give_matrix(intended_call(self%handle, 'espalier_set_matrix_part', .true.), layout_csr, starts%rows - 1, &
                         order_of(n), starts, indices, numbers, symmetry, triangle, status)
    end procedure

    module procedure set_coo_part
        type(array) :: row_indices, indices, numbers
        call describe(rows, row_indices)
        call describe(cols, indices)
        call describe(values, numbers)
        call give_matrix(intended_call(self%handle, 'espalier_set_matrix_part', .true.), layout_coo, order_of(n), &
                         order_of(n), row_indices, indices, numbers, symmetry, triangle, status)
    end procedure

    module procedure set_values_part
        type(array) :: numbers
        call describe(values, numbers)
        call give_values(intended_call(self%handle, 'espalier_set_values_part', .true.), c_set_values_part, numbers, &
                         status)
    end procedure

    module procedure refactorize_part
        type(array) :: numbers
        call describe(values, numbers)
        call give_values(intended_call(self%handle, 'espalier_refactorize_part', .true.), c_refactorize_part, numbers, &
                         status)
    end procedure

    module procedure solve_rows
        type(array) :: right, solution
        call describe(b, right)
        call describe(x, solution)
        call take_step_of_rows(self, c_solve_rows, 'espalier_solve_rows', right, solution, op, status)
    end procedure

    module procedure refine_rows
        type(array) :: right, solution
        call describe(b, right)
        call describe(x, solution)
        call take_step_of_rows(self, c_refine_rows, 'espalier_refine_rows', right, solution, op, status)
    end procedure

    module procedure drive_rows
        type(array) :: right, solution
        call describe(b, right)
        call describe(x, solution)
        call take_step_of_rows(self, c_drive_rows, 'espalier_drive_rows', right, solution, op, status)
    end procedure

    ! An integer of either kind; else -1, which C refuses.
    pure function order_of(n) result(order)
        class(*), intent(in) :: n
        integer(int64) :: order
        order = -1
        select type (n)
        type is (integer(int32))
            order = int(n, int64)
        type is (integer(int64))
            order = n
        end select
    end function

    subroutine take_step_of_rows(self, which, name, b, x, op, status)
        class(espalier_solver), intent(inout) :: self
        procedure(step_rows) :: which
        character(*), intent(in) :: name
        type(array), intent(in) :: b, x
        integer, intent(in), optional :: op
        integer, intent(out), optional :: status
        type(intended_call) :: here
        integer(c_int) :: operation
        here = intended_call(self%handle, name, .true.)
        operation = espalier_op_none
        if (present(op)) operation = int(op, c_int)
        if (.not. are_numbers(here, b, status)) return
        if (.not. are_as_many(here, b, x, status)) return
        if (b%rows /= x%rows) then
            call refuse(here, 'right-hand sides and solutions have not equally many rows', status)
            return
        end if
        call settle(self%handle, which(self%handle, operation, b%columns, b%rows, b%address, b%leading, x%address, &
                                       x%leading), status)
    end subroutine

end submodule
