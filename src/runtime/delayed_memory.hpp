// The memory of the delayed panels of one worker. A delayed panel replaces the panel of its cblk. The memory
// of the replaced panel is returned and used for the next delayed panels, because touching new pages may take
// as long as the elimination of the columns. Neighboring ranges that were returned are joined, and the
// smallest one that suffices is taken. If there is none, the memory grows by larger and larger arenas, on
// huge pages from the second MiB on. What describes the panels lies apart, and is not returned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/memory.hpp"

namespace espalier {

class alignas(64) DelayedMemory { // one worker writes
  public:
    /// Everything that was taken may be taken again. Forgets what was returned.
    void restart() {
        at_ = used_ = description_at_ = description_used_ = 0;
        returned_.clear();
        by_size_.clear();
    }

    /// Bytes of the arenas.
    [[nodiscard]] std::size_t bytes() const {
        return size_ + scratch_.size() + descriptions_.size() * size_of_descriptions;
    }

    /// `count` values that describe panels, undefined, until restart(). Error{out_of_memory}.
    template <class E> std::span<E> describe(std::size_t count) {
        static_assert(std::is_trivially_destructible_v<E>);
        return {reinterpret_cast<E*>(description(padded(count * sizeof(E)))), count};
    }

    /// `count` numbers in memory of their own, undefined, until the next call. Only what is written is
    /// touched. Error{out_of_memory}.
    template <class T> T* scratch(std::size_t count) {
        if (scratch_.size() < count * sizeof(T)) {
            scratch_ = Arena();
            scratch_ = Arena(count * sizeof(T), Allocation::local);
        }
        return scratch_.as<T>().data();
    }

    /// `count` numbers, undefined, until restart(). Error{out_of_memory}.
    template <class T> T* take(std::size_t count) {
        return reinterpret_cast<T*>(take_bytes(padded(count * sizeof(T))));
    }

    /// Returns a range for use by take(). It begins at a cache line, shares no line with other data, and
    /// stays allocated until restart().
    void give_back(std::span<std::byte> range) {
        std::byte* begin = range.data();
        std::size_t size = padded(range.size());
        auto const next = returned_.lower_bound(begin);
        if (next != returned_.begin())
            if (auto const before = std::prev(next); before->first + before->second == begin) {
                begin = before->first;
                size += before->second;
                remove(before);
            }
        if (next != returned_.end() && begin + size == next->first) {
            size += next->second;
            remove(next);
        }
        add(begin, size);
    }

  private:
    using Ranges = std::map<std::byte*, std::size_t>;

    static constexpr std::size_t line = 64;
    static constexpr std::size_t large = std::size_t{1} << 16; // worth a call of the system
    static constexpr std::size_t smallest = std::size_t{1} << 18, largest = std::size_t{1} << 25;

    static constexpr std::size_t size_of_descriptions = std::size_t{1} << 16;

    static std::size_t padded(std::size_t bytes) { return (bytes + line - 1) / line * line; }

    std::byte* description(std::size_t bytes) {
        if (bytes > size_of_descriptions / 4) return take_bytes(bytes);
        if (description_at_ < descriptions_.size() && description_used_ + bytes > size_of_descriptions) {
            ++description_at_;
            description_used_ = 0;
        }
        if (description_at_ == descriptions_.size())
            descriptions_.push_back(std::make_unique_for_overwrite<std::byte[]>(size_of_descriptions));
        return descriptions_[description_at_].get() +
               std::exchange(description_used_, description_used_ + bytes);
    }
    std::byte* take_bytes(std::size_t bytes) {
        if (auto const fits = by_size_.lower_bound({bytes, nullptr}); fits != by_size_.end()) {
            auto const [size, begin] = *fits;
            remove(returned_.find(begin));
            if (size > bytes) add(begin + bytes, size - bytes);
            return begin;
        }
        for (; at_ < arenas_.size() && arenas_[at_].size() - used_ < bytes; ++at_, used_ = 0)
            if (used_ < arenas_[at_].size()) give_back(arenas_[at_].bytes().subspan(used_));
        if (at_ == arenas_.size()) {
            arenas_.emplace_back(std::max(bytes, padded(std::clamp(size_ / 2, smallest, largest))),
                                 Allocation::local);
            size_ += arenas_.back().size();
        }
        std::byte* const begin = arenas_[at_].data() + used_;
        used_ += bytes;
        touched_.resize(arenas_.size());
        if (bytes >= large && used_ > touched_[at_]) populate({begin, bytes});
        touched_[at_] = std::max(touched_[at_], used_);
        return begin;
    }
    void add(std::byte* begin, std::size_t size) {
        returned_.emplace(begin, size);
        by_size_.emplace(size, begin);
    }
    void remove(Ranges::iterator range) {
        by_size_.erase({range->second, range->first});
        returned_.erase(range);
    }

    std::vector<Arena> arenas_;
    Arena scratch_;
    std::size_t size_ = 0;          ///< Bytes of the arenas.
    std::size_t at_ = 0, used_ = 0; ///< The arena in use, and its bytes that are taken.
    std::vector<std::unique_ptr<std::byte[]>> descriptions_;
    std::size_t description_at_ = 0, description_used_ = 0;
    std::vector<std::size_t> touched_; ///< By arena: most bytes that were taken until now.
    Ranges returned_;                  ///< Size by beginning.
    std::set<std::pair<std::size_t, std::byte*>> by_size_; ///< The returned ranges by size.
};

} // namespace espalier
