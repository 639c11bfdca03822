// Assembly: the positions of the entries of the matrix in the panels. The map is made once for a pattern, so
// that a refactorization with new values is a plain scatter by the owner of each panel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/matrix.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// Entries of the matrix, grouped by the cblk that holds them. Symmetric and Hermitian matrices are stored as
/// one triangle, general ones (lu) in full.
class AssemblyMap {
  public:
    /// The scalar of `pattern` is irrelevant; factors may have another scalar. The map does not depend on the
    /// number of threads that make it. Error{cancelled}.
    template <class T> AssemblyMap(CscMatrix<T> const& pattern, BlockStructure const& structure,
                                   Interrupt* interrupt = nullptr, int most_threads = 1);

    /// Clears the panels of the cblks that `worker` owns, one after the other, and adds the values of the
    /// matrix. If the panels are `cleared` already, only adds the values. Skips cblks that are marked in
    /// `left_out`. Error{cancelled}.
    template <class T> void assemble(std::span<T const> values, Factor<T>& factor, WorkerId worker,
                                     bool cleared, Interrupt* interrupt = nullptr,
                                     std::span<std::uint8_t const> left_out = {}) const;
    /// Adds the values of the matrix to the panel of cblk k.
    template <class T> void assemble_cblk(std::span<T const> values, Factor<T>& factor, CblkId k) const;

    /// The map of the cblks that a process owns, for its values in the order of `sources` (an output), which
    /// are positions in the matrix. Linear in the cblks and in the entries of the process.
    [[nodiscard]] AssemblyMap part_of(std::span<std::int32_t const> process_of_cblk, std::int32_t process,
                                      std::vector<Offset>& sources) const;
    /// Converts the map of the own cblks to one of all cblks of the process, including ghosts (any_worker).
    void add_ghosts(std::span<WorkerId const> owner_of_cblk);

    /// An empty map, into which another one is unpacked.
    AssemblyMap() = default;
    template <class Archive> friend void describe(Archive& archive, AssemblyMap& map) {
        archive(map.ptr_, map.entries_);
    }

    [[nodiscard]] static std::uint64_t bytes_for(Offset stored_entries) {
        return static_cast<std::uint64_t>(stored_entries) * sizeof(Entry);
    }

  private:
    struct Entry {
        Offset source; ///< Position in the matrix; its complement if the value must be conjugated.
        Offset target; ///< Position in the panel of the cblk (lower, then upper).
    };
    void find_targets(BlockStructure const& structure, CblkId begin, CblkId end, Interrupt* interrupt);

    std::vector<Offset> ptr_; ///< By cblk.
    std::vector<Entry> entries_;
};

} // namespace espalier
