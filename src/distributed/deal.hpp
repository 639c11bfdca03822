// Distributes data of process 0 to all processes, among them to the owners of rows.
#pragma once

#include <span>
#include <vector>

#include "comm/collective_call.hpp"
#include "core/pack.hpp"
#include "distributed/distributed_rows.hpp"

namespace espalier {

/// Collective: returns the bytes that pack(packer, r) packs on process 0 for the calling process r. Process 0
/// stores the bytes of one process at a time, or of several if they are few.
template <class Pack> std::vector<std::byte> deal_out(Communicator const& comm, Pack const& pack) {
    constexpr std::size_t few = std::size_t{1} << 24;
    std::vector<std::byte> mine;
    for (int first = 0; first < comm.size();) {
        std::vector<std::vector<std::byte>> blocks;
        int const end = on_root(comm, [&] {
            blocks.resize(comm.size());
            int r = first;
            for (std::size_t total = 0; r < comm.size() && (r == first || total < few); ++r) {
                Packer packer;
                pack(packer, r);
                blocks[r] = packer.take();
                total += blocks[r].size();
            }
            return r;
        });
        auto received = scatter(comm, blocks, 0);
        if (first <= comm.rank() && comm.rank() < end) mine = std::move(received);
        first = end;
    }
    return mine;
}

/// The rows of all processes. The row numbers are on process 0 only.
struct Owners {
    std::vector<Index> rows;  ///< The rows of process 0, then those of process 1, ..., each in local order.
    std::vector<Index> begin; ///< Position in `rows` of the first row of each process, then the end.

    /// Collective. Error{out_of_memory} on all processes.
    explicit Owners(DistributedRows const& all) {
        auto const counts = all_gather(all.comm(), all.count());
        std::vector<Index> numbers;
        all_succeed(all.comm(), [&] {
            for (Index l = 0; l < all.count(); ++l) numbers.push_back(all.number(l));
            begin.assign(1, 0);
            for (auto const count : counts) begin.push_back(begin.back() + count);
        });
        rows = gather_joined<Index>(all.comm(), numbers, 0);
    }
    /// Row numbers of process r in local order. Process 0 only.
    [[nodiscard]] std::span<Index const> rows_of(int r) const {
        return std::span(rows).subspan(begin[r], begin[r + 1] - begin[r]);
    }
};

} // namespace espalier
