// The diagonal block of a square matrix that belongs to a process, for additive Schwarz preconditioners: the
// rows and columns that it owns and, as overlap, those of other processes that share an entry with them (Cai,
// Sarkis 1999, "A restricted additive Schwarz preconditioner for general sparse linear systems").
#pragma once

#include <span>
#include <vector>

#include "distributed/distributed_rows.hpp"
#include "distributed/halo.hpp"
#include "espalier/matrix.hpp"

namespace espalier {

/// The rows of each of several processes, ascending: contiguous parts of an order with about equally many
/// entries of the matrix. Rows k * unit .. (k + 1) * unit - 1 stay together; `positions` are the new numbers
/// of these groups, or empty for the order of the matrix.
template <class T> std::vector<std::vector<Index>>
contiguous_parts(CscMatrix<T> const& a, int processes, int unit, std::span<Index const> positions);

/// The number of smaller labels for each of some distinct labels.
std::vector<Index> ranks_of(std::vector<Index> const& labels);

template <class T> class OverlappingBlock {
  public:
    /// Collective. Process 0 passes the matrix, and the others null. Rows k * unit .. (k + 1) * unit - 1 have
    /// one owner and are in an overlap together. `labels` of process 0 has a number for each such group, or
    /// is empty. Error{out_of_memory} on all processes.
    OverlappingBlock(DistributedRows rows, CscMatrix<T> const* whole, int unit,
                     std::span<Index const> labels = {});
    /// Collective: takes the entries of a matrix with the same pattern, passed as above.
    void set_values(CscMatrix<T> const* whole);

    /// The block. Its rows have the order of the matrix.
    [[nodiscard]] CscMatrix<T> const& matrix() const { return block_; }
    /// The labels of its groups of rows; empty if none were given.
    [[nodiscard]] std::vector<Index> const& labels() const { return labels_; }

    /// The treatment of the overlap in extend() and restrict_to_owners().
    enum class Overlap : std::uint8_t { ignored, exchanged };

    /// Collective: the rows of the block for `columns` vectors in owned rows. Rows of the overlap come from
    /// their owners, or are zero if they are ignored.
    void extend(std::span<T const> own, std::span<T> block, Index columns, Overlap overlap);
    /// Collective: the owned rows of vectors on the block. Rows of the overlap are added at their owners, by
    /// the order of the processes, or are ignored.
    void restrict_to_owners(std::span<T const> block, std::span<T> own, Index columns, Overlap overlap);

  private:
    void reserve(Index columns);

    DistributedRows rows_;
    CscMatrix<T> block_;
    std::vector<Index> labels_;
    std::vector<Index> own_place_;     // the row of the block for each owned row
    std::vector<Index> overlap_place_; // the row of the block for each row of the halo
    std::vector<T> overlap_;           // rows of the halo, for reserved_columns_ columns
    Index reserved_columns_ = 0;
    Halo halo_;
    std::vector<std::vector<Offset>>
        sources_; // process 0: places of the entries of each process in the matrix
};

} // namespace espalier
