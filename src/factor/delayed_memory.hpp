// The memory of the delayed panels of one worker. It grows by larger and larger arenas, on huge pages from the second
// MiB on: to touch small pages for the first time may take as long as the elimination of the columns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/memory.hpp"

namespace espalier {

class alignas(64) DelayedMemory { // one worker writes
  public:
    /// Everything that was taken may be taken again.
    void restart() { at_ = used_ = 0; }

    /// `count` numbers, undefined, until restart(). Error{out_of_memory}.
    template <class T> T* take(std::size_t count) {
        std::size_t const bytes = (count * sizeof(T) + alignof(DelayedMemory) - 1) / alignof(DelayedMemory) * alignof(DelayedMemory);
        for (; at_ < arenas_.size() && arenas_[at_].size() - used_ < bytes; ++at_) used_ = 0;
        if (at_ == arenas_.size()) {
            std::size_t const next = at_ == 0 ? smallest : std::min(2 * arenas_.back().size(), largest);
            arenas_.emplace_back(std::max(bytes, next), Allocation::local);
        }
        used_ += bytes;
        return reinterpret_cast<T*>(arenas_[at_].data() + used_ - bytes);
    }

  private:
    static constexpr std::size_t smallest = std::size_t{1} << 18, largest = std::size_t{1} << 25;

    std::vector<Arena> arenas_;
    std::size_t at_ = 0, used_ = 0; ///< The arena in use, and its bytes that are taken.
};

} // namespace espalier
