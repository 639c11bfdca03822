// The processes that work on one system together. By default there is one, the calling process; several come
// from MPI:
//
//     MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
//     {
//         espalier::Communicator const all = espalier::communicator(MPI_COMM_WORLD); // espalier/mpi.hpp
//         ...
//     }
//     MPI_Finalize();
#pragma once

#include <memory>

#include "espalier/export.h"

namespace espalier {

class Transport;

/// A group of processes, numbered from 0, with a channel of its own among them. Copies are cheap and refer to
/// the same group. The library never initializes or finalizes MPI.
class ESPALIER_API Communicator {
  public:
    /// The calling process alone.
    Communicator() = default;

    /// The processes of `*mpi_comm`, which is an MPI_Comm. C++ programs call communicator() of
    /// espalier/mpi.hpp instead, because the compiler checks its argument. Collective. The communicator is
    /// duplicated, so that messages of the library and of the caller are never mixed. The duplicate is freed
    /// with the last copy of the result, unless MPI has been finalized by then. Destroy this copy on a thread
    /// that may call MPI. Errors on the duplicate are thrown as Error. Error{usage} for a null communicator,
    /// for an intercommunicator, and before MPI is initialized or after it is finalized; Error{unsupported}
    /// in a build without MPI.
    static Communicator from_mpi(void const* mpi_comm);

    /// Number of the calling process, 0 <= rank < size.
    [[nodiscard]] int rank() const noexcept { return rank_; }
    /// Number of processes.
    [[nodiscard]] int size() const noexcept { return size_; }

  private:
    friend Transport* transport_of(Communicator const& comm);
    friend Communicator make_communicator(int rank, int size, std::shared_ptr<Transport> transport);

    int rank_ = 0;
    int size_ = 1;
    std::shared_ptr<Transport> transport_; // null for one process without MPI
};

} // namespace espalier
