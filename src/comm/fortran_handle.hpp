// Communicators as Fortran programs have them: MPI_Fint, an int in every library that we know.
#pragma once

#include "espalier/communicator.hpp"

namespace espalier {

/// Collective; as Communicator::from_mpi, whose errors it has.
Communicator communicator_of_fortran(int handle);

} // namespace espalier
