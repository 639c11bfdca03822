// The first touch of an arena, part by part, in pages of the size that is faster. A system clears a huge page
// in a fraction of a millisecond. But a virtual machine may have to get the page from its host, which takes
// several milliseconds, although it still has small pages that it has used before and not given back.
#pragma once

#include <cstddef>
#include <span>

namespace espalier {

/// Chooses between huge and small pages by the times of the parts before.
class PageChoice {
  public:
    [[nodiscard]] bool is_huge() const { return is_huge_; }
    /// Whether the size will not change any more, because small pages were slow, too.
    [[nodiscard]] bool is_final() const { return is_final_; }
    /// The time that Arena::alignment bytes have taken in pages of the current size. Returns whether this
    /// size changes.
    bool took(double seconds);

  private:
    bool is_huge_ = true, is_final_ = false;
    int slow_parts_ = 0; ///< In a row, because a single one may have been interrupted.
    double huge_s_ = 0;  ///< The time of a slow huge page.
};

class FirstTouch {
  public:
    /// For an arena that nobody has touched yet, which must outlive this.
    explicit FirstTouch(std::span<std::byte> arena) : rest_(arena) {}
    [[nodiscard]] std::byte* next() const { return rest_.data(); } ///< The first byte that is not touched.
    [[nodiscard]] bool done() const { return rest_.empty(); }
    /// Touches the next Arena::alignment bytes, or what remains.
    void touch_part();

  private:
    std::span<std::byte> rest_;
    std::span<std::byte> small_; ///< From the first small page to the end.
    PageChoice choice_;
};

/// Touches one of `parts` consecutive parts of an arena that nobody has touched yet. All but the last are
/// multiples of Arena::alignment.
void touch_part_of(std::span<std::byte> arena, int part, int parts);

/// Chooses the pages of an arena that nobody has touched yet and that is not to be touched as a whole now.
/// Touches up to four parts of Arena::alignment bytes, if the arena has them: the first huge pages may be
/// fast and the next ones come from the host. The choice also applies to the arenas of the next second.
/// Thread-safe.
void touch_first_parts(std::span<std::byte> arena);

} // namespace espalier
