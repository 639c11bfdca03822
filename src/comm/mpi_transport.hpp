// The transport over MPI, on a duplicate of the caller's communicator.
#pragma once

#include <mpi.h>

#include "comm/transport.hpp"

namespace espalier {

class MpiTransport final : public Transport {
  public:
    /// Takes ownership of the communicator and makes it return errors.
    explicit MpiTransport(MPI_Comm own);
    ~MpiTransport() override;
    MpiTransport(MpiTransport const&) = delete;
    MpiTransport& operator=(MpiTransport const&) = delete;

    [[nodiscard]] ThreadLevel thread_level() const override;
    [[nodiscard]] bool on_main_thread() const override;

    std::shared_ptr<Transport> first(int count) override;
    void broadcast(std::span<std::byte> bytes, int root) override;
    void reduce(std::span<double> values, Reduction reduction) override;
    void reduce(std::span<std::int64_t> values, Reduction reduction) override;
    void gather(std::span<std::byte const> mine, std::span<std::span<std::byte> const> into,
                int root) override;
    void scatter(std::span<std::span<std::byte const> const> from, std::span<std::byte> mine,
                 int root) override;
    void all_to_all(std::span<std::span<std::byte const> const> from,
                    std::span<std::span<std::byte> const> into) override;

    std::unique_ptr<Transfers> transfers() override;
    std::optional<Arrival> probe(Channel channel) override;
    void receive(Arrival const& arrival, std::span<std::byte> into) override;
    void discard(Arrival const& arrival) override;

  private:
    void receive_lines(Arrival const& arrival, void* into, MPI_Datatype type);

    MPI_Comm comm_;
    MPI_Datatype line_ = MPI_DATATYPE_NULL; // sizeof(MessageHeader) bytes
    // Likewise with an extent of 0, so that all lines overlap: to receive a message without keeping it. MPI
    // leaves the contents undefined; a short buffer is no alternative, because Open MPI 4 writes beyond its
    // end.
    MPI_Datatype same_line_ = MPI_DATATYPE_NULL;
};

} // namespace espalier
