// Symbolic factorization. Input: a graph and an ordering of its vertices; output: the block structure of the
// factor. It has two steps. The first finds the supernodes. The second splits wide ones into column blocks,
// and can be repeated with other widths in a fraction of the time.
#pragma once

#include <vector>

#include "ordering/compress.hpp"
#include "ordering/ordering.hpp"
#include "symbolic/block_structure.hpp"
#include "symbolic/options.hpp"
#include "symbolic/piece_widths.hpp"
#include "symbolic/row_runs.hpp"
#include "symbolic/supernodes.hpp"

namespace espalier {

/// The structure of the factor before wide supernodes are split.
struct SupernodalStructure {
    Supernodes supernodes;
    RowRuns runs;
    std::vector<Index> rows; ///< The rows of the matrix by supernode, in the order of its columns.
    bool keeps_last = false; ///< The last supernode is a Schur complement, which is not eliminated.
    // As in BlockStructure:
    Offset nnz_factor = 0;
    double flops = 0;
    Index tree_height = 0;
};

/// The memory of the structure in bytes.
std::uint64_t bytes_of(SupernodalStructure const& whole);

/// Works on the compressed graph and expands the result at the end, so the time does not grow with the number
/// of unknowns per node. Each step is linear or nearly linear in the edges of the graph plus the rows of the
/// supernodes. The last options.kept_vertices vertices are not eliminated (BlockStructure::first_kept_cblk).
/// The widths of pieces in the options have no effect. Throws Error{usage} for invalid options;
/// Error{internal} if graph and ordering do not match; Error{unsupported} for more than 2^31 - 1 vertices;
/// Error{cancelled}.
SupernodalStructure find_supernodes(CompressedGraph const& compressed, Ordering const& ordering,
                                    SymbolicOptions const& options);

/// Splits supernode s into pieces within widths[s]. Linear in the bloks. Error{unsupported} for more cblks
/// than CblkId can number.
BlockStructure split_structure(SupernodalStructure const& whole, std::vector<PieceWidths> const& widths);

/// Both steps, with options.min_width and options.max_width for all supernodes.
BlockStructure symbolic_factorization(CompressedGraph const& compressed, Ordering const& ordering,
                                      SymbolicOptions const& options);

} // namespace espalier
