// Chooses between two ways to do the same work by measuring both.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

namespace espalier {

/// Work is done in pieces. The first pieces alternate between two ways, and the later ones take the way whose
/// fastest piece took less time for a unit of work. So a piece that is disturbed does not decide.
class FasterWay {
  public:
    /// Whether the next piece of work is to be done in the first way.
    [[nodiscard]] bool is_first() const { return measures() ? done_ % 2 == 0 : best_[0] <= best_[1]; }
    /// Whether the time of the next piece is needed.
    [[nodiscard]] bool measures() const { return done_ < measured; }
    /// Takes the time of a piece that was done in the way of is_first().
    void took(double seconds_per_unit) {
        double& best = best_[is_first() ? 0 : 1];
        best = std::min(best, seconds_per_unit);
        ++done_;
    }

  private:
    static constexpr int measured = 6; ///< Pieces, half of them in each way.

    std::array<double, 2> best_{std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::infinity()};
    int done_ = 0;
};

} // namespace espalier
