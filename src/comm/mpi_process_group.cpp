#include <mpi.h>

#include <array>
#include <cstdlib>

#include "comm/process_group.hpp"
#include "espalier/types.hpp"

namespace espalier {

namespace {

// Launchers set variables in the environment. MPI_Init without a launcher would start a process manager.
bool started_by_launcher() {
    for (char const* name : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"})
        if (std::getenv(name)) return true;
    return false;
}

int mpi_level(ThreadLevel level) {
    constexpr std::array levels{MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                MPI_THREAD_MULTIPLE};
    return levels[static_cast<std::size_t>(level)];
}

} // namespace

ProcessGroup::ProcessGroup(int* argc, char*** argv, ThreadLevel wanted) {
    if (!started_by_launcher()) return;
    int provided = 0;
    if (MPI_Init_thread(argc, argv, mpi_level(wanted), &provided) != MPI_SUCCESS)
        throw Error(Status::internal, "MPI_Init_thread failed");
    initialized_ = true;
    MPI_Comm const world = MPI_COMM_WORLD;
    world_ = Communicator::from_mpi(&world);
}

ProcessGroup::~ProcessGroup() {
    world_ = Communicator();
    if (initialized_) MPI_Finalize();
}

} // namespace espalier
