// The owners of all rows, which process 0 needs to distribute data.
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"

namespace espalier {

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
