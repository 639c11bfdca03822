// The numeric factor: the panels of all cblks and the pivoting information local to them.
//
//   llh, llt    lower(k): stride x width, the diagonal block first; its strict upper triangle is scratch.
//   ldlt, ldlh  the same, with D on the diagonal, off_diagonal(k) and perm(k) as kernels/panel.hpp says.
//   lu          lower(k) holds L and, in the diagonal block, U; packed_upper(k) is a copy of the latter for
//               solves; upper(k) is the block row of U right of the diagonal block, stored transposed:
//               rows_below x width.
//
// A cblk that cannot eliminate all its columns, or has columns of its children that could not, has a
// DelayedPanel (delayed_panel.hpp) in addition. below(), diagonal(), upper() and off_diagonal() then are
// parts of that panel, with one column for each pivot, and lower(k) has no meaning.
//
// The panels of the kept cblks of a Schur complement hold A_ss - A_si A_ii^-1 A_is, not factorized; their
// perm and off_diagonal are undefined (schur.hpp reads the panels).
//
// Panels lie in arenas, which are kept from one factorization to the next:
//
//   local       one for each owner (worker), which touches it first;
//   interleave  likewise, with pages distributed over the NUMA nodes;
//   global      one for all owners, which worker 0 touches first: the baseline.
//
// With each allocation the owners clear and assemble their panels, so the numbers are the same.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/interrupt.hpp"
#include "core/scalar.hpp"
#include "factor/delayed_panel.hpp"
#include "kernels/panel_vector.hpp"
#include "kernels/view.hpp"
#include "runtime/delayed_memory.hpp"
#include "runtime/first_touch.hpp"
#include "runtime/memory.hpp"
#include "runtime/worker_team.hpp"
#include "symbolic/block_structure.hpp"

