#include "factor/factor.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

constexpr std::size_t cache_line = 64;
// The number of bytes that are cleared between two checks of the interrupt, in some milliseconds.
constexpr std::size_t cleared_at_once = 16 * Arena::alignment;

std::size_t padded_bytes(Offset coefficients, std::size_t scalar_bytes) {
    return (scalar_bytes * coefficients + cache_line - 1) / cache_line * cache_line;
}

// For smaller panels, returning free memory of the heap takes too long.
constexpr std::size_t returns_heap_from = std::size_t{16} << 20;

} // namespace

Offset panel_size(Cblk const& cblk, FactorForm form) {
    if (form.has_upper()) return place_of_upper(cblk) + cblk.width() * cblk.rows_below();
    return cblk.width() * cblk.stride;
}

std::uint64_t panel_bytes(BlockStructure const& structure, FactorForm form, std::size_t scalar_bytes) {
    std::uint64_t bytes = 0;
    for (Cblk const& cblk : structure.cblks) bytes += padded_bytes(panel_size(cblk, form), scalar_bytes);
    return bytes;
}

template <class T> std::uint64_t Factor<T>::bytes_to_allocate(FactorForm form,
                                                              std::vector<WorkerId> const& owner,
                                                              Allocation allocation, int num_workers) const {
    std::vector<std::size_t> bytes(allocation == Allocation::global ? 1 : num_workers, 0);
    for (CblkId k = 0; k < structure_->num_cblks(); ++k)
        if (owner[k] != any_worker)
            bytes[allocation == Allocation::global ? 0 : owner[k]] +=
                padded_bytes(panel_size(cblk(k), form), sizeof(T));
    std::uint64_t wanted = 0;
    for (std::size_t a = 0; a < bytes.size(); ++a)
        if (!keeps_arena(a, bytes[a], allocation)) wanted += bytes[a];
    return wanted;
}

// Whether an arena is large enough, and was made for this allocation.
template <class T>
bool Factor<T>::keeps_arena(std::size_t arena, std::size_t bytes, Allocation allocation) const {
    if (arena >= arenas_.size()) return bytes == 0;
    bool const fits = arenas_[arena].size() >= bytes && (bytes > 0 || arenas_[arena].empty());
    return fits && arenas_[arena].allocation() == allocation;
}

template <class T> void Factor<T>::allocate(FactorForm form, std::vector<WorkerId> const& owner,
                                            Allocation allocation, WorkerTeam& team, Interrupt* interrupt) {
    int const num_workers = team.size();
    clear_delayed(static_cast<int>(delayed_memory_.size()));
    form_ = form;
    allocation_ = allocation;
    owned_.assign(num_workers, {});
    zero_.assign(num_workers, 0);
    std::vector<std::size_t> bytes(allocation == Allocation::global ? 1 : num_workers, 0);
    std::vector<std::size_t> position(structure_->cblks.size());
    for (CblkId k = 0; k < structure_->num_cblks(); ++k) {
        if (owner[k] == any_worker) continue;
        owned_[owner[k]].push_back(k);
        std::size_t& end = bytes[arena_index(owner[k])];
        position[k] = end;
        end += padded_bytes(panel_size(cblk(k), form), sizeof(T));
    }
    keep_or_replace_arenas(bytes);
    panels_.resize(structure_->cblks.size());
    for (std::size_t k = 0; k < panels_.size(); ++k)
        panels_[k] = owner[k] == any_worker
                         ? nullptr
                         : reinterpret_cast<T*>(arenas_[arena_index(owner[k])].data() + position[k]);
    perm_.assign(form.has_d() || form.has_upper() ? structure_->n : 0, 0);
    off_diagonal_.assign(form.has_d() ? structure_->n : 0, T(0));

    if (allocation == Allocation::global && arenas_[0].fresh()) touch_from_one_worker(team, interrupt);
    for (WorkerId w = 0; w < num_workers; ++w) zero_[w] = arenas_[arena_index(w)].fresh();
    for (Arena& arena : arenas_) arena.mark_used(); // even if the next steps are interrupted
}

// Makes one arena for each entry of `bytes`. Frees old arenas before it allocates new ones.
template <class T> void Factor<T>::keep_or_replace_arenas(std::vector<std::size_t> const& bytes) {
    arenas_.resize(bytes.size());
    std::size_t wanted = 0;
    for (std::size_t a = 0; a < bytes.size(); ++a) {
        if (keeps_arena(a, bytes[a], allocation_)) continue;
        arenas_[a] = Arena();
        wanted += bytes[a];
    }
    if (wanted > 0) clear_delayed(0);
    // Without this, the heap of the analysis would be resident besides the panels.
    if (wanted >= returns_heap_from) return_free_memory();
    // Check the sum: each arena alone may fit although all together do not.
    if (std::uint64_t const available = wanted >= Arena::checked_bytes ? available_memory_bytes() : wanted;
        wanted > available)
        throw Error(
            Status::out_of_memory,
            fmt::format("the factors need {} more bytes, but {} bytes are available", wanted, available));
    for (std::size_t a = 0; a < bytes.size(); ++a)
        if (arenas_[a].size() < bytes[a]) arenas_[a] = new_arena(bytes[a]);
}

template <class T> Arena Factor<T>::new_arena(std::size_t bytes) const {
    return bytes <= most_reused_bytes_ ? Arena::of_kept_or_new_pages(bytes, allocation_)
                                       : Arena(bytes, allocation_);
}

