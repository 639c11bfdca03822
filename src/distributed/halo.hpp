// The remote rows that the entries of a process touch. Their values are imported from the owners before a
// product, and contributions to them are exported to the owners after it, where they are added in the order
// of the processes, so that results do not depend on timing.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "comm/collective.hpp"
#include "espalier/types.hpp"

namespace espalier {

class Halo {
  public:
    /// No remote rows.
    Halo() = default;
    /// Collective. wanted[r]: the local rows of process r that this process needs, in the order in which they
    /// are numbered here.
    Halo(Communicator comm, std::vector<std::vector<Index>> wanted) : comm_(std::move(comm)) {
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

    /// Number of remote rows.
    [[nodiscard]] Index size() const { return remote_.count(); }
    [[nodiscard]] bool is_needed() const { return comm_.size() > 1; }
    /// Collective: reserves memory for messages of `bytes` for each row. Error{out_of_memory} on all
    /// processes.
    void reserve(std::size_t bytes) {
        if (!is_needed() || bytes <= reserved_) return;
        all_succeed(comm_, [&] {
            message_.resize(remote_.count() * bytes);
            packed_.resize(shared_.count() * bytes);
        });
        reserved_ = bytes;
    }

    /// Collective. Sets remote[h + c * size()] = value(row at the owner, c). Requires reserve(columns *
    /// sizeof(E)).
    template <class E, class Value> void import_values(std::span<E> remote, Index columns, Value&& value) {
        auto const packed = std::span<E>(reinterpret_cast<E*>(packed_.data()), shared_.count() * columns);
        shared_.for_each(columns, [&](Index at, Index k, Index c) { packed[at] = value(rows_[k], c); });
        auto const received = message<E>(columns);
        exchange<E>(packed, shared_, received, remote_, columns);
        remote_.for_each(columns, [&](Index at, Index h, Index c) { remote[h + c * size()] = received[at]; });
    }

    /// Collective. Calls add(row, c, remote[h + c * size()]) at the owner of each remote row, by process.
    template <class E, class Add> void export_values(std::span<E const> remote, Index columns, Add&& add) {
        auto const sent = message<E>(columns);
        remote_.for_each(columns, [&](Index at, Index h, Index c) { sent[at] = remote[h + c * size()]; });
        auto const packed = std::span<E>(reinterpret_cast<E*>(packed_.data()), shared_.count() * columns);
        exchange<E>(sent, remote_, packed, shared_, columns);
        shared_.for_each(columns, [&](Index at, Index k, Index c) { add(rows_[k], c, packed[at]); });
    }

  private:
    // Rows to send or receive, sorted by process: those of process r are begin[r] .. begin[r + 1] - 1.
    struct Runs {
        std::vector<Index> begin; // empty without rows: default objects need no memory
        [[nodiscard]] Index count() const { return begin.empty() ? 0 : begin.back(); }
        // Calls visit(place in a message of `columns` columns, row, column).
        template <class Visit> void for_each(Index columns, Visit&& visit) const {
            for (std::size_t r = 0; r + 1 < begin.size(); ++r)
                for (Index c = 0, at = begin[r] * columns; c < columns; ++c)
                    for (Index k = begin[r]; k < begin[r + 1]; ++k) visit(at++, k, c);
        }
    };

    template <class E> std::span<E> message(Index columns) {
        return {reinterpret_cast<E*>(message_.data()), static_cast<std::size_t>(size() * columns)};
    }
    template <class E> void exchange(std::span<E const> sent, Runs const& sent_runs, std::span<E> received,
                                     Runs const& received_runs, Index columns) {
        for (std::size_t r = 0; r < from_.size(); ++r) {
            auto const part = [&]<class P>(std::span<P> all, Runs const& runs) {
                return all.subspan(runs.begin[r] * columns, (runs.begin[r + 1] - runs.begin[r]) * columns);
            };
            from_[r] = std::as_bytes(part(sent, sent_runs));
            into_[r] = std::as_writable_bytes(part(received, received_runs));
        }
        detail::exchange_blocks(comm_, from_, into_);
    }

    Communicator comm_;
    Runs remote_;             // remote rows, as numbered here
    Runs shared_;             // local rows that other processes need
    std::vector<Index> rows_; // the local rows of shared_
    std::size_t reserved_ = 0;
    std::vector<std::byte> message_, packed_;
    std::vector<std::span<std::byte const>> from_;
    std::vector<std::span<std::byte>> into_;
};

} // namespace espalier
