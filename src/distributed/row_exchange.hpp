// Rows of vectors on their way between the caller's distribution and the owners of the rows in a
// factorization. The caller has consecutive rows on each process, those of process 0 first
// (espalier/distributed.hpp); all rows on process 0 is the case with none on the others. Each process keeps
// lists of its own rows only.
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"

namespace espalier {

class RowExchange {
  public:
    /// Collective. callers_rows[l] is the caller's number of local row l, and the caller has `given` rows on
    /// this process. Error{usage} on all processes when the caller's rows are not as many as those of `rows`,
    /// or a number is out of range; {out_of_memory}.
    RowExchange(DistributedRows rows, std::span<Index const> callers_rows, Index given);

    /// Number of the caller's rows on this process.
    [[nodiscard]] Index given() const { return given_; }

    /// Collective: local rows of `columns` columns := the caller's, and back. Blocks are contiguous, by
    /// columns: given() x columns and rows.count() x columns. Error{usage} for a block of another size,
    /// {out_of_memory}, on all processes.
    template <class T> void to_owners(std::span<T const> given, std::span<T> local, Index columns) const;
    template <class T> void to_caller(std::span<T const> local, std::span<T> given, Index columns) const;

  private:
    // One of the two sides: rows by the process that has them on the other side.
    struct Side {
        Index length = 0; // of a column
        std::vector<Index> rows;
        std::vector<Index> begin; // of each process
    };
    template <class T> void move(std::span<T const> from, Side const& source, std::span<T> into,
                                 Side const& target, Index columns) const;

    DistributedRows rows_;
    Index given_;
    Side owned_;   // local rows, by the process where the caller has them
    Side callers_; // the caller's rows here, by owner
};

} // namespace espalier