// Imitates a program that ignores NUMA: the memory comes from the node of worker 0 until it is full.
template <class T> void Factor<T>::touch_from_one_worker(WorkerTeam& team, Interrupt* interrupt) {
    team.for_each_worker([&](WorkerId worker) {
        if (worker != 0) return;
        for (FirstTouch arena(arenas_[0].bytes()); !arena.done(); arena.touch_part()) check(interrupt);
    });
}

template <class T> void Factor<T>::clear_owned(WorkerId worker, Interrupt* interrupt) {
    Clearing clearing(*this, worker, interrupt);
    for (CblkId const k : owned_by(worker)) clearing.clear(k);
}

template <class T> Factor<T>::Clearing::Clearing(Factor& factor, WorkerId worker, Interrupt* interrupt)
    : factor_(factor), is_zero_(std::exchange(factor.zero_[worker], 0) != 0), // also if this is interrupted
      arena_(factor.allocation_ == Allocation::global ? std::span<std::byte>()
                                                      : factor.arenas_[worker].bytes()),
      interrupt_(interrupt) {}

template <class T> void Factor<T>::Clearing::clear(CblkId k) {
    auto* const data = reinterpret_cast<std::byte*>(factor_.panels_[k]);
    std::size_t const whole = factor_.panel(k).size();
    if (is_zero_) { // this worker touches the pages, so that they are near it
        while (!arena_.done() && arena_.next() < data + whole) {
            count(Arena::alignment);
            arena_.touch_part();
        }
        return;
    }
    for (std::size_t at = 0; at < whole; at += cleared_at_once) {
        std::size_t const part = std::min(cleared_at_once, whole - at);
        count(part);
        std::memset(data + at, 0, part);
    }
}

template <class T> void Factor<T>::Clearing::count(std::size_t bytes) {
    if (unchecked_ += bytes; unchecked_ <= cleared_at_once) return;
    unchecked_ = bytes;
    check(interrupt_);
}

template <class T>
std::uint64_t Factor<T>::move_to_owner(WorkerId worker, int node_os_index, std::size_t most_pages) {
    if (allocation_ != Allocation::local || arenas_[worker].empty()) return 0;
    std::span<std::byte> const bytes = arenas_[worker].bytes();
    PageSample const sample = sample_nodes(bytes, bytes.size() / most_pages + 1);
    bool const elsewhere =
        std::ranges::any_of(sample.node, [&](int node) { return node >= 0 && node != node_os_index; });
    if (!elsewhere) return 0;
    auto const at_home = [&] {
        std::vector<std::uint64_t> const of_node = query_nodes(bytes).node_bytes;
        return node_os_index < std::ssize(of_node) ? of_node[node_os_index] : 0;
    };
    std::uint64_t const before = at_home();
    move_pages_to(bytes, node_os_index);
    std::uint64_t const after = at_home();
    return after > before ? after - before : 0;
}

template <class T> std::span<std::byte const> Factor<T>::panel(CblkId k) const {
    return std::as_bytes(std::span<T const>(panels_[k], panels_[k] + panel_size(cblk(k), form_)));
}

template <class T> void Factor<T>::clear_delayed(int workers) {
    delayed_.assign(workers > 0 ? structure_->cblks.size() : 0, nullptr);
    delayed_memory_.resize(workers);
    for (DelayedMemory& memory : delayed_memory_) memory.restart();
    arrived_.clear();
    arrived_.resize(workers > 0 && structure_->is_part() ? structure_->cblks.size() : 0);
    arrived_unknowns_.clear();
}

template <class T> ArrivedColumns Factor<T>::arrived_from(std::int32_t from, CblkId k) const {
    for (ArrivedColumns const& columns : arrived(k))
        if (columns.from == from) return columns;
    return {from, num_numbers(), 0};
}

template <class T>
Index Factor<T>::add_arrived(CblkId k, std::int32_t from, std::span<Index const> unknowns) {
    std::lock_guard const lock(*unknowns_mutex_);
    Index const first = num_numbers();
    auto const place = std::ranges::upper_bound(arrived_[k], from, {}, &ArrivedColumns::from);
    arrived_[k].insert(place, {from, first, std::ssize(unknowns)});
    arrived_unknowns_.insert(arrived_unknowns_.end(), unknowns.begin(), unknowns.end());
    return first;
}

template <class T> Index Factor<T>::unknown_of(Index number) const {
    if (number < structure_->n) return structure_->unknown_of(number);
    std::lock_guard const lock(*unknowns_mutex_);
    return arrived_unknowns_[number - structure_->n];
}

template <class T> MatrixView<T> Factor<T>::lower(CblkId k) const {
    Cblk const& c = cblk(k);
    return {panels_[k], c.stride, c.width(), c.stride};
}

template <class T> MatrixView<T> Factor<T>::upper(CblkId k) const {
    if (DelayedPanel<T> const* const panel = delayed(k)) return panel->upper();
    Cblk const& c = cblk(k);
    return {panels_[k] + place_of_upper(c), c.rows_below(), c.width(), std::max<Index>(1, c.rows_below())};
}

template <class T> MatrixView<T> Factor<T>::diagonal(CblkId k) const {
    if (DelayedPanel<T> const* const panel = delayed(k)) return panel->diagonal();
    Cblk const& c = cblk(k);
    return lower(k).block(0, 0, c.width(), c.width());
}

template <class T> MatrixView<T> Factor<T>::below(CblkId k) const {
    if (DelayedPanel<T> const* const panel = delayed(k)) return panel->below();
    Cblk const& c = cblk(k);
    return lower(k).block(c.width(), 0, c.rows_below(), c.width());
}

ESPALIER_INSTANTIATE_CLASS(Factor)

} // namespace espalier
