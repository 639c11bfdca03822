// The part of a block structure that one process among several works with. In: the whole structure, the owner
// of each cblk, the fan-in blocks that the process sends. Out: a block structure of the cblks that it owns
// and of ghosts, which are the cblks of other processes that its panels face.
//
// Cblks and columns are renumbered in ascending order, so that each blok still lies in one facing cblk. The
// bloks of a ghost are the rows of its panel that the process contributes to, stacked as in the fan-in block:
// an update finds its place there as in a panel of its own. Columns of the own cblks are, in ascending order,
// the rows of the vectors of the process.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "symbolic/block_structure.hpp"
#include "tasks/fan_in.hpp"

namespace espalier {

struct LocalStructure {
    BlockStructure structure;
    std::vector<BlokId> number_of_blok; ///< For each blok that of the whole structure in which it lies.
    std::vector<Offset>
        facing_position; ///< For each blok below an own diagonal block, its place in `facing`.
};

class LocalStructures {
  public:
    /// The arguments live longer. Linear in the cblks.
    LocalStructures(BlockStructure const& whole, std::span<std::int32_t const> process_of_cblk,
                    std::int32_t processes);

    /// The part of `process`, which sends the blocks `sent` of `fan_in`, by ascending targets. Near-linear.
    LocalStructure part(std::int32_t process, FanInBlocks const& fan_in, std::span<std::int32_t const> sent);

    /// The number of cblk k in the latest part; no_cblk when it is not in it.
    [[nodiscard]] CblkId local_number(CblkId k) const { return local_[k]; }

  private:
    void choose_cblks(std::int32_t process, BlockStructure& part);
    void number_columns(std::int32_t process, BlockStructure& part) const;
    void add_own_bloks(CblkId i, LocalStructure& part) const;
    void add_ghost_bloks(CblkId i, FanInBlock const& block, FanInBlocks const& fan_in,
                         LocalStructure& part) const;
    void add_blok(CblkId i, BlokId number, Index first_row, Index end_row, LocalStructure& part) const;

    BlockStructure const& whole_;
    std::span<std::int32_t const> process_of_cblk_;
    std::vector<std::vector<CblkId>> own_; // by process, ascending
    std::vector<std::int32_t> levels_;
    std::vector<CblkId> local_;  // by cblk: its number in the latest part
    std::vector<CblkId> latest_; // cblks of the latest part
};

/// Bytes of a structure.
std::uint64_t structure_bytes(BlockStructure const& structure);

} // namespace espalier
