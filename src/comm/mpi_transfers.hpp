// Transfers over MPI: an array of requests, tested with one MPI_Testsome. Messages are counted in cache
// lines, so that the count fits an int.
#pragma once

#include <mpi.h>

#include <cstring>
#include <vector>

#include "comm/transport.hpp"

namespace espalier {

/// MPI tags, on the duplicated communicator of a transport.
enum MpiTag : int { blocks_tag = 1, control_tag = 2, gather_tag = 3 };

inline int tag_of(Channel channel) {
    return channel == Channel::blocks ? blocks_tag : control_tag;
}

/// MPI_Message is a pointer in one library and an int in another.
inline std::uint64_t handle_of(MPI_Message message) {
    static_assert(sizeof(MPI_Message) <= sizeof(std::uint64_t));
    std::uint64_t handle = 0;
    std::memcpy(&handle, &message, sizeof message);
    return handle;
}

inline MPI_Message message_of(std::uint64_t handle) {
    MPI_Message message;
    std::memcpy(&message, &handle, sizeof message);
    return message;
}

/// Bytes as a number of lines. Error{unsupported} beyond the range of int.
int lines_of(std::size_t bytes);

class MpiTransfers final : public Transfers {
  public:
    /// `line` is the type of a line of sizeof(MessageHeader) bytes. Both arguments outlive this object.
    MpiTransfers(MPI_Comm comm, MPI_Datatype line) : comm_(comm), line_(line) {}
    std::size_t send(int to, Channel channel, std::span<std::byte const> bytes) override;
    std::size_t receive(Arrival const& arrival, std::span<std::byte> into) override;
    void completed(std::vector<std::size_t>& slots) override;

  private:
    std::size_t free_slot();

    MPI_Comm comm_;
    MPI_Datatype line_;
    std::vector<MPI_Request> requests_; // by slot; null when free
    std::vector<std::size_t> free_;
    std::vector<int> indices_; // of MPI_Testsome, as long as requests_
    std::vector<MPI_Status> statuses_;
};

} // namespace espalier
