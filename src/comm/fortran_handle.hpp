// Communicators of Fortran programs: MPI_Fint, an int in all known libraries.
#pragma once

#include "espalier/communicator.hpp"

namespace espalier {

/// Returns the communicator of a Fortran handle. Collective. Throws the errors of Communicator::from_mpi.
Communicator communicator_of_fortran(int handle);

} // namespace espalier
