// Distributes data of process 0 to all processes, among them to the owners of rows.
#pragma once

#include <span>
#include <vector>

#include "comm/collective_call.hpp"
#include "core/function_ref.hpp"
#include "core/pack.hpp"
#include "distributed/distributed_rows.hpp"

namespace espalier {

/// Collective: returns the bytes that pack(packer, r) packs on process 0 for the calling process r. Process 0
/// stores the bytes of one process at a time, or of several if they are few.
std::vector<std::byte> deal_out(Communicator const& comm, FunctionRef<void(Packer&, int)> pack);

/// The rows of all processes. The row numbers are on process 0 only.
struct Owners {
    std::vector<Index> rows;  ///< The rows of process 0, then those of process 1, ..., each in local order.
    std::vector<Index> begin; ///< Position in `rows` of the first row of each process, then the end.

    /// Collective. Error{out_of_memory} on all processes.
    explicit Owners(DistributedRows const& all);
    /// Row numbers of process r in local order. Process 0 only.
    [[nodiscard]] std::span<Index const> rows_of(int r) const {
        return std::span(rows).subspan(begin[r], begin[r + 1] - begin[r]);
    }
};

/// The owner of each row of the matrix, and the number of the row there. Only process 0 makes this table.
struct RowPlaces {
    std::vector<int> owner;
    std::vector<Index> place; ///< The number of the row at its owner.

    explicit RowPlaces(Owners const& owners);
    /// Sorts rows by owner, and those of an owner by place.
    void sort(std::span<Index> numbers) const;
};

} // namespace espalier
