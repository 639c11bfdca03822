// Replaces the mpi_*.cpp files in a build without MPI. There is always one process.
#include "comm/fortran_handle.hpp"
#include "comm/process_group.hpp"
#include "espalier/communicator.hpp"
#include "espalier/types.hpp"

namespace espalier {

Communicator Communicator::from_mpi(void const*) {
    throw Error(Status::unsupported,
                "this build of Espalier has no MPI; configure it with ESPALIER_WITH_MPI=ON");
}

Communicator communicator_of_fortran(int) {
    return Communicator::from_mpi(nullptr);
}

ProcessGroup::ProcessGroup(int*, char***, ThreadLevel) {}
ProcessGroup::~ProcessGroup() = default;

} // namespace espalier
