// Exchanges rows of vectors between the layout of the caller and the owners of the rows in a factorization.
// In the layout of the caller each process has consecutive rows, in the order of the processes
// (espalier/distributed.hpp), or process 0 has all rows. Each process stores lists of its own rows only.
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"

namespace espalier {

class RowExchange {
  public:
    /// Collective. callers_rows[l] is the number of local row l in the layout of the caller, in which this
    /// process has `given` rows. Error{usage} on all processes if the numbers of rows differ, or a number is
    /// out of range; {out_of_memory}.
    RowExchange(DistributedRows rows, std::span<Index const> callers_rows, Index given);

    /// Number of rows of this process in the layout of the caller.
    [[nodiscard]] Index given() const { return given_; }

    /// Collective: convert `columns` columns from the layout of the caller to local rows, and back. Blocks
    /// are contiguous and stored by columns: given() x columns and rows.count() x columns. Errors on all
    /// processes: {usage} for a block of another size, {out_of_memory}.
    template <class T> void to_owners(std::span<T const> given, std::span<T> local, Index columns) const;
    template <class T> void to_caller(std::span<T const> local, std::span<T> given, Index columns) const;

  private:
    // The rows of one layout, sorted by their process in the other layout.
    struct Side {
        Index length = 0; // rows of a column
        std::vector<Index> rows;
        std::vector<Index> begin; // by process; empty with one process

        // Each part has the rows of a process.
        void set_rows(std::vector<std::vector<Index>> const& parts);
    };
    template <class T> void move(std::span<T const> from, Side const& source, std::span<T> into,
                                 Side const& target, Index columns) const;

    DistributedRows rows_;
    Index given_;
    Side owned_;   // local rows, by their process in the layout of the caller
    Side callers_; // rows of this process in the layout of the caller, by owner
};

} // namespace espalier
