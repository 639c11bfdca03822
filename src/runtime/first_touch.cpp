#include "runtime/first_touch.hpp"

#include <algorithm>
#include <mutex>

#include "core/timer.hpp"
#include "runtime/memory.hpp"

namespace espalier {

namespace {

/// A huge page that takes longer comes from the host.
constexpr double slow_huge_page = 1e-3; // seconds

/// The choice of touch_first_parts(), which holds for all arenas.
struct RecentChoice {
    std::mutex mutex;
    PageChoice choice;
    Timer since_change;
};

} // namespace

// If small pages are not more than twice as fast as huge ones, they come from the host, too. Huge pages are
// better then, because their address translations remain cached.
bool PageChoice::took(double seconds) {
    constexpr int slow_parts = 2;
    if (is_final_) return false;
    bool const is_slow = seconds > (is_huge_ ? slow_huge_page : huge_s_ / 2);
    slow_parts_ = is_slow ? slow_parts_ + 1 : 0;
    if (slow_parts_ < slow_parts) return false;
    if (is_huge_) huge_s_ = seconds;
    slow_parts_ = 0;
    is_huge_ = !is_huge_;
    is_final_ = is_huge_;
    return true;
}

void FirstTouch::touch_part() {
    std::span<std::byte> const part = rest_.first(std::min(Arena::alignment, rest_.size()));
    Timer const timer;
    populate(part);
    double const seconds = timer.seconds();
    rest_ = rest_.subspan(part.size());
    if (part.size() == Arena::alignment && choice_.took(seconds)) {
        if (!choice_.is_huge()) small_ = rest_;
        choose_pages(small_, choice_.is_huge());
    }
    if (done() && !choice_.is_huge()) choose_pages(small_, true); // the system may join touched pages later
}

void touch_part_of(std::span<std::byte> arena, int part, int parts) {
    std::size_t const units = arena.size() / Arena::alignment;
    auto const begin_of = [&](int p) {
        return p == parts ? arena.size() : units * p / parts * Arena::alignment;
    };
    FirstTouch pages(arena.subspan(begin_of(part), begin_of(part + 1) - begin_of(part)));
    while (!pages.done()) pages.touch_part();
}

void touch_first_parts(std::span<std::byte> arena) {
    constexpr double lasts = 1; // seconds
    constexpr int most_parts = 4;
    static RecentChoice recent;
    std::lock_guard const lock(recent.mutex);
    PageChoice& choice = recent.choice;
    if (recent.since_change.seconds() > lasts) choice = PageChoice();
    if (!choice.is_huge()) choose_pages(arena, false);
    for (int part = 0; part < most_parts && !choice.is_final() && arena.size() >= Arena::alignment; ++part) {
        Timer const timer;
        populate(arena.first(Arena::alignment));
        double const seconds = timer.seconds();
        arena = arena.subspan(Arena::alignment);
        if (choice.took(seconds)) {
            recent.since_change = Timer();
            choose_pages(arena, choice.is_huge());
        }
        if (!choice.is_huge() && seconds <= slow_huge_page) break;
    }
}

} // namespace espalier
