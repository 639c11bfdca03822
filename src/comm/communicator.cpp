#include "comm/communicator.hpp"

#include <cstdlib>

#include "espalier/types.hpp"

#ifdef ESPALIER_WITH_MPI
#include <mpi.h>
#endif

namespace espalier {

namespace {

// Launchers announce themselves in the environment; starting MPI without one would cost a process manager.
[[maybe_unused]] bool started_by_launcher() {
    for (char const* name : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"})
        if (std::getenv(name)) return true;
    return false;
}

} // namespace

ProcessGroup::ProcessGroup([[maybe_unused]] int* argc, [[maybe_unused]] char*** argv) {
#ifdef ESPALIER_WITH_MPI
    if (!started_by_launcher()) return;
    int provided = 0;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        throw Error(Status::internal, "MPI_Init_thread failed");
    initialised_ = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
#endif
}

ProcessGroup::~ProcessGroup() {
#ifdef ESPALIER_WITH_MPI
    if (initialised_) MPI_Finalize();
#endif
}

} // namespace espalier
