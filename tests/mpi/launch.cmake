# Tests on several processes.

# Settings of Open MPI: runs as root, binds no threads, does not warn about missing network interfaces, and lets others
# run while a process waits, because the threads of the processes and other tests are more than the cores.
set(espalier_mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_mpi_yield_when_idle=1)
# The number of processes and the program follow this command.
set(espalier_mpi_launch ${CMAKE_CURRENT_LIST_DIR}/watchdog 180 ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})

# espalier_mpi_test(<name> <program> NP <number>... [ARGS <argument>...]): adds the test <name>.<number>, which runs the
# program on this number of processes, possibly more than cores. A test that hangs is ended and shows the state of
# every rank.
function(espalier_mpi_test name program)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "" "NP;ARGS")
  foreach(np IN LISTS test_NP)
    add_test(NAME ${name}.${np}
             COMMAND ${espalier_mpi_launch} ${np} ${MPIEXEC_PREFLAGS} $<TARGET_FILE:${program}> ${test_ARGS})
    set_tests_properties(${name}.${np} PROPERTIES LABELS mpi PROCESSORS ${np} ENVIRONMENT "${espalier_mpi_environment}")
  endforeach()
endfunction()

# MPI::MPI_Fortran for Fortran programs, of the MPI library that C++ uses, if it has Fortran.
if(TARGET espalier_fortran AND NOT TARGET MPI::MPI_Fortran)
  enable_language(Fortran)
  if(NOT MPI_Fortran_COMPILER)
    # mpicxx and mpifort, mpicxx.mpich and mpifort.mpich
    string(REGEX REPLACE "mpi(cxx|c[+][+])" "mpifort" beside "${MPI_CXX_COMPILER}")
    find_program(ESPALIER_MPIFORT ${beside})
    if(ESPALIER_MPIFORT)
      set(MPI_Fortran_COMPILER ${ESPALIER_MPIFORT})
    endif()
  endif()
  find_package(MPI COMPONENTS Fortran)
endif()
