// Communicators of Fortran programs: MPI_Fint, an int in all known libraries.
#pragma once

#include "espalier/communicator.hpp"

namespace espalier {

/// Collective. Errors as Communicator::from_mpi.
Communicator communicator_of_fortran(int handle);

} // namespace espalier
