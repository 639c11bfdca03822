#include "factor/factor.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/process_limits.hpp"

namespace espalier {

namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t cleared_at_once = 16 * Arena::alignment; // some milliseconds

std::size_t padded_bytes(Offset coefficients, std::size_t scalar_bytes) {
    return (static_cast<std::size_t>(coefficients) * scalar_bytes + cache_line - 1) / cache_line * cache_line;
}

} // namespace

Offset panel_size(Cblk const& cblk, FactorForm form) {
    return cblk.width() * (cblk.stride + (form.has_upper() ? cblk.rows_below() : 0));
}

std::uint64_t panel_bytes(BlockStructure const& structure, FactorForm form, std::size_t scalar_bytes) {
    std::uint64_t bytes = 0;
    for (Cblk const& cblk : structure.cblks) bytes += padded_bytes(panel_size(cblk, form), scalar_bytes);
    return bytes;
}

template <class T> void Factor<T>::allocate(FactorForm form, std::vector<WorkerId> const& owner,
                                            Allocation allocation, WorkerTeam& team) {
    auto const num_workers = static_cast<std::size_t>(team.size());
    form_ = form;
    // One array for all when allocation is global: worker 0 owns everything then.
    auto owner_of = [&](std::size_t k) {
        return allocation == Allocation::global ? std::size_t{0} : static_cast<std::size_t>(owner[k]);
    };
    owned_.assign(num_workers, {});
    std::vector<std::size_t> bytes(num_workers, 0);
    std::vector<std::size_t> position(structure_->cblks.size());
    for (std::size_t k = 0; k < structure_->cblks.size(); ++k) {
        std::size_t const o = owner_of(k);
        owned_[o].push_back(static_cast<CblkId>(k));
        position[k] = bytes[o];
        bytes[o] += padded_bytes(panel_size(structure_->cblks[k], form), sizeof(T));
    }
    arenas_.resize(num_workers);
    // Each arena alone may fit where all together do not.
    std::size_t wanted = 0;
    for (std::size_t w = 0; w < num_workers; ++w)
        wanted += arenas_[w].size() < bytes[w] ? bytes[w] - arenas_[w].size() : 0;
    if (std::uint64_t const available = wanted > 0 ? available_memory_bytes() : 0; wanted > available)
        throw Error(Status::out_of_memory, "the factors need " + std::to_string(wanted) +
                                               " bytes more, and " + std::to_string(available) +
                                               " are available");
    for (std::size_t w = 0; w < num_workers; ++w)
        if (arenas_[w].size() < bytes[w] || (bytes[w] == 0 && arenas_[w].size() > 0)) {
            arenas_[w] = Arena(); // give the old one back first
            arenas_[w] = Arena(bytes[w], allocation);
        }
    panels_.resize(structure_->cblks.size());
    for (std::size_t k = 0; k < panels_.size(); ++k)
        panels_[k] = reinterpret_cast<T*>(arenas_[owner_of(k)].data() + position[k]);
    perm_.assign(form.has_d() || form.has_upper() ? static_cast<std::size_t>(structure_->n) : 0, 0);
    off_diagonal_.assign(form.has_d() ? static_cast<std::size_t>(structure_->n) : 0, T(0));
}

template <class T> void Factor<T>::clear_owned(WorkerId worker, Interrupt* interrupt) {
    Arena& arena = arenas_[static_cast<std::size_t>(worker)];
    bool const fresh = arena.fresh();
    arena.mark_used(); // also when this is interrupted
    std::size_t const whole = arena.size();
    for (std::size_t at = 0; at < whole; at += cleared_at_once) {
        check(interrupt);
        auto const part = arena.bytes().subspan(at, std::min(cleared_at_once, whole - at));
        if (fresh)
            populate(part); // from this worker, so that pages are near it
        else
            std::memset(part.data(), 0, part.size());
    }
}

template <class T> MatrixView<T> Factor<T>::lower(CblkId k) const {
    Cblk const& c = cblk(k);
    return {panels_[static_cast<std::size_t>(k)], c.stride, c.width(), c.stride};
}

template <class T> MatrixView<T> Factor<T>::upper(CblkId k) const {
    Cblk const& c = cblk(k);
    return {panels_[static_cast<std::size_t>(k)] + c.stride * c.width(), c.rows_below(), c.width(),
            std::max<Index>(1, c.rows_below())};
}

template <class T> MatrixView<T> Factor<T>::diagonal(CblkId k) const {
    Cblk const& c = cblk(k);
    return lower(k).block(0, 0, c.width(), c.width());
}

template <class T> MatrixView<T> Factor<T>::below(CblkId k) const {
    Cblk const& c = cblk(k);
    return lower(k).block(c.width(), 0, c.rows_below(), c.width());
}

template <class T> std::span<std::int32_t> Factor<T>::perm(CblkId k) {
    return {perm_.data() + cblk(k).first_col, static_cast<std::size_t>(cblk(k).width())};
}
template <class T> std::span<std::int32_t const> Factor<T>::perm(CblkId k) const {
    return {perm_.data() + cblk(k).first_col, static_cast<std::size_t>(cblk(k).width())};
}
template <class T> std::span<T> Factor<T>::off_diagonal(CblkId k) {
    return {off_diagonal_.data() + cblk(k).first_col, static_cast<std::size_t>(cblk(k).width())};
}
template <class T> std::span<T const> Factor<T>::off_diagonal(CblkId k) const {
    return {off_diagonal_.data() + cblk(k).first_col, static_cast<std::size_t>(cblk(k).width())};
}

#define ESPALIER_INSTANTIATE(T) template class Factor<T>;
ESPALIER_FOR_EACH_SCALAR(ESPALIER_INSTANTIATE)

} // namespace espalier
