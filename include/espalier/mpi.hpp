// Converts communicators of MPI to those of Espalier. This is the only header that needs <mpi.h>.
#pragma once

#include <mpi.h>

#include "espalier/communicator.hpp"

namespace espalier {

/// The processes of `comm`, on a duplicate of it. Collective; see Communicator::from_mpi.
inline Communicator communicator(MPI_Comm comm) {
    return Communicator::from_mpi(&comm);
}

/// The processes of a Fortran communicator: an integer, or the MPI_VAL of a type(MPI_Comm). Collective.
inline Communicator communicator_from_fortran(MPI_Fint handle) {
    return communicator(MPI_Comm_f2c(handle));
}

} // namespace espalier
