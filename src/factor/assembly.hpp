// Assembly: where each entry of the matrix goes in the panels. The map is made once a pattern, so that a
// refactorization with new values is a plain scatter, done by the owner of each panel.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "espalier/matrix.hpp"
#include "factor/factor.hpp"

namespace espalier {

/// Entries of the matrix grouped by the cblk that holds them. Works for the symmetry the matrix is stored
/// with: lower triangle for symmetric and Hermitian matrices, everything for general ones (lu).
class AssemblyMap {
  public:
    /// The scalar of `pattern` does not matter: factors may be in another one. Error{cancelled}.
    template <class T>
    AssemblyMap(CscMatrix<T> const& pattern, BlockStructure const& structure, Interrupt* interrupt = nullptr);

    /// panel += entries of the matrix, given by its values, for the cblks that `worker` owns; panels were
    /// cleared before. Error{cancelled}.
    template <class T> void assemble(std::span<T const> values, Factor<T>& factor, WorkerId worker,
                                     Interrupt* interrupt = nullptr) const;

    /// The map of a process alone, for the values at positions `sources` (an output) of the matrix, in this
    /// order. Linear in the cblks and in the entries of the process.
    [[nodiscard]] AssemblyMap part_of(std::span<std::int32_t const> process_of_cblk, std::int32_t process,
                                      std::vector<Offset>& sources) const;
    /// None: to be unpacked into.
    AssemblyMap() = default;
    template <class Archive> friend void describe(Archive& archive, AssemblyMap& map) {
        archive(map.ptr_, map.entries_);
    }

    [[nodiscard]] std::uint64_t bytes() const;
    [[nodiscard]] static std::uint64_t bytes_for(Offset stored_entries) {
        return static_cast<std::uint64_t>(stored_entries) * sizeof(Entry);
    }

  private:
    struct Entry {
        Offset source; ///< Position in the matrix; its complement when the value is to be conjugated.
        Offset target; ///< Position in the panel of the cblk (lower, then upper).
    };
    std::vector<Offset> ptr_; ///< By cblk.
    std::vector<Entry> entries_;
};

} // namespace espalier
