#include "distributed/halo.hpp"

#include <cstring>

namespace espalier {

Halo::Halo(Communicator comm, std::vector<std::vector<Index>> wanted) : comm_(std::move(comm)) {
    auto const requested = all_to_all(comm_, wanted);
    all_succeed(comm_, [&] {
        remote_.begin = shared_.begin = {0};
        for (auto const& rows : wanted) remote_.begin.push_back(remote_.count() + std::ssize(rows));
        for (auto const& rows : requested) {
            shared_.begin.push_back(shared_.count() + std::ssize(rows));
            rows_.insert(rows_.end(), rows.begin(), rows.end());
        }
        from_.resize(comm_.size());
        into_.resize(comm_.size());
    });
}

void Halo::reserve(std::size_t bytes) {
    if (!is_needed() || bytes <= reserved_) return;
    all_succeed(comm_, [&] {
        message_.resize(remote_.count() * bytes);
        packed_.resize(shared_.count() * bytes);
    });
    reserved_ = bytes;
}

void Halo::import_bytes(std::byte* remote, std::size_t bytes, Index columns, Put put) {
    std::byte* packed = packed_.data();
    shared_.for_each(columns, [&](Index k, Index c) {
        put(packed, rows_[k], c);
        packed += bytes;
    });
    exchange(packed_, shared_, message_, remote_, bytes * columns);
    std::byte const* received = message_.data();
    remote_.for_each(columns, [&](Index h, Index c) {
        std::memcpy(remote + (h + c * size()) * bytes, received, bytes);
        received += bytes;
    });
}

void Halo::export_bytes(std::byte const* remote, std::size_t bytes, Index columns, Take take) {
    std::byte* sent = message_.data();
    remote_.for_each(columns, [&](Index h, Index c) {
        std::memcpy(sent, remote + (h + c * size()) * bytes, bytes);
        sent += bytes;
    });
    exchange(message_, remote_, packed_, shared_, bytes * columns);
    std::byte const* packed = packed_.data();
    shared_.for_each(columns, [&](Index k, Index c) {
        take(rows_[k], c, packed);
        packed += bytes;
    });
}

void Halo::exchange(std::span<std::byte const> sent, Runs const& sent_runs, std::span<std::byte> received,
                    Runs const& received_runs, std::size_t bytes_of_row) {
    for (std::size_t r = 0; r < from_.size(); ++r) {
        auto const part = [&](auto all, Runs const& runs) {
            return all.subspan(runs.begin[r] * bytes_of_row,
                               (runs.begin[r + 1] - runs.begin[r]) * bytes_of_row);
        };
        from_[r] = part(sent, sent_runs);
        into_[r] = part(received, received_runs);
    }
    detail::exchange_blocks(comm_, from_, into_);
}

} // namespace espalier
