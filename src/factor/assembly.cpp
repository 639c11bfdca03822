#include "factor/assembly.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/run_threads.hpp"
#include "matrix/column_shares.hpp"

namespace espalier {

namespace {

// A permuted entry of the matrix, in the earlier of the cblks of its row and column.
struct Position {
    CblkId cblk;
    Index row; // a row of the structure, in the cblk or below it
    Index col; // a column of the cblk
    bool in_upper;
};

Position position_of(BlockStructure const& structure, Index row, Index col) {
    CblkId const row_cblk = structure.cblk_of_col[row];
    CblkId const col_cblk = structure.cblk_of_col[col];
    if (row_cblk >= col_cblk) return {col_cblk, row, col - structure.cblk(col_cblk).first_col, false};
    return {row_cblk, col, row - structure.cblk(row_cblk).first_col, true};
}

// Packs a position without its cblk into one number, for up to 2^31 rows.
Offset packed(Position const& at) {
    return at.row << 32 | at.col << 1 | static_cast<Offset>(at.in_upper);
}
Index row_of(Offset packed) {
    return packed >> 32;
}
Index col_of(Offset packed) {
    return (packed & 0xffffffff) >> 1;
}
bool in_upper(Offset packed) {
    return (packed & 1) != 0;
}

// The number of threads that pays off for a map of this many entries.
int useful_threads(Offset entries, int threads) {
    constexpr Offset entries_of_thread = 50'000;
    return static_cast<int>(std::clamp<Offset>(entries / entries_of_thread, 1, threads));
}

// Checks the interrupt every 10,000 entries (less than a millisecond).
void check_after(Offset& next_check, Offset done, Interrupt* interrupt) {
    if (done < next_check) return;
    next_check = done + 10'000;
    check(interrupt);
}

} // namespace

// Works in three steps, each shared by the threads: counts the entries of each cblk, groups them by cblk, and
// finds the panel rows of one cblk after the other.
template <class T> AssemblyMap::AssemblyMap(CscMatrix<T> const& pattern, BlockStructure const& structure,
                                            Interrupt* interrupt, int most_threads) {
    if (structure.n > Index{1} << 31)
        throw Error(Status::unsupported, fmt::format("{} rows; at most 2^31 can be assembled", structure.n));
    bool const half = pattern.symmetry != Symmetry::general;
    bool const hermitian = pattern.symmetry == Symmetry::hermitian;
    int const threads = useful_threads(pattern.stored(), most_threads);
    // Calls visit(position, source) for each entry in the part of the matrix that belongs to a thread.
    auto for_each_entry = [&](int thread, auto visit) {
        Index const end = first_of_share(pattern.col_ptr, thread + 1, threads);
        Index j = first_of_share(pattern.col_ptr, thread, threads);
        Offset next_check = pattern.col_ptr[j];
        for (; j < end; ++j) {
            check_after(next_check, pattern.col_ptr[j], interrupt);
            Index const col = structure.perm[j];
            for (Offset p = pattern.col_ptr[j]; p < pattern.col_ptr[j + 1]; ++p) {
                Index const row = structure.perm[pattern.row_ind[p]];
                bool const mirrored = half && row < col;
                visit(mirrored ? position_of(structure, col, row) : position_of(structure, row, col),
                      mirrored && hermitian ? ~p : p);
            }
        }
    };
    // For each thread and cblk: the number of entries, then the position of the next one.
    std::vector<std::vector<Offset>> next(threads);
    run_threads(threads, [&](int thread) {
        next[thread].assign(structure.cblks.size(), 0);
        for_each_entry(thread, [&](Position const& at, Offset) { ++next[thread][at.cblk]; });
    });
    ptr_.assign(structure.cblks.size() + 1, 0);
    for (CblkId k = 0; k < structure.num_cblks(); ++k) {
        ptr_[k + 1] = ptr_[k];
        for (auto& of_thread : next) ptr_[k + 1] += std::exchange(of_thread[k], ptr_[k + 1]);
    }
    entries_.resize(ptr_.back());
    run_threads(threads, [&](int thread) {
        for_each_entry(thread, [&](Position const& at, Offset source) {
            entries_[next[thread][at.cblk]++] = {source, packed(at)};
        });
    });
    run_threads(threads, [&](int thread) {
        auto const first_of = [&](int t) { return static_cast<CblkId>(first_of_share(ptr_, t, threads)); };
        find_targets(structure, first_of(thread), first_of(thread + 1), interrupt);
    });
}

// Replaces the packed positions in cblks [begin, end) by those in their panels.
void AssemblyMap::find_targets(BlockStructure const& structure, CblkId begin, CblkId end,
                               Interrupt* interrupt) {
    std::vector<Index> panel_row(structure.n);
    Offset next_check = ptr_[begin];
    for (CblkId k = begin; k < end; ++k) {
        check_after(next_check, ptr_[k], interrupt);
        Cblk const& cblk = structure.cblk(k);
        for (Blok const& blok : structure.bloks_of(cblk))
            std::iota(panel_row.begin() + blok.first_row, panel_row.begin() + blok.end_row, blok.panel_row);
        for (Entry& entry : std::span(entries_).subspan(ptr_[k], ptr_[k + 1] - ptr_[k])) {
            Index const row = panel_row[row_of(entry.target)], col = col_of(entry.target);
            entry.target = in_upper(entry.target)
                               ? place_of_upper(cblk) + row - cblk.width() + col * cblk.rows_below()
                               : row + col * cblk.stride;
        }
    }
}

template <class T> void AssemblyMap::assemble(std::span<T const> values, Factor<T>& factor, WorkerId worker,
                                              bool cleared, Interrupt* interrupt,
                                              std::span<std::uint8_t const> left_out) const {
    Offset done = 0;
    Offset next_check = 0;
    std::optional<typename Factor<T>::Clearing> clearing;
    if (!cleared) clearing.emplace(factor, worker, interrupt);
    for (CblkId k : factor.owned_by(worker)) {
        if (!left_out.empty() && left_out[k]) continue;
        if (clearing) clearing->clear(k);
        done += ptr_[k + 1] - ptr_[k];
        check_after(next_check, done, interrupt);
        assemble_cblk(values, factor, k);
    }
}

template <class T>
void AssemblyMap::assemble_cblk(std::span<T const> values, Factor<T>& factor, CblkId k) const {
    constexpr Offset ahead = 32; // prefetch distance for values, which may be anywhere in the matrix
    Offset const last = std::ssize(entries_) - 1;
    T* const panel = factor.lower(k).data;
    for (Offset e = ptr_[k]; e < ptr_[k + 1]; ++e) {
        Offset const later = entries_[std::min(e + ahead, last)].source;
        __builtin_prefetch(values.data() + (later >= 0 ? later : ~later));
        Entry const& entry = entries_[e];
        panel[entry.target] += entry.source >= 0 ? values[entry.source] : conj(values[~entry.source]);
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
    template AssemblyMap::AssemblyMap(CscMatrix<T> const&, BlockStructure const&, Interrupt*, int);          \
    template void AssemblyMap::assemble(std::span<T const>, Factor<T>&, WorkerId, bool, Interrupt*,          \
                                        std::span<std::uint8_t const>) const;                                \
    template void AssemblyMap::assemble_cblk(std::span<T const>, Factor<T>&, CblkId) const;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
