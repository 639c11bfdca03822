#include "runtime/kept_pages.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include <sys/mman.h>

#include "runtime/memory.hpp"

namespace espalier {

namespace {

using Pages = std::span<std::byte>;

/// A short list of ranges, which needs no memory of its own. Neighbors are united.
class KeptPages {
  public:
    Pages take(std::size_t bytes) {
        std::lock_guard const lock(mutex_);
        auto best = end();
        for (auto range = ranges_.begin(); range != end(); ++range)
            if (range->size() >= bytes && (best == end() || range->size() < best->size())) best = range;
        if (bytes == 0 || best == end()) return {};
        Pages const taken = best->first(bytes);
        *best = best->subspan(bytes);
        bytes_ -= bytes;
        if (best->empty()) remove(best);
        return taken;
    }

    void keep(Pages pages) {
        std::lock_guard const lock(mutex_);
        bytes_ += pages.size();
        for (auto range = ranges_.begin(); range != end();)
            if (range->data() + range->size() == pages.data() ||
                pages.data() + pages.size() == range->data()) {
                pages = {std::min(range->data(), pages.data()), range->size() + pages.size()};
                remove(range);
            } else {
                ++range;
            }
        if (count_ == ranges_.size()) unmap_smallest();
        ranges_[count_++] = pages;
        while (bytes_ > most_kept_bytes) unmap_smallest();
    }

    void release() {
        std::lock_guard const lock(mutex_);
        while (count_ > 0) unmap_smallest();
    }

  private:
    using Iterator = std::array<Pages, 64>::iterator;
    Iterator end() { return ranges_.begin() + static_cast<std::ptrdiff_t>(count_); }
    void remove(Iterator range) { *range = ranges_[--count_]; }
    void unmap_smallest() {
        auto const smallest =
            std::min_element(ranges_.begin(), end(), [](Pages a, Pages b) { return a.size() < b.size(); });
        bytes_ -= smallest->size();
        munmap(smallest->data(), smallest->size());
        remove(smallest);
    }

    std::mutex mutex_;
    std::array<Pages, 64> ranges_;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0; ///< The sum of the sizes of all ranges.
};

// Never destroyed, because static objects may free arrays later.
KeptPages& kept_pages() {
    alignas(KeptPages) static std::array<std::byte, sizeof(KeptPages)> memory;
    static auto* const pages = new (memory.data()) KeptPages;
    return *pages;
}

} // namespace

bool has_one_node() noexcept {
    static bool const has_one = [] {
        try {
            return memory_nodes().size() < 2;
        } catch (...) {
            return false; // without memory for the answer
        }
    }();
    return has_one;
}

std::span<std::byte> take_kept_pages(std::size_t bytes) noexcept {
    return kept_pages().take(bytes);
}

void keep_pages(std::span<std::byte> pages) noexcept {
    if (pages.empty()) return;
    if (!has_one_node()) {
        munmap(pages.data(), pages.size());
        return;
    }
    madvise(pages.data(), pages.size(), MADV_FREE); // the kernel may reclaim these pages if memory is short
    kept_pages().keep(pages);
}

void release_kept_pages() noexcept {
    kept_pages().release();
}

} // namespace espalier
