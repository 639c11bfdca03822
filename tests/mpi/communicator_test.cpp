
#include "comm/collectives.hpp"
#include "core/status_of.hpp"
#include "espalier/mpi.hpp"

namespace espalier {
namespace {

TEST(MpiCommunicator, HasTheProcessesAndTheOrderOfTheCallersCommunicator) {
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    Communicator const all = communicator(MPI_COMM_WORLD);
    EXPECT_EQ(all.rank(), rank);
    EXPECT_EQ(all.size(), size);

    MPI_Comm backwards = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &backwards);
    Communicator const half = communicator_from_fortran(MPI_Comm_c2f(backwards));
    MPI_Comm_free(&backwards); // the library has its own
    EXPECT_EQ(half.size(), (size + 1 - rank % 2) / 2);
    EXPECT_EQ(half.rank(), half.size() - 1 - rank / 2);
    EXPECT_EQ(sum(half, std::int64_t{1}), half.size());
}

TEST(MpiCommunicator, RefusesInvalidCommunicators) {
    EXPECT_THROW(Communicator::from_mpi(nullptr), Error);
    EXPECT_EQ(status_of([] { communicator(MPI_COMM_NULL); }), Status::usage);
    Communicator const all = communicator(MPI_COMM_WORLD);
    if (all.size() == 1) return;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm between = MPI_COMM_NULL;
    int const side = all.rank() == 0 ? 0 : 1;
    MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &between);
    EXPECT_THROW(communicator(between), Error);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

TEST(MpiCollective, FunctionsAgreeOnAllProcesses) {
    Communicator const all = communicator(MPI_COMM_WORLD);
    all_collectives(all, 3'000'000);
    all_agreements(all);
}

TEST(MpiCollective, FailuresNameTheCall) {
    Communicator const all = communicator(MPI_COMM_WORLD);
    if (all.size() == 1) return;
    std::vector<std::byte> bytes(8);
    EXPECT_TRUE(throws_error(
        Status::internal, "MPI_Ibcast failed: ", [&] { broadcast(all, std::span(bytes), all.size() + 5); }));
}

} // namespace
} // namespace espalier
