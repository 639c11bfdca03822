#include "c/c_group.hpp"

#include <cstdint>
#include <utility>

namespace espalier {

HandleProcesses agree_on_handle(Communicator comm, int scalar, bool follows) {
    int const scalar_of_root = on_root(comm, [&] { return scalar; });
    std::int64_t const following = sum(comm, std::int64_t{follows});
    all_succeed(comm, [&] {
        if (follows && comm.rank() == 0)
            throw Error(Status::usage,
                        "process 0 makes the calls and cannot follow; call espalier_create_mpi there");
        if (following != 0 && following != comm.size() - 1)
            throw Error(Status::usage, "some of the other processes follow process 0, and some do not");
        if (scalar != scalar_of_root)
            throw Error(Status::usage, "the solver of process 0 is for another scalar type");
    });
    Communicator calling = following == 0 ? comm : Communicator();
    return {std::move(comm), std::move(calling)};
}

} // namespace espalier
