#include "comm/collectives.hpp"
#include "comm/thread_processes.hpp"

namespace espalier {
namespace {

TEST(Collective, FunctionsAreTrivialForOneProcess) {
    all_collectives(Communicator(), 1000);
    all_agreements(Communicator());
}

TEST(Collective, FunctionsAgreeOnAllProcesses) {
    for (int const size : {2, 3, 5})
        run_processes(size, [](Communicator const& comm) {
            all_collectives(comm, 10'000);
            all_agreements(comm);
        });
}

} // namespace
} // namespace espalier
