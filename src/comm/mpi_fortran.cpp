#include <mpi.h>

#include "comm/fortran_handle.hpp"
#include "espalier/types.hpp"

namespace espalier {

Communicator communicator_of_fortran(int handle) {
    // MPI converts handles only between MPI_Init and MPI_Finalize.
    int runs = 0, ended = 0;
    MPI_Initialized(&runs);
    MPI_Finalized(&ended);
    MPI_Comm comm = MPI_COMM_NULL;
    if (runs && !ended) comm = MPI_Comm_f2c(static_cast<MPI_Fint>(handle));
    return Communicator::from_mpi(&comm);
}

} // namespace espalier
