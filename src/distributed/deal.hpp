// Distributes data of process 0 to all processes, among them to the owners of rows.
#pragma once

#include <span>
#include <vector>

#include "comm/collective.hpp"
#include "core/pack.hpp"
#include "distributed/distributed_rows.hpp"

namespace espalier {

/// Collective: returns the bytes that pack(packer, r) packs on process 0 for the calling process r. Process 0
/// stores the bytes of one process at a time.
template <class Pack> std::vector<std::byte> deal_out(Communicator const& comm, Pack const& pack) {
    std::vector<std::byte> mine;
    for (int r = 0; r < comm.size(); ++r) {
        std::vector<std::vector<std::byte>> blocks;
        all_succeed(comm, [&] {
            if (comm.rank() > 0) return;
            blocks.resize(comm.size());
            Packer packer;
            pack(packer, r);
            blocks[r] = packer.take();
        });
        auto received = scatter(comm, blocks, 0);
        if (comm.rank() == r) mine = std::move(received);
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