namespace espalier {

/// The properties of the five factorizations that determine storage and kernels.
struct FactorForm {
    Factorization kind = Factorization::llh;
    [[nodiscard]] bool has_upper() const { return kind == Factorization::lu; }
    [[nodiscard]] bool has_d() const { return kind == Factorization::ldlt || kind == Factorization::ldlh; }
    [[nodiscard]] bool conjugate() const { return kind == Factorization::llh || kind == Factorization::ldlh; }
};

/// Columns that cblks of process `from` have left over for a cblk of this process. On this process, the i-th
/// row and column have the number first + i, which lies beyond the structure.
struct ArrivedColumns {
    std::int32_t from = 0;
    Index first = 0;
    Index count = 0;
};

template <class T> class Factor {
  public:
    /// Larger factors would take up too much memory between factorizations.
    static constexpr std::size_t usually_reused_bytes = std::size_t{32} << 20;

    /// `structure` must outlive the factor. Arenas of up to `most_reused_bytes` bytes use pages of earlier
    /// factors and of the heap (Arena::of_kept_or_new_pages). Allocates nothing yet.
    explicit Factor(BlockStructure const& structure, std::size_t most_reused_bytes = usually_reused_bytes)
        : structure_(&structure), most_reused_bytes_(most_reused_bytes) {}

    /// The bytes that allocate() with these arguments would allocate, besides the arenas that it keeps.
    [[nodiscard]] std::uint64_t bytes_to_allocate(FactorForm form, std::vector<WorkerId> const& owner,
                                                  Allocation allocation, int num_workers) const;
    /// Allocates the panels of a factorization of this form. Worker owner[k] owns cblk k; any_worker marks a
    /// ghost, which has no panel. Keeps arenas of an earlier factorization that are large enough and were
    /// made for this allocation. Touches a new global arena. Error{out_of_memory}, {cancelled}.
    void allocate(FactorForm form, std::vector<WorkerId> const& owner, Allocation allocation,
                  WorkerTeam& team, Interrupt* interrupt = nullptr);

    [[nodiscard]] BlockStructure const& structure() const { return *structure_; }
    [[nodiscard]] FactorForm form() const { return form_; }
    [[nodiscard]] Cblk const& cblk(CblkId k) const { return structure_->cblk(k); }

    /// Whether this process has the panel of cblk k. Ghosts have no panel, and their views are invalid.
    [[nodiscard]] bool has_panel(CblkId k) const { return panels_[k] != nullptr; }
    [[nodiscard]] MatrixView<T> lower(CblkId k) const;
    [[nodiscard]] MatrixView<T> upper(CblkId k) const; ///< lu only.
    /// lu: a packed copy of the upper triangle of the diagonal block for solves, between lower(k) and
    /// upper(k). It has no meaning with a DelayedPanel.
    [[nodiscard]] T* packed_upper(CblkId k) const { return panels_[k] + cblk(k).stride * cblk(k).width(); }
    void pack_upper(CblkId k) { espalier::pack_upper<T>(diagonal(k), packed_upper(k)); }
    [[nodiscard]] MatrixView<T> diagonal(CblkId k) const;
    [[nodiscard]] MatrixView<T> below(CblkId k) const; ///< The rows of lower(k) under the diagonal block.
    [[nodiscard]] std::span<std::int32_t> perm(CblkId k) { return of_columns(perm_.data(), k); }
    [[nodiscard]] std::span<std::int32_t const> perm(CblkId k) const { return of_columns(perm_.data(), k); }
    [[nodiscard]] std::span<T> off_diagonal(CblkId k) { return of_columns(off_diagonal_.data(), k); }
    [[nodiscard]] std::span<T const> off_diagonal(CblkId k) const {
        if (DelayedPanel<T> const* const panel = delayed(k)) return panel->off_diagonal();
        return of_columns(off_diagonal_.data(), k);
    }

    /// The panel of a cblk with delayed columns; null for others. Always null with static pivots.
    [[nodiscard]] DelayedPanel<T> const* delayed(CblkId k) const {
        return delayed_.empty() ? nullptr : delayed_[k];
    }
    [[nodiscard]] bool may_have_delayed() const { return !delayed_.empty(); }
    [[nodiscard]] bool has_delayed() const {
        return std::ranges::any_of(delayed_, [](auto const& panel) { return panel != nullptr; });
    }
    /// Removes all delayed panels. Up to `workers` workers may then add new ones, in the memory of the old
    /// ones. With 0 workers that memory is freed.
    void clear_delayed(int workers);
    [[nodiscard]] DelayedMemory& delayed_memory(WorkerId worker) { return delayed_memory_[worker]; }
    /// Bytes of the workers together, in use or kept for the next factorization.
    [[nodiscard]] std::uint64_t delayed_memory_bytes() const {
        std::uint64_t sum = 0;
        for (DelayedMemory const& memory : delayed_memory_) sum += memory.bytes();
        return sum;
    }
    /// Replaces the panel of cblk k by one in the memory of `worker`. Memory that the new one does not use,
    /// if it is large, goes to the delayed panels that follow there. The workers may call this at the same
    /// time for different cblks.
    void set_delayed(CblkId k, DelayedPanel<T> const& panel, WorkerId worker) {
        constexpr std::size_t worth_keeping = std::size_t{1} << 12, line = 64;
        auto replaced = std::as_writable_bytes(std::span(panels_[k], panel_size(cblk(k), form_)));
        auto* const upper = reinterpret_cast<std::byte*>(panel.whole_upper().data);
        if (upper >= replaced.data() && upper < replaced.data() + replaced.size())
            replaced = replaced.first((upper - replaced.data()) / line * line);
        delayed_[k] = &panel;
        if (panel.lower().data != panels_[k] && replaced.size() >= worth_keeping)
            delayed_memory_[worker].give_back(replaced);
    }

    /// Columns from other processes for an own cblk with delayed columns, by ascending processes.
    [[nodiscard]] std::span<ArrivedColumns const> arrived(CblkId k) const {
        return arrived_.empty() ? std::span<ArrivedColumns const>() : std::span(arrived_[k]);
    }
    /// Returns the columns that process `from` has left over for cblk k; empty if there are none.
    [[nodiscard]] ArrivedColumns arrived_from(std::int32_t from, CblkId k) const;
    /// Numbers the columns that process `from` has left over for cblk k. `unknowns` are their unknowns in the
    /// whole matrix. Any thread may call it, but not for the same cblk at the same time. Returns the first
    /// number.
    Index add_arrived(CblkId k, std::int32_t from, std::span<Index const> unknowns);
    /// One more than the highest number of a row or column. Not called while columns arrive.
    [[nodiscard]] Index num_numbers() const { return structure_->n + std::ssize(arrived_unknowns_); }
    /// The unknown of the whole matrix for the number of a column. Any thread may call it.
    [[nodiscard]] Index unknown_of(Index number) const;

    /// Cblks whose panels `worker` clears and assembles.
    [[nodiscard]] std::vector<CblkId> const& owned_by(WorkerId worker) const { return owned_[worker]; }
    [[nodiscard]] int num_owners() const { return static_cast<int>(owned_.size()); }
    /// Sets all coefficients of the worker's panels to zero and maps their pages; cheap when the kernel has
    /// just provided zeros. Error{cancelled}.
    void clear_owned(WorkerId worker, Interrupt* interrupt = nullptr);
    /// Whether clearing the worker's panels touches their memory for the first time.
    [[nodiscard]] bool is_untouched(WorkerId worker) const { return zero_[worker] != 0; }
    /// clear_owned() for one panel after the other, in ascending order, so that each can be filled while it
    /// is in the cache. Error{cancelled}.
    class Clearing {
      public:
        Clearing(Factor& factor, WorkerId worker, Interrupt* interrupt);
        void clear(CblkId k);

      private:
        void count(std::size_t bytes);

        Factor& factor_;
        bool is_zero_;
        FirstTouch arena_;                              ///< Used if the panels are zeros.
        std::size_t unchecked_ = std::size_t{32} << 20; ///< Bytes since the last check of the interrupt.
        Interrupt* interrupt_;
    };

    /// With local allocation, moves pages of the worker's arena that are on other nodes than that of the
    /// worker, because that one was full or the system has moved them. Returns the bytes moved. Reads a
    /// sample of at most `most_pages` pages (0.2 us each) if all are right. Called by one thread for each
    /// worker, after clear_owned().
    std::uint64_t move_to_owner(WorkerId worker, int node_os_index, std::size_t most_pages = 2048);

    [[nodiscard]] Allocation allocation() const { return allocation_; }
    /// The arena of the panels of `worker`; with global allocation the one arena. Empty without panels.
    [[nodiscard]] Arena const& arena_of(WorkerId worker) const { return arenas_[arena_index(worker)]; }
    /// The panels of cblk k, lower and upper, as bytes in the arena.
    [[nodiscard]] std::span<std::byte const> panel(CblkId k) const;

    /// For each cblk a worker on the NUMA node that has its panel. Empty if all panels are on the nodes of
    /// their owners. Set by factorize().
    [[nodiscard]] std::vector<WorkerId> const& workers_at_panels() const { return workers_at_panels_; }
    void set_workers_at_panels(std::vector<WorkerId> workers) { workers_at_panels_ = std::move(workers); }

    /// The modulus of replaced pivots of D and U. All other 1x1 pivots are larger. It is 0 if there are none.
    /// Set by factorize().
    [[nodiscard]] Real<T> pivot_threshold() const { return pivot_threshold_; }
    void set_pivot_threshold(Real<T> threshold) { pivot_threshold_ = threshold; }

  private:
    [[nodiscard]] WorkerId arena_index(WorkerId owner) const {
        return allocation_ == Allocation::global ? 0 : owner;
    }
    template <class E> [[nodiscard]] std::span<E> of_columns(E* all, CblkId k) const {
        return {all + cblk(k).first_col, all + cblk(k).end_col};
    }
    [[nodiscard]] bool keeps_arena(std::size_t arena, std::size_t bytes, Allocation allocation) const;
    void keep_or_replace_arenas(std::vector<std::size_t> const& bytes);
    void touch_from_one_worker(WorkerTeam& team, Interrupt* interrupt);

    [[nodiscard]] Arena new_arena(std::size_t bytes) const;

    BlockStructure const* structure_;
    std::size_t most_reused_bytes_;
    FactorForm form_;
    Allocation allocation_ = Allocation::local;
    std::vector<Arena> arenas_;
    std::vector<std::vector<CblkId>> owned_;
    std::vector<std::uint8_t> zero_; ///< For each owner, whether its panels are zeros from the kernel.
    std::vector<T*> panels_;         ///< lower(k); packed_upper(k) and upper(k) follow it.
    std::vector<std::int32_t> perm_;
    std::vector<T> off_diagonal_;
    std::vector<DelayedPanel<T> const*> delayed_; ///< By cblk; empty if there can be none.
    std::vector<DelayedMemory> delayed_memory_;   ///< By worker; also has the panels.
    /// By cblk; empty if there can be none, and with one process.
    std::vector<std::vector<ArrivedColumns>> arrived_;
    std::vector<Index> arrived_unknowns_;
    /// Guards arrived_unknowns_.
    std::unique_ptr<std::mutex> unknowns_mutex_ = std::make_unique<std::mutex>();
    std::vector<WorkerId> workers_at_panels_;
    Real<T> pivot_threshold_ = 0;
};

/// The position of upper(k) in the panels of a cblk of lu.
[[nodiscard]] inline Offset place_of_upper(Cblk const& cblk) {
    return cblk.width() * cblk.stride + packed_upper_size(cblk.width());
}
/// The number of coefficients in the panels of a cblk: lower and, for lu, packed_upper and upper.
[[nodiscard]] Offset panel_size(Cblk const& cblk, FactorForm form);
/// Bytes of all panels, including padding.
[[nodiscard]] std::uint64_t panel_bytes(BlockStructure const& structure, FactorForm form,
                                        std::size_t scalar_bytes);

} // namespace espalier
