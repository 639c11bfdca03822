// Sends entries of a matrix to the process that owns their column or row.
#pragma once

#include <utility>
#include <vector>

#include "comm/collective.hpp"
#include "distributed/shares.hpp"
#include "matrix/assemble.hpp"

namespace espalier {

/// Collective: sends each entry to the owner of key(entry). The entries of process 0 come first, and those of
/// one process keep their order. Frees `entries`. Error{out_of_memory} on all processes.
template <class T, class Key>
Triples<T> to_owners(Communicator const& comm, Shares const& shares, Triples<T> entries, Key const& key) {
    Triples<T> blocks;
    all_succeed(comm, [&] {
        // Consecutive entries of a file mostly have the same owner.
        int owner = 0;
        auto const owner_of = [&](Triple<T> const& entry) {
            Index const k = key(entry);
            if (k < shares.first(owner) || k >= shares.first(owner + 1)) owner = shares.owner(k);
            return owner;
        };
        std::vector<Index> sizes(comm.size());
        for (auto const& piece : entries)
            for (auto const& entry : piece) ++sizes[owner_of(entry)];
        blocks.resize(sizes.size());
        for (int r = 0; r < comm.size(); ++r) blocks[r].reserve(sizes[r]);
        for (auto& piece : entries) {
            for (auto const& entry : piece) blocks[owner_of(entry)].push_back(entry);
            piece = {};
        }
    });
    return all_to_all(comm, blocks);
}

/// Collective: assembles the columns of this process, of `rows` rows each, from entries on any process.
/// Entries at the same place are summed in the order of to_owners(), and `duplicates` counts the additions.
template <class T> CscMatrix<T> own_columns(Communicator const& comm, Shares const& columns, Index rows,
                                            Triples<T> entries, int threads, Offset& duplicates) {
    auto mine =
        to_owners(comm, columns, std::move(entries), [](Triple<T> const& entry) { return entry.col; });
    return all_succeed(comm, [&] {
        Index const first = columns.first(comm.rank());
        for (auto& piece : mine)
            for (auto& entry : piece) entry.col -= first;
        return compress_columns(rows, columns.size(comm.rank()), std::move(mine), threads, duplicates);
    });
}

} // namespace espalier
