#include "comm/block_pool.hpp"

#include <cstring>

#include "core/mix_bits.hpp"

namespace espalier {

namespace {

template <class Gap> std::uint64_t priority(Gap const* gap) {
    return hash_bits(reinterpret_cast<std::uintptr_t>(gap));
}

template <class Gap> bool precedes(Gap const* a, Gap const* b) {
    return a->bytes != b->bytes ? a->bytes < b->bytes : a < b;
}

// Divides a tree into the gaps before and after `gap`.
template <class Gap> void split(Gap* tree, Gap const* gap, Gap*& before, Gap*& after) {
    Gap** last = &before; // receives the next gap before `gap`,
    Gap** first = &after; // and this one the next gap after it
    while (tree) {
        if (precedes<Gap>(tree, gap)) {
            *last = tree;
            last = &tree->right;
            tree = tree->right;
        } else {
            *first = tree;
            first = &tree->left;
            tree = tree->left;
        }
    }
    *last = *first = nullptr;
}

// Joins two trees, the gaps of which all precede those of the other one.
template <class Gap> Gap* join(Gap* before, Gap* after) {
    Gap* root = nullptr;
    Gap** place = &root;
    while (before && after) {
        if (priority(before) > priority(after)) {
            *place = before;
            place = &before->right;
            before = before->right;
        } else {
            *place = after;
            place = &after->left;
            after = after->left;
        }
    }
    *place = before ? before : after;
    return root;
}

} // namespace

BlockPool::BlockPool(std::size_t bytes)
    : arena_((bytes + Arena::alignment - 1) / Arena::alignment * Arena::alignment, Allocation::local),
      begins_(arena_.size() / alignment), ends_(arena_.size() / alignment) {
    static_assert(sizeof(Gap) + sizeof(std::size_t) <= alignment);
    add_gap(arena_.data(), arena_.size());
}

void BlockPool::add_gap(std::byte* begin, std::size_t bytes) {
    Gap* const gap = ::new (begin) Gap{bytes, nullptr, nullptr};
    std::memcpy(begin + bytes - sizeof(bytes), &bytes, sizeof(bytes));
    begins_.insert(unit_of(begin));
    ends_.insert(unit_of(begin + bytes));
    Gap** place = &root_;
    while (*place && priority(*place) > priority(gap))
        place = precedes(*place, gap) ? &(*place)->right : &(*place)->left;
    split(*place, gap, gap->left, gap->right);
    *place = gap;
}

void BlockPool::remove_gap(Gap* gap) {
    auto* const begin = reinterpret_cast<std::byte*>(gap);
    begins_.erase(unit_of(begin));
    ends_.erase(unit_of(begin + gap->bytes));
    Gap** place = &root_;
    while (*place != gap) place = precedes(*place, gap) ? &(*place)->right : &(*place)->left;
    *place = join(gap->left, gap->right);
}

std::byte* BlockPool::take(std::size_t bytes) noexcept {
    std::lock_guard const lock(mutex_);
    Gap* best = nullptr;
    for (Gap* gap = root_; gap; gap = gap->bytes < bytes ? gap->right : gap->left)
        if (gap->bytes >= bytes) best = gap;
    if (!best) return nullptr;
    remove_gap(best);
    auto* const begin = reinterpret_cast<std::byte*>(best);
    std::size_t const rest = best->bytes - bytes;
    if (rest > 0) add_gap(begin, rest);
    return begin + rest;
}

void BlockPool::give(std::byte* block, std::size_t bytes) noexcept {
    std::lock_guard const lock(mutex_);
    if (begins_.contains(unit_of(block + bytes))) {
        auto* const after = reinterpret_cast<Gap*>(block + bytes);
        bytes += after->bytes;
        remove_gap(after);
    }
    if (ends_.contains(unit_of(block))) {
        std::size_t before = 0;
        std::memcpy(&before, block - sizeof(before), sizeof(before));
        block -= before;
        bytes += before;
        remove_gap(reinterpret_cast<Gap*>(block));
    }
    add_gap(block, bytes);
}

} // namespace espalier
