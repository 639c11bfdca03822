// How the processes of a communicator reach one another: the few calls of a message-passing library that the
// rest of the room is written in. MPI is one (mpi_transport.cpp); the tests have another, whose processes are
// threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "comm/thread_level.hpp"
#include "espalier/communicator.hpp"

namespace espalier {

/// Messages of different channels do not wait for each other; those of one channel from one rank to another
/// keep their order.
enum class Channel { blocks, control };

/// A message that has come and was taken out of the queue, but not received: it must be, by the same
/// transport.
struct Arrival {
    int from = -1;
    std::size_t bytes = 0;
    std::uint64_t handle = 0; ///< The transport's own.
};

/// Sends and receives under way, each in a slot until it is completed. Of one thread at a time; two of them
/// may be used at once where the thread level is `multiple`. What is not completed when it is destroyed stays
/// with the library, which may touch its memory later.
class Transfers {
  public:
    virtual ~Transfers() = default;
    /// Starts to send; the slot. Lengths are multiples of sizeof(MessageHeader).
    virtual std::size_t send(int to, Channel channel, std::span<std::byte const> bytes) = 0;
    /// Starts to receive; the slot. `into` has arrival.bytes.
    virtual std::size_t receive(Arrival const& arrival, std::span<std::byte> into) = 0;
    /// Replaces `slots` by those that were completed since, which may be given out again.
    virtual void completed(std::vector<std::size_t>& slots) = 0;
};

enum class Reduction { sum, max, min };

/// Every call throws Error{internal} when the library fails, naming the call and the library's text.
class Transport {
  public:
    virtual ~Transport() = default;

    [[nodiscard]] virtual ThreadLevel thread_level() const = 0;
    /// Is the caller the thread that may call the library when only one may?
    [[nodiscard]] virtual bool on_main_thread() const = 0;

    // Collective.
    /// Of the first `count` ranks alone, with their numbers; elsewhere null.
    virtual std::shared_ptr<Transport> first(int count) = 0;
    virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
    virtual void reduce(std::span<double> values, Reduction reduction) = 0;
    virtual void reduce(std::span<std::int64_t> values, Reduction reduction) = 0;
    /// On the root, into[r] receives the bytes of rank r and has their size; elsewhere it is empty.
    virtual void gather(std::span<std::byte const> mine, std::span<std::span<std::byte> const> into,
                        int root) = 0;
    /// On the root, from[r] goes to rank r, whose `mine` has its size; elsewhere it is empty.
    virtual void scatter(std::span<std::span<std::byte const> const> from, std::span<std::byte> mine,
                         int root) = 0;
    /// from[r] goes to rank r, and what comes from there has the size of into[r].
    virtual void all_to_all(std::span<std::span<std::byte const> const> from,
                            std::span<std::span<std::byte> const> into) = 0;

    // Between two ranks.
    virtual std::unique_ptr<Transfers> transfers() = 0;
    /// Takes a message that has come, if there is one.
    virtual std::optional<Arrival> probe(Channel channel) = 0;
    /// Receives at once, waiting for the rest of the message; `into` has arrival.bytes.
    virtual void receive(Arrival const& arrival, std::span<std::byte> into) = 0;
    /// The same without keeping it, where there is no memory for it.
    virtual void discard(Arrival const& arrival) = 0;
};

/// Of a communicator; null for one process without MPI.
Transport* transport_of(Communicator const& comm);

/// A communicator over any transport.
Communicator make_communicator(int rank, int size, std::shared_ptr<Transport> transport);

} // namespace espalier
