// Distributes data of process 0 to all processes.
#pragma once

#include <vector>

#include "comm/collective.hpp"
#include "core/pack.hpp"

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

} // namespace espalier
