// The few calls of a message-passing library that the rest of the module uses. One implementation is MPI
// (mpi_transport.cpp); the tests have another one, whose processes are threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/thread_level.hpp"
#include "espalier/communicator.hpp"

namespace espalier {

/// Messages of different channels are independent; those of one channel between two ranks keep their order.
enum class Channel { blocks, control };

/// A message that has arrived and left the queue of the library. Its transport must receive or discard it.
struct Arrival {
    int from = -1;
    std::size_t bytes = 0;
    std::uint64_t handle = 0; ///< Private to the transport.
};

/// This many transfers under way need no further memory.
inline constexpr int reserved_transfers = 4;

/// Sends and receives under way, each in a slot until it is complete. Used by one thread at a time; two
/// threads may use two objects if the thread level is `multiple`. The library may access the memory of
/// incomplete transfers after the object is destroyed.
class Transfers {
  public:
    virtual ~Transfers() = default;
    /// Starts to send and returns the slot. Lengths are multiples of sizeof(MessageHeader).
    virtual std::size_t send(int to, Channel channel, std::span<std::byte const> bytes) = 0;
    /// Starts to receive and returns the slot. `into` has arrival.bytes.
    virtual std::size_t receive(Arrival const& arrival, std::span<std::byte> into) = 0;
    /// Sets `slots` to the transfers completed since the last call. These slots are free again.
    virtual void completed(std::vector<std::size_t>& slots) = 0;
};

enum class Reduction { sum, max, min };

/// Calls of a message-passing library. If the library fails, each of them throws Error{internal} with the
/// name of the call and the library's text.
class Transport {
  public:
    virtual ~Transport() = default;

    [[nodiscard]] virtual ThreadLevel thread_level() const = 0;
    /// Whether the calling thread may call the library with ThreadLevel::funneled.
    [[nodiscard]] virtual bool on_main_thread() const = 0;

    /// Bytes that this process has sent to others (collective.hpp).
    std::atomic<std::uint64_t> bytes_sent{0};
    /// A number for each rank, for collective operations that cannot allocate. One operation at a time uses
    /// it.
    std::vector<std::int64_t> of_rank;
    /// Blocks to and from each rank, for the same operations.
    std::vector<std::span<std::byte const>> blocks_to;
    std::vector<std::span<std::byte>> blocks_from;

    // Collective functions.
    /// A transport of the first `count` ranks; null on the others.
    virtual std::shared_ptr<Transport> first(int count) = 0;
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    virtual void reduce(std::span<double> values, Reduction reduction) = 0;
    virtual void reduce(std::span<std::int64_t> values, Reduction reduction) = 0;
    /// from[r] goes to rank r; the bytes from rank r have the size of into[r]. Allocates nothing.
    virtual void all_to_all(std::span<std::span<std::byte const> const> from,
                            std::span<std::span<std::byte> const> into) = 0;

    // Messages between two ranks.
    virtual std::unique_ptr<Transfers> transfers() = 0;
    /// Takes a message that has arrived, if there is one.
    virtual std::optional<Arrival> probe(Channel channel) = 0;
    /// Receives and waits for the end of the message; `into` has arrival.bytes.
    virtual void receive(Arrival const& arrival, std::span<std::byte> into) = 0;
    /// Receives and drops the message, which needs no memory.
    virtual void discard(Arrival const& arrival) = 0;
};

/// The transport of a communicator; null for one process without MPI.
Transport* transport_of(Communicator const& comm);

/// A communicator over any transport.
Communicator make_communicator(int rank, int size, std::shared_ptr<Transport> transport);

} // namespace espalier
