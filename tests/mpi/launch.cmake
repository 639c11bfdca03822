# How tests start programs of several processes.

# espalier_mpi_test(<name> <program> NP <number>... [ARGS <argument>...]): <name>.<number> runs the program on so
# many processes, more than there are cores if need be; a hang is ended, and shows where every rank stands.
# As Open MPI wants it: also for root, with no thread bound, silent about interfaces that are not there.
set(espalier_mpi_environment
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_btl_base_warn_component_unused=0)
# Followed by a number of processes and a program.
set(espalier_mpi_launch ${CMAKE_CURRENT_LIST_DIR}/watchdog 180 ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG})
function(espalier_mpi_test name program)
  cmake_parse_arguments(PARSE_ARGV 2 test "" "" "NP;ARGS")
  foreach(np IN LISTS test_NP)
    add_test(NAME ${name}.${np}
             COMMAND ${espalier_mpi_launch} ${np} ${MPIEXEC_PREFLAGS} $<TARGET_FILE:${program}> ${test_ARGS})
    set_tests_properties(${name}.${np} PROPERTIES LABELS mpi PROCESSORS ${np} ENVIRONMENT "${espalier_mpi_environment}")
  endforeach()
endfunction()

# MPI for Fortran programs, of the same library as that for C++, where both are there: MPI::MPI_Fortran.
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
