#include "factor/assembly.hpp"

#include <algorithm>
#include <utility>

namespace espalier {

namespace {

// Panel row of row `row` in cblk k, which has it.
Index panel_row_of(BlockStructure const& structure, Cblk const& cblk, Index row) {
    auto const bloks = structure.bloks_of(cblk);
    auto const after = std::upper_bound(bloks.begin(), bloks.end(), row,
                                        [](Index r, Blok const& b) { return r < b.first_row; });
    Blok const& blok = *(after - 1);
    return blok.panel_row + (row - blok.first_row);
}

// The place of entry (row, col), both permuted: in the lower panel of the earlier cblk, or its upper one.
struct Place {
    CblkId cblk;
    Offset position;
};

Place place_of(BlockStructure const& structure, Index row, Index col) {
    CblkId const row_cblk = structure.cblk_of_col[row];
    CblkId const col_cblk = structure.cblk_of_col[col];
    CblkId const k = std::min(row_cblk, col_cblk);
    Cblk const& cblk = structure.cblk(k);
    if (row_cblk >= col_cblk)
        return {k, panel_row_of(structure, cblk, row) + (col - cblk.first_col) * cblk.stride};
    Index const below = panel_row_of(structure, cblk, col) - cblk.width();
    return {k, cblk.stride * cblk.width() + below + (row - cblk.first_col) * cblk.rows_below()};
}

// Checks the interrupt every 10,000 entries (less than a millisecond).
void check_after(Offset& next_check, Offset done, Interrupt* interrupt) {
    if (done < next_check) return;
    next_check = done + 10'000;
    check(interrupt);
}

} // namespace

template <class T>
AssemblyMap::AssemblyMap(CscMatrix<T> const& pattern, BlockStructure const& structure, Interrupt* interrupt) {
    bool const half = pattern.symmetry != Symmetry::general;
    bool const hermitian = pattern.symmetry == Symmetry::hermitian;
    ptr_.assign(structure.cblks.size() + 1, 0);
    // `visit(cblk, position, source)` for every entry of the matrix.
    auto for_each_entry = [&](auto visit) {
        Offset next_check = 0;
        for (Index j = 0; j < pattern.cols; ++j) {
            check_after(next_check, pattern.col_ptr[j], interrupt);
            Index const col = structure.perm[j];
            for (Offset p = pattern.col_ptr[j]; p < pattern.col_ptr[j + 1]; ++p) {
                Index const row = structure.perm[pattern.row_ind[p]];
                bool const mirrored = half && row < col;
                visit(mirrored ? col : row, mirrored ? row : col, mirrored && hermitian ? ~p : p);
            }
        }
    };
    for_each_entry([&](Index row, Index col, Offset) {
        CblkId const k = std::min(structure.cblk_of_col[row], structure.cblk_of_col[col]);
        ++ptr_[k + 1];
    });
    for (std::size_t k = 0; k + 1 < ptr_.size(); ++k) ptr_[k + 1] += ptr_[k];
    entries_.resize(ptr_.back());
    std::vector<Offset> next(ptr_.begin(), ptr_.end() - 1);
    for_each_entry([&](Index row, Index col, Offset source) {
        Place const place = place_of(structure, row, col);
        entries_[next[place.cblk]++] = {source, place.position};
    });
}

template <class T> void AssemblyMap::assemble(std::span<T const> values, Factor<T>& factor, WorkerId worker,
                                              Interrupt* interrupt) const {
    Offset done = 0;
    Offset next_check = 0;
    for (CblkId k : factor.owned_by(worker)) {
        done += ptr_[k + 1] - ptr_[k];
        check_after(next_check, done, interrupt);
        T* const panel = factor.lower(k).data;
        for (Offset e = ptr_[k]; e < ptr_[k + 1]; ++e) {
            Entry const& entry = entries_[e];
            panel[entry.target] += entry.source >= 0 ? values[entry.source] : conj(values[~entry.source]);
        }
    }
}

AssemblyMap AssemblyMap::part_of(std::span<std::int32_t const> process_of_cblk, std::int32_t process,
                                 std::vector<Offset>& sources) const {
    AssemblyMap part;
    part.ptr_.assign(1, 0);
    sources.clear();
    for (CblkId k = 0; k < std::ssize(process_of_cblk); ++k) {
        if (process_of_cblk[k] != process) continue;
        for (Offset e = ptr_[k]; e < ptr_[k + 1]; ++e) {
            Entry const& entry = entries_[e];
            Offset const at = std::ssize(sources);
            bool const conjugated = entry.source < 0;
            sources.push_back(conjugated ? ~entry.source : entry.source);
            part.entries_.push_back({conjugated ? ~at : at, entry.target});
        }
        part.ptr_.push_back(std::ssize(part.entries_));
    }
    return part;
}

void AssemblyMap::add_ghosts(std::span<WorkerId const> owner_of_cblk) {
    std::vector<Offset> ptr(1, 0);
    auto next = ptr_.begin();
    for (WorkerId const owner : owner_of_cblk) {
        if (owner != any_worker) ++next;
        ptr.push_back(*next);
    }
    ptr_ = std::move(ptr);
}

#define ESPALIER_INSTANTIATE(T)                                                                              \
    template AssemblyMap::AssemblyMap(CscMatrix<T> const&, BlockStructure const&, Interrupt*);               \
    template void AssemblyMap::assemble(std::span<T const>, Factor<T>&, WorkerId, Interrupt*) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
