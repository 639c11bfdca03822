// Transfers over MPI: an array of requests, tested with one MPI_Testsome. Messages are counted in cache
// lines, so that the count fits an int.
#pragma once

#include <mpi.h>

#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "comm/block.hpp"
#include "comm/transport.hpp"
#include "core/error.hpp"

namespace espalier {

/// Throws Error{internal} or {out_of_memory} with the call and the text of the library, unless MPI_SUCCESS.
inline void check_mpi(int code, char const* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    int error_class = MPI_ERR_OTHER;
    MPI_Error_class(code, &error_class);
    MPI_Error_string(code, text, &length);
    for (char& c : text)
        if (c == '\n') c = ' ';
    throw Error(error_class == MPI_ERR_NO_MEM ? Status::out_of_memory : Status::internal,
                fmt::format("{} failed: {}", call, text));
}

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
inline int lines_of(std::size_t bytes) {
    return checked_cast<int>(bytes / sizeof(MessageHeader), "lines of a message");
}

class MpiTransfers final : public Transfers {
  public:
    /// `line` is the type of a line of sizeof(MessageHeader) bytes. Both arguments outlive this object.
    MpiTransfers(MPI_Comm comm, MPI_Datatype line) : comm_(comm), line_(line) {
        requests_.reserve(reserved_transfers);
        free_.reserve(reserved_transfers);
        indices_.reserve(reserved_transfers);
        statuses_.reserve(reserved_transfers);
    }
    std::size_t send(int to, Channel channel, std::span<std::byte const> bytes) override {
        auto const slot = free_slot();
        check_mpi(MPI_Isend(bytes.data(), lines_of(bytes.size()), line_, to, tag_of(channel), comm_,
                            &requests_[slot]),
                  "MPI_Isend");
        free_.pop_back();
        return slot;
    }

    std::size_t receive(Arrival const& arrival, std::span<std::byte> into) override {
        auto const slot = free_slot();
        MPI_Message message = message_of(arrival.handle);
        check_mpi(MPI_Imrecv(into.data(), lines_of(into.size()), line_, &message, &requests_[slot]),
                  "MPI_Imrecv");
        free_.pop_back();
        return slot;
    }

    void completed(std::vector<std::size_t>& slots) override {
        slots.clear();
        if (free_.size() == requests_.size()) return;
        // Reserve before MPI_Testsome, so that completed requests are never lost to a lack of memory.
        slots.reserve(requests_.capacity());
        free_.reserve(requests_.capacity());
        int count = 0;
        int const code = MPI_Testsome(checked_cast<int>(requests_.size(), "messages under way"),
                                      requests_.data(), &count, indices_.data(), statuses_.data());
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

  private:
    // A slot without a request; it stays in free_ until a request is stored there.
    std::size_t free_slot() {
        if (free_.empty()) {
            auto const slot = requests_.size();
            indices_.resize(slot + 1);
            statuses_.resize(slot + 1);
            free_.reserve(slot + 1); // so that the slot is not lost to a lack of memory
            requests_.push_back(MPI_REQUEST_NULL);
            free_.push_back(slot);
        }
        return free_.back();
    }

    MPI_Comm comm_;
    MPI_Datatype line_;
    std::vector<MPI_Request> requests_; // by slot; null when free
    std::vector<std::size_t> free_;
    std::vector<int> indices_; // results of MPI_Testsome; as long as requests_
    std::vector<MPI_Status> statuses_;
};

} // namespace espalier
