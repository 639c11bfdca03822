#include "comm/mpi_transfers.hpp"

#include "comm/block.hpp"
#include "comm/mpi_check.hpp"
#include "core/error.hpp"

namespace espalier {

int lines_of(std::size_t bytes) {
    return checked_cast<int>(bytes / sizeof(MessageHeader), "lines of a message");
}

// A slot without a request; it stays in free_ until a request is stored there.
std::size_t MpiTransfers::free_slot() {
    if (free_.empty()) {
        auto const slot = requests_.size();
        indices_.resize(slot + 1);
        statuses_.resize(slot + 1);
        requests_.push_back(MPI_REQUEST_NULL);
        free_.push_back(slot);
    }
    return free_.back();
}

std::size_t MpiTransfers::send(int to, Channel channel, std::span<std::byte const> bytes) {
    auto const slot = free_slot();
    check_mpi(
        MPI_Isend(bytes.data(), lines_of(bytes.size()), line_, to, tag_of(channel), comm_, &requests_[slot]),
        "MPI_Isend");
    free_.pop_back();
    return slot;
}

std::size_t MpiTransfers::receive(Arrival const& arrival, std::span<std::byte> into) {
    auto const slot = free_slot();
    MPI_Message message = message_of(arrival.handle);
    check_mpi(MPI_Imrecv(into.data(), lines_of(into.size()), line_, &message, &requests_[slot]),
              "MPI_Imrecv");
    free_.pop_back();
    return slot;
}

void MpiTransfers::completed(std::vector<std::size_t>& slots) {
    slots.clear();
    if (free_.size() == requests_.size()) return;
    // Reserve before MPI_Testsome, so that completed requests are never lost to a lack of memory.
    slots.reserve(requests_.capacity());
    free_.reserve(requests_.capacity());
    int count = 0;
    int const code = MPI_Testsome(checked_cast<int>(requests_.size(), "messages under way"), requests_.data(),
                                  &count, indices_.data(), statuses_.data());
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) check_mpi(code, "MPI_Testsome");
    if (count == MPI_UNDEFINED) return;
    int failed = MPI_SUCCESS;
    for (int i = 0; i < count; ++i) {
        if (code == MPI_ERR_IN_STATUS && statuses_[i].MPI_ERROR != MPI_SUCCESS)
            failed = statuses_[i].MPI_ERROR;
        slots.push_back(indices_[i]);
        free_.push_back(slots.back());
    }
    check_mpi(failed, "MPI_Testsome");
}

} // namespace espalier
