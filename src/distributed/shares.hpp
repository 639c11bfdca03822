// An even distribution of columns or rows over processes, in consecutive ranges.
#pragma once

#include <algorithm>

#include "espalier/types.hpp"

namespace espalier {

/// Distributes `count` items over `parts` processes. If the count is not divisible, the first processes have
/// one more item.
class Shares {
  public:
    Shares(Index count, int parts) : least_(count / parts), longer_(count % parts) {}
    /// First item of a process; `count` for the process after the last.
    [[nodiscard]] Index first(int part) const { return least_ * part + std::min<Index>(part, longer_); }
    [[nodiscard]] Index size(int part) const { return first(part + 1) - first(part); }
    /// The process that has item k.
    [[nodiscard]] int owner(Index k) const {
        Index const of_longer = longer_ * (least_ + 1);
        return static_cast<int>(k < of_longer ? k / (least_ + 1) : longer_ + (k - of_longer) / least_);
    }

  private:
    Index least_;
    Index longer_; // number of processes with one more item
};

} // namespace espalier
