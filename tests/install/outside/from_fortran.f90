! Solves a system with the Fortran module.
program from_fortran
    use, intrinsic :: iso_fortran_env, only: real64
    use espalier
    implicit none
    type(espalier_solver) :: solver
    real(real64) :: x(3) = 1
    call solver%create('d')
    call solver%set_csc([1, 3, 5, 6], [1, 2, 2, 3, 3], [2.0_real64, -1.0_real64, 2.0_real64, -1.0_real64, 2.0_real64], &
                        espalier_symmetric, espalier_lower)
    call solver%drive(x, x)
    print '(3(f0.1, 1x))', x
end program
